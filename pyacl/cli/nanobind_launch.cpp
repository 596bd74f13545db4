// A launch as a careful author would bind it with nanobind: the values packed on the stack, one C call, the GIL released.
// Compiled by `pyacl bench --suite launch` where nanobind is installed, as one of the bindings to compare with.
#include <cstdint>
#include <utility>

#include <nanobind/nanobind.h>

namespace nb = nanobind;

using LaunchFn = int (*)(void *, uint32_t, void *, void *, void *, size_t, void *, size_t);

struct Launcher {
    LaunchFn launch;
    void *function, *stream;
    bool release;
};

template <size_t> using Value = uint64_t;

template <size_t... I>
static void launch(const Launcher &self, Value<I>... values) {
    uint64_t packed[sizeof...(I) + 1] = {values...};
    size_t bytes = 8 * (sizeof...(I) > 0 ? sizeof...(I) : 1);
    int code;
    if (self.release) {
        nb::gil_scoped_release released;
        code = self.launch(self.function, 1, self.stream, nullptr, packed, bytes, nullptr, 0);
    } else {
        code = self.launch(self.function, 1, self.stream, nullptr, packed, bytes, nullptr, 0);
    }
    if (code != 0) { throw std::runtime_error("launch failed"); }
}

template <size_t... I>
static void define(nb::class_<Launcher> &type, const char *name, std::index_sequence<I...>) {
    type.def(name, &launch<I...>);
}

NB_MODULE(pyacl_nanobind_launch, m) {
    auto type = nb::class_<Launcher>(m, "Launcher");
    type.def("__init__", [](Launcher *self, uintptr_t fn, uintptr_t function, uintptr_t stream, bool release) {
        new (self) Launcher{reinterpret_cast<LaunchFn>(fn), reinterpret_cast<void *>(function),
                            reinterpret_cast<void *>(stream), release};
    });
    define(type, "launch0", std::make_index_sequence<0>());
    define(type, "launch1", std::make_index_sequence<1>());
    define(type, "launch4", std::make_index_sequence<4>());
    define(type, "launch8", std::make_index_sequence<8>());
    define(type, "launch16", std::make_index_sequence<16>());
}
