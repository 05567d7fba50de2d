/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_lookup.c - requests to the launcher for the endpoint descriptors of a node.
 *
 * The first operation on a PE needs its descriptor while the lock of a context is held,
 * and the launcher may need long to answer, or never do: the request therefore does not
 * block.  Until the answer has arrived, address_of and the post return -EAGAIN, so that
 * the caller waits in block_until, with progress, a time limit and an end if the PE
 * fails.
 *
 * One request per node is outstanding, whatever the number of threads, contexts and PEs
 * of the node that need it.  The answer is the value of the whole node.  It is kept until
 * one of them has read it, and longer if it is among the last LOOKUPS_KEPT bytes that
 * were read, so that the memory for descriptors does not grow with the number of PEs.
 *
 * Wake-ups.  libpmix's thread stores the answer under `lock` and then wakes all sleepers.
 * A waiter enters the list of sleepers, loads the futex word, then finds the request
 * outstanding under `lock`, and sleeps: if it does, the answer is stored after that, and
 * the wake-up follows it.  The sleep on the descriptor of a user context is short instead
 * (net_wait_nap).
 *
 * `lock` is a leaf, except for the locks of block_sleep.c.
 * Uses: net_int, boot, block, log.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/log.h"
#include "pgas/core/base/seal.h"
#include "pgas/core/core_state.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/progress/net_int.h"
#include "pgas/ft/ft.h"

#define STATE core_self.net.lookups

enum { LOOKUPS_KEPT = 1 << 20 };

struct net_lookup {
    struct net_lookup *next;
    uint32_t node;
    enum net_lookup_state state;
    bool orphan; /* not in the list: the network was closed before the answer */
    bool read;   /* the value has been used */
    const char *error;
    size_t len;
    char *value;
};

static void net_lookup_free(struct net_lookup *l)
{
    seal_memory_free(l->value, l->len); /* tcp's addresses contain secrets */
    free(l);
}

/* The link to the entry of a node, or the end of the list.  The lock is held. */
static struct net_lookup **net_lookup_find(uint32_t node)
{
    struct net_lookup **at = &STATE.first;

    while (*at != NULL && (*at)->node != node)
        at = &(*at)->next;
    return at;
}

static void net_lookup_unlink(struct net_lookup *l)
{
    *net_lookup_find(l->node) = l->next;
}

static void net_lookup_link(struct net_lookup *l)
{
    l->next = STATE.first;
    STATE.first = l;
}

/* Copies the answer to the request, which is in the list.  The lock is held. */
static void net_lookup_store(struct net_lookup *l, const struct boot_answer *answer)
{
    store_relaxed_u32(&STATE.pending, STATE.pending - 1);
    if (answer->timed_out) { /* the next call asks again */
        net_lookup_unlink(l);
        net_lookup_free(l);
        return;
    }
    l->error = answer->error;
    l->state = answer->no_memory ? NET_LOOKUP_NO_MEMORY : NET_LOOKUP_FAILED;
    if (answer->error != NULL)
        return;
    l->value = seal_memory_alloc(answer->len);
    l->state = l->value != NULL ? NET_LOOKUP_KNOWN : NET_LOOKUP_NO_MEMORY;
    if (l->value != NULL) {
        memcpy(l->value, answer->data, answer->len);
        l->len = answer->len;
    }
}

/* A boot_get_done function. */
static void net_lookup_done(void *arg, const struct boot_answer *answer)
{
    struct net_lookup *l = arg;

    pthread_mutex_lock(&STATE.lock);
    if (l->orphan) {
        net_lookup_free(l);
    } else {
        net_lookup_store(l, answer);
        block_wake_own(); /* under the lock: the network is still open */
    }
    pthread_mutex_unlock(&STATE.lock);
}

/* Adds a request to the list.  The lock is held.  NULL: no memory. */
static struct net_lookup *net_lookup_new(uint32_t node)
{
    struct net_lookup *l = malloc(sizeof *l);

    if (l == NULL)
        return NULL;
    *l = (struct net_lookup){.node = node, .state = NET_LOOKUP_PENDING};
    net_lookup_link(l);
    store_relaxed_u32(&STATE.pending, STATE.pending + 1);
    return l;
}

/* Frees the answers that were read, except the first LOOKUPS_KEPT bytes of the list. */
static void net_lookup_trim(void)
{
    struct net_lookup **at = &STATE.first, *l;
    size_t bytes = 0;

    while ((l = *at) != NULL) {
        bytes += l->read ? l->len : 0;
        if (!l->read || bytes <= LOOKUPS_KEPT) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        net_lookup_free(l);
    }
}

static void net_lookup_request(const struct boot *b, struct net_lookup *l)
{
    boot_get_begin(boot_node_pes(b, l->node)[0], NET_ENDPOINT_KEY,
                   pgas_self.ft != NULL ? BOOT_GET_SHORT_S : BOOT_GET_S, net_lookup_done,
                   l);
}

enum net_lookup_state net_lookup_open(const struct boot *b, uint32_t node,
                                      struct net_lookup_value *v)
{
    *v = (struct net_lookup_value){0};
    pthread_mutex_lock(&STATE.lock);
    struct net_lookup *l = *net_lookup_find(node);
    if (l == NULL) {
        l = net_lookup_new(node);
        pthread_mutex_unlock(&STATE.lock);
        if (l == NULL)
            return NET_LOOKUP_NO_MEMORY;
        net_lookup_request(b, l); /* may end it at once */
        pthread_mutex_lock(&STATE.lock);
        l = *net_lookup_find(node);
    }
    enum net_lookup_state state = l != NULL ? l->state : NET_LOOKUP_PENDING;
    if (state == NET_LOOKUP_KNOWN) {
        net_lookup_unlink(l);
        net_lookup_link(l);
        l->read = true;
        *v = (struct net_lookup_value){.bytes = l->value, .len = l->len};
        return state; /* with the lock */
    }
    if (state != NET_LOOKUP_PENDING) { /* a later call asks again */
        v->error = l->error;
        net_lookup_unlink(l);
        net_lookup_free(l);
    }
    pthread_mutex_unlock(&STATE.lock);
    return state;
}

void net_lookup_close(void)
{
    net_lookup_trim();
    pthread_mutex_unlock(&STATE.lock);
}

bool net_lookup_any_pending(void)
{
    return load_relaxed_u32(&STATE.pending) != 0;
}

bool net_lookup_is_pending(uint32_t node)
{
    pthread_mutex_lock(&STATE.lock);
    const struct net_lookup *l = *net_lookup_find(node);
    bool pending = l != NULL && l->state == NET_LOOKUP_PENDING;
    pthread_mutex_unlock(&STATE.lock);
    return pending;
}

void net_lookups_drop(void)
{
    struct net_lookup *l, *next;

    pthread_mutex_lock(&STATE.lock);
    for (l = STATE.first; l != NULL; l = next) {
        next = l->next;
        l->orphan = true;
        if (l->state != NET_LOOKUP_PENDING)
            net_lookup_free(l);
    }
    STATE.first = NULL;
    store_relaxed_u32(&STATE.pending, 0);
    pthread_mutex_unlock(&STATE.lock);
}
