/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_endpoint.c - endpoint descriptors, with which a PE connects to a remote PE, and
 * their exchange.
 *
 * A PE's descriptor contains the sizes of its segments and its transport address.  Each
 * PE stores it in the reserved part of its heap before the PEs of the node synchronise.
 * The first PE of each node publishes the descriptors of the node through the launcher as
 * one value, and one fence distributes the values to all nodes.  A PE asks the launcher
 * for the value of a node when it connects to a PE there (net_lookup.c).
 * Uses: net_int, block, boot, segment, heap, peer, log.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/boot/nodeseg.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/base/seal.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/progress/net_int.h"
#include "pgas/core/memory/peer.h"
#include "pgas/core/memory/segment.h"
#include "pgas/core/team/team.h"
#include "pgas/ft/ft.h"

/* In the reserved part of the heap (heap.h). */
#define CARD_OFFSET HEAP_TEAMS

enum { CARD_NAME_MAX = 16 };

struct card {
    uint64_t heap_len, data_len, data_tag;
    char transport[CARD_NAME_MAX];
    uint32_t len; /* of the address */
    unsigned char address[];
};

#define CARD_MAX (sizeof(struct card) + TRANSPORT_ADDRESS_MAX)
_Static_assert(CARD_OFFSET + CARD_MAX <= HEAP_PROFILE,
               "a descriptor fits between the predefined teams and the profile");

void net_endpoint_write(struct net *n)
{
    struct pgas *g = &pgas_self;
    struct card *card = (struct card *)(g->heap_base + CARD_OFFSET);

    *card = (struct card){
        .heap_len = g->heap_len, .data_len = g->data_len, .data_tag = g->data_tag};
    snprintf(card->transport, sizeof card->transport, "%s", n->t->name);
    card->len = (uint32_t)n->t->address(n->open, card->address);
}

static size_t net_ep_endpoint_bytes(const struct card *card)
{
    return sizeof *card + card->len;
}

static _Noreturn void net_ep_refuse_heap(int pe, uint64_t len)
{
    log_die("the symmetric heap has %zu bytes here and %llu on PE %d; set "
            "SHMEM_SYMMETRIC_SIZE, SHMEM_TEAM_SIZE and SHMEM_SHARED_SIZE to one value "
            "for all PEs",
            pgas_self.heap_len, (unsigned long long)len, pe);
}

/* ---- publishing ------------------------------------------------------------------ */

/* The descriptor of a node's i-th PE in the node's value, which begins with a table of
 * offsets (uint32_t); NULL if the value is malformed. */
static const struct card *net_ep_nth_endpoint(const char *value, size_t len, uint32_t i)
{
    uint32_t at;

    if (((size_t)i + 1) * sizeof at > len)
        return NULL;
    memcpy(&at, value + i * sizeof at, sizeof at);
    if (at % sizeof(uint64_t) != 0 || at + sizeof(struct card) > len)
        return NULL;
    const struct card *card = (const struct card *)(value + at);
    return card->len <= TRANSPORT_ADDRESS_MAX && at + net_ep_endpoint_bytes(card) <= len
               ? card
               : NULL;
}

static uint32_t net_ep_round_up(size_t n)
{
    return (uint32_t)((n + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t));
}

/* The maximum size in bytes of the value of a node with n PEs. */
static size_t net_ep_value_max(uint32_t n)
{
    return net_ep_round_up(n * sizeof(uint32_t)) + n * (size_t)net_ep_round_up(CARD_MAX);
}

static uint32_t net_ep_add_endpoint(char *value, uint32_t i, uint32_t at, int pe)
{
    const void *here = (const void *)(pgas_self.heap_base + CARD_OFFSET);
    const struct card *card = peer_find(here, CARD_MAX, pe);
    uint64_t len = pgas_self.peer[pe].node->heap_len;

    if (len != pgas_self.heap_len)
        net_ep_refuse_heap(pe, len);
    if (card == NULL)
        log_die("shmem_init: cannot map the memory of PE %d: %s", pe, strerror(errno));
    memcpy(value + i * sizeof at, &at, sizeof at);
    memcpy(value + at, card, net_ep_endpoint_bytes(card));
    return at + net_ep_round_up(net_ep_endpoint_bytes(card));
}

/* Creates the value of this node: the descriptors of its PEs in ascending order. */
static char *net_ep_gather(const struct boot *b, size_t *len)
{
    const uint32_t *pes = boot_node_pes(b, b->node);
    uint32_t at = net_ep_round_up(b->local_size * sizeof at);
    char *value = malloc(net_ep_value_max(b->local_size));

    if (value == NULL)
        log_die("shmem_init: no memory for the addresses of %u PEs", b->local_size);
    for (uint32_t i = 0; i < b->local_size; i++)
        at = net_ep_add_endpoint(value, i, at, (int)pes[i]);
    *len = at;
    return value;
}

/* An address may contain a secret of the transport; the value has it now. */
static void net_ep_erase_address(void)
{
    struct card *card = (struct card *)(pgas_self.heap_base + CARD_OFFSET);

    seal_erase(card->address, card->len);
}

struct net_exchange {
    struct boot_fence *fence;
    uint64_t failed_ns; /* since when a failure of a PE is known; 0: none is */
};

/* A block_ready function. */
static bool net_ep_exchanged(const void *arg)
{
    const struct net_exchange *const *x = arg;

    return boot_fence_done((*x)->fence);
}

/* block_wait.on_stall: the launcher's barrier may wait for a PE that has failed; or that
 * PE has failed after it, and its end is on the way. */
static void net_ep_exchange_on_stall(const void *arg)
{
    struct net_exchange *x = *(struct net_exchange *const *)arg;
    uint64_t now = clock_ns();

    if (!nodeseg_knows_failure())
        return;
    if (x->failed_ns == 0)
        x->failed_ns = now;
    if (now - x->failed_ns > TIMING_EXIT_CHECK)
        nodeseg_check_failures();
}

static void net_ep_exchange(void)
{
    struct net_exchange exchange = {.fence = boot_fence_begin(NULL, 0, block_wake_own)},
                        *x = &exchange;

    block_until(&(struct block_wait){.ready = net_ep_exchanged,
                                     .arg = &x,
                                     .what = "shmem_init: for other nodes' addresses",
                                     .on_stall = net_ep_exchange_on_stall});
    if (boot_fence_end(exchange.fence) == 0)
        return;
    nodeseg_check_failures();
    log_die("shmem_init: cannot exchange addresses with the other nodes: %s",
            boot_error());
}

void net_endpoint_publish(struct net *n)
{
    const struct boot *b = n->boot;
    size_t len;

    if (boot_node_pes(b, b->node)[0] == b->rank) {
        char *value = net_ep_gather(b, &len);
        if (boot_put(BOOT_ALL, NET_ENDPOINT_KEY, value, len) != 0)
            log_die("shmem_init: cannot publish %zu bytes of addresses: %s", len,
                    boot_error());
        seal_erase(value, len);
        free(value);
    }
    net_ep_exchange();
    net_ep_erase_address();
}

/* ---- lookup ---------------------------------------------------------------------- */

/* Checks that the PE's transport and heap size match this PE's, and copies its address.
 * Returns the length of the address; -1 if it exceeds `space`. */
static ssize_t net_ep_read(const struct net *n, int pe, const struct card *card, void *to,
                           size_t space)
{
    const struct pgas *g = &pgas_self;

    if (strncmp(card->transport, n->t->name, sizeof card->transport) != 0)
        log_die("PE %d uses the network transport %.*s and PE %d %s; set SHMEM_TRANSPORT "
                "to one that all nodes have",
                pe, CARD_NAME_MAX, card->transport, g->me, n->t->name);
    if (card->heap_len != g->heap_len)
        net_ep_refuse_heap(pe, card->heap_len);
    bool same = card->data_len == g->data_len && card->data_tag == g->data_tag;
    store_release_u32(&g->peer[pe].program, same ? PROGRAM_SAME : PROGRAM_OTHER);
    if (card->len > space)
        return -1;
    memcpy(to, card->address, card->len);
    return card->len;
}

/* With SHMEM_FAULTS on one node: the PE is local but accessed through the transport. */
static ssize_t net_ep_lookup_memory(const struct net *n, int pe, void *to, size_t space)
{
    uint32_t local = 0; /* in the launcher's order, which need not ascend */

    while (n->boot->local_pes[local] != (uint32_t)pe)
        local++;
    const struct node_pe *p = &pgas_self.node->pe[local];
    char *heap = segment_map_peer(p->pid, p->heap_fd, p->heap_len, 0);

    if (heap == NULL && pgas_self.ft != NULL)
        return -1;
    if (heap == NULL)
        log_die("cannot map the memory of PE %d: %s", pe, strerror(errno));
    ssize_t len =
        net_ep_read(n, pe, (const struct card *)(heap + CARD_OFFSET), to, space);
    segment_unmap(heap, p->heap_len);
    return len;
}

/* The launcher does not know the PE; it may have dropped the values of a dead one, or of
 * all PEs while this one finalizes. */
static ssize_t net_ep_missing(const struct net *n, int pe, const char *error)
{
    if (pgas_self.ft == NULL && load_acquire_u32(&n->leaving) == 0)
        log_die("the launcher does not know how to reach PE %d: %s", pe, error);
    return -1;
}

static ssize_t net_ep_lookup_launcher(const struct net *n, int pe, void *to, size_t space)
{
    const struct boot *b = n->boot;
    _Alignas(struct card) unsigned char copy[CARD_MAX];
    struct net_lookup_value v;
    enum net_lookup_state state = net_lookup_open(b, b->node_of[pe], &v);

    if (state == NET_LOOKUP_PENDING)
        return -EAGAIN;
    if (state == NET_LOOKUP_NO_MEMORY && load_acquire_u32(&n->leaving) == 0)
        log_die("no memory for the addresses of the PEs on the node of PE %d", pe);
    if (state != NET_LOOKUP_KNOWN)
        return net_ep_missing(n, pe, v.error);
    const struct card *card =
        net_ep_nth_endpoint(v.bytes, v.len, boot_node_index(b, (uint32_t)pe));
    if (card != NULL)
        memcpy(copy, card, net_ep_endpoint_bytes(card));
    net_lookup_close();
    if (card == NULL)
        return net_ep_missing(n, pe, "malformed value");
    ssize_t len = net_ep_read(n, pe, (const struct card *)copy, to, space);
    seal_erase(copy, sizeof copy);
    return len;
}

ssize_t net_endpoint_address(const struct transport_world *world, int pe, void *to,
                             size_t space)
{
    struct net *n = world->arg;

    if (ft_pe_failed(pe))
        return -1;
    if (n->boot->nnodes > 1)
        return net_ep_lookup_launcher(n, pe, to, space);
    return net_ep_lookup_memory(n, pe, to, space);
}

bool net_endpoint_awaited(int pe)
{
    const uint32_t *node_of = pgas_self.node_of;

    return node_of != NULL && net_lookup_is_pending(node_of[pe]);
}

void net_endpoint_timed_out(const char *fn, int pe)
{
    log_die(
        "%s: the launcher has not answered for %u s the request for the address of PE "
        "%d; is the launcher's daemon on this node stopped? SHMEM_NET_TIMEOUT sets the "
        "limit",
        fn, (unsigned)pgas_self.env.net_timeout, pe);
}

/* ---- connect ----------------------------------------------------------------------- */

struct net_connect {
    int pe;
    ssize_t len; /* of the address; negative: none (transport_world.address_of) */
    const char *what;
    struct net_patience patience;
};

static struct net_connect *net_connect_of(const void *arg)
{
    return *(struct net_connect *const *)arg;
}

/* A block_ready function. */
static bool net_connect_known(const void *arg)
{
    unsigned char address[TRANSPORT_ADDRESS_MAX];
    struct net_connect *c = net_connect_of(arg);

    c->len = net_endpoint_address(&pgas_self.net->world, c->pe, address, sizeof address);
    if (c->len > 0)
        seal_erase(address, (size_t)c->len);
    return c->len != -EAGAIN;
}

/* block_wait.on_stall */
static void net_connect_on_stall(const void *arg)
{
    struct net_connect *c = net_connect_of(arg);

    if (net_patience_ends(&c->patience, clock_ns(), 0, true, net_timeout_ns()))
        net_endpoint_timed_out(c->what, c->pe);
}

void net_connect(int pe)
{
    struct net_connect connect = {.pe = pe, .what = "first access to a global variable"},
                       *c = &connect;

    if (load_acquire_u32(&pgas_self.peer[pe].program) != PROGRAM_UNKNOWN)
        return;
    block_until(&(struct block_wait){.ready = net_connect_known,
                                     .arg = &c,
                                     .remote = true,
                                     .what = c->what,
                                     .on_stall = net_connect_on_stall});
    if (c->len < 0)
        net_await_verdict(pe, c->what, EADDRNOTAVAIL);
}
