"""Chapters 08, 09 and 11-09: notifies, counting notifies, values that streams write and wait for."""

from conformance import language

INFO = "aclrtCntNotify{}Info(mode={}, value={})"


def record(mode, value):
    return f"aclrtCntNotifyRecord(c, s, {INFO.format('Record', mode, value)})"


def wait(mode, value):
    return f"aclrtCntNotifyWaitWithTimeout(c, s2, {INFO.format('Wait', mode, value)})"


def counting():
    """(how it is recorded, how it is waited for, whether that is enough)."""
    make = "aclrtCntNotifyCreate(new.c, 0)"
    for records, waits, met in (
        ([(0, 5)], (1, 5), True), ([(0, 5)], (1, 4), False), ([(0, 5)], (0, 6), True), ([(0, 5)], (0, 5), False),
        ([(0, 5)], (2, 4), True), ([(0, 5)], (2, 5), False), ([(0, 5)], (3, 5), True), ([(0, 5)], (3, 6), False),
        ([(0, 2), (1, 3)], (1, 5), True), ([(0, 4), (2, 1)], (1, 5), True), ([(0, 7), (4, 5)], (1, 5), True),
    ):  # fmt: skip
        done = "; ".join(record(*one) for one in records)
        gives = "0" if met else "507046"
        finish = "" if met else f"; {record(0, waits[1] + {0: -1, 1: 0, 2: 1, 3: 0}[waits[0]])}; aclrtSynchronizeStream(s2) -> 0"
        yield (
            f"8.2 @950 | counting: records {records}, wait {waits} | {make}; {done}; aclrtSynchronizeStream(s); {wait(*waits)};"
            f" aclrtSynchronizeStreamWithTimeout(s2, 30) -> {gives}{finish}; aclrtCntNotifyDestroy(c)"
        )


def values():
    """(in memory, waited for, flag, whether that is enough): 0 at least, 1 equal, 2 and, 3 nor."""
    for memory, wanted, flag, met in (
        (5, 5, 0, True), (6, 5, 0, True), (4, 5, 0, False), (2**63, 2**63 - 1, 0, True), (0, 2**64 - 1, 0, True), (5, 5, 1, True), (6, 5, 1, False),
        (6, 2, 2, True), (4, 2, 2, False), (4, 2, 3, True), (2**64 - 1, 2**64 - 2, 3, False),
    ):  # fmt: skip
        gives = "0" if met else "507046"
        free = "" if met else f"; aclrtValueWrite(d, {0 if flag == 3 else wanted}, 0, s); aclrtSynchronizeStream(s2) -> 0"
        yield (
            f"8.3 @VALUE_OPS | value {memory:#x}, waited for {wanted:#x} with flag {flag} | aclrtValueWrite(d, {memory}, 0, s); aclrtSynchronizeStream(s);"
            f" aclrtValueWait(d, {wanted}, {flag}, s2); aclrtSynchronizeStreamWithTimeout(s2, 30) -> {gives}{free}"
        )


ROWS = language.rows(
    __name__,
    "\n".join([*counting(), *values()])
    + """

# ---- notifies ----
8.1          | CreateNotify: NULL, flags | aclrtCreateNotify(NULL, 0) -> 100000; aclrtCreateNotify(new.c, 1) -> 0; aclrtCreateNotify(new.c, 2) -> 107000; aclrtCreateNotify(new.c, 1 << 32) -> 107000
8.1          | CreateNotify without context | B: aclrtCreateNotify(new.c, 0) -> 107002; B: aclrtCreateNotify(new.c, 2) -> 107000
8.1          | notifies: NULL | aclrtDestroyNotify(NULL) -> 100000; aclrtRecordNotify(NULL, s) -> 100000; aclrtWaitAndResetNotify(NULL, s, 0) -> 100000; aclrtGetNotifyId(NULL, u32) -> 100000
8.1          | GetNotifyId | aclrtGetNotifyId(n, u32) -> 0, _; aclrtGetNotifyId(n, NULL) -> 100000
8.1          | notifies: stale | aclrtDestroyNotify(dead_n) -> 107017; aclrtRecordNotify(dead_n, s) -> 107017; aclrtWaitAndResetNotify(dead_n, s, 0) -> 107017; aclrtGetNotifyId(dead_n, u32) -> 107017, kept
1.1          | an event is no notify | aclrtDestroyNotify(e) -> 107017; aclrtRecordNotify(e, s) -> 107017
8.1          | notifies: stale streams | aclrtRecordNotify(n, dead) -> 107017; aclrtWaitAndResetNotify(n, dead, 0) -> 107017
8.1          | notifies: another context, no context | aclrtRecordNotify(n, o) -> 107003; aclrtWaitAndResetNotify(n, o, 0) -> 107003; B: aclrtRecordNotify(n, s) -> 107002; B: aclrtWaitAndResetNotify(n, s, 0) -> 107002
8.1          | notifies: the default stream | aclrtRecordNotify(n, NULL) -> 0; aclrtWaitAndResetNotify(n, NULL, 0) -> 0; aclrtSynchronizeStream(NULL) -> 0
8.1          | a record before the wait is kept | aclrtRecordNotify(n, s); aclrtSynchronizeStream(s); aclrtWaitAndResetNotify(n, s2, 0); aclrtSynchronizeStream(s2) -> 0
v54          | two records, one of them is lost | aclrtRecordNotify(n, s); aclrtRecordNotify(n, s); aclrtSynchronizeStream(s); aclrtWaitAndResetNotify(n, s2, 0); aclrtWaitAndResetNotify(n, s2, 0);
             | aclrtSynchronizeStreamWithTimeout(s2, 30) -> 507046; aclrtRecordNotify(n, s); aclrtSynchronizeStream(s2) -> 0
8.1          | 0xffffffff seconds are for ever | aclrtWaitAndResetNotify(n, s, 0xFFFFFFFF); aclrtSynchronizeStreamWithTimeout(s, 20) -> 507046; aclrtRecordNotify(n, s2); aclrtSynchronizeStream(s) -> 0
8.1          | a wait that times out fails its stream | aclrtWaitAndResetNotify(n, s, 1); aclrtSynchronizeStreamWithTimeout(s, 10000) -> above(0) after 900
8.1          | NotifyBatchReset: NULL, 0 | aclrtNotifyBatchReset(NULL, 1) -> 100000; aclrtNotifyBatchReset([n], 0) -> 107000
8.1          | NotifyBatchReset | aclrtNotifyBatchReset([n, n2], 2) -> 0 @NOTIFY_RESET else 207000
8.1 @NOTIFY_RESET | NotifyBatchReset takes the record away | aclrtRecordNotify(n, s); aclrtSynchronizeStream(s); aclrtNotifyBatchReset([n], 1); aclrtWaitAndResetNotify(n, s2, 0); aclrtSynchronizeStreamWithTimeout(s2, 20) -> 507046;
             | aclrtRecordNotify(n, s); aclrtSynchronizeStream(s2) -> 0
8.1          | export: NULL | aclrtNotifyGetExportKey(NULL, b, 65, 0) -> 100000; aclrtNotifyGetExportKey(n, NULL, 65, 0) -> 100000
8.1 @IPC     | export: no room, flags | aclrtNotifyGetExportKey(n, b, 0, 0) -> 107000; aclrtNotifyGetExportKey(n, b, 65, 1) -> 107000; aclrtNotifyGetExportKey(n, b, 65, 2) -> 0
8.1 @310B    | export: no notifies between processes | aclrtNotifyGetExportKey(n, b, 65, 0) -> 207000
8.1          | import: NULL | aclrtNotifyImportByKey(NULL, b"x", 0) -> 100000; aclrtNotifyImportByKey(new.c, NULL, 0) -> 100000
8.1 @IPC     | import: flags | aclrtNotifyImportByKey(new.c, b"x", 1) -> 107000
8.1 fresh nocann | the notify behind the last one | repeat(NOTIFIES, "aclrtCreateNotify", new.c, 0) -> 0; aclrtCreateNotify(new.q, 0) -> 207009

# ---- counting notifies: 950 only ----
8.2          | CntNotifyCreate: NULL | aclrtCntNotifyCreate(NULL, 0) -> 107000
8.2          | CntNotifyCreate | aclrtCntNotifyCreate(new.c, 0) -> 0 @950 else 207000
8.2 @950     | counting notifies: NULL | aclrtCntNotifyCreate(new.c, 0); aclrtCntNotifyRecord(c, s, NULL) -> 100000; aclrtCntNotifyWaitWithTimeout(c, s, NULL) -> 100000; aclrtCntNotifyGetId(c, NULL) -> 100000; aclrtCntNotifyDestroy(c) -> 0
8.2 @950     | counting notifies: unknown modes | aclrtCntNotifyCreate(new.c, 0); aclrtCntNotifyRecord(c, s, aclrtCntNotifyRecordInfo(mode=3)) -> 107000; aclrtCntNotifyWaitWithTimeout(c, s, aclrtCntNotifyWaitInfo(mode=5)) -> 107000
8.2 @950     | counting notifies: destroyed | aclrtCntNotifyCreate(new.c, 0); aclrtCntNotifyDestroy(c); aclrtCntNotifyDestroy(c) -> 107017; aclrtCntNotifyReset(c, s) -> 107017

# ---- values ----
8.3          | values: NULL | aclrtValueWrite(NULL, 1, 0, s) -> 100000; aclrtValueWait(NULL, 1, 0, s) -> 100000
8.3          | values: a product without | aclrtValueWrite(d, 1, 0, s) -> 0 @VALUE_OPS else 207000; aclrtSynchronizeStream(s) -> 0
8.3 @VALUE_OPS | values: flags | aclrtValueWrite(d, 1, 1, s) -> 107000; aclrtValueWait(d, 1, 4, s) -> 107000
8.3 @VALUE_OPS | values: an odd address, host memory | aclrtValueWrite(d + 4, 1, 0, s) -> 107000; aclrtValueWrite(b, 1, 0, s) -> 107000; aclrtValueWait(d + 1, 1, 0, s) -> 107000
8.3 @VALUE_OPS | values: another context, stale, no context | aclrtValueWrite(d, 1, 0, o) -> 107003; aclrtValueWrite(d, 1, 0, dead) -> 107017; B: aclrtValueWrite(d, 1, 0, s) -> 107002
8.3 @VALUE_OPS | a written value is there | aclrtValueWrite(d, 0x0102030405060708, 0, NULL); aclrtSynchronizeStream(NULL); device(d, 8) -> b"\\10\\7\\6\\5\\4\\3\\2\\1"
""",
)
