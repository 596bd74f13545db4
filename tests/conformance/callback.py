"""Chapters 12 and 13: report threads, host functions, exceptions, operator timeouts."""

from conformance import language

GETTERS = ("TaskId", "StreamId", "ThreadId", "DeviceId", "ErrorCode")

ROWS = language.rows(
    __name__,
    "\n".join(f"10.3 | aclrtGet{what}FromExceptionInfo of NULL | aclrtGet{what}FromExceptionInfo(NULL) -> 0xFFFFFFFF" for what in GETTERS)
    + """

# ---- host functions ----
c41          | LaunchHostFunc: good, NULL function | aclrtLaunchHostFunc(s, on.a, 5) -> 0; aclrtLaunchHostFunc(s, NULL, 5) -> 107000; aclrtSynchronizeStream(s) -> 0; log() -> "a(5)"
10.2         | LaunchHostFunc: the default stream | aclrtLaunchHostFunc(NULL, on.a, 6) -> 0; aclrtSynchronizeStream(NULL) -> 0; log() -> "a(6)"
10.2         | LaunchHostFunc: a stale stream, another context, no context | aclrtLaunchHostFunc(dead, on.a, 5) -> 107017; aclrtLaunchHostFunc(o, on.a, 5) -> 107003; B: aclrtLaunchHostFunc(s, on.a, 5) -> 107002
10.2         | host functions run in the order of their stream | hold(s); aclrtLaunchHostFunc(s, on.a, 1); aclrtLaunchHostFunc(s, on.b, 2); aclrtLaunchHostFunc(s, on.a, 3); log() -> ""; release(s);
             | aclrtSynchronizeStream(s); log() -> "a(1) b(2) a(3)"
10.2         | host functions come behind what is queued | hold(s); launch(k_add_one, s, d); aclrtLaunchHostFunc(s, on.a, 1); release(s); aclrtSynchronizeStream(s); device(d, 1) -> b"\\1"; log() -> "a(1)"

# ---- report threads ----
c41          | a stream with host functions takes no subscription
             | aclrtLaunchHostFunc(s, on.a, 5); aclrtSynchronizeStream(s); aclrtSubscribeReport(77, s) -> 107011; aclrtUnSubscribeReport(77, s) -> 107011; aclrtLaunchCallback(on.a, 1, 0, s) -> 107011
v66          | LaunchHostFunc then SubscribeReport | aclrtLaunchHostFunc(s, on.a, 5); aclrtSubscribeReport(77, s) -> 107011; aclrtSynchronizeStream(s)
c41          | LaunchCallback: block type 5 | aclrtLaunchCallback(on.a, 1, 5, s) -> 100000
v64          | LaunchCallback: NULL function, no subscription | aclrtLaunchCallback(NULL, 1, 0, s) -> 107000; aclrtLaunchCallback(on.a, 1, 0, s) -> 107015
10.1         | LaunchCallback: a bad block type comes before NULL | aclrtLaunchCallback(NULL, 1, 5, s) -> 100000
10.1         | LaunchCallback: another context, stale, no context | aclrtLaunchCallback(on.a, 1, 0, o) -> 107003; aclrtLaunchCallback(on.a, 1, 0, dead) -> 107017; B: aclrtLaunchCallback(on.a, 1, 0, s) -> 107002
v63          | ProcessReport: 0, -2 | aclrtProcessReport(0) -> 100000; aclrtProcessReport(-2) -> 100000
v63          | ProcessReport in a thread never subscribed | aclrtProcessReport(10) -> 107012
v65          | SubscribeReport twice | aclrtSubscribeReport(77, s) -> 0; aclrtSubscribeReport(77, s) -> 107011; aclrtSubscribeReport(78, s) -> 107011; aclrtUnSubscribeReport(77, s) -> 0
c41          | SubscribeReport: the default stream | aclrtSubscribeReport(77, NULL) -> 0; aclrtUnSubscribeReport(77, NULL) -> 0
10.1         | SubscribeReport: one thread, many streams | aclrtSubscribeReport(77, s) -> 0; aclrtSubscribeReport(77, s2) -> 0; aclrtUnSubscribeReport(77, s); aclrtUnSubscribeReport(77, s2)
10.1         | SubscribeReport: another context's stream | aclrtSubscribeReport(77, o) -> 0; aclrtUnSubscribeReport(77, o) -> 0
10.1         | SubscribeReport: a stale stream | aclrtSubscribeReport(77, dead) -> 107017; aclrtUnSubscribeReport(77, dead) -> 107017
10.1         | UnSubscribeReport: another thread, not subscribed | aclrtSubscribeReport(77, s); aclrtUnSubscribeReport(78, s) -> 107012; aclrtUnSubscribeReport(77, s) -> 0; aclrtUnSubscribeReport(77, s) -> 107011
10.1         | a subscribed stream takes no host function | aclrtSubscribeReport(77, s); aclrtLaunchHostFunc(s, on.a, 1) -> 107011; aclrtUnSubscribeReport(77, s)
10.1         | callbacks run in the thread that reports | aclrtSubscribeReport(this_thread(), s); aclrtLaunchCallback(on.a, 4, 1, s) -> 0; log() -> ""; aclrtProcessReport(5000) -> 0; log() -> "a(4)";
             | aclrtSynchronizeStream(s) -> 0; aclrtProcessReport(10) -> 507012 after 8; aclrtUnSubscribeReport(this_thread(), s) -> 0
10.1         | a blocking callback holds its stream | aclrtSubscribeReport(this_thread(), s); aclrtLaunchCallback(on.a, 4, 1, s); aclrtMemsetAsync(d, 8, 1, 8, s); aclrtSynchronizeStreamWithTimeout(s, 30) -> 507046;
             | aclrtProcessReport(5000); aclrtSynchronizeStream(s) -> 0; aclrtUnSubscribeReport(this_thread(), s)

# ---- exceptions ----
10.3         | ExceptionInfoCallbackRegister: NULL | aclrtExceptionInfoCallbackRegister(NULL) -> 107000
10.3 fresh   | exception callback: one slot, cleared by NULL | aclrtSetExceptionInfoCallback(on.a) -> 0; launch(k_fail, s, 507015); aclrtSynchronizeStream(s) -> 507015; log() -> "a()"; aclrtSetExceptionInfoCallback(NULL) -> 0;
             | launch(k_fail, s, 507015); aclrtSynchronizeStream(s) -> 507015; log() -> ""
10.3 fresh   | exception callback: registered twice it counts once | aclrtExceptionInfoCallbackRegister(on.a); aclrtExceptionInfoCallbackRegister(on.a); launch(k_fail, s, 507035); aclrtSynchronizeStream(s) -> 507035; log() -> "a()"
10.3 fresh   | exception callback: not for overflows | aclrtSetExceptionInfoCallback(on.a); launch(k_overflow, s); aclrtSynchronizeStream(s) -> 207003; log() -> ""
10.3         | BinarySetExceptionCallback: NULL | aclrtBinarySetExceptionCallback(NULL, on.a, NULL) -> 100000; aclrtBinarySetExceptionCallback(bin, NULL, NULL) -> 100000
10.3         | BinarySetExceptionCallback | aclrtBinarySetExceptionCallback(bin, on.a, 3) -> 0; launch(k_fail, s, 507035); aclrtSynchronizeStream(s) -> 507035; log() -> "a(3)"

# ---- timeouts of operators ----
12.8         | SetOpExecuteTimeOutV2: NULL | aclrtSetOpExecuteTimeOutV2(1000, NULL) -> 100000
12.8 fresh   | SetOpExecuteTimeOutV2 tells what it came to | aclrtSetOpExecuteTimeOutV2(1000000, u64) -> 0, above(999999)
12.8 fresh   | SetOpExecuteTimeOut, SetOpWaitTimeout | aclrtSetOpExecuteTimeOut(5) -> 0; aclrtSetOpWaitTimeout(0) -> 0
12.8 fresh   | a kernel that outlives its time fails | aclrtSetOpExecuteTimeOutV2(20000, u64) -> 0, _; launch(k_wait_flag, s, d); aclrtSynchronizeStreamWithTimeout(s, 10000) -> one_of(507014, 507034)
""",
)
