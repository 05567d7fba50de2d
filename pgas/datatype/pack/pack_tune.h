/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_tune.h - finds the fastest kernel for each shape of vector by timing the copies
 * that the program does.
 *
 * A shape is the block, both strides and the binary logarithm of the size; it determines
 * the unit, the direction (packing, unpacking or both strided) and the cache that the
 * data is in.  The first copies of a shape, or the first parts of a long copy, take the
 * candidates in turn, in alternating order; each byte is copied once.  The mean of the
 * middle half of the samples of a kernel counts, so that interrupts and page faults have
 * no effect and a slow clock little, nor has a kernel that is fast in few copies only;
 * and slow candidates are dropped after few turns.  A shape costs about 100 measured
 * copies or parts; nothing is measured before the first copy (long ones: the second,
 * whose data may be in the cache), nor for copies below
 * PACK_TUNE_MIN bytes, nor if the kernel of the shape is known from an earlier process.
 *
 * Threads may share a table.  One thread at a time measures a shape, others use the
 * default kernel meanwhile.  A shape has one of two cells, by its hash.  If both have
 * other shapes, it replaces one whose kernel is found, or one that was not copied during
 * PACK_TUNE_IDLE copies of others; otherwise it uses the default kernel.  So up to
 * PACK_TUNE_IDLE + 2 shapes that take turns are found one after the other.  The next one
 * may replace a result at once: the caller must use what pack_tune_measure returns.
 * Uses: pack_table, threads/atomic.  Used by: pack_choice.
 */
#ifndef PGAS_DATATYPE_PACK_TUNE_H
#define PGAS_DATATYPE_PACK_TUNE_H

#include "pgas/datatype/pack/pack_table.h"
#include "pgas/threads/atomic.h"

enum {
    PACK_TUNE_BITS = 8,
    PACK_TUNE_CELLS = 1 << PACK_TUNE_BITS,
    PACK_TUNE_MIN = 256,
    PACK_TUNE_KERNEL_BITS = 8,
    PACK_TUNE_SAMPLES = 24,
    PACK_TUNE_IDLE = 30 /* copies of other shapes after which a cell may be replaced */
};

/* What determines the fastest kernel */
struct pack_shape {
    size_t block;
    ptrdiff_t to_stride, from_stride;
    unsigned size_log; /* binary logarithm of the bytes, rounded down */
};

/* Kernels that were found for shapes: by this process, or by an earlier one
 * (pack_file.h) */
struct pack_row {
    struct pack_shape shape;
    enum pack_kernel kernel;
};
struct pack_rows {
    struct pack_row *row;
    size_t n;
};

/* Of a kernel: ticks for 64 KiB, in ascending order */
struct pack_tune_samples {
    uint32_t count, ticks[PACK_TUNE_SAMPLES];
};

/* `learned`: 56 bits of the key, and the kernel + 1; 0 before.  The other members belong
 * to the thread that holds `busy`. */
struct pack_tune_cell {
    uint64_t learned, key;
    struct pack_shape shape;
    uint32_t busy, candidates; /* bits 1 << kernel */
    struct pack_tune_samples samples[PACK_KERNELS];
    uint8_t turn, next; /* next: of the turn's order */
    uint8_t idle;       /* copies of other shapes that wanted this cell since its own */
    bool is_long, is_cold; /* copied in parts; not copied yet */
};

struct pack_tune {
    struct pack_tune_cell cell[PACK_TUNE_CELLS];
};

/* What pack_tune_measure needs of its caller: run, can, which is true for the kernels
 * that accept the vector, and a clock for short intervals (pack_ticks.h). */
struct pack_tune_kernels {
    bool (*can)(enum pack_kernel k, const struct vector_copy *v);
    void (*run)(enum pack_kernel k, const struct vector_copy *v);
    enum pack_kernel (*first)(const struct vector_copy *v); /* before any measurement */
    /* The kernel that an earlier process has found, or PACK_KERNELS */
    enum pack_kernel (*known)(const struct pack_shape *s);
    uint64_t (*ticks)(void);
};

static inline struct pack_shape pack_shape_of(const struct vector_copy *v)
{
    return (struct pack_shape){v->block, v->to_stride, v->from_stride,
                               63 - (unsigned)__builtin_clzll(v->block * v->count)};
}

/* <0, 0, >0: an order of shapes */
int pack_shape_compare(const struct pack_shape *a, const struct pack_shape *b);

static inline uint64_t pack_tune_rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

/* The hash of a shape: its highest bits select the cell, all but the lowest are stored in
 * it.  `kernels` identifies the set of kernels that may run.  One multiplication, because
 * each copy needs it.  Shapes with blocks below 32 KiB and strides of 0 to 2 MiB differ.
 */
static inline uint64_t pack_tune_key(const struct vector_copy *v, uint64_t kernels)
{
    uint64_t size = (uint64_t)(63 - __builtin_clzll(v->block * v->count));
    uint64_t shape = v->block ^ pack_tune_rotate((uint64_t)v->to_stride, 21) ^
                     pack_tune_rotate((uint64_t)v->from_stride, 42);

    return (shape ^ size << 15 ^ kernels << 26) * 0x9e3779b97f4a7c15u;
}

/* The kernel found for a key, or PACK_KERNELS.  56 bits do not prove that the shape is
 * the same: the caller must ask the kernel whether it accepts the vector. */
static inline enum pack_kernel pack_tune_cell_found(const struct pack_tune_cell *c,
                                                    uint64_t key)
{
    uint64_t word = load_acquire_u64(&c->learned) ^
                    (key & ~(((uint64_t)1 << PACK_TUNE_KERNEL_BITS) - 1));

    return word - 1 < PACK_KERNELS ? (enum pack_kernel)(word - 1) : PACK_KERNELS;
}

static inline size_t pack_tune_cell_of(uint64_t key)
{
    return key >> (64 - PACK_TUNE_BITS);
}

static inline enum pack_kernel pack_tune_found(const struct pack_tune *t, uint64_t key)
{
    const size_t i = pack_tune_cell_of(key);
    const enum pack_kernel k = pack_tune_cell_found(&t->cell[i], key);

    return k != PACK_KERNELS ? k : pack_tune_cell_found(&t->cell[i ^ 1], key);
}

/* Copies the vector, for whose key no kernel is found yet, and measures.  Returns the
 * kernel if this copy has found it, or PACK_KERNELS. */
enum pack_kernel pack_tune_measure(struct pack_tune *t,
                                   const struct pack_tune_kernels *with, uint64_t key,
                                   const struct vector_copy *v);

/* Stores the kernels found until now, at most PACK_TUNE_CELLS.  Returns their number.  A
 * shape that is being measured is left out. */
size_t pack_tune_rows(struct pack_tune *t, struct pack_row row[PACK_TUNE_CELLS]);

#endif
