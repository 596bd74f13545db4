/* Events that a captured model shares with others (record and wait with the EXTERNAL flag): each execution is bound to
 * records of its own when it is submitted, so that the order of the submitting calls decides who waits for whom. */
#ifndef EMU_EXTERNAL_H
#define EMU_EXTERNAL_H

#include "engine/execution.h"

typedef struct External {
    Node *node; /* of the record, or of the wait */
    bool is_record;
    struct External *next;
} External;

/* Under the submit lock of a capturing stream. False without memory. */
bool external_add(Model *model, Node *node, bool is_record);
void external_forget(Model *model);

/* At the submission. False without memory. */
bool external_bind(Execution *execution);
/* At the beginning and at the end. */
void external_arm(Execution *execution);
void external_finish(Execution *execution);

#endif
