/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon_ft.c - see daemon_int.h: the failure of PEs with SHMEM_FT=continue.
 *
 * Uses chassis.c, ft_map.c, ft_agent.h, pmix_net.c, loop.c.  Used by daemon.c,
 * daemon_wire.c.
 *
 * The alive map of the node (pgas/ft/ft_map.h) is the one place where all knowledge of
 * failures meets: the daemon marks PEs whose process has ended, and those that the front
 * end names; the agent of the node marks those of which other agents know; the PEs mark
 * each other.  A thread waits for changes of the map and wakes the loop, which
 *  - announces each failed PE to PMIx, once;
 *  - kills a PE of this node that others consider failed (fail-stop);
 *  - reports failed PEs of other nodes to the front end, unless it named them.
 */
#include "config.h"

#include "pgas/core/base/seal.h"
#include "tools/oshrun/daemon/chassis.h"
#include "tools/oshrun/daemon/daemon_int.h"
#include "tools/oshrun/net/listener.h"
#include "tools/oshrun/daemon/stand_in.h"
#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/string_list.h"
#include "tools/oshrun/util/mem.h"

#include "pgas/ft/agent/ft_agent.h"
#include "pgas/ft/ft_map.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_ERROR 1
#define WORD_BITS  64
#define BAD        (-1)
#define WHY_BYTES  256

#define CHECK_PMIX_MS 500

/* Bits are set in the loop only. */
static bool daemon_ft_test(const uint64_t *set, uint32_t rank)
{
    return (set[rank / WORD_BITS] >> rank % WORD_BITS & 1) != 0;
}

static void daemon_ft_set(uint64_t *set, uint32_t rank)
{
    set[rank / WORD_BITS] |= (uint64_t)1 << rank % WORD_BITS;
}

/* ---- the thread ------------------------------------------------------------------- */

/* Fails only if the counter of the eventfd would overflow. */
static void daemon_ft_wake_loop(const struct daemon *d)
{
    const uint64_t one = 1;
    ssize_t written = write(d->ft.watch.fd, &one, sizeof one);
    (void)written;
}

/* daemon_ft_stop changes the epoch after `stop`, so that no wake-up is lost. */
static void *daemon_ft_watch_map(void *arg)
{
    struct daemon *d = arg;
    struct ft_map *map = node_ft(d->node);
    for (;;) {
        uint32_t epoch = atomic_load_explicit(&map->epoch, memory_order_acquire);
        if (atomic_load_explicit(&d->ft.stop, memory_order_acquire))
            return NULL;
        daemon_ft_wake_loop(d);
        syscall(SYS_futex, &map->epoch, FUTEX_WAIT, epoch, NULL, NULL, 0);
    }
}

static int daemon_ft_start_thread(struct daemon *d)
{
    sigset_t all, was;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    int err = pthread_create(&d->ft.thread, NULL, daemon_ft_watch_map, d);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    d->ft.runs = err == 0;
    errno = err;
    return err == 0 ? 0 : -1;
}

/* ---- PEs that failed before they connected to PMIx -------------------------------- */

/* Needed as soon as other PEs of the node are connected, and may wait for this one. */
static void daemon_ft_stand_in(struct daemon *d, struct pe *pe)
{
    if (!pe->ended || pe->connected || pe->stand_in != 0 || d->connected == 0 ||
        !daemon_ft_test(d->ft.seen, pe->rank))
        return;
    char **pmix = pmix_host_env(d->pmix, pe->rank);
    const struct launch *l = &d->launch[job_app_of(d->job, pe->rank)];
    pe->stand_in = pmix != NULL ? stand_in_start(l, pmix, d->reaper->fd, d->files) : -1;
    string_list_free(pmix);
}

void daemon_ft_connected(struct daemon *d)
{
    for (uint32_t i = 0; d->job->ft.on && i < d->npes; i++)
        daemon_ft_stand_in(d, &d->pe[i]);
}

bool daemon_ft_end_stand_ins(struct daemon *d, int *steps)
{
    for (uint32_t i = 0; i < d->npes; i++) {
        pid_t *pid = &d->pe[i].stand_in;
        if (*pid <= 0)
            continue;
        kill(-*pid, SIGKILL);
        if (!child_reap(*pid, steps))
            return false;
        *pid = -1;
    }
    return true;
}

/* ---- new failures ----------------------------------------------------------------- */

static struct pe *daemon_ft_pe_of(struct daemon *d, uint32_t rank)
{
    for (uint32_t i = 0; i < d->npes; i++)
        if (d->pe[i].rank == rank)
            return &d->pe[i];
    return NULL;
}

/* True: the front end must be told. */
static bool daemon_ft_announce(struct daemon *d, uint32_t rank)
{
    const struct pe *pe = daemon_ft_pe_of(d, rank);
    daemon_ft_set(d->ft.seen, rank);
    pmix_net_failed(d->pmix_net, rank);
    if (pe != NULL && !pe->ended) { /* ENDED will tell the front end */
        daemon_kill(d, SIGKILL, &rank, 1);
        return false;
    }
    return !daemon_ft_test(d->ft.told, rank);
}

static void daemon_ft_report(struct daemon *d, const uint32_t *rank, uint32_t count)
{
    struct pack p = {0};
    for (uint32_t i = 0; i < count; i++)
        daemon_ft_set(d->ft.told, rank[i]);
    pack_u32(&p, WIRE_NONE);
    pack_numbers(&p, rank, count);
    daemon_send(d, WIRE_PE_FAILED, &p);
}

/* The other nodes consider this one failed.  The agent has killed its PEs; the front end
 * closes the link, and the daemon exits. */
static void daemon_ft_leave(struct daemon *d)
{
    struct pack p = {0};
    d->ft.ending = true;
    daemon_kill(d, SIGKILL, NULL, 0);
    pack_u32(&p, EXIT_ERROR);
    pack_string(&p, "the other nodes consider this one failed");
    daemon_send(d, WIRE_FAILED, &p);
}

static void daemon_ft_on_change(void *arg, unsigned ready)
{
    struct daemon *d = arg;
    const struct ft_map *map = node_ft(d->node);
    uint64_t counted;
    uint32_t *rank, n = 0;
    (void)ready;
    if (read(d->ft.watch.fd, &counted, sizeof counted) < 0 || d->ft.ending)
        return;
    if (atomic_load_explicit(&d->ft.self_failed, memory_order_acquire)) {
        daemon_ft_leave(d);
        return;
    }
    rank = mem_calloc(d->job->npes, sizeof *rank);
    for (uint32_t w = 0; w < ft_map_set_words(map); w++) {
        uint64_t fresh =
            atomic_load_explicit(&ft_map_failed(map)[w], memory_order_acquire) &
            ~d->ft.seen[w];
        for (; fresh != 0; fresh &= fresh - 1) {
            uint32_t r = w * WORD_BITS + (uint32_t)__builtin_ctzll(fresh);
            if (daemon_ft_announce(d, r))
                rank[n++] = r;
        }
    }
    if (n > 0)
        daemon_ft_report(d, rank, n);
    daemon_ft_connected(d);
    free(rank);
}

/* ---- sources ---------------------------------------------------------------------- */

void daemon_ft_end_job(struct daemon *d)
{
    d->ft.ending = true;
}

/* True if the process that was started is gone but the PE is a descendant of it. */
static bool daemon_ft_has_descendant(const struct daemon *d, const struct pe *pe)
{
    pid_t pid = atomic_load_explicit(&d->node->pe[pe->local].pid, memory_order_relaxed);
    return pid != pe->pid;
}

/* An exit with status 0 without shmem_finalize is left to the front end, which waits for
 * a while, unless the process is the PE itself. */
static bool daemon_ft_is_failure(const struct daemon *d, const struct pe *pe,
                                 const siginfo_t *how)
{
    if (pe->finalized)
        return false;
    if (how->si_code != CLD_EXITED || how->si_status != 0)
        return true;
    return pe->connected && !daemon_ft_has_descendant(d, pe);
}

static void daemon_ft_on_stuck_pmix(void *arg)
{
    struct daemon *d = arg;
    if (d->ft.ending)
        return;
    error_report("the PMIx server does not answer any more, because a PE failed while it "
                 "connected; failures are survived only after shmem_init");
    daemon_fail(d, EXIT_ERROR);
}

static bool daemon_ft_connects(const struct pe *pe)
{
    siginfo_t si = {0};
    if (pe->stand_in > 0)
        return waitid(P_PID, (id_t)pe->stand_in, &si, WEXITED | WNOHANG | WNOWAIT) == 0 &&
               si.si_pid == 0;
    return !pe->connected && !pe->ended;
}

/* libpmix deadlocks at a connection that follows the broken one (pmix_net_probe). */
static void daemon_ft_on_check_pmix(void *arg)
{
    struct daemon *d = arg;
    bool connecting = false;
    for (uint32_t i = 0; i < d->npes && !connecting; i++)
        connecting = daemon_ft_connects(&d->pe[i]);
    if (!connecting || d->ft.ending)
        return;
    pmix_net_probe(d->pmix_net, daemon_ft_on_stuck_pmix, d);
    loop_after(d->loop, &d->ft.check_pmix, CHECK_PMIX_MS);
}

bool daemon_ft_ended(struct daemon *d, const struct pe *pe, const siginfo_t *how)
{
    if (!d->job->ft.on || d->ft.ending)
        return false;
    if (!ft_map_has_failed(node_ft(d->node), pe->rank) &&
        !daemon_ft_is_failure(d, pe, how))
        return false;
    daemon_ft_set(d->ft.told, pe->rank); /* by ENDED */
    ft_map_fail(d->node, &pe->rank, 1);
    daemon_kill(d, SIGKILL, &pe->rank, 1); /* processes that it has left */
    if (!pe->connected && !d->ft.check_pmix.running)
        loop_after(d->loop, &d->ft.check_pmix, CHECK_PMIX_MS);
    return true;
}

int daemon_ft_recv(struct daemon *d, struct unpack *u)
{
    uint32_t lost = unpack_u32(u), count;
    uint32_t *rank = unpack_numbers(u, &count);
    bool good =
        unpack_done(u) && d->job->ft.on && (lost == WIRE_NONE || lost < d->job->nnodes);
    for (uint32_t i = 0; good && i < count; i++)
        good = rank[i] < d->job->npes;
    for (uint32_t i = 0; good && i < count; i++)
        daemon_ft_set(d->ft.told, rank[i]);
    if (good && !d->ft.ending)
        ft_map_fail(d->node, rank, count);
    if (good && lost != WIRE_NONE)
        pmix_net_lost(d->pmix_net, lost);
    free(rank);
    return good ? 0 : BAD;
}

/* ---- start and stop --------------------------------------------------------------- */

/* Runs in a thread of the agent. */
static void daemon_ft_on_self_failed(void *arg)
{
    struct daemon *d = arg;
    atomic_store_explicit(&d->ft.self_failed, true, memory_order_release);
    daemon_ft_wake_loop(d);
}

/* The failure domain unless SHMEM_FT_DOMAINS names others: the chassis, or the node
 * alone. Virtual nodes all have one chassis, and fail one by one. */
static const char *daemon_ft_domain(const struct daemon *d, char text[CHASSIS_TEXT])
{
    if (!d->job->virtual_nodes &&
        chassis_name(pmix_host_machine_info(d->pmix, "DMIChassisVendor"),
                     pmix_host_machine_info(d->pmix, "DMIChassisSerial"),
                     pmix_host_machine_info(d->pmix, "DMIChassisAssetTag"), text,
                     CHASSIS_TEXT))
        return text;
    return d->job->node[d->job->here].name;
}

/* The key of the agents' connections, which all daemons of the job can compute. */
static int daemon_ft_make_secret(struct daemon *d, const struct nonce *nonce)
{
    d->ft.secret = mem_secret(SEAL_SECRET);
    if (nonce == NULL)
        return seal_random(d->ft.secret, SEAL_SECRET) ? 0 : -1;
    seal_derive(nonce->byte, "pgas failure agents", d->ft.secret);
    return 0;
}

static int daemon_ft_start_agent(struct daemon *d)
{
    char why[WHY_BYTES] = "", chassis[CHASSIS_TEXT];
    const struct ft_agent_options options = {.node = d->node,
                                             .interfaces = d->job->ft.interfaces,
                                             .loopback = d->job->virtual_nodes ||
                                                         d->job->nnodes == 1,
                                             .period_ms = d->job->ft.period_ms,
                                             .timeout_ms = d->job->ft.timeout_ms,
                                             .domain = daemon_ft_domain(d, chassis),
                                             .secret = d->ft.secret,
                                             .self_failed = daemon_ft_on_self_failed,
                                             .arg = d};
    d->ft.agent = ft_agent_start(&options, why, sizeof why);
    if (d->ft.agent != NULL)
        return 0;
    error_report("cannot start the agent that detects failures (SHMEM_FT=continue): %s",
                 why);
    return -1;
}

int daemon_ft_start(struct daemon *d, const struct nonce *nonce)
{
    uint32_t words = ft_map_set_words(node_ft(d->node));
    d->ft.watch = (struct loop_watch){.fd = -1};
    d->ft.check_pmix = (struct loop_timer){.fn = daemon_ft_on_check_pmix, .arg = d};
    if (!d->job->ft.on)
        return 0;
    d->ft.seen = mem_calloc(words, sizeof *d->ft.seen);
    d->ft.told = mem_calloc(words, sizeof *d->ft.told);
    d->ft.watch = (struct loop_watch){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                                      .fn = daemon_ft_on_change,
                                      .arg = d};
    if (d->ft.watch.fd < 0) {
        error_report("cannot make an event descriptor that watches the PEs: %s",
                     strerror(errno));
        return EXIT_ERROR;
    }
    loop_want(d->loop, &d->ft.watch, LOOP_IN);
    if (daemon_ft_make_secret(d, nonce) != 0) {
        error_report("cannot make the key of the failure agents: %s", strerror(errno));
        return EXIT_ERROR;
    }
    if (daemon_ft_start_agent(d) != 0)
        return EXIT_ERROR;
    if (daemon_ft_start_thread(d) == 0)
        return 0;
    error_report("cannot create a thread that watches the PEs: %s", strerror(errno));
    return EXIT_ERROR;
}

/* The PEs of the node have been killed. */
void daemon_ft_stop(struct daemon *d)
{
    if (!d->job->ft.on || d->ft.seen == NULL)
        return;
    struct ft_map *map = node_ft(d->node);
    loop_cancel(d->loop, &d->ft.check_pmix);
    if (d->ft.agent != NULL)
        ft_agent_stop(d->ft.agent);
    if (d->ft.runs) {
        atomic_store_explicit(&d->ft.stop, true, memory_order_release);
        atomic_fetch_add_explicit(&map->epoch, 1, memory_order_release);
        syscall(SYS_futex, &map->epoch, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        pthread_join(d->ft.thread, NULL);
    }
    if (d->ft.watch.fd >= 0) {
        loop_want(d->loop, &d->ft.watch, 0);
        close(d->ft.watch.fd);
    }
    free(d->ft.seen);
    free(d->ft.told);
    seal_memory_free(d->ft.secret, SEAL_SECRET);
}
