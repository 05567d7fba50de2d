/* SPDX-License-Identifier: BSD-3-Clause */
/* op.c - see op.h.  Uses: copy (its stores around the caches), isa, the tables. */
#include "config.h"

#include "pgas/datatype/copy_x86.h"
#include "pgas/datatype/op_isas.h"
#include "pgas/datatype/op_table.h"

size_t op_nontemporal = SIZE_MAX;

static const op_table *const tables[ISAS] = {[ISA_BASELINE] = &op_base, OP_TABLES};

static const op_table *chosen = &op_base;

void op_init(enum isa isa, size_t nontemporal)
{
    chosen = tables[isa] != NULL ? tables[isa] : &op_base;
    op_nontemporal = nontemporal;
}

const struct op_fns *op_find(enum op op, enum op_kind kind, size_t size)
{
    unsigned log = (unsigned)__builtin_ctzll(size | (uint64_t)1 << (OP_SIZES - 1));
    const struct op_fns *f = &(*chosen)[kind][op][log];

    if (f->two == NULL)
        f = &op_rest[kind][op][log];
    return f->two != NULL ? f : NULL;
}

bool op_exact(const struct op_fns *op)
{
    const uintptr_t at = (uintptr_t)op, first = (uintptr_t)*chosen;
    const bool here = at >= first && at < first + sizeof *chosen;
    const size_t i = (at - (here ? first : (uintptr_t)op_rest)) / sizeof *op;
    const size_t kind = i / (OPS * (size_t)OP_SIZES);

    return kind == OP_SINT || kind == OP_UINT || kind == OP_PAIR_SINT;
}

/*
 * Stores around the caches spare reading the lines of out before they are written.  So a
 * quarter less goes over the bus of Zen 5 (32 MiB of third-level cache): 12.2 GB/s of
 * results instead of 10.6 at 64 MiB.  From 8 to 24 MiB there was no difference, below
 * that the caches are faster (1 MiB: 30 GB/s instead of 24).
 *
 * The kernels know nothing of it: the results of one piece stay in the first-level cache
 * until they are stored again, which takes no time that shows.
 */
enum { PIECE = 4096 };

/* Elements to go before out is at the start of a line, if it can be */
static size_t to_line(const char *out, size_t size)
{
    return (COPY_NT_STEP - (uintptr_t)out % COPY_NT_STEP) % COPY_NT_STEP / size;
}

void op_stream(op_kernel3 kernel, char *out, const char *a, const char *b, size_t n,
               size_t size)
{
    _Alignas(COPY_NT_STEP) char piece[PIECE];
    size_t head = to_line(out, size), now = head < n ? head : n;

    kernel(out, a, b, now);
    for (size_t at = now; at < n; at += now) {
        now = n - at < PIECE / size ? n - at : PIECE / size;
        kernel(piece, a + at * size, b + at * size, now);
        copy_nt_lines(out + at * size, piece, now * size);
    }
    copy_nt_end();
}
