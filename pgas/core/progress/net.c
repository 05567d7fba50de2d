/* SPDX-License-Identifier: BSD-3-Clause */
/* net.c - see net.h: selects, opens and closes the transport, and its contexts.
 * Uses: net_int, block, boot, log, pgas/transport. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/core/base/address.h"
#include "pgas/core/base/counter.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/core_state.h"
#include "pgas/core/base/os.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net_int.h"
#include "pgas/transport/avoid.h"
#include "pgas/transport/choice.h"
#include "pgas/transport/prefer.h"
#include "pgas/transport/test/hook.h"

#define STATE core_self.net

enum {
    NODES_SHOWN = 512, /* bytes of a list of nodes in a message */
    REASONS_MAX = 1024,
};

/* ---- selection ------------------------------------------------------------------- */

/* The transports that SHMEM_TRANSPORT allows.  An unknown word is an error. */
static void net_read_choice(bool wanted[TRANSPORTS])
{
    const char *list = pgas_self.env.transport, *name[TRANSPORTS];
    size_t len;

    for (int i = 0; i < TRANSPORTS; i++)
        name[i] = transport_list[i]->name;
    const char *bad = choice_read(list, name, TRANSPORTS, wanted, &len);
    if (bad != NULL)
        log_die("SHMEM_TRANSPORT=%s: '%.*s' is not a transport; use auto, a list of ofi, "
                "ucx and tcp, or a list of ^ofi, ^ucx and ^tcp to exclude them",
                list, (int)len, bad);
}

/* An unknown word in SHMEM_NET_DISABLE is an error, since the variable is for tests,
 * which would otherwise pass without testing anything. */
static void net_check_avoid(const char *list)
{
    bool avoid[CAPABILITIES];
    size_t len = 0;
    const char *unknown = capability_read(list, avoid, &len);

    if (unknown != NULL)
        log_die(
            "SHMEM_NET_DISABLE=%s: '%.*s' is not a capability; oshmem_info --env lists "
            "them",
            list, (int)len, unknown);
}

/* A malformed value must not make the job use another transport. */
static void net_read_order(const char *text, enum transport_order *order)
{
    if (!choice_read_order(text, order))
        log_die("SHMEM_OFI_ORDER=%s: must be auto, yes or no", text);
}

/* Likewise. */
static void net_check_interface(const char *list)
{
    struct address any;
    char why[TRANSPORT_TEXT_MAX];

    if (list != NULL && *list != '\0' &&
        address_choose(list, &any, 1, why, sizeof why) == 0)
        log_die("SHMEM_TCP_IF=%s: cannot be used (%s)", list, why);
}

/* Likewise, a malformed SHMEM_FAULTS is an error. */
static void net_check_faults(const struct transport_world *world)
{
    char why[TRANSPORT_TEXT_MAX];

    if (world->faults != NULL &&
        hook_check(world->faults, world->me, world->npes, why) != 0)
        log_die("SHMEM_FAULTS=%s: %s", world->faults, why);
}

static void net_add_reason(char *reasons, const char *name, const char *why)
{
    size_t used = strlen(reasons);

    snprintf(reasons + used, REASONS_MAX - used, "%s%s: %s", used > 0 ? "; " : "", name,
             why);
}

/* Opens the first usable transport.  False if there is none; `reasons` says why.  Without
 * memory no other one is tried: the other PEs have the first. */
static bool net_open_one(struct net *n, char *reasons)
{
    char why[TRANSPORT_TEXT_MAX];
    bool wanted[TRANSPORTS];
    int order[TRANSPORTS];

    net_read_choice(wanted);
    transport_prefer(&n->world, order);
    for (int i = 0; i < TRANSPORTS; i++) {
        const struct transport *t = transport_list[order[i]];
        if (!wanted[order[i]]) {
            net_add_reason(reasons, t->name, "excluded by SHMEM_TRANSPORT");
            continue;
        }
        if (n->world.faults != NULL) {
            hook_wrap(t);
            t = &transport_hook;
        }
        int rc = t->open(&n->world, &n->open, why);
        if (rc == -ENOMEM)
            log_die("shmem_init: no memory for the network transport %s", t->name);
        if (rc == 0) {
            n->t = t;
            return true;
        }
        net_add_reason(reasons, t->name, why);
    }
    return false;
}

/* PE 0 reports the error and aborts the job.  The other PEs delay: a launcher that sees
 * one of them exit might kill PE 0 before it has reported. */
static _Noreturn void net_refuse(const struct boot *b, const char *reasons)
{
    char nodes[NODES_SHOWN];

    boot_nodes_text(b, nodes, sizeof nodes);
    if (b->rank != 0)
        os_sleep(TIMING_REFUSED);
    log_flush(stdout);
    log_warn("shmem_init: the job has %u PEs on %u nodes (%s), but no network transport "
             "is usable (%s); run all PEs on one node, or see oshmem_info --check",
             b->size, b->nnodes, nodes, reasons);
    boot_abort(EXIT_FAILURE, "no network transport");
    os_exit(EXIT_FAILURE);
}

/* ---- failures -------------------------------------------------------------------- */

/* "routine: " if a thread of this PE waits in one, else "". */
static const char *net_waiting_in(char *text, size_t size)
{
    char what[NODE_WHAT];

    node_what(&pgas_self.node->pe[pgas_self.local_rank], what);
    snprintf(text, size, "%s%s", what, what[0] != '\0' ? ": " : "");
    return text;
}

void net_node_name(struct net *n, int pe, char *name, size_t size)
{
    uint32_t node = n->boot->node_of[pe];

    snprintf(name, size, "number %u", node);
    if (pthread_mutex_trylock(&n->boot_lock) != 0)
        return;
    boot_node_name(n->boot, node, false, name, size);
    pthread_mutex_unlock(&n->boot_lock);
}

/* transport_world.failed: ends the job unless it is finalizing, or survives failures. */
static void net_failed(const struct transport_world *world, int pe, const char *reason)
{
    struct net *n = world->arg;
    char name[TRANSPORT_TEXT_MAX], what[2 * NODE_WHAT];

    if (load_acquire_u32(&n->leaving) != 0)
        return;
    if (pe < 0)
        log_die("%s: %s", n->t->name, reason);
    if (net_suspect(pe, reason))
        return;
    net_node_name(n, pe, name, sizeof name);
    log_lost("%slost PE %d on node %s: %s: %s", net_waiting_in(what, sizeof what), pe,
             name, n->t->name, reason);
}

/* ---- initialisation -------------------------------------------------------------- */

static void net_set_world(struct net *n)
{
    const struct pgas *g = &pgas_self;
    const struct env *e = &g->env;

    n->world = (struct transport_world){.me = g->me,
                                        .npes = (int)g->npes,
                                        .address_of = net_endpoint_address,
                                        .failed = net_failed,
                                        .arg = n,
                                        .provider = e->ofi_provider,
                                        .fabric = e->ofi_fabric,
                                        .domain = e->ofi_domain,
                                        .interface = e->tcp_if,
                                        .coalesce = e->coalesce,
                                        .avoid = e->net_disable,
                                        .timeout_ns = net_timeout_ns(),
                                        .survives = e->ft != NULL &&
                                                    strcmp(e->ft, "continue") == 0};
    n->world.segment[SEGMENT_HEAP].base = (void *)g->heap_base;
    n->world.segment[SEGMENT_HEAP].len = g->heap_len;
    n->world.segment[SEGMENT_HEAP].fd = g->heap_fd;
    n->world.segment[SEGMENT_DATA].base = (void *)g->data_base;
    n->world.segment[SEGMENT_DATA].len = g->data_len;
    n->world.segment[SEGMENT_DATA].fd = g->data_fd;
    if (e->faults != NULL && e->faults[0] != '\0')
        n->world.faults = e->faults;
}

/* With SHMEM_FAULTS on one node, the hook transport performs all accesses to other PEs.
 */
static bool net_open_on_node(struct net *n, char *reasons)
{
    hook_wrap(&transport_shm);
    n->t = &transport_hook;
    return n->t->open(&n->world, &n->open, reasons) == 0;
}

static void net_set_text(struct net *n)
{
    snprintf(n->text, sizeof n->text, "%s (%s)", n->t->name, n->t->describe(n->open));
}

void net_open(const struct boot *b)
{
    struct net *n = &STATE.net;
    char reasons[REASONS_MAX] = "";

    *n = (struct net){.boot = b, .wake_fd = -1};
    net_set_world(n);
    pgas_self.nnodes = b->nnodes;
    if (b->nnodes < 2 && (n->world.faults == NULL || b->size < 2))
        return;
    net_check_avoid(n->world.avoid);
    net_check_faults(&n->world);
    net_read_order(pgas_self.env.ofi_order, &n->world.order);
    net_check_interface(n->world.interface);
    if (b->nnodes < 2 ? !net_open_on_node(n, reasons) : !net_open_one(n, reasons))
        net_refuse(b, reasons);
    pthread_mutex_init(&n->ctx_lock, NULL);
    pthread_mutex_init(&n->open_lock, NULL);
    pthread_mutex_init(&n->boot_lock, NULL);
    pthread_mutex_init(&n->suspects.lock, NULL);
    n->ctx_0.t = n->t->ctx_0(n->open);
    n->ctx_0.locked = n->ctx_0.serves = true;
    net_pool_init(&n->pool, &n->ctx_0);
    net_watch_init();
    net_set_text(n);
    net_endpoint_write(n);
    pgas_self.net = n;
    pgas_self.node_of = b->nnodes > 1 ? b->node_of : NULL;
}

/* Marks every other PE as remote, for SHMEM_FAULTS on one node. */
static void net_set_all_remote(void)
{
    struct pgas *g = &pgas_self;

    for (uint32_t pe = 0; pe < g->npes; pe++)
        if ((int)pe != g->me)
            g->peer[pe].node = NULL;
}

void net_publish(const struct boot *b)
{
    struct net *n = pgas_self.net;

    if (n == NULL)
        return;
    net_thread_start(n);
    if (b->nnodes > 1)
        net_endpoint_publish(n);
    else
        net_set_all_remote();
    log_debug("network transport: %s", n->text);
}

void net_leave(const char *fn)
{
    struct net *n = pgas_self.net;

    if (n == NULL)
        return;
    store_release_u32(&n->leaving, 1);
    if (unlikely(pgas_self.ft != NULL))
        net_leave_survivors(fn);
    else if (boot_barrier() != 0)
        log_warn("%s: the barrier of the launcher failed: %s", fn, boot_error());
}

static void net_log_statistics(struct net *n)
{
    char text[TRANSPORT_TEXT_MAX];

    if (n->t->statistics == NULL || pgas_self.env.debug == 0)
        return;
    n->t->statistics(n->open, text);
    log_debug("%s: %s", n->t->name, text);
}

void net_close(bool exiting)
{
    struct net *n = pgas_self.net;

    if (n == NULL)
        return;
    net_thread_stop(n);
    if (exiting)
        return; /* other threads may still use it */
    net_log_statistics(n);
    net_pool_close(&n->pool);
    n->t->close(n->open);
    net_lookups_drop();
    pgas_self.net = NULL;
    pgas_self.node_of = NULL;
}

const char *net_text(void)
{
    return pgas_self.net != NULL ? pgas_self.net->text : "none (all PEs are on one node)";
}

/* ---- contexts -------------------------------------------------------------------- */

void net_lock(struct net_ctx *c)
{
    pgas_thread.locks++;
    if (c->locked)
        adaptive_acquire(&c->lock);
}

bool net_try_lock(struct net_ctx *c)
{
    pgas_thread.locks++;
    if (c->locked ? adaptive_try_acquire(&c->lock)
                  : pthread_equal(c->owner, pthread_self()) && pgas_thread.locks == 1)
        return true;
    pgas_thread.locks--;
    return false;
}

bool net_try_serve(struct net_ctx *c)
{
    if (!net_needs_progress(c) || !net_try_lock(c))
        return false;
    /* The thread that waits stores `attended` before it acquires the lock. */
    if (net_needs_progress(c))
        return true;
    net_unlock(c);
    return false;
}

void net_unlock(struct net_ctx *c)
{
    if (c->locked)
        adaptive_release(&c->lock);
    pgas_thread.locks--;
}

bool net_inside(void)
{
    return pgas_thread.locks > 0;
}

struct net_ctx *net_ctx_0(void)
{
    return pgas_self.net != NULL ? &pgas_self.net->ctx_0 : NULL;
}

static void net_ctx_list(struct net *n, struct net_ctx *c)
{
    pthread_mutex_lock(&n->ctx_lock);
    c->next = n->contexts;
    n->contexts = c;
    pthread_mutex_unlock(&n->ctx_lock);
}

struct net_ctx *net_ctx_open(bool private, bool serialized)
{
    struct net *n = pgas_self.net;
    struct net_ctx *c = aligned_alloc(_Alignof(struct net_ctx), sizeof *c);

    if (c == NULL)
        return &n->ctx_0;
    *c = (struct net_ctx){.drained = counter_start(),
                          .progressed = (uint32_t)counter_start()};
    /* The progress thread skips contexts without a lock. */
    c->locked = !private || n->t->send != NULL;
    c->exclusive = private || serialized;
    c->owner = pthread_self();
    pthread_mutex_lock(&n->open_lock);
    int rc = n->t->ctx_open(n->open, &c->t);
    pthread_mutex_unlock(&n->open_lock);
    if (rc == 0) {
        net_ctx_list(n, c);
        return c;
    }
    log_debug("%s has no more contexts (%s): this one shares the default one", n->t->name,
              strerror(-rc));
    free(c);
    return &n->ctx_0;
}

void net_ctx_close(struct net_ctx *c)
{
    struct net *n = pgas_self.net;

    if (c == NULL || n == NULL || c == &n->ctx_0)
        return;
    pthread_mutex_lock(&n->ctx_lock);
    struct net_ctx **at = &n->contexts;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    pthread_mutex_unlock(&n->ctx_lock);
    pthread_mutex_lock(&n->open_lock);
    n->t->ctx_close(c->t);
    pthread_mutex_unlock(&n->open_lock);
    free(c);
}
