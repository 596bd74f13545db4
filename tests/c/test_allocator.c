/* Allocators that a program registers for streams: kept and handed out, never called. */
#include <stdlib.h>
#include <string.h>

#include "acl/acl_rt_allocator.h"
#include "check.h"

static int object;

static void *allocate(aclrtAllocator allocator, size_t size) { return allocator == &object ? malloc(size) : NULL; }
static void *allocate_at(aclrtAllocator allocator, size_t size, aclrtAllocatorAddr address) {
    return address == NULL ? allocate(allocator, size) : address;
}
static void release(aclrtAllocator allocator, aclrtAllocatorBlock block) {
    if (allocator == &object) { free(block); }
}
static void *address_of(aclrtAllocatorBlock block) { return block; }

static aclrtAllocatorDesc full_description(void) {
    aclrtAllocatorDesc description = aclrtAllocatorCreateDesc();
    CHECK(description != NULL);
    EXPECT(0, aclrtAllocatorSetObjToDesc(description, &object));
    EXPECT(0, aclrtAllocatorSetAllocFuncToDesc(description, allocate));
    EXPECT(0, aclrtAllocatorSetFreeFuncToDesc(description, release));
    EXPECT(0, aclrtAllocatorSetGetAddrFromBlockFuncToDesc(description, address_of));
    return description;
}

static void arguments(aclrtStream stream) {
    aclrtAllocatorDesc description = aclrtAllocatorCreateDesc();
    EXPECT(100000, aclrtAllocatorDestroyDesc(NULL));
    EXPECT(100000, aclrtAllocatorSetObjToDesc(NULL, &object));
    EXPECT(100000, aclrtAllocatorSetObjToDesc(description, NULL));
    EXPECT(100000, aclrtAllocatorSetAllocFuncToDesc(description, NULL));
    EXPECT(100000, aclrtAllocatorSetFreeFuncToDesc(description, NULL));
    EXPECT(100000, aclrtAllocatorSetAllocAdviseFuncToDesc(description, NULL));
    EXPECT(100000, aclrtAllocatorSetGetAddrFromBlockFuncToDesc(description, NULL));
    EXPECT(100000, aclrtAllocatorRegister(stream, NULL));
    EXPECT(100000, aclrtAllocatorRegister(NULL, description));
    EXPECT(100000, aclrtAllocatorRegister(stream, description)); /* empty */
    EXPECT(0, aclrtAllocatorSetObjToDesc(description, &object));
    EXPECT(0, aclrtAllocatorSetAllocFuncToDesc(description, allocate));
    EXPECT(0, aclrtAllocatorSetFreeFuncToDesc(description, release));
    EXPECT(100000, aclrtAllocatorRegister(stream, description)); /* nothing gives addresses */
    EXPECT(100000, aclrtAllocatorUnregister(NULL));
    EXPECT(0, aclrtAllocatorUnregister(stream));
    EXPECT(0, aclrtAllocatorDestroyDesc(description));
}

static void the_description_is_copied(aclrtStream stream, aclrtStream other) {
    aclrtAllocatorDesc description = full_description(), found = NULL;
    aclrtAllocator allocator;
    aclrtAllocatorAllocFunc alloc;
    aclrtAllocatorFreeFunc free_function;
    aclrtAllocatorAllocAdviseFunc advise = allocate_at;
    aclrtAllocatorGetAddrFromBlockFunc get_address;
    EXPECT(0, aclrtAllocatorRegister(stream, description));
    EXPECT(0, aclrtAllocatorSetAllocAdviseFuncToDesc(description, allocate_at)); /* too late for that one */
    EXPECT(0, aclrtAllocatorRegister(other, description));
    EXPECT(100000, aclrtAllocatorGetByStream(stream, NULL, &allocator, &alloc, &free_function, &advise, &get_address));
    EXPECT(0, aclrtAllocatorGetByStream(stream, &found, &allocator, &alloc, &free_function, &advise, &get_address));
    CHECK(found == description && allocator == &object && alloc == allocate && free_function == release);
    CHECK(advise == NULL && get_address == address_of);
    EXPECT(0, aclrtAllocatorGetByStream(other, &found, NULL, NULL, NULL, &advise, NULL));
    CHECK(advise == allocate_at);
    EXPECT(0, aclrtAllocatorRegister(stream, description)); /* replaces */
    EXPECT(0, aclrtAllocatorGetByStream(stream, &found, NULL, NULL, NULL, &advise, NULL));
    CHECK(advise == allocate_at);
    EXPECT(0, aclrtAllocatorUnregister(stream));
    EXPECT(100000, aclrtAllocatorGetByStream(stream, &found, NULL, NULL, NULL, NULL, NULL));
    EXPECT(0, aclrtAllocatorDestroyDesc(description));
}

static void it_outlives_the_stream(aclrtStream other) {
    aclrtAllocatorDesc found;
    EXPECT(0, aclrtDestroyStream(other));
    EXPECT(0, aclrtAllocatorGetByStream(other, &found, NULL, NULL, NULL, NULL, NULL));
    EXPECT(0, aclrtAllocatorUnregister(other));
    EXPECT(100000, aclrtAllocatorGetByStream(other, &found, NULL, NULL, NULL, NULL, NULL));
}

int main(int argc, char **argv) {
    guard(argc, argv, 60);
    aclrtStream stream, other;
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtCreateStream(&stream));
    EXPECT(0, aclrtCreateStream(&other));
    arguments(stream);
    the_description_is_copied(stream, other);
    it_outlives_the_stream(other);
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
