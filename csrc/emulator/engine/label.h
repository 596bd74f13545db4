/* Labels: places in the streams of a built model to which a task can jump, by an index that it reads when it runs. */
#ifndef EMU_LABEL_H
#define EMU_LABEL_H

#include "engine/model.h"

typedef struct Label {
    void *handle;
    _Atomic(uint32_t) references; /* the handle, and lists */
    Context *context;
    bool listed;         /* is in a list: it can be set from then on. Under label.c's lock, like what follows */
    Program *program;    /* where it is set, or NULL */
    uint32_t position;
    struct Label *next;  /* in the list of all */
} Label;

typedef struct LabelList {
    void *handle;
    _Atomic(uint32_t) references; /* the handle, and tasks */
    uint32_t count;
    Label *labels[];
} LabelList;

aclError label_create(Context *context, Label **label, const char *api);
aclError label_find(const char *api, aclrtLabel handle, Label **label);
void label_destroy(Label *label);
/* At the next task of the stream. 507000: not listed, set already, or of another stream. */
aclError label_set(Label *label, Stream *stream, const char *api);

aclError label_list_create(Label **labels, uint32_t count, LabelList **list, const char *api);
aclError label_list_find(const char *api, aclrtLabelList handle, LabelList **list);
void label_list_destroy(LabelList *list);
/* A task that jumps to the label of the index at `index`; from `limit` on, to the last one. */
aclError label_switch(Stream *stream, const uint32_t *index, uint32_t limit, LabelList *list, const char *api);

/* The tasks of the program are gone: its labels are set nowhere. */
void label_forget(const Program *program);

#endif
