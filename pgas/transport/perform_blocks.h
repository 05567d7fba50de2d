/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perform_blocks.h - copies between packed bytes and non-contiguous symmetric memory, for
 * the transports: at the target of put_blocks and get_blocks (transport.h).
 *
 * A message describes the memory by an array of struct transport_vector, in the byte
 * order of the job.  Nothing in it is trusted: before a byte is copied, all vectors are
 * checked against the segments, and their length against that of the packed bytes.
 * Thread-safe.  Uses: transport.h, datatype/pack.  Used by: shm, sim, hook, ofi, ucx.
 */
#ifndef PGAS_TRANSPORT_PERFORM_BLOCKS_H
#define PGAS_TRANSPORT_PERFORM_BLOCKS_H

#include "pgas/transport/transport.h"

/* A segment of the target, mapped here. */
struct perform_segment {
    void *base;
    size_t len;
};

static inline size_t perform_vectors_size(unsigned nvectors)
{
    return nvectors * sizeof(struct transport_vector);
}

/* The segments of this PE. */
void perform_own_segments(const struct transport_world *world,
                          struct perform_segment segment[SEGMENTS]);

/* Copy `bytes` bytes from `packed` to the blocks, or from the blocks to `packed`.
 * `vectors` need not be aligned.  0; or -EFAULT: a block is outside the segments; or
 * -EINVAL: another fault; then nothing was copied. */
int perform_put_blocks(const struct perform_segment segment[SEGMENTS],
                       const void *vectors, unsigned nvectors, const void *packed,
                       size_t bytes);
int perform_get_blocks(const struct perform_segment segment[SEGMENTS],
                       const void *vectors, unsigned nvectors, void *packed,
                       size_t bytes);

/* The same for a received message of `len` bytes and the segments of this PE: it has
 * nvectors vectors, followed, of a put, by the packed bytes. */
int perform_put_message(const struct transport_world *world, uint64_t nvectors,
                        const void *message, size_t len);
int perform_get_message(const struct transport_world *world, uint64_t nvectors,
                        const void *message, size_t len, void *packed, size_t bytes);

/* Copy between the caller's memory and mapped segments, by blocks->copy and a temporary
 * buffer; `put`: to the segments.  0; -ENOMEM; or an error as above. */
int perform_blocks_here(const struct perform_segment segment[SEGMENTS],
                        const struct transport_blocks *blocks, bool put);

/* transport.blocks_max of the transports for tests. */
enum { PERFORM_BLOCKS_MAX = 4096 };
static inline size_t perform_blocks_max(struct transport_ctx *ctx, int pe, size_t bytes)
{
    (void)ctx;
    (void)pe;
    (void)bytes;
    return PERFORM_BLOCKS_MAX;
}

#endif
