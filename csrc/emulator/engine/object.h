/* What a loaded shared object itself defines. dlsym would also find what its libraries define. */
#ifndef EMU_OBJECT_H
#define EMU_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ObjectSymbol {
    const char *name;
    void *address;
    size_t bytes;
    bool is_function; /* else a variable */
} ObjectSymbol;

typedef bool (*ObjectMatch)(const ObjectSymbol *symbol, const void *subject);

/* The first exported function or variable that matches. `object` is dlopen's. */
bool object_find(void *object, ObjectMatch match, const void *subject, ObjectSymbol *found);
bool object_find_name(void *object, const char *name, ObjectSymbol *found);

/* Where the object is mapped. */
void object_extent(void *object, void **base, size_t *bytes);

#endif
