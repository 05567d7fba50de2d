/* SPDX-License-Identifier: BSD-3-Clause */
/* op.c - see op.h.  Uses: copy (non-temporal stores), isa, the kernel tables. */
#include "config.h"

#include "pgas/datatype/copy_x86.h"
#include "pgas/datatype/op/op_isas.h"
#include "pgas/datatype/op/op_table.h"

static const op_table *const tables[ISAS] = {[ISA_BASELINE] = &op_base, OP_TABLES};

struct kernels kernels = {
    .nontemporal_copy = SIZE_MAX,
    .nontemporal_op = SIZE_MAX,
    .ops = &op_base,
};

void op_init(enum isa isa, size_t nontemporal)
{
    kernels.ops = tables[isa] != NULL ? tables[isa] : &op_base;
    kernels.nontemporal_op = nontemporal;
}

const struct op_fns *op_find(enum op op, enum op_kind kind, size_t size)
{
    unsigned log = (unsigned)__builtin_ctzll(size | (uint64_t)1 << (OP_SIZES - 1));
    const struct op_fns *f = &(*kernels.ops)[kind][op][log];

    if (f->two == NULL)
        f = &op_rest[kind][op][log];
    return f->two != NULL ? f : NULL;
}

bool op_exact(const struct op_fns *op)
{
    const uintptr_t at = (uintptr_t)op, first = (uintptr_t)*kernels.ops;
    const bool here = at >= first && at < first + sizeof *kernels.ops;
    const size_t i = (at - (here ? first : (uintptr_t)op_rest)) / sizeof *op;
    const size_t kind = i / (OPS * (size_t)OP_SIZES);

    return kind == OP_SINT || kind == OP_UINT || kind == OP_PAIR_SINT;
}

/*
 * Non-temporal stores avoid the read for ownership of the lines of out, a quarter of the
 * memory traffic.  Measured on Zen 5 (32 MiB of L3): 12.2 GB/s of results against 10.6 at
 * 64 MiB; no difference from 8 to 24 MiB; slower below (1 MiB: 24 against 30 GB/s).
 *
 * A kernel with ordinary stores writes one chunk to a buffer in the L1 cache, which is
 * then copied to out with non-temporal stores, at no measurable cost.
 */
enum { CHUNK = 4096 };

/* Number of elements before the next cache-line boundary of out */
static size_t op_elements_to_line(const char *out, size_t size)
{
    return (COPY_NT_STEP - (uintptr_t)out % COPY_NT_STEP) % COPY_NT_STEP / size;
}

void op_stream(op_kernel3 kernel, char *out, const char *a, const char *b, size_t n,
               size_t size)
{
    _Alignas(COPY_NT_STEP) char chunk[CHUNK];
    size_t head = op_elements_to_line(out, size), now = head < n ? head : n;

    kernel(out, a, b, now);
    for (size_t at = now; at < n; at += now) {
        now = n - at < CHUNK / size ? n - at : CHUNK / size;
        kernel(chunk, a + at * size, b + at * size, now);
        copy_nt_lines(out + at * size, chunk, now * size);
    }
    copy_nt_end();
}
