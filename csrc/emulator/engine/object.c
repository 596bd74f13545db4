/* Reading the dynamic symbol table of a loaded object, as the ELF specification lays it out. */
#include "engine/object.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

typedef struct Table {
    const ElfW(Sym) *symbols;
    const char *names;
    size_t count;
    ElfW(Addr) base;
} Table;

/* glibc relocates the addresses in the dynamic section on most processors, not on all. */
static const void *address_in(const struct link_map *map, ElfW(Addr) value) {
    return (const void *)(value < map->l_addr ? map->l_addr + value : value);
}

/* The table itself does not say how long it is; the hash table does: its last chain ends at the last symbol. */
static size_t count_by_gnu_hash(const uint32_t *hash) {
    uint32_t buckets = hash[0], first = hash[1], bloom_words = hash[2], last = 0;
    const uint32_t *bucket = hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    for (uint32_t i = 0; i < buckets; i++) {
        if (bucket[i] > last) { last = bucket[i]; }
    }
    if (last < first) { return first; }
    while ((chain[last - first] & 1U) == 0) { last++; }
    return last + 1U;
}

static Table read_table(const struct link_map *map) {
    Table table = {.base = map->l_addr};
    const uint32_t *gnu_hash = NULL, *hash = NULL;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB: table.symbols = address_in(map, entry->d_un.d_ptr); break;
        case DT_STRTAB: table.names = address_in(map, entry->d_un.d_ptr); break;
        case DT_GNU_HASH: gnu_hash = address_in(map, entry->d_un.d_ptr); break;
        case DT_HASH: hash = address_in(map, entry->d_un.d_ptr); break;
        default: break;
        }
    }
    if (table.symbols == NULL || table.names == NULL) { return table; }
    if (hash != NULL) { table.count = hash[1]; }
    else if (gnu_hash != NULL) { table.count = count_by_gnu_hash(gnu_hash); }
    return table;
}

static bool read_symbol(const Table *table, size_t index, ObjectSymbol *symbol) {
    const ElfW(Sym) *entry = &table->symbols[index];
    unsigned type = entry->st_info & 0xFU;
    if (entry->st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_OBJECT)) { return false; }
    *symbol = (ObjectSymbol){table->names + entry->st_name, (void *)(table->base + entry->st_value), entry->st_size,
                             type == STT_FUNC};
    return true;
}

bool object_find(void *object, ObjectMatch match, const void *subject, ObjectSymbol *found) {
    struct link_map *map;
    if (dlinfo(object, RTLD_DI_LINKMAP, &map) != 0) { return false; }
    Table table = read_table(map);
    for (size_t i = 0; i < table.count; i++) {
        if (read_symbol(&table, i, found) && match(found, subject)) { return true; }
    }
    return false;
}

static bool has_name(const ObjectSymbol *symbol, const void *name) { return strcmp(symbol->name, name) == 0; }

bool object_find_name(void *object, const char *name, ObjectSymbol *found) {
    return object_find(object, has_name, name, found);
}

void object_extent(void *object, void **base, size_t *bytes) {
    struct link_map *map;
    Dl_info info;
    *base = NULL;
    *bytes = 0;
    if (dlinfo(object, RTLD_DI_LINKMAP, &map) != 0 || dladdr(map->l_ld, &info) == 0) { return; }
    const ElfW(Ehdr) *header = info.dli_fbase;
    const ElfW(Phdr) *segment = (const void *)((const char *)header + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        size_t end = segment[i].p_vaddr + segment[i].p_memsz;
        if (segment[i].p_type == PT_LOAD && end > *bytes) { *bytes = end; }
    }
    *base = info.dli_fbase;
}
