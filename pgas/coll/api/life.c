/* SPDX-License-Identifier: BSD-3-Clause */
/* life.c - see life.h.  Uses: all of core, profile, select, the collectives' own state.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pgas/coll/api/coll_state.h"
#include "pgas/coll/api/active.h"
#include "pgas/coll/api/life.h"
#include "pgas/coll/api/life_pack.h"
#include "pgas/coll/api/verify.h"
#include "pgas/coll/nonblocking/nb.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/select/select_table.h"
#include "pgas/coll/shared/shared.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/os.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/boot/agree.h"
#include "pgas/core/boot/binding.h"
#include "pgas/core/boot/boot.h"
#include "pgas/core/boot/nodeseg.h"
#include "pgas/core/check/check.h"
#include "pgas/core/memory/coredump.h"
#include "pgas/core/memory/data.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/memory/peer.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/team/ctx.h"
#include "pgas/core/team/team.h"
#include "pgas/datatype/copy.h"
#include "pgas/datatype/op/op.h"
#include "pgas/datatype/pack/pack_choice.h"
#include "pgas/ft/ft.h"
#include "pgas/ft/ft_boot.h"
#include "pgas/ft/ft_temp.h"
#include "pgas/profile/profile.h"
#include "pgas/threads/atomic.h"

#define STATE coll_self.life

/* Under oshrun stdout is a pipe: make it line-buffered, unless the program has already
 * set a buffer. */
static void life_buffer_stdout(void)
{
    struct stat st;

    if (nodeseg_path() == NULL || __fbufsize(stdout) != 0)
        return;
    if (fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode))
        setvbuf(stdout, NULL, _IOLBF, 0);
}

static void life_read_environment(void)
{
    struct env *env = &pgas_self.env;
    char error[ENV_ERROR_MAX];
    enum pack_kernel kernel;

    if (env_load(env, error) != 0)
        log_die("%s", error);
    if (isa_read(env->isa, &STATE.isa, error, sizeof error) != 0)
        log_die("SHMEM_ISA=%s: %s", env->isa, error);
    ft_boot_check_settings();
    copy_init(STATE.isa, env->nontemporal);
    op_init(STATE.isa, env->nontemporal);
    if (pack_kernel_read(env->pack_kernel, STATE.isa, &kernel, error, sizeof error) != 0)
        log_die("SHMEM_PACK_KERNEL=%s: %s", env->pack_kernel, error);
    pack_choice_init(STATE.isa, kernel);
    coredump_init();
    life_buffer_stdout();
}

static void life_share_data(void)
{
    data_share();
    block_init();
}

static void life_connect_launcher(void)
{
    nodeseg_await_detached();
    boot_connect(&STATE.boot);
    pgas_self.me = (int)STATE.boot.rank;
    pgas_self.npes = STATE.boot.size;
}

static void life_disconnect_launcher(bool exiting)
{
    boot_disconnect(&STATE.boot, exiting);
    nodeseg_part();
    if (!exiting)
        pgas_self.npes = 0; /* every PE number is invalid now */
}

static void life_open_node_segment(void)
{
    nodeseg_open(&STATE.boot);
}

static void life_create_heap(void)
{
    struct pgas *g = &pgas_self;

    if (heap_init() != 0) {
        const char *why = strerror(errno);
        struct rlimit r = {.rlim_cur = RLIM_INFINITY};
        getrlimit(RLIMIT_AS, &r);
        log_die("cannot make a symmetric heap of %zu bytes, %zu for teams and %zu for "
                "node-shared results: %s; set SHMEM_SYMMETRIC_SIZE, SHMEM_TEAM_SIZE or "
                "SHMEM_SHARED_SIZE to a smaller size%s",
                g->env.symmetric_size, g->env.team_size, g->env.shared_size, why,
                r.rlim_cur == RLIM_INFINITY ? "" : ", or raise `ulimit -v`");
    }
    if (peer_init(STATE.boot.local_pes) != 0)
        log_die("no memory for a table of %u PEs", g->npes);
    g->peer[g->me].heap = (char *)g->heap_base;
    g->peer[g->me].data = (char *)g->data_base;
    if (g->env.profile_arrival[0] != '\0')
        *(uint64_t *)(g->heap_base + HEAP_PROFILED) = 1;
}

static void life_free_heap(bool exiting)
{
    if (exiting)
        return;
    ft_temp_fini();
    peer_fini();
    heap_fini();
}

static void life_open_network(void)
{
    net_open(&STATE.boot);
}

/* The settings that must be equal on all PEs are in this PE's record before nodeseg_join,
 * so that every PE of the node can compare them after it (core/boot/agree.h). */
static void life_join_node(void)
{
    agree_write();
    select_init();
    const struct select_table *t = select_init_table(pgas_self.node->cpus);
    const char *value = t->rows > 0 ? t->path : SELECT_TABLE_NONE;
    agree_set(AGREE_TABLE_NODE, select_table_digest(t, false), value);
    agree_set(AGREE_TABLE_REMOTE, select_table_digest(t, true), value);
    nodeseg_join();
    agree_check_node(&STATE.boot);
}

static void life_exchange_endpoints(void)
{
    agree_publish(&STATE.boot);
    ft_boot_publish(&STATE.boot);
    net_publish(&STATE.boot);
    agree_check_internode(&STATE.boot);
    ft_boot_arm(&STATE.boot);
}

static void life_print_info(void)
{
    if (pgas_self.env.version)
        fprintf(stderr, "pgas %s, OpenSHMEM 1.6\n", PACKAGE_VERSION);
    if (pgas_self.env.info) {
        env_print(stderr);
        fprintf(stderr, "Network transport: %s\n", net_text());
        fprintf(stderr, "Instruction set: %s\n", isa_name(STATE.isa));
    }
    env_warn_unknown(stderr);
}

static void life_create_teams(void)
{
    struct pgas *g = &pgas_self;
    bool prints = g->me == 0 && g->generation == 1;

    PGAS_ASSERT(g->me >= 0 && (uint32_t)g->me < g->npes && g->local_size <= g->npes);
    PGAS_ASSERT(g->peer[g->me].node == &g->node->pe[g->local_rank]);
    PGAS_ASSERT((g->net != NULL) || g->nnodes == 1);
    binding_spread();
    g->pid = getpid();
    g->main_thread = pthread_self();
    g->starts = 1;
    g->life = LIFE_UP;
    if (ft_boot_on()) {
        g->ft = node_ft(g->node);
        ft_start();
    }
    check_init();
    life_pack_load(STATE.isa);
    if (prints)
        life_print_info();
    if (g->me == 0)
        log_debug("of %u PEs; %zu bytes of symmetric heap, %zu of global variables",
                  g->npes, g->heap_len - g->heap_user, g->data_len);
    team_coll_init();
    verify_init();
    if (prints && g->env.info)
        select_print(stderr, team_of(SHMEM_TEAM_WORLD, "shmem_init"));
}

/* A survivor may need longer than the barrier of the launcher waits after a failure. */
static void life_await_survivors(void)
{
    struct ft_vote vote = {.ands = 1};

    if (pgas_self.ft != NULL)
        ft_agree(team_live(), &vote, "shmem_finalize");
}

static void life_free_teams(bool exiting)
{
    life_await_survivors();
    net_leave("shmem_finalize");
    ft_stop(exiting);
    if (!exiting) {
        ctx_fini();
        shared_fini();
        active_fini();
        team_coll_fini();
    }
    pgas_self.life = LIFE_DOWN;
    check_init();
}

static void life_teardown(bool exiting);

/* A program that exits with status 0 and without shmem_finalize is finalized implicitly.
 * A process that exits with another status must not wait for other PEs, nor may exit() in
 * a signal handler that interrupted a wait. */
static void life_on_exit(int status, void *arg)
{
    (void)arg;
    if (pgas_self.life != LIFE_UP || getpid() != pgas_self.pid || status != 0 ||
        block_inside() || net_inside())
        return;
    log_debug("the program ended without shmem_finalize; finalizing now");
    life_teardown(true);
}

static void life_make_ready(void)
{
    profile_init();
    if (!STATE.finalize_hook)
        STATE.finalize_hook = on_exit(life_on_exit, NULL) == 0;
}

/* The profile needs all PEs. */
static void life_write_profile(void)
{
    FT_GUARD(guard, ft_guard_open_team(&guard, team_live()), );
    if (team_live() == team_world())
        profile_end();
}

/* Completes this PE's operations, then waits until no PE of the node accesses its memory.
 */
static void life_complete(bool exiting)
{
    fence_full(); /* complete this PE's puts before it announces its departure */
    if (pgas_self.net != NULL) {
        net_pool_quiet("shmem_finalize");
        if (!exiting) /* at exit other threads may still use contexts */
            ctx_close_all();
    }
    team_coll_leave();
    nodeseg_leave(team_world_epoch());
    life_write_profile();
    life_pack_save(STATE.isa);
}

/*
 * The stages: shmem_init runs `up` of each row downwards, shmem_finalize runs `down`
 * upwards; each is followed by its time stamp (core/boot/node.h).  `exiting`: an implicit
 * finalize; other threads may still run, so the kernel releases the memory.
 *
 * A stage that fails ends the process with log_die, without `down` of the stages above:
 * those wait for other PEs, which may never reach them. The kernel releases the resources
 * of the process, and the launcher ends the job.
 */
#define NO_DOWN NODE_STAGES, NULL
struct stage {
    enum node_stage up_stamp; /* the name of the stage */
    void (*up)(void);
    enum node_stage down_stamp;
    void (*down)(bool exiting); /* NULL: no operation, or left to process exit */
    const char *reason;         /* for the position of the row */
};

static const struct stage stages[] = {
    {NODE_STAGE_ENV, life_read_environment, NO_DOWN, "all other stages read settings"},
    {NODE_STAGE_DATA, life_share_data, NO_DOWN,
     "before PMIx starts threads, which may store into pages that move, and in whose "
     "presence block_init takes 10 ms"},
    {NODE_STAGE_BOOT, life_connect_launcher, NODE_STAGE_LEAVE, life_disconnect_launcher,
     "provides the PE number, which all later messages contain, and the PEs of the node"},
    {NODE_STAGE_NODE, life_open_node_segment, NO_DOWN, "PMIx provides its path"},
    {NODE_STAGE_HEAP, life_create_heap, NODE_STAGE_HEAP_DOWN, life_free_heap,
     "the peer table points into the node segment"},
    {NODE_STAGE_NET, life_open_network, NODE_STAGE_NET_DOWN, net_close,
     "registers the heap and the globals"},
    {NODE_STAGE_JOIN, life_join_node, NO_DOWN,
     "publishes the descriptor of the heap to the PEs of the node"},
    {NODE_STAGE_EXCHANGE, life_exchange_endpoints, NODE_STAGE_FT_DOWN, ft_boot_leave,
     "publishes the endpoint address of an open network; all PEs have left the teams "
     "when a PE leaves the watch of failures"},
    {NODE_STAGE_TEAMS, life_create_teams, NODE_STAGE_TEAMS_DOWN, life_free_teams,
     "contexts and selection need the heap and the addresses of all PEs"},
    {NODE_STAGE_READY, life_make_ready, NODE_STAGE_COMPLETE, life_complete,
     "an implicit finalize needs all stages; operations complete before any teardown"},
};

enum { STAGES = sizeof stages / sizeof stages[0] };

static void life_teardown(bool exiting)
{
    PGAS_ASSERT(pgas_self.life == LIFE_UP && (exiting || pgas_self.starts == 0));
    nodeseg_stage(NODE_STAGE_FINALIZE);
    for (int i = STAGES - 1; i >= 0; i--) {
        if (stages[i].down == NULL)
            continue;
        stages[i].down(exiting);
        nodeseg_stage(stages[i].down_stamp);
    }
}

int life_start(int thread_level)
{
    struct pgas *g = &pgas_self;

    if (g->life == LIFE_UP) {
        g->starts++;
        return g->thread_level;
    }
    if (g->life == LIFE_FORKED)
        log_misuse("shmem_init: called %s", peer_life_text());
    PGAS_ASSERT(g->life == LIFE_NEW || g->life == LIFE_DOWN);
    PGAS_ASSERT(g->heap_len == 0 && g->peer == NULL && g->npes == 0);
    g->generation++;
    g->thread_level = thread_level;
    nodeseg_stage(NODE_STAGE_ENTER);
    for (int i = 0; i < STAGES; i++) {
        stages[i].up();
        nodeseg_stage(stages[i].up_stamp);
    }
    return thread_level;
}

/* The barrier of a shmem_finalize that is not the last one. */
static void life_barrier(const char *fn)
{
    FT_GUARD(guard, ft_guard_open_team(&guard, team_live()), );
    barrier(team_live(), fn);
}

/* Every call of shmem_finalize except the last is a barrier (1.6). */
void life_finalize(const char *fn)
{
    PGAS_ASSERT(pgas_self.starts > 0);
    if (--pgas_self.starts > 0) {
        life_barrier(fn);
        return;
    }
    int open = pgas_self.checks ? ctx_private(NULL) : 0;
    if (open > 0)
        log_misuse("%s: %d contexts with SHMEM_CTX_PRIVATE still exist; call "
                   "shmem_ctx_destroy for them first",
                   fn, open);
    nb_check_ended(NULL, fn);
    life_teardown(false);
}

void life_abort(int status)
{
    log_flush(stdout);
    log_flush(stderr);
    if (pgas_self.life == LIFE_UP)
        boot_abort(status, "shmem_global_exit");
    os_exit(status);
}
