/* Errors as the caller sees them: the thread's last error, and the text that aclGetRecentErrMsg hands out.
 * Every failing call passes through one of these; success passes through none. */
#ifndef EMU_ERROR_H
#define EMU_ERROR_H

#include "acl/acl.h"

/* The acl layer refuses an argument: 100000, which never becomes the last error. */
aclError emu_invalid(const char *api, const char *what);

/* The runtime layer fails with `code`, which becomes the thread's last error (a few codes do not: see error.c). */
aclError emu_fail(aclError code, const char *api, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As emu_fail, without touching the last error. */
aclError emu_fail_unrecorded(aclError code, const char *api, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The function is part of the API but not of this emulator: 207000. */
aclError emu_unsupported(const char *api);

const char *emu_error_name(aclError code);
const char *emu_error_meaning(aclError code);

#define INVALID(what) emu_invalid(__func__, (what))
#define FAIL(code, ...) emu_fail((code), __func__, __VA_ARGS__)

/* Returns from the calling API function with the code of `expression` unless it is 0. */
#define TRY(expression)                            \
    do {                                           \
        aclError try_code_ = (expression);         \
        if (try_code_ != ACL_SUCCESS) { return try_code_; } \
    } while (0)
#define REQUIRE(pointer)                                              \
    do {                                                              \
        if ((pointer) == NULL) { return INVALID(#pointer " is NULL"); } \
    } while (0)

#endif
