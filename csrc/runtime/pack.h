/* Where the arguments of a kernel go, and the fast way there: exact ints and floats, which most arguments are. Used by
 * pyacl/kernel.pyx, which takes everything else and says what is wrong. Calls nothing but CPython. */
#ifndef PYACL_PACK_H
#define PYACL_PACK_H

#include <Python.h>
#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>
#endif

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    PACK_SLOT = 8,
};

typedef enum ArgumentKind { POINTER, UNSIGNED, SIGNED, BOOL, FLOAT64, FLOAT32, FLOAT16, BFLOAT16, RAW } ArgumentKind;

/* One argument. Slots are 8-byte aligned; what an argument leaves free is zero. */
typedef struct Slot {
    ArgumentKind kind;
    uint32_t offset;
    uint32_t size;    /* bytes of the argument itself */
    int64_t lowest;   /* of an integer */
    uint64_t highest; /* of an integer or pointer */
    uint64_t mask;    /* the bytes that a signed integer may set */
} Slot;

/* The value of an exact int of at most two digits (60 bits): every address of user space is one. */
static inline int pack_small_int(PyObject *object, int64_t *value) {
    if (!PyLong_CheckExact(object)) { return 0; }
    const PyLongObject *number = (const PyLongObject *)object;
#if PY_VERSION_HEX >= 0x030C0000
    const digit *digits = number->long_value.ob_digit;
    uintptr_t count = number->long_value.lv_tag >> 3;
    int negative = (number->long_value.lv_tag & 3) == 2;
#else
    const digit *digits = number->ob_digit;
    Py_ssize_t size = Py_SIZE(number);
    size_t count = (size_t)(size < 0 ? -size : size);
    int negative = size < 0;
#endif
    if (count > 2) { return 0; }
    int64_t magnitude = count == 0 ? 0 : digits[0];
    if (count == 2) { magnitude |= (int64_t)digits[1] << PyLong_SHIFT; }
    *value = negative ? -magnitude : magnitude;
    return 1;
}

/* 1 when the argument was written; 0 when it needs a closer look. */
static inline int pack_fast(const Slot *slot, PyObject *object, unsigned char *packed) {
    uint64_t bits = 0;
    int64_t value;
    if (slot->kind <= SIGNED) {
        if (!pack_small_int(object, &value) || value < slot->lowest) { return 0; }
        if (value > 0 && (uint64_t)value > slot->highest) { return 0; }
        bits = (uint64_t)value & slot->mask;
    } else if (slot->kind == FLOAT32 && PyFloat_CheckExact(object)) {
        float single = (float)PyFloat_AS_DOUBLE(object);
        if (!isfinite(single)) { return 0; }
        memcpy(&bits, &single, sizeof(single));
    } else if (slot->kind == FLOAT64 && PyFloat_CheckExact(object)) {
        double real = PyFloat_AS_DOUBLE(object);
        memcpy(&bits, &real, sizeof(real));
    } else {
        return 0;
    }
    memcpy(packed + slot->offset, &bits, sizeof(bits));
    return 1;
}

#endif
