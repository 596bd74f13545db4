/* Chapter 13, what went wrong last on this thread. The last error and the recent message live apart: reading one
 * leaves the other. */
#include <string.h>

#include "api/api.h"

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
    if (level != ACL_RT_THREAD_LEVEL) { return INVALID("level is not ACL_RT_THREAD_LEVEL"); }
    return emu_thread.last_error;
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
    if (level != ACL_RT_THREAD_LEVEL) { return INVALID("level is not ACL_RT_THREAD_LEVEL"); }
    aclError last = emu_thread.last_error;
    emu_thread.last_error = ACL_SUCCESS;
    return last;
}

const char *aclGetRecentErrMsg(void) {
    if (!emu_thread.message_pending) { return NULL; }
    emu_thread.message_pending = false;
    return strcpy(emu_thread.shown, emu_thread.message);
}
