/* The function table: one pointer per API function, filled once from one library. Before that every entry loads the
 * library and forwards; an entry that the library lacks reports an internal code. So a call costs one load more than C,
 * asks no question, and importing touches nothing. */
#ifndef PYACL_LOAD_H
#define PYACL_LOAD_H

#include "acl/acl.h"
#include "table.h"

/* Internal codes, which no runtime returns. */
enum {
    PYACL_NO_RUNTIME = -1,      /* no library could be loaded; pyacl_runtime()->reason says why */
    PYACL_ABSENT_FUNCTION = -2, /* the loaded library has no such function */
};

enum { PYACL_TEXT = 1024, PYACL_CANDIDATES = 2048 };

typedef struct PyaclRuntime {
    const char *kind; /* "cann", "emulator", or NULL before loading and after a failed load */
    int asked_for;    /* the environment named the emulator: nothing to warn about */
    char path[PYACL_TEXT];
    char reason[PYACL_TEXT];          /* one sentence: what was chosen and why, or what was looked for in vain */
    char candidates[PYACL_CANDIDATES]; /* a line each: path, and why it was refused or taken */
} PyaclRuntime;

extern AclTable *pyacl_table;

/* Gives the table its storage and fills it with the entries that load. */
void pyacl_bind(AclTable *table, const char *emulator_path, void (*loaded)(void));
/* Chooses and loads the library, once; later calls return at once. Called by every entry on first use. */
void pyacl_load(void);
/* What an absent function answers; `pyacl_absent_name` then names it. */
aclError pyacl_absent(int index);
const char *pyacl_absent_name(void);
const PyaclRuntime *pyacl_runtime(void);

#endif
