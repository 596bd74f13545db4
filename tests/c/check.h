/* What every C test starts from. A test is a main() that returns 0, or prints the line that failed and ends with 1.
 * Build it against the emulator's libascendcl.so; run it with the sample kernels' shared object as argument. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acl/acl.h"

/* _exit: other threads of the test may still be at work, and must not turn a failure into a hang. */
#define CHECK(expression)                                                        \
    do {                                                                         \
        if (!(expression)) {                                                     \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #expression);     \
            _exit(1);                                                            \
        }                                                                        \
    } while (0)

#define EXPECT(code, call)                                                                                       \
    do {                                                                                                         \
        int got_ = (int)(call);                                                                                  \
        if (got_ != (int)(code)) {                                                                               \
            const char *why_ = aclGetRecentErrMsg();                                                             \
            fprintf(stderr, "%s:%d: %s gave %d, not %d: %s\n", __FILE__, __LINE__, #call, got_, (int)(code),     \
                    why_ == NULL ? "" : why_);                                                                   \
            _exit(1);                                                                                            \
        }                                                                                                        \
    } while (0)

static const char *kernel_file;

/* First line of main: a test that hangs ends after `seconds`. */
static inline void guard(int argc, char **argv, unsigned seconds) {
    alarm(seconds);
    kernel_file = argc > 1 ? argv[1] : getenv("ACL_KERNEL");
}

/* Path of the sample kernels. */
static inline const char *kernels(void) {
    CHECK(kernel_file != NULL);
    return kernel_file;
}

#endif
