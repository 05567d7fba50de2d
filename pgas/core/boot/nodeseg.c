/* SPDX-License-Identifier: BSD-3-Clause */
/* nodeseg.c - see nodeseg.h.  Uses: pgas.h, boot, segment, block, clock, log. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pgas/core/base/timing.h"
#include "pgas/core/core_state.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/counter.h"
#include "pgas/core/base/log.h"
#include "pgas/core/boot/locality.h"
#include "pgas/core/boot/nodeseg.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/boot/binding.h"
#include "pgas/core/memory/segment.h"
#include "pgas/ft/ft_map.h"

#define STATE core_self.nodeseg

#define KEY       "pgas.node"
#define PLACE_LEN 64

static struct node_pe *nodeseg_my_record(void)
{
    return &pgas_self.node->pe[pgas_self.local_rank];
}

static void nodeseg_record_stage(enum node_stage stage, uint64_t ns)
{
    atomic_store_explicit(&nodeseg_my_record()->stage_ns[stage], ns,
                          memory_order_relaxed);
}

/* The segment persists between generations: NODE_STAGE_ENTER resets the later stages, so
 * that a report does not show those of the previous generation. */
void nodeseg_stage(enum node_stage stage)
{
    uint64_t now = clock_ns();

    if (pgas_self.node == NULL) {
        STATE.early_ns[stage] = now;
        return;
    }
    for (int s = NODE_STAGES - 1; stage == NODE_STAGE_ENTER && s > (int)stage; s--)
        nodeseg_record_stage((enum node_stage)s, 0);
    nodeseg_record_stage(stage, now);
}

/* Number of processors that the PEs of the node may use together; 1 if unknown. */
static uint32_t nodeseg_count_cpus(void)
{
    struct place_cpus cpus;

    if (!place_job(&cpus))
        return 1;
    int count = place_count(&cpus);
    place_free(&cpus);
    return (uint32_t)count;
}

static void nodeseg_map_or_die(int fd, const char *path)
{
    struct pgas *g = &pgas_self;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        log_die("cannot open the node segment %s: %s; if the PE that made it has not "
                "exited, the launcher must run as the same user and in the same PID "
                "namespace",
                path, strerror(errno));
    g->node_len = (size_t)st.st_size;
    if (g->node_len < node_bytes(g->local_size))
        log_die("the node segment %s has %zu bytes, too few for %u PEs: oshrun and "
                "libshmem have different versions",
                path, g->node_len, g->local_size);
    g->node = segment_map(fd, g->node_len, 0);
    if (g->node == NULL)
        log_die("cannot map the node segment %s: %s", path, strerror(errno));
}

/* The alive map is large, a job with SHMEM_FT=abort uses only its header, and it has the
 * key of the failure agents if PEs host them.  So it is in no core dump, nor is what
 * shares its first page. */
static void nodeseg_exclude_map(void)
{
    const struct pgas *g = &pgas_self;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)node_ft(g->node) & ~(page - 1);

    if (madvise((void *)begin, (uintptr_t)g->node + g->node_len - begin, MADV_DONTDUMP) !=
        0)
        log_die("cannot leave the alive map of this node out of core dumps: %s",
                strerror(errno));
}

static void nodeseg_check(const char *path)
{
    const struct node *n = pgas_self.node;

    if (n->magic != NODE_MAGIC || n->version != NODE_VERSION ||
        n->npes != pgas_self.local_size)
        log_die(
            "the node segment %s (magic %#x, version %u, %u PEs) is not what this "
            "library expects (magic %#x, version %u, %u PEs): oshrun and libshmem have "
            "different versions",
            path, n->magic, n->version, n->npes, NODE_MAGIC, NODE_VERSION,
            pgas_self.local_size);
}

static void nodeseg_open_path(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);

    nodeseg_map_or_die(fd, path);
    close(fd);
    nodeseg_check(path);
}

static void nodeseg_create(const struct boot *b)
{
    struct pgas *g = &pgas_self;
    size_t map_at = node_bytes(g->local_size);
    size_t len = map_at + ft_map_bytes(g->npes, b->nnodes, g->local_size);

    g->node_fd = segment_create("pgas-node", len);
    nodeseg_map_or_die(g->node_fd, "of this node");
    g->node->magic = NODE_MAGIC;
    g->node->version = NODE_VERSION;
    g->node->bytes = len;
    g->node->ft_at = map_at;
    g->node->npes = g->local_size;
    g->node->cpus = nodeseg_count_cpus();
    ft_map_init(node_ft(g->node), g->npes, b->nnodes, b->node, g->local_size);
}

/* Local rank 0 creates the segment and publishes its path; the others wait for it. */
static void nodeseg_create_or_find(const struct boot *b)
{
    char path[PLACE_LEN];

    if (b->local_rank == 0) {
        nodeseg_create(b);
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), pgas_self.node_fd);
        if (b->local_size > 1 && boot_put(BOOT_NODE, KEY, path, strlen(path) + 1) != 0)
            log_die("cannot publish the node segment through PMIx: %s", boot_error());
        return;
    }
    if (boot_get(b->local_pes[0], KEY, path, sizeof path) <= 0)
        log_die("PE %u did not publish the node segment through PMIx: %s",
                b->local_pes[0], boot_error());
    nodeseg_open_path(path);
}

/* Stores our pid in the record; an error if another process has already joined as this
 * PE. */
static void nodeseg_claim_record(void)
{
    int32_t nobody = 0;

    if (!atomic_compare_exchange_strong(&nodeseg_my_record()->pid, &nobody,
                                        (int32_t)getpid()))
        log_die(
            "PE %d has joined already as process %d; start a child of a PE, or a program "
            "that runs after it in the same launch, without PMIX_* and PGAS_* variables",
            pgas_self.me, (int)nobody);
    atomic_fetch_add(&nodeseg_my_record()->wake, (uint32_t)counter_start());
}

/* Another launcher inside oshrun inherits NODE_ENV; NODE_JOB_ENV identifies its job. */
const char *nodeseg_path(void)
{
    const char *job = getenv(NODE_JOB_ENV), *nspace = getenv("PMIX_NAMESPACE");

    if (job == NULL || nspace == NULL || strcmp(job, nspace) != 0)
        return NULL;
    return getenv(NODE_ENV);
}

static void nodeseg_record_early(void)
{
    for (int s = 0; s < NODE_STAGES; s++)
        if (STATE.early_ns[s] != 0)
            nodeseg_record_stage((enum node_stage)s, STATE.early_ns[s]);
}

void nodeseg_open(const struct boot *b)
{
    struct pgas *g = &pgas_self;
    const char *path = b->launched ? nodeseg_path() : NULL;

    if (g->node != NULL)
        return; /* mapped by the first generation */
    g->local_rank = (int)b->local_rank;
    g->local_size = b->local_size;
    if (path != NULL)
        nodeseg_open_path(path);
    else
        nodeseg_create_or_find(b);
    PGAS_ASSERT(g->local_rank >= 0 && (uint32_t)g->local_rank < g->local_size);
    nodeseg_exclude_map();
    nodeseg_claim_record();
    g->oversubscribed = g->env.oversubscribed || g->node->oversubscribed != 0 ||
                        g->local_size > g->node->cpus;
    nodeseg_record_early();
}

/* True if every PE of the node has counted in each of that many generations.  The counts
 * are never reset and wrap around. */
static bool nodeseg_all_of(const _Atomic uint32_t *count, uint32_t generations)
{
    uint32_t all = pgas_self.node->npes * generations;

    return (int32_t)(atomic_load_explicit(count, memory_order_acquire) - all) >= 0;
}

static bool nodeseg_all_joined(const void *arg)
{
    const struct node *n = arg;

    return nodeseg_all_of(&n->joined, pgas_self.generation);
}

/* Failed PEs do not depart.  Departures of one generation only: there is no other after a
 * failure (nodeseg_await_detached). */
static bool nodeseg_survivors_departed(const struct node *n)
{
    for (uint32_t i = 0; i < n->npes; i++)
        if (atomic_load_explicit(&n->pe[i].last_barrier, memory_order_acquire) == 0 &&
            !ft_map_has_failed(pgas_self.ft, ft_map_rank(pgas_self.ft)[i]))
            return false;
    return true;
}

static bool nodeseg_all_departed(const void *arg)
{
    const struct node *n = arg;

    if (unlikely(pgas_self.ft != NULL))
        return nodeseg_survivors_departed(n);
    return nodeseg_all_of(&n->departed, pgas_self.generation);
}

static bool nodeseg_all_detached(const void *arg)
{
    const struct node *n = arg;

    return nodeseg_all_of(&n->detached, pgas_self.generation - 1);
}

/* Increments the count; the last PE wakes the PEs of the node. */
static void nodeseg_count_me(_Atomic uint32_t *count)
{
    struct pgas *g = &pgas_self;
    /* Releases our writes; a PE that reads the final count with acquire sees the writes
     * of all PEs. */
    uint32_t before = atomic_fetch_add_explicit(count, 1, memory_order_acq_rel);

    PGAS_ASSERT(g->local_size * g->generation - before - 1 < g->local_size);

    if (before + 1 == g->local_size * g->generation)
        for (uint32_t i = 0; i < g->local_size; i++)
            block_wake(&g->node->pe[i], NULL, 0);
}

/* True if the process has exited or is a zombie, but not if only its main thread has
 * exited: a pidfd distinguishes the two. */
static bool nodeseg_process_ended(pid_t pid, int wait_ms)
{
    struct pollfd end = {.fd = pidfd_open(pid, 0), .events = POLLIN};

    if (end.fd < 0)
        return kill(pid, 0) != 0 && errno == ESRCH;
    bool ended = poll(&end, 1, wait_ms) == 1;
    close(end.fd);
    return ended;
}

bool nodeseg_await_end(int pe)
{
    return nodeseg_process_ended(pgas_self.peer[pe].node->pid,
                                 (int)(TIMING_EXIT_WAIT / NS_PER_MS));
}

/* A PE of this node whose process has exited; -1 if there is none. */
static int nodeseg_find_ended(void)
{
    const struct pgas *g = &pgas_self;

    for (uint32_t pe = 0; pe < g->npes; pe++)
        if (g->peer[pe].node != NULL && nodeseg_process_ended(g->peer[pe].node->pid, 0))
            return (int)pe;
    return -1;
}

bool nodeseg_knows_failure(void)
{
    return atomic_load(&node_ft(pgas_self.node)->failures) > 0;
}

void nodeseg_check_failures(void)
{
    if (nodeseg_knows_failure())
        log_die("shmem_init: a PE has failed before shmem_init has returned on all PEs; "
                "failures are survived only after it");
}

/*
 * A PE that exits with status 0 after a generation is not an error to the launcher, which
 * does not know that the other PEs start another generation.  We report it one probe
 * after the one that found it: by then the launcher has ended the job if the PE failed,
 * or our wait is over if the PE exited after all PEs had joined.
 *
 * With SHMEM_FT=continue the launcher marks a PE that fails.  Before it has joined, the
 * others cannot do without its descriptor.
 */
static void nodeseg_join_on_stall(const void *arg)
{
    uint64_t now = clock_ns();

    (void)arg;
    nodeseg_check_failures();
    if (pgas_self.generation == 1 || now < STATE.seen.next_ns)
        return;
    if (STATE.seen.ended >= 0)
        log_die("PE %d has ended, but PE %d calls shmem_init again; all PEs must",
                STATE.seen.ended, pgas_self.me);
    STATE.seen.ended = nodeseg_find_ended();
    STATE.seen.next_ns = now + TIMING_EXIT_CHECK;
}

void nodeseg_leave(uint64_t barriers)
{
    struct pgas *g = &pgas_self;

    atomic_store_explicit(&nodeseg_my_record()->last_barrier, barriers + 1,
                          memory_order_release);
    nodeseg_count_me(&g->node->departed);
    if (pgas_self.ft != NULL && atomic_load(&pgas_self.ft->failures) > 0)
        ft_map_wake_all(g->node); /* its count does not reach that of all PEs */
    block_until(&(struct block_wait){.ready = nodeseg_all_departed,
                                     .arg = g->node,
                                     .what = "shmem_finalize: for all PEs of the node"});
}

void nodeseg_join(void)
{
    struct pgas *g = &pgas_self;
    struct node_pe *me = nodeseg_my_record();

    PGAS_ASSERT(g->heap_fd >= 0 && g->heap_len > 0);
    PGAS_ASSERT(me->pid == (int32_t)getpid());
    me->heap_fd = g->heap_fd;
    me->heap_len = g->heap_len;
    me->data_fd = g->data_fd;
    me->data_len = g->data_len;
    me->data_tag = g->data_tag;
    if (g->local_size > LOCALITY_PES) {
        struct locality l = locality_read();
        me->cache = l.cache;
        me->numa = l.numa;
    }
    /* All PEs have departed from the previous generation and no longer read this. */
    atomic_store_explicit(&me->last_barrier, 0, memory_order_relaxed);
    nodeseg_count_me(&g->node->joined);
    STATE.seen.ended = -1;
    STATE.seen.next_ns = 0;
    block_until(&(struct block_wait){.ready = nodeseg_all_joined,
                                     .arg = g->node,
                                     .on_stall = nodeseg_join_on_stall,
                                     .what = "shmem_init: for all PEs of the node"});
}

void nodeseg_part(void)
{
    nodeseg_count_me(&pgas_self.node->detached);
}

void nodeseg_await_detached(void)
{
    if (pgas_self.node == NULL)
        return;
    if (atomic_load(&node_ft(pgas_self.node)->failures) > 0)
        log_die("shmem_init: a PE failed before the preceding shmem_finalize; the "
                "survivors cannot initialize the library again");
    block_until(
        &(struct block_wait){.ready = nodeseg_all_detached,
                             .arg = pgas_self.node,
                             .what = "shmem_init: for PEs to leave the launcher"});
}
