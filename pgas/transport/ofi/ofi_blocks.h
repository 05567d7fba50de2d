/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_blocks.h - puts and gets of blocks (transport.h): how their fragments travel.
 *
 * A fragment that fits OFI_EAGER_MAX is a message: header, vectors and, of a put, the
 * packed bytes.  ofi_rxm sends a longer message by a rendezvous, which costs two more
 * round trips.  So longer fragments are RMA writes with immediate data, which a provider
 * reports in the target's completion queue when the bytes have arrived:
 * - A put is written to a slot of a window: memory that the target has granted to this
 *   context.  A slot is in use until the reply to the put.
 * - The target of a get writes the packed bytes to the bounce buffer of the request.
 * Without a window, and if the provider has no immediate data of 8 bytes or uses raw keys
 * (net->immediate is false), longer fragments are messages, too.
 *
 * Windows.  The first put of blocks of a context to a PE requests one, without waiting
 * for it.  A PE grants OFI_WINDOWS of them, the first ones that are requested, and keeps
 * them until it closes its net: a context with the same number of the same PE gets the
 * same window again.  That of a lost PE is not granted to another PE, because the lost PE
 * may continue and write to it.
 *
 * Invariants.
 * - A slot is written only if it is free, and is freed only by the reply to its put.
 * - The header and the vectors in a slot are copied before they are checked: its owner
 *   could change them.
 * - A bounce buffer that a peer may write (op->fills_bounce and op->awaits_reply) is
 *   freed by the reply, or retired after TIMING_LOST_DRAIN: not used again
 *   (ofi_lost.c).  At most OFI_BOUNCES_FILLED buffers may be written by libfabric, by a
 *   peer or by a lost peer; the replies to other gets are messages.
 * - A get keeps its bounce buffer until its reply, for which the target needs one, too:
 *   so gets leave OFI_BOUNCES_KEPT buffers for replies, or two PEs could wait for each
 *   other.  All other users of a buffer free it without a buffer of the target.
 *
 * Memory.  Per net: OFI_WINDOWS * OFI_SLOTS * OFI_BOUNCE_SIZE bytes of address space
 * after the first request, of which the written slots are touched, or all are pinned if
 * the provider registers memory.  Per context: 32 bytes
 * of address space per PE after the first put of blocks.
 *
 * Threads.  The windows that this PE grants are used by the progress of context 0, those
 * that it was granted by their context.
 * Uses: ofi.h.  Used by: the ofi files.
 */
#ifndef PGAS_TRANSPORT_OFI_BLOCKS_H
#define PGAS_TRANSPORT_OFI_BLOCKS_H

#include "pgas/transport/ofi/ofi.h"

enum {
    OFI_WINDOWS = 16,                   /* that a PE grants */
    OFI_SLOTS = 8,                      /* of a window */
    OFI_BOUNCES_KEPT = OFI_BOUNCES / 4, /* that no get takes */
};

/* Immediate data: the number of a slot; or this bit and the lower bits of a token, in the
 * reply to a get. */
#define OFI_IMMEDIATE_REPLY (1ULL << 63)

/* A free slot of a window at a peer. */
struct ofi_slot {
    uint64_t at, key;   /* in libfabric's form */
    uint64_t immediate; /* its number at the peer */
    int8_t index;       /* in the window */
};

/* ---- ofi_window.c ---------------------------------------------------------------- */

/* True if the provider supports windows. */
bool ofi_window_is_supported(const struct transport_net *net);
/* The address of local memory for peers. */
uint64_t ofi_window_address(const struct transport_net *net, const void *memory);
/* Find a free slot for a put to pe.  0; -EAGAIN: all are in use; -ENOENT: there is no
 * window (yet). */
int ofi_window_find_slot(struct transport_ctx *ctx, int pe, struct ofi_slot *slot);
/* A put to the slot was posted; or its reply has arrived. */
void ofi_window_use_slot(struct transport_ctx *ctx, int pe, int index);
void ofi_window_free_slot(struct transport_ctx *ctx, int pe, int index);
/* Handle the reply to a request for a window; its form must be valid. */
bool ofi_window_grant_is_valid(const struct ofi_message *reply);
void ofi_window_granted(struct transport_ctx *ctx, int pe,
                        const struct ofi_message *reply);
/* Reply to a request for a window. */
void ofi_window_grant(struct transport_ctx *ctx, const struct ofi_message *request);
/* The memory of a slot that was granted to PE *pe; NULL: the number is not valid. */
const unsigned char *ofi_window_slot(const struct transport_net *net, uint64_t number,
                                     int *pe);
void ofi_windows_close(struct transport_net *net);
void ofi_windows_free(struct transport_net *net);

/* ---- ofi_blocks.c ---------------------------------------------------------------- */

size_t ofi_blocks_max(struct transport_ctx *ctx, int pe, size_t bytes);
int ofi_put_blocks(struct transport_ctx *ctx, const struct transport_blocks *blocks);
int ofi_get_blocks(struct transport_ctx *ctx, const struct transport_blocks *blocks,
                   struct transport_completion *done);
/* Reply to a request of a get, whose m->len bytes are at data. */
void ofi_blocks_reply(struct transport_ctx *ctx, const struct ofi_message *m,
                      const void *data);
/* Write the reply to a get to the requester's bounce buffer.  0, or -EAGAIN. */
int ofi_blocks_post_reply(struct transport_ctx *ctx, int pe, fi_addr_t addr,
                          const struct ofi_message *m, const void *data);
/* Handle a write with immediate data. */
void ofi_blocks_recv(struct transport_ctx *ctx, uint64_t immediate);

#endif
