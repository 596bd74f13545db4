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
    uint64_t mask;    /* the bytes that a negative integer may set */
} Slot;

#if PY_VERSION_HEX >= 0x030C0000
#define PACK_DIGITS(number) ((number)->long_value.ob_digit)
/* Digits, times -1 if the number is negative. */
#define PACK_SIZE(number) ((Py_ssize_t)((number)->long_value.lv_tag >> 3) * (1 - (Py_ssize_t)((number)->long_value.lv_tag & 3)))
#else
#define PACK_DIGITS(number) ((number)->ob_digit)
#define PACK_SIZE(number) Py_SIZE(number)
#endif

/* The magnitude of an int of one or two digits (60 bits): every address of user space is one. */
static inline uint64_t pack_magnitude(const PyLongObject *number, size_t digits) {
    uint64_t low = PACK_DIGITS(number)[0];
    return digits == 1 ? low : low | (uint64_t)PACK_DIGITS(number)[1] << PyLong_SHIFT;
}

/* 1 when the int was written. Positive ones, which most arguments are, come first. */
static inline int pack_int(const Slot *slot, const PyLongObject *number, unsigned char *place) {
    Py_ssize_t size = PACK_SIZE(number);
    uint64_t bits = 0;
    if (size == 1 || size == 2) {
        bits = pack_magnitude(number, (size_t)size);
        if (bits > slot->highest) { return 0; }
    } else if (size == -1 || size == -2) {
        int64_t value = -(int64_t)pack_magnitude(number, (size_t)-size);
        if (value < slot->lowest) { return 0; }
        bits = (uint64_t)value & slot->mask;
    } else if (size != 0) {
        return 0;
    }
    memcpy(place, &bits, sizeof(bits));
    return 1;
}

/* 1 when the argument was written; 0 when it needs a closer look. */
static inline int pack_fast(const Slot *slot, PyObject *object, unsigned char *packed) {
    unsigned char *place = packed + slot->offset;
    if (slot->kind <= SIGNED) { return PyLong_CheckExact(object) && pack_int(slot, (const PyLongObject *)object, place); }
    uint64_t bits = 0;
    if (slot->kind == FLOAT32 && PyFloat_CheckExact(object)) {
        float single = (float)PyFloat_AS_DOUBLE(object);
        if (!isfinite(single)) { return 0; }
        memcpy(&bits, &single, sizeof(single));
    } else if (slot->kind == FLOAT64 && PyFloat_CheckExact(object)) {
        double real = PyFloat_AS_DOUBLE(object);
        memcpy(&bits, &real, sizeof(real));
    } else {
        return 0;
    }
    memcpy(place, &bits, sizeof(bits));
    return 1;
}

#endif
