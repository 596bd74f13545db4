"""Chapter 11, memory: allocation, copies, fills, and what can be asked about an address."""

from conformance import language

KINDS = {-1: 100000, 0: 0, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 100000, 7: 100000, 8: 100000, 9: 100000}


def kinds():
    for kind, code in KINDS.items():
        yield f"c40 | Memcpy kind {kind} | aclrtMemcpy(d, 4096, h, 64, {kind}) -> {code}"
        code = 207000 if kind == 0 else code
        yield f"c40 | MemcpyAsync kind {kind} | aclrtMemcpyAsync(d, 4096, h, 64, {kind}, s) -> {code}; aclrtSynchronizeStream(s) -> 0"


def allocation():
    for function in ("aclrtMalloc", "aclrtMallocAlign32", "aclrtMallocCached"):
        yield f"9.1 | {function}: size 0 | {function}(new.q, 0, 0) -> 100000"
        yield f"9.1 | {function}: NULL | {function}(NULL, 64, 0) -> 100000"
        yield f"9.1 | {function}: NULL comes before the context | B: {function}(NULL, 64, 0) -> 100000; B: {function}(new.q, 64, 0) -> 107002"
        yield f"9.1 | {function}: a size that overflows | {function}(new.q, 0xFFFFFFFFFFFFFFFF, 0) -> 100000"
        yield f"c40 | {function}: 1 TiB | {function}(new.q, 1 << 40, 0) -> 207001"
        for size in (1, 31, 32, 33, 4096):
            yield f"9.1 | {function} of {size} bytes | {function}(new.q, {size}, 0) -> 0; aclrtMemset(q, {size}, 1, {size}) -> 0; aclrtFree(q) -> 0"
        for policy in (0, 1, 2, 3, 4, 5, 99):
            yield f"9.1 | {function}: policy {policy} | {function}(new.q, 64, {policy}) -> 0; aclrtFree(q) -> 0"


def streams_of_copies():
    for call in ("aclrtMemcpyAsync(d, 64, d2, 64, 3, {})", "aclrtMemsetAsync(d, 64, 0, 64, {})"):
        yield f"c13 | a stale stream: {call.format('dead')} | {call.format('dead')} -> 107017"
        yield f"9.4 | the default stream: {call.format('NULL')} | {call.format('NULL')} -> 0; aclrtSynchronizeStream(NULL) -> 0"
        yield f"9.4 | no context: {call.format('s')} | B: {call.format('s')} -> 107002"


ROWS = language.rows(
    __name__,
    "\n".join([*kinds(), *allocation(), *streams_of_copies()])
    + """

# ---- allocation ----
c40          | Malloc: 2^63 bytes | aclrtMalloc(new.q, 1 << 63, 0) -> 207001
c40          | Free: NULL, twice, an address of the host | aclrtFree(NULL) -> 100000; aclrtMalloc(new.q, 1, 0); aclrtFree(q) -> 0; aclrtFree(q) -> 107000; aclrtFree(b) -> 107000
c40          | Free takes host memory of the runtime | aclrtMallocHost(new.q, 64); aclrtFree(q) -> 0
c40          | FreeHost: NULL, device memory | aclrtFreeHost(NULL) -> 100000; aclrtFreeHost(d) -> 107000
c40          | MallocHost: size 0, NULL | aclrtMallocHost(new.q, 0) -> 100000; aclrtMallocHost(NULL, 4) -> 100000
9.2          | MallocHost without context | B: aclrtMallocHost(new.q, 64) -> 107002
9.2          | host memory is the host's | put(h, b"abc"); host(h, 3) -> b"abc"
9.1          | FreeWithDevSync: NULL | aclrtFreeWithDevSync(NULL) -> 100000; aclrtFreeHostWithDevSync(NULL) -> 100000
9.1          | FreeWithDevSync waits | aclrtMalloc(new.q, 64, 0); hold(s); aclrtMemsetAsync(d, 64, 1, 64, s); T& aclrtFreeWithDevSync(q); busy(T); release(s); wait(T) -> 0
9.1          | memory outlives its context | aclrtCreateContext(new.c, 0); aclrtMalloc(new.q, 64, 0); aclrtDestroyContext(c); aclrtSetCurrentContext(ctx); aclrtMemset(q, 64, 1, 64) -> 0; aclrtFree(q) -> 0
9.1          | device addresses are aligned and differ | aclrtMalloc(new.q, 1, 0); aclrtMalloc(new.r, 1, 0); differ(q, r) -> 1; aclrtFree(q); aclrtFree(r)
9.1          | MemFlush, MemInvalidate: NULL and 0 | aclrtMemFlush(NULL, 64) -> 100000; aclrtMemFlush(d, 0) -> 100000; aclrtMemInvalidate(NULL, 64) -> 100000; aclrtMemInvalidate(d, 0) -> 100000

# ---- synchronous copies ----
v56          | Memcpy: 0 bytes, all else wrong | aclrtMemcpy(NULL, 0, NULL, 0, 1) -> 0; aclrtMemcpy(NULL, 0, NULL, 0, 99) -> 0
v57          | Memcpy: more than there is room | aclrtMemcpy(d, 4, h, 8, 1) -> 107000
v58          | Memcpy: kind 9 comes before the room | aclrtMemcpy(d, 4, h, 8, 9) -> 100000
c40          | Memcpy: no room | aclrtMemcpy(d, 0, h, 4, 1) -> 107000
c40          | Memcpy: NULL | aclrtMemcpy(NULL, 32, h, 4, 1) -> 100000; aclrtMemcpy(d, 32, NULL, 4, 1) -> 100000
c40          | Memcpy: ordinary memory | aclrtMemcpy(d, 4096, b, 64, 1) -> 0
c40          | Memcpy: directions that do not fit the addresses | aclrtMemcpy(d, 4096, h, 64, 2) -> 0; aclrtMemcpy(d, 4096, h, 64, 3) -> 0
9.3          | Memcpy: host to host needs no context | B: aclrtMemcpy(b, 64, b2, 64, 0) -> 0; B: aclrtMemcpy(d, 64, h, 64, 1) -> 107002
9.3          | Memcpy there and back | load(d, b"hello"); device(d, 5) -> b"hello"; aclrtMemcpy(d2, 5, d, 5, 3); aclrtMemcpy(h, 5, d2, 5, 2); host(h, 5) -> b"hello"
9.3          | Memcpy is not ordered against streams | hold(s); aclrtMemsetAsync(d, 8, 1, 8, s); aclrtMemcpy(h, 8, d, 8, 2) -> 0; host(h, 1) -> b"\\0"
c40          | Memset: good, NULL, 0 bytes | aclrtMemset(d, 4096, 1, 64) -> 0; aclrtMemset(NULL, 32, 1, 4) -> 100000; aclrtMemset(d, 32, 1, 0) -> 0; aclrtMemset(NULL, 0, 1, 0) -> 0
9.5          | Memset fills with one byte | aclrtMemset(d, 64, 0x1FF, 3); device(d, 4) -> b"\\xff\\xff\\xff\\0"
c40          | Memset: more than there is room | aclrtMemset(d, 32, 1, 64) -> 0
9.5 @950,A3,A2 | MemsetD32 | aclrtMemsetD32(d, 64, 0x01020304, 2) -> 0; device(d, 9) -> b"\\4\\3\\2\\1\\4\\3\\2\\1\\0"
9.5 @950,A3,A2 | MemsetD32: none, odd address, too many | aclrtMemsetD32(d, 64, 1, 0) -> 0; aclrtMemsetD32(d + 1, 64, 1, 1) -> 100000; aclrtMemsetD32(d, 64, 1, 17) -> 100000

# ---- asynchronous copies ----
9.4          | MemcpyAsync: 0 bytes, all else wrong | aclrtMemcpyAsync(NULL, 0, NULL, 0, 99, dead) -> 0
c40          | MemcpyAsync: more than there is room | aclrtMemcpyAsync(d, 32, h, 64, 1, s) -> 107000
c40          | MemcpyAsync: NULL | aclrtMemcpyAsync(NULL, 32, h, 4, 1, s) -> 100000; aclrtMemcpyAsync(d, 32, NULL, 4, 1, s) -> 100000
c40          | MemcpyAsync: an odd address | aclrtMemcpyAsync(d + 3, 32, h, 4, 1, s) -> 0; aclrtSynchronizeStream(s) -> 0
c40          | MemcpyAsync from ordinary memory | aclrtMemcpyAsync(d, 4096, b, 64, 1, s) -> 0; aclrtMemcpyAsync(d, 4096, b, 64, 1, NULL) -> 0; aclrtSynchronizeStream(s) -> 0
v59          | MemcpyAsync from host to host | aclrtMemcpyAsync(h, 64, h2, 64, 0, s) -> 207000
v60          | MemcpyAsync from ordinary memory waits for its stream | hold(s); launch(k_noop, s); T& aclrtMemcpyAsync(d, 64, b, 64, 1, s); busy(T); release(s); wait(T) -> 0
v61          | MemcpyAsync reads pinned memory when it runs | hold(s); aclrtMemcpyAsync(d, 4, h, 4, 1, s); put(h, b"late"); release(s); aclrtSynchronizeStream(s); device(d, 4) -> b"late"
9.4          | MemcpyAsync through a buffer reads at once | put(b, b"soon"); hold(s); aclrtMemcpyAsync(d, 4, b, 4, 5, s) -> 0; put(b, b"late"); release(s); aclrtSynchronizeStream(s); device(d, 4) -> b"soon"
9.4          | MemcpyAsync: device to device beyond 4 GiB | aclrtMemcpyAsync(d, 1 << 34, d2, (1 << 32) + 1, 3, s) -> 107000
c40          | MemsetAsync: good, too much room asked | aclrtMemsetAsync(d, 4096, 1, 64, s) -> 0; aclrtMemsetAsync(d, 32, 1, 64, s) -> 107000; aclrtSynchronizeStream(s) -> 0
9.5          | MemsetAsync: NULL, 0 bytes | aclrtMemsetAsync(NULL, 64, 1, 64, s) -> 100000; aclrtMemsetAsync(NULL, 0, 1, 0, s) -> 0
9.5          | MemsetAsync is a task | hold(s); aclrtMemsetAsync(d, 8, 1, 8, s); device(d, 1) -> b"\\0"; release(s); aclrtSynchronizeStream(s); device(d, 1) -> b"\\1"

# ---- asking ----
c40          | GetMemInfo: attributes | aclrtGetMemInfo(0, size, size) -> 0, _, _; aclrtGetMemInfo(1, size, size) -> 0, _, _; aclrtGetMemInfo(17, size, size) -> 0, _, _
c40          | GetMemInfo: unknown attributes | aclrtGetMemInfo(18, size, size) -> 107016, kept, kept; aclrtGetMemInfo(99, size, size) -> 107016, kept, kept
c40          | GetMemInfo: NULL | aclrtGetMemInfo(1, NULL, size) -> 100000; aclrtGetMemInfo(1, size, NULL) -> 100000
9.7          | GetMemInfo without context | B: aclrtGetMemInfo(1, size, size) -> 107002
9.7          | PointerGetAttributes: NULL | aclrtPointerGetAttributes(NULL, field("aclrtPtrAttributes", "pageSize")) -> 100000; aclrtPointerGetAttributes(d, NULL) -> 100000
9.7          | PointerGetAttributes: device, pinned, ordinary
             | aclrtPointerGetAttributes(d + 5, field("aclrtPtrAttributes", "location.type")) -> 0, 1; aclrtPointerGetAttributes(h, field("aclrtPtrAttributes", "location.type")) -> 0, 0;
             | aclrtPointerGetAttributes(b, field("aclrtPtrAttributes", "location.type")) -> 0, 2
9.7          | MemGetAddressRange | aclrtMemGetAddressRange(d + 100, ptr, size) -> 0, d, above(4095)
""",
)
