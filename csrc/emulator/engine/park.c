/* Lists of parked streams: see park.h. */
#include "engine/park.h"

void park_add(ParkList *list, Stream *stream) {
    if (stream->is_parked) { return; }
    Stream **link = &list->first;
    while (*link != NULL) { link = &(*link)->parked_next; }
    stream->parked_next = NULL;
    stream->is_parked = true;
    *link = stream;
}

void park_remove(ParkList *list, Stream *stream) {
    if (!stream->is_parked) { return; }
    Stream **link = &list->first;
    while (*link != NULL && *link != stream) { link = &(*link)->parked_next; }
    if (*link == NULL) { return; }
    *link = stream->parked_next;
    stream->is_parked = false;
}

void park_wake_first(const ParkList *list) {
    if (list->first != NULL) { stream_unpark(list->first); }
}

void park_wake_all(const ParkList *list) {
    for (Stream *stream = list->first; stream != NULL; stream = stream->parked_next) { stream_unpark(stream); }
}
