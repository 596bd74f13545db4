"""The C outputs: headers, function table, stubs, the emulator's fallbacks and data, and the C test of the ABI."""

import re

from interface import (
    MARK,
    NO_BREAK,
    PRODUCTS_MARK,
    comment,
    declare,
    is_pointer,
    parameters,
    pointer_type,
    prototype,
    quote,
    wrap,
)

HEADERS = {
    "acl_base_rt.h": ("Base types of the runtime interface: error codes, handles, data types, data buffers.", []),
    "acl_rt.h": (
        "The runtime interface: devices, contexts, streams, events, memory, kernels, models.",
        ["acl_base_rt.h"],
    ),
    "acl_rt_allocator.h": ("Letting the runtime allocate through the caller's own allocator.", ["acl_base_rt.h"]),
    "acl_rt_memory_soma.h": ("Stream-ordered memory pools.", ["acl_rt.h"]),
}

# ---------------------------------------------------------------------------------------------------------------------
# The C headers


def umbrella(api):
    includes = "\n".join(f'#include "{name}"' for name in HEADERS)
    return f"""{comment("The whole runtime interface in one include.", MARK)}
#ifndef ACL_ACL_H
#define ACL_ACL_H

{includes}

#endif
"""


def header_emitter(name):
    """An emit function for one header."""
    return lambda api: header(api, name)


def header(api, name):
    about, includes = HEADERS[name]
    guard = "ACL_" + re.sub(r"\W", "_", name).upper()
    here = lambda items: [item for item in items if item["header"] == name]
    handles = [t for t in here(api.typedefs) if t["kind"] != "callback"]
    callbacks = [t for t in here(api.typedefs) if t["kind"] == "callback"]
    sections = [
        [c_visibility()] if name == "acl_base_rt.h" else [],
        [c_macro(macro) for macro in here(api.macros)],
        [f"typedef {declare(t['type'], t['name'])};" for t in handles],
        [c_error(error) for error in api.errors] if name == "acl_base_rt.h" else [],
        *[[c_enum(enum)] for enum in here(api.enums)],
        *[[c_struct(struct)] for struct in here(api.structs)],
        [wrap(f"typedef {pointer_type(t, t['name'])};") for t in callbacks],
        [c_function(function) for function in here(api.functions)],
    ]
    body = "\n\n".join("\n".join(section) for section in sections if section)
    system = "\n".join(f"#include <{known}>" for known in ("stdbool.h", "stddef.h", "stdint.h"))
    own = "".join(f'\n#include "{other}"' for other in includes)
    origin = f"Names, values and layouts follow CANN {api.version}; the words in the comments are ours."
    return f"""{comment(about, origin, MARK)}
#ifndef {guard}
#define {guard}

{system}
{own}
#ifdef __cplusplus
extern "C" {{
#endif

{body}

#ifdef __cplusplus
}}
#endif

#endif
"""


def c_visibility():
    return """#ifndef ACL_FUNC_VISIBILITY
#if defined(__GNUC__)
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif
#endif"""


def c_macro(macro):
    return f"#define {macro['name']} {macro['text']}"


def c_error(error):
    if error["form"] == "macro":
        return f"#define {error['name']} {error['code']}"
    return f"static const int {error['name']} = {error['code']};"


def c_enum(enum):
    values = ",\n".join(f"    {value['name']} = {value['value']}" for value in enum["values"])
    if enum["typedef"]:
        return f"typedef enum {enum['name']} {{\n{values}\n}} {enum['name']};"
    return f"enum {enum['name']} {{\n{values}\n}};"


def c_struct(struct):
    head = f"{struct['kind']} {struct['tag']}"
    if struct["opaque"]:
        return f"typedef {head} {struct['name']};"
    fields = "\n".join(c_field(field, 4) for field in struct["fields"])
    if struct["typedef"]:
        return f"typedef {head} {{\n{fields}\n}} {struct['name']};"
    return f"{head} {{\n{fields}\n}};"


def c_field(field, indent):
    pad = " " * indent
    if "fields" in field:
        inner = "\n".join(c_field(part, indent + 4) for part in field["fields"])
        return f"{pad}{field['kind']} {{\n{inner}\n{pad}}}{' ' + field['name'] if field['name'] else ''};"
    suffix = f"[{field['array']}]" if "array" in field else ""
    return f"{pad}{declare(c_field_type(field), field['name'])}{suffix};"


def c_field_type(field):
    return {"_Bool": "bool"}.get(field["type"], field["type"])


def c_function(function):
    note = ""
    if function.get("deprecated"):
        note = "/* deprecated */\n"
    if function.get("newer"):
        note = "/* newer than the version this header follows */\n"
    return note + wrap(f"ACL_FUNC_VISIBILITY {prototype(function)};")


# ---------------------------------------------------------------------------------------------------------------------
# The function table, its stubs, the emulator's fallbacks


def table(api):
    entries = "\n".join(wrap(f"{pointer_type(f, f['name'])};", 4) for f in api.functions)
    top = comment("The function table: one pointer per function of the interface, in the order of acl_rt.json.", MARK)
    return f"""{top}
#ifndef PYACL_TABLE_H
#define PYACL_TABLE_H

#include "acl/acl.h"

typedef struct AclTable {{
{entries}
}} AclTable;

enum {{ ACL_FUNCTION_COUNT = {len(api.functions)} }};

/* What stubs.c holds, in the same order. */
typedef void (*AclAnyFn)(void);
extern const char *const pyacl_function_names[ACL_FUNCTION_COUNT];
extern const AclAnyFn pyacl_load_stubs[ACL_FUNCTION_COUNT];
extern const AclAnyFn pyacl_absent_stubs[ACL_FUNCTION_COUNT];

#endif
"""


def stubs(api):
    top = comment(
        "What the table holds before a library is loaded (load_*: load, then forward) and where the loaded library "
        "lacks a function (absent_*: report the internal code). Knows nothing about where libraries are found.",
        MARK,
    )
    bodies = "\n\n".join(c_load_stub(f) + "\n\n" + c_absent_stub(f, index) for index, f in enumerate(api.functions))
    arrays = [c_array("const char *const pyacl_function_names", [f'"{f["name"]}"' for f in api.functions])]
    for kind in ("load", "absent"):
        arrays.append(
            c_array(f"const AclAnyFn pyacl_{kind}_stubs", [f"(AclAnyFn){kind}_{f['name']}" for f in api.functions])
        )
    return f"""{top}
#include <stdarg.h>
#include <stdio.h>

#include "load.h"
#include "table.h"

{bodies}

{chr(10).join(arrays)}"""


def c_array(declaration, items):
    return f"{declaration}[ACL_FUNCTION_COUNT] = {{\n" + "".join(f"    {item},\n" for item in items) + "};\n"


def c_definition(function, prefix, body):
    head = wrap(f"{prefix}({parameters(function) or 'void'})")
    return f"{head}\n{{\n" + "".join(f"    {line}\n" for line in body if line) + "}"


def c_load_stub(function):
    names = [p["name"] for p in function["params"]]
    call = f"pyacl_table->{function['name']}({', '.join(names)});"
    body = ["pyacl_load();", call if function["returns"] == "void" else "return " + call]
    if function.get("variadic"):
        body = c_variadic_body(function, names)
    return c_definition(function, f"static {declare(function['returns'], 'load_' + function['name'])}", body)


def c_variadic_body(function, names):
    """A variadic call can't be forwarded, so the text is made here and passed on as a plain string."""
    return [
        "char text[1024];",
        "va_list list;",
        f"va_start(list, {names[-1]});",
        f"(void)vsnprintf(text, sizeof(text), {names[-1]}, list);",
        "va_end(list);",
        "pyacl_load();",
        f'pyacl_table->{function["name"]}({", ".join(names[:-1])}, "%s", text);',
    ]


def c_unused(function):
    return " ".join(f"(void){p['name']};" for p in function["params"])


def c_report(function, call):
    """Statements that report through `call` (which gives an aclError) and return what the function can return."""
    returns = function["returns"]
    if returns == "aclError":
        return [f"return {call};"]
    if returns == "void":
        return [f"(void){call};"]
    null = is_pointer(returns) or returns in ("aclrtAllocatorDesc", "aclrtBinary")
    return [f"(void){call};", "return NULL;" if null else "return 0;"]


def c_absent_stub(function, index):
    head = f"static {declare(function['returns'], 'absent_' + function['name'])}"
    return c_definition(function, head, [c_unused(function), *c_report(function, f"pyacl_absent({index})")])


def fallback(api):
    top = comment(
        "A weak definition of every function, so that the library has every symbol. A real definition in another file "
        "of this folder wins at link time; what stays here reports 'not supported', never a silent success.",
        MARK,
    )
    return (
        top
        + """
#include "acl/acl.h"
#include "engine/error.h"

#define FALLBACK ACL_FUNC_VISIBILITY __attribute__((weak))

"""
        + "\n\n".join(map(c_fallback, api.functions))
        + "\n"
    )


def c_fallback(function):
    head = f"FALLBACK {declare(function['returns'], function['name'])}"
    body = [c_unused(function), *c_report(function, f'emu_unsupported("{function["name"]}")')]
    return c_definition(function, head, body)


# ---------------------------------------------------------------------------------------------------------------------
# Emulator data


def features(api):
    known = api.products["features"]
    defines = "\n".join(
        f"#define SOC_{f['name']} (UINT64_C(1) << {bit}) /* {f['meaning']} */" for bit, f in enumerate(known)
    )
    return f"""{comment("What a product can do, one bit per feature.", PRODUCTS_MARK)}
#ifndef EMU_SOC_FEATURES_H
#define EMU_SOC_FEATURES_H

#include <stdint.h>

{defines}

#define SOC_FEATURE_COUNT {len(known)}

#endif
"""


def profiles(api):
    top = comment(
        "The products and the SoC models the emulator can play. The structs are declared in soc.h.",
        "A number that is 0 does not exist on that product or is not known.",
        PRODUCTS_MARK,
    )
    products = api.products["products"]
    models = [model for model in api.products["models"] if model["product"]]
    index = {product["key"]: number for number, product in enumerate(products)}
    return f"""{top}
static const SocProduct soc_products[] = {{
{chr(10).join(map(c_product, products))}
}};

static const SocModel soc_models[] = {{
{chr(10).join(c_model(model, index[model["product"]]) for model in models)}
}};
"""


def c_product(product):
    numbers = ", ".join(
        f".{key}{NO_BREAK}={NO_BREAK}{product[key] or 0}"
        for key in (
            "streams",
            "queue_depth",
            "persistent_depth",
            "events",
            "notifies",
            "labels",
            "ticks_per_ms",
            "default_stream_flags",
        )
    )
    able = " | ".join(f"SOC_{name}" for name in product["features"]) or "0"
    head = f".key = {quote(product['key'])}, .title = {quote(product['title'])},"
    return f"    {{{head}\n" + wrap(f"{numbers},", 5) + "\n" + wrap(f".features = {able}}},", 5)


def c_model(model, product):
    numbers = ", ".join(
        f".{key} = {model[key] or 0}" for key in ("arch", "ai_cores", "cube_cores", "vector_cores", "ai_cpus")
    )
    sizes = ", ".join(f".{key} = UINT64_C({model[key] or 0})" for key in ("hbm_bytes", "l2_bytes"))
    return (
        f"    {{.name = {quote(model['name'])}, .product = {product}, .short_name = {quote(model['short_name'])},\n"
        f"     {numbers},\n     {sizes}}},"
    )


def error_names(api):
    lines = "\n".join(f"E({e['code']}, {e['name']}, {quote(e['meaning'])})" for e in api.codes())
    return f"""{comment("One line per error code: E(code, name, meaning). Define E before the include.", MARK)}
{lines}
"""


# ---------------------------------------------------------------------------------------------------------------------
# The C test of the ABI


def test_abi(api):
    top = comment(
        "Compares the headers with the data, assertion by assertion, as C11 and as C++. Nothing is linked: the "
        "functions are only looked at. Prints how many assertions held.",
        MARK,
    )
    checks = [
        line
        for source in (abi_macros, abi_errors, abi_typedefs, abi_enums, abi_structs, abi_functions)
        for line in source(api)
    ]
    constants = [e for e in api.errors if e["form"] == "const"]
    runtime = "\n".join(f"    failures += {e['name']} != {e['code']};" for e in constants)
    return f"""{top}
#include <stdio.h>

#include "acl/acl.h"

#ifdef __cplusplus
#include <type_traits>
#define ALIGN_OF(type) alignof(type)
#define CHECK(condition) static_assert(condition, #condition)
#define CHECK_TYPE(expression, ...) static_assert(std::is_same<decltype(expression), __VA_ARGS__>::value, #expression)
#else
#define ALIGN_OF(type) _Alignof(type)
#define CHECK(condition) _Static_assert(condition, #condition)
#define CHECK_TYPE(expression, ...) _Static_assert(_Generic((expression), __VA_ARGS__: 1, default: 0), #expression)
#endif
#define CHECK_FIELD(type, field, at, bytes) \\
    CHECK(offsetof(type, field) == (at));   \\
    CHECK(sizeof(((type *)0)->field) == (bytes))

{chr(10).join(checks)}

int main(void)
{{
    int failures = 0;

    /* C does not count a `static const int` as a constant expression, so these wait until now. */
{runtime}
    printf("%d assertions\\n", {len(checks) + sum("CHECK_FIELD" in c for c in checks) + len(constants)});
    return failures == 0 ? 0 : 1;
}}
"""


def abi_macros(api):
    for macro in api.macros:
        yield f"CHECK({macro['name']} == {macro['value']});"
        yield f"CHECK(sizeof({macro['name']}) == {macro['size']});"


def abi_errors(api):
    return [f"CHECK({e['name']} == {e['code']});" for e in api.errors if e["form"] == "macro"]


def abi_typedefs(api):
    return [f"CHECK(sizeof({t['name']}) == {t['size']});" for t in api.typedefs]


def abi_enums(api):
    for enum in api.enums:
        tag = "" if enum["typedef"] else "enum "
        yield f"CHECK(sizeof({tag}{enum['name']}) == {enum['size']});"
        yield from (f"CHECK({value['name']} == {value['value']});" for value in enum["values"])


def abi_structs(api):
    for struct in api.structs:
        name = struct["name"] if struct["typedef"] else f"{struct['kind']} {struct['tag']}"
        if struct["opaque"]:
            yield f"CHECK(sizeof({name} *) == sizeof(void *));"
            continue
        yield f"CHECK(sizeof({name}) == {struct['size']});"
        yield f"CHECK(ALIGN_OF({name}) == {struct['align']});"
        yield from abi_fields(name, struct["fields"])


def abi_fields(struct, fields, base=0, path=""):
    for field in fields:
        inside = path
        if field["name"]:
            yield f"CHECK_FIELD({struct}, {path}{field['name']}, {base + field['offset']}, {field['size']});"
            inside = f"{path}{field['name']}."
        yield from abi_fields(struct, field.get("fields", []), base + field["offset"], inside)


def abi_functions(api):
    for function in api.functions:
        yield f"CHECK_TYPE(&{function['name']}, {pointer_type(function, '', parameters(function, with_names=False))});"
