/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shm.c - the shm transport, for PEs of one node.  Segments are memfds, which a PE maps
 * at its first operation to their PE.  Every operation is done when its call returns, so
 * progress does nothing and nothing is pending; a PE that sleeps until a word changes
 * must be woken by other means (net.c).
 *
 * The library uses this transport only with SHMEM_FAULTS; otherwise it accesses PEs of
 * its node by loads and stores (core/memory/peer.h).
 * Uses: transport.h, perform, core/segment, core/memory/heap.h, datatype/copy.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/memory/segment.h"
#include "pgas/datatype/copy.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/perform_blocks.h"
#include "pgas/transport/transport.h"

/* The endpoint descriptor: how another PE maps our segments. */
struct address {
    int32_t pid;
    int32_t fd[SEGMENTS];
    uint32_t unused;
    uint64_t len[SEGMENTS];
};

/* A peer. base is stored last (release), so that len is valid when base is not NULL. */
struct peer {
    char *base[SEGMENTS];
    size_t len[SEGMENTS];
    int error;     /* -errno if it cannot be mapped; under net->lock */
    uint32_t lost; /* shm_lost was called */
};

struct transport_ctx {
    struct transport_net *net;
    struct transport_ctx *next; /* in the net's list */
};

struct transport_net {
    const struct transport_world *world;
    pthread_mutex_t lock; /* protects mapping and the list of contexts */
    struct transport_ctx ctx_0;
    struct address mine;
    struct peer peer[]; /* by PE */
};

static int shm_net_error(char *why, int error, const char *what)
{
    snprintf(why, TRANSPORT_TEXT_MAX, "shm: %s: %s", what, strerror(error));
    return -error;
}

static int shm_open_net(const struct transport_world *world, struct transport_net **net,
                        char why[TRANSPORT_TEXT_MAX])
{
    for (int s = 0; s < SEGMENTS; s++)
        if (world->segment[s].len > 0 && world->segment[s].fd < 0)
            return shm_net_error(why, EINVAL,
                                 "a symmetric segment has no memfd to share");

    struct transport_net *n =
        calloc(1, sizeof *n + (size_t)world->npes * sizeof n->peer[0]);
    if (n == NULL)
        return shm_net_error(why, ENOMEM, "no memory for the table of PEs");
    n->world = world;
    pthread_mutex_init(&n->lock, NULL);
    n->ctx_0.net = n;
    n->mine.pid = (int32_t)getpid();
    for (int s = 0; s < SEGMENTS; s++) {
        n->mine.fd[s] = world->segment[s].fd;
        n->mine.len[s] = world->segment[s].len;
        n->peer[world->me].base[s] = world->segment[s].base;
        n->peer[world->me].len[s] = world->segment[s].len;
    }
    *net = n;
    return 0;
}

static void shm_peer_unmap(struct peer *peer)
{
    for (int s = 0; s < SEGMENTS; s++)
        if (peer->base[s] != NULL && peer->len[s] > 0)
            segment_unmap(peer->base[s], peer->len[s]);
}

static void shm_close(struct transport_net *net)
{
    for (int pe = 0; pe < net->world->npes; pe++)
        if (pe != net->world->me)
            shm_peer_unmap(&net->peer[pe]);
    while (net->ctx_0.next != NULL) {
        struct transport_ctx *ctx = net->ctx_0.next;
        net->ctx_0.next = ctx->next;
        free(ctx);
    }
    pthread_mutex_destroy(&net->lock);
    free(net);
}

static size_t shm_address(struct transport_net *net, void *to)
{
    memcpy(to, &net->mine, sizeof net->mine);
    return sizeof net->mine;
}

static const char *shm_describe(struct transport_net *net)
{
    (void)net;
    return "shm: mapped memory of the PEs of this node";
}

static struct transport_ctx *shm_ctx_0(struct transport_net *net)
{
    return &net->ctx_0;
}

static int shm_ctx_open(struct transport_net *net, struct transport_ctx **ctx)
{
    struct transport_ctx *c = calloc(1, sizeof *c);

    if (c == NULL)
        return -ENOMEM;
    c->net = net;
    pthread_mutex_lock(&net->lock);
    c->next = net->ctx_0.next;
    net->ctx_0.next = c;
    pthread_mutex_unlock(&net->lock);
    *ctx = c;
    return 0;
}

static void shm_ctx_close(struct transport_ctx *ctx)
{
    struct transport_net *net = ctx->net;

    pthread_mutex_lock(&net->lock);
    struct transport_ctx *at = &net->ctx_0;
    while (at->next != ctx)
        at = at->next;
    at->next = ctx->next;
    pthread_mutex_unlock(&net->lock);
    free(ctx);
}

/* -- mapping ---------------------------------------------------------------------- */

/* Map segment s of a PE from its endpoint descriptor.  0 or -errno. */
static int shm_peer_map_segment(struct peer *peer, const struct address *address, int s)
{
    size_t align = s == SEGMENT_HEAP ? HEAP_ALIGN : 0;

    peer->len[s] = address->len[s];
    if (address->len[s] == 0)
        return 0;
    char *base = segment_map_peer(address->pid, address->fd[s], address->len[s], align);
    if (base == NULL)
        return errno == ENOENT ? -EHOSTDOWN : -errno;
    __atomic_store_n(&peer->base[s], base, __ATOMIC_RELEASE);
    return 0;
}

/* Map all segments of a PE, once; the first caller reports a failure. 0 or -errno;
 * -EAGAIN: its address is awaited. */
static int shm_peer_map(struct transport_net *net, int pe)
{
    struct peer *peer = &net->peer[pe];
    struct address address;
    char text[TRANSPORT_TEXT_MAX];
    const char *what = "cannot map its memory through /proc";

    memset(&address, 0, sizeof address);
    ssize_t len = net->world->address_of(net->world, pe, &address, sizeof address);
    if (len == -EAGAIN)
        return -EAGAIN;
    if (len != (ssize_t)sizeof address) {
        peer->error = -EHOSTUNREACH;
        what = "it has no endpoint descriptor of the shm transport";
    }
    for (int s = 0; s < SEGMENTS && peer->error == 0; s++)
        peer->error = shm_peer_map_segment(peer, &address, s);
    if (peer->error != 0) {
        snprintf(text, sizeof text, "PE %d (process %d) cannot be reached: %s: %s", pe,
                 (int)address.pid, what, strerror(-peer->error));
        net->world->failed(net->world, pe, text);
    }
    return peer->error;
}

/* The local address of a segment, which is mapped if necessary. 0 or -errno. */
static int shm_address_map(struct transport_net *net, const struct transport_symaddr *at,
                           char **base)
{
    struct peer *peer = &net->peer[at->pe];

    pthread_mutex_lock(&net->lock);
    int error = peer->error;
    if (error == 0 && peer->base[SEGMENT_HEAP] == NULL &&
        peer->base[SEGMENT_DATA] == NULL)
        error = shm_peer_map(net, at->pe);
    pthread_mutex_unlock(&net->lock);
    *base = peer->base[at->segment];
    return error == 0 && *base == NULL ? -EINVAL : error;
}

/* The local address of a symmetric address. 0; or -errno: -EINVAL if out of bounds. */
static int shm_address_find(struct transport_ctx *ctx, const struct transport_symaddr *at,
                            size_t len, char **to)
{
    const struct peer *peer = &ctx->net->peer[at->pe];
    PGAS_ASSERT(at->pe >= 0 && at->pe < ctx->net->world->npes);
    PGAS_ASSERT(at->segment < SEGMENTS);
    char *base = __atomic_load_n(&peer->base[at->segment], __ATOMIC_ACQUIRE);

    if (unlikely(load_relaxed_u32(&peer->lost) != 0))
        return -EHOSTDOWN;
    if (unlikely(base == NULL)) {
        int error = shm_address_map(ctx->net, at, &base);
        if (error != 0)
            return error;
    }
    size_t space = peer->len[at->segment];
    if (unlikely(len > space || at->offset > space - len))
        return -EINVAL;
    *to = base + at->offset;
    return 0;
}

/* -- operations ------------------------------------------------------------------- */

static int shm_put(struct transport_ctx *ctx, const struct transport_symaddr *to,
                   const void *from, size_t len, struct transport_completion *done)
{
    char *at;
    int error = shm_address_find(ctx, to, len, &at);

    if (error != 0)
        return error;
    copy_bytes(at, from, len);
    perform_completion(done, 0);
    return 0;
}

static int shm_get(struct transport_ctx *ctx, void *to,
                   const struct transport_symaddr *from, size_t len,
                   struct transport_completion *done)
{
    char *at;
    int error = shm_address_find(ctx, from, len, &at);

    if (error != 0)
        return error;
    copy_bytes(to, at, len);
    perform_completion(done, 0);
    return 0;
}

/* after_puts is satisfied: every amo except FETCH is a release, and puts are done when
 * they return. */
static int shm_amo(struct transport_ctx *ctx, const struct transport_symaddr *at,
                   const struct transport_amo *amo, struct transport_completion *done)
{
    char *word;
    int error = shm_address_find(ctx, at, amo->size, &word);

    if (error != 0)
        return error;
    perform_result(amo, perform_amo(word, amo));
    perform_completion(done, 0);
    return 0;
}

static size_t shm_signal_max(struct transport_net *net)
{
    (void)net;
    return SIZE_MAX;
}

/* SET and ADD are releases. */
static int shm_put_signal(struct transport_ctx *ctx, const struct transport_symaddr *to,
                          const void *from, size_t len,
                          const struct transport_signal *signal,
                          struct transport_completion *done)
{
    char *at, *word;
    int error = shm_address_find(ctx, to, len, &at);

    if (error == 0)
        error = shm_address_find(ctx, &signal->at, signal->size, &word);
    if (error != 0)
        return error;
    copy_bytes(at, from, len);
    perform_signal(word, signal);
    perform_completion(done, 0);
    return 0;
}

static int shm_blocks(struct transport_ctx *ctx, const struct transport_blocks *blocks,
                      bool put)
{
    const struct transport_symaddr heap = {.pe = blocks->pe};
    const struct peer *peer = &ctx->net->peer[blocks->pe];
    struct perform_segment segment[SEGMENTS];
    char *base;
    int error = shm_address_find(ctx, &heap, 0, &base);

    if (error != 0)
        return error;
    for (int s = 0; s < SEGMENTS; s++)
        segment[s] = (struct perform_segment){peer->base[s], peer->len[s]};
    return perform_blocks_here(segment, blocks, put);
}

static int shm_put_blocks(struct transport_ctx *ctx,
                          const struct transport_blocks *blocks)
{
    return shm_blocks(ctx, blocks, true);
}

static int shm_get_blocks(struct transport_ctx *ctx,
                          const struct transport_blocks *blocks,
                          struct transport_completion *done)
{
    int error = shm_blocks(ctx, blocks, false);

    if (error == 0)
        perform_completion(done, 0);
    return error;
}

static int shm_fence(struct transport_ctx *ctx)
{
    (void)ctx;
    fence_acq_rel();
    return 0;
}

static int shm_quiet(struct transport_ctx *ctx)
{
    (void)ctx;
    fence_full();
    return 0;
}

static uint64_t shm_pending(struct transport_ctx *ctx, int *pe)
{
    (void)ctx;
    (void)pe;
    return 0;
}

/* No operation is outstanding. */
static void shm_lost(struct transport_net *net, int pe, bool node)
{
    (void)node;
    store_relaxed_u32(&net->peer[pe].lost, 1);
}

static int shm_progress(struct transport_ctx *ctx)
{
    (void)ctx;
    return 0;
}

static int shm_fd(struct transport_ctx *ctx)
{
    (void)ctx;
    return -1;
}

static int shm_arm(struct transport_ctx *ctx)
{
    (void)ctx;
    return 0;
}

const struct transport transport_shm = {
    .name = "shm",
    .text = "PEs of one node: mapped memory",
    .open = shm_open_net,
    .close = shm_close,
    .address = shm_address,
    .describe = shm_describe,
    .ctx_0 = shm_ctx_0,
    .ctx_open = shm_ctx_open,
    .ctx_close = shm_ctx_close,
    .put = shm_put,
    .get = shm_get,
    .amo = shm_amo,
    .signal_max = shm_signal_max,
    .put_signal = shm_put_signal,
    .blocks_max = perform_blocks_max,
    .put_blocks = shm_put_blocks,
    .get_blocks = shm_get_blocks,
    .fence = shm_fence,
    .quiet = shm_quiet,
    .quiet_all = shm_quiet, /* unacknowledged puts are done when they are posted */
    .pending = shm_pending,
    .lost = shm_lost,
    .progress = shm_progress,
    .fd = shm_fd,
    .arm = shm_arm,
};
