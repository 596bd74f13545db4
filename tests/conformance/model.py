"""Chapter 15, models that are built: streams bound to them, tasks recorded, executed."""

from conformance import language

ROWS = language.rows(
    __name__,
    """
c50          | BuildBegin: NULL, flag 1 | aclmdlRIBuildBegin(NULL, 0) -> 100000; aclmdlRIBuildBegin(new.q, 1) -> 107000
12.1         | BuildBegin without context | B: aclmdlRIBuildBegin(new.q, 0) -> 107002
c50          | name and id | aclmdlRIGetId(m, u32) -> 0, _; aclmdlRISetName(m, b"x") -> 0; aclmdlRIGetName(m, 64, text(64)) -> 0, b"x"
12.1         | GetName: too short | aclmdlRISetName(m, b"abc"); aclmdlRIGetName(m, 0, text(64)) -> 107000; aclmdlRIGetName(m, 3, text(64)) -> 107000; aclmdlRIGetName(m, 4, text(64)) -> 0, b"abc"
c50          | BindStream: an ordinary stream | aclmdlRIBindStream(m, s, 0) -> 107000
c50          | BindStream: head, and once more | aclmdlRIBindStream(m, p, 0) -> 0; aclmdlRIBindStream(m, p, 0) -> 107005; aclmdlRIUnbindStream(m, p) -> 0
v77          | BindStream: flags 1 and 7, and DEFAULT
             | aclmdlRIBindStream(m, p, 1) -> 107000; aclmdlRIBindStream(m, p, 7) -> 107000; aclmdlRIBindStream(m, p, 0x7FFFFFFF) -> 0; aclmdlRIUnbindStream(m, p) -> 0
c50          | BindStream: NULL | aclmdlRIBindStream(NULL, p, 0) -> 100000; aclmdlRIBindStream(m, NULL, 0) -> 207000 @CONTROL_SQ else 107000
v77b         | BindStream: PERSISTENT with FAST_LAUNCH | aclrtCreateStreamWithConfig(new.t, 0, 7); aclmdlRIBindStream(m, t, 0x7FFFFFFF) -> 207000
12.1         | BindStream: STOP failure mode | aclrtSetStreamFailureMode(p, 1); aclmdlRIBindStream(m, p, 0) -> 207000
12.1         | BindStream: stale | aclmdlRIBindStream(m, dead, 0) -> 107017; aclmdlRIBindStream(s, p, 0) -> 107017
c50          | a bound stream: events, copies, queries
             | aclmdlRIBindStream(m, p, 0); aclrtRecordEvent(e, p) -> 207000; aclrtMemcpyAsync(d, 32, d2, 32, 3, p) -> 0; aclrtStreamQuery(p, i32) -> 0, 0; aclrtSynchronizeStream(p) -> 0;
             | aclmdlRIUnbindStream(m, p)
c50 @STREAM_ABORT | a bound stream: abort, stop, clean | aclmdlRIBindStream(m, p, 0); aclrtStreamAbort(p) -> 507000; aclrtStreamStop(p) -> 507000; aclrtPersistentTaskClean(p) -> 507000; aclmdlRIUnbindStream(m, p)
v78          | a bound stream cannot be destroyed | aclmdlRIBindStream(m, p, 0); aclrtDestroyStream(p) -> 107005; aclrtDestroyStreamForce(p) -> 107005; aclmdlRIUnbindStream(m, p)
c8e          | a bound stream: failure mode, timeouts
             | aclmdlRIBindStream(m, p, 0); aclrtSetStreamFailureMode(p, 1) -> 207000; aclrtSynchronizeStreamWithTimeout(p, 0) -> 107000; aclrtSynchronizeStreamWithTimeout(p, -2) -> 107000;
             | aclmdlRIUnbindStream(m, p)
c50          | EndTask: not bound, twice | aclmdlRIBindStream(m, p, 0); aclmdlRIEndTask(m, s) -> 507000; aclmdlRIEndTask(m, p) -> 0; aclmdlRIEndTask(m, p) -> 507000; aclmdlRIUnbindStream(m, p)
c50          | BuildEnd: reserve, good, twice | aclmdlRIBindStream(m, p, 0); aclmdlRIEndTask(m, p); aclmdlRIBuildEnd(m, 4) -> 100000; aclmdlRIBuildEnd(m, NULL) -> 0; aclmdlRIBuildEnd(m, NULL) -> 0; aclmdlRIUnbindStream(m, p)
c50          | UnbindStream: not bound | aclmdlRIUnbindStream(m, s) -> 107005; aclmdlRIUnbindStream(m, p) -> 107005
c50          | Execute: timeouts | aclmdlRIBindStream(m, p, 0); aclmdlRIEndTask(m, p); aclmdlRIBuildEnd(m, NULL); aclmdlRIExecute(m, 0) -> 107000; aclmdlRIExecute(m, -2) -> 107000; aclmdlRIUnbindStream(m, p)
12.1         | Execute without EndTask | aclmdlRIBindStream(m, p, 0); aclmdlRIExecute(m, -1) -> 507011; aclmdlRIUnbindStream(m, p)
c50          | Destroy: NULL, twice | aclmdlRIBuildBegin(new.q, 0); aclmdlRIDestroy(q) -> 0; aclmdlRIDestroy(q) -> 107017; aclmdlRIDestroy(NULL) -> 100000
v41 nocann   | a full bound stream gives its own code
             | aclmdlRIBindStream(m, p, 0); repeat(PERSISTENT_QUEUE + 100, "aclrtMemcpyAsync", d, 32, d2, 32, 3, p) -> 507002; aclmdlRIUnbindStream(m, p)
""",
)
