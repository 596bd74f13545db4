/* The emulator's own control calls (pyacl/emulator.h). */
#include "pyacl/emulator.h"

#include "api/api.h"

aclError pyaclEmuConfigure(const char *soc, uint32_t devices) {
    if (context_live_count() != 0) { return ACL_ERROR_REPEAT_INITIALIZE; }
    if (soc != NULL && !soc_choose(soc)) { return emu_invalid(__func__, "no SoC or product of that name"); }
    if (devices != 0) { soc_set_device_count(devices); }
    return ACL_SUCCESS;
}

typedef struct Attention {
    int32_t stream_id, fail_code;
    Device *device;
    uint32_t reason;
    bool on, found;
} Attention;

static void attend_one(Stream *stream, void *argument) {
    Attention *attention = argument;
    if (stream->id != attention->stream_id) { return; }
    if (attention->device != NULL && stream->context->device != attention->device) { return; }
    attention->found = true;
    if (attention->reason == ATTENTION_FAIL_NEXT) { atomic_store(&stream->fail_next, attention->fail_code); }
    stream_attend(stream, attention->reason, attention->on);
}

/* Stream ids are per device: the calling thread's device, or every device from a thread that has none. */
static aclError attend_by_id(const char *api, Attention attention) {
    Context *context = context_peek();
    attention.device = context == NULL ? NULL : context->device;
    stream_for_each(attend_one, &attention);
    return attention.found ? ACL_SUCCESS : emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "no stream %d", attention.stream_id);
}

aclError pyaclEmuHoldStream(int32_t streamId, int32_t on) {
    if (streamId == -1) {
        stream_hold_all(on != 0);
        return ACL_SUCCESS;
    }
    return attend_by_id(__func__, (Attention){.stream_id = streamId, .reason = ATTENTION_HELD, .on = on != 0});
}

aclError pyaclEmuFailNextTask(int32_t streamId, int32_t code) {
    if (code <= 0) { return emu_invalid(__func__, "code is no device error"); }
    return attend_by_id(__func__, (Attention){.stream_id = streamId, .fail_code = code, .reason = ATTENTION_FAIL_NEXT,
                                              .on = true});
}

aclError pyaclEmuEnableStreamQueue(int32_t streamId, int32_t on) {
    return attend_by_id(__func__, (Attention){.stream_id = streamId, .reason = ATTENTION_QUEUE_OFF, .on = on == 0});
}

aclError pyaclEmuFailCall(const char *api, uint32_t nth, aclError code) {
    if (api == NULL) { return emu_invalid(__func__, "api is NULL"); }
    faults_arm(api, nth, code);
    return ACL_SUCCESS;
}
