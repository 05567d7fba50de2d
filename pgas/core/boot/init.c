/* SPDX-License-Identifier: BSD-3-Clause */
/* init.c - see init.h.  Uses: all of core. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pgas/core/boot/agree.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/boot/boot.h"
#include "pgas/core/check/check.h"
#include "pgas/core/memory/coredump.h"
#include "pgas/core/memory/data.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/boot/init.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/boot/nodeseg.h"
#include "pgas/core/memory/peer.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/boot/binding.h"
#include "pgas/datatype/copy.h"
#include "pgas/datatype/op.h"

static struct boot boot;
static void (*finalize_at_exit)(void);
static enum isa isa; /* of the kernels that copy and reduce */

static void init_choose_isa(void)
{
    const struct env *env = &pgas_self.env;
    char error[ENV_ERROR_MAX];

    if (isa_read(env->isa, &isa, error, sizeof error) != 0)
        log_die("SHMEM_ISA=%s: %s", env->isa, error);
    copy_init(isa, env->nontemporal);
    op_init(isa, env->nontemporal);
}

static void init_read_env(void)
{
    char error[ENV_ERROR_MAX];

    if (env_load(&pgas_self.env, error) != 0)
        log_die("%s", error);
    coredump_init();
    init_choose_isa();
}

static void init_print_info(void)
{
    if (pgas_self.me != 0 || pgas_self.generation > 1)
        return;
    if (pgas_self.env.version)
        fprintf(stderr, "pgas %s, OpenSHMEM 1.6\n", PACKAGE_VERSION);
    if (pgas_self.env.info) {
        env_print(stderr);
        fprintf(stderr, "Network transport: %s\n", net_text());
        fprintf(stderr, "Instruction set: %s\n", isa_name(isa));
    }
    env_warn_unknown(stderr);
}

/* Under oshrun stdout is a pipe: show lines as they are printed all the same, unless the
 * program has said how it wants its output buffered. */
static void init_adapt_to_oshrun(void)
{
    struct stat st;

    if (nodeseg_path() == NULL || __fbufsize(stdout) != 0)
        return;
    if (fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode))
        setvbuf(stdout, NULL, _IOLBF, 0);
}

static void init_connect(void)
{
    struct pgas *g = &pgas_self;

    nodeseg_await_detached();
    boot_connect(&boot);
    g->me = (int)boot.rank;
    g->npes = boot.size;
}

static void init_make_heap(void)
{
    struct pgas *g = &pgas_self;

    if (heap_init() != 0)
        log_die("can't make a symmetric heap of %zu bytes, %zu for teams and %zu for "
                "node-shared results: %s; set SHMEM_SYMMETRIC_SIZE, SHMEM_TEAM_SIZE or "
                "SHMEM_SHARED_SIZE to a smaller size",
                g->env.symmetric_size, g->env.team_size, g->env.shared_size,
                strerror(errno));
    if (peer_init(boot.local_pes) != 0)
        log_die("no memory for a table of %u PEs", g->npes);
    g->peer[g->me].heap = (char *)g->heap_base;
    g->peer[g->me].data = (char *)g->data_base;
    if (g->env.profile_arrival[0] != '\0')
        *(uint64_t *)(g->heap_base + HEAP_PROFILED) = 1;
}

bool init_up(int thread_level, void (*prepare)(void))
{
    struct pgas *g = &pgas_self;

    if (g->life == LIFE_UP) {
        g->starts++;
        return false;
    }
    if (g->life == LIFE_FORKED)
        log_die("shmem_init: called %s", peer_life_text());
    PGAS_ASSERT(g->life == LIFE_NEW || g->life == LIFE_DOWN);
    PGAS_ASSERT(g->heap_len == 0 && g->peer == NULL && g->npes == 0);
    g->generation++;
    nodeseg_stage(NODE_STAGE_ENTER);
    init_read_env();
    init_adapt_to_oshrun();
    data_share();
    block_init();
    nodeseg_stage(NODE_STAGE_DATA);
    init_connect();
    nodeseg_open(&boot);
    nodeseg_stage(NODE_STAGE_BOOT);
    init_make_heap();
    net_open(&boot);
    nodeseg_stage(NODE_STAGE_HEAP);
    agree_write();
    prepare();
    nodeseg_join();
    agree_check_node(&boot);
    agree_publish(&boot);
    net_publish(&boot);
    agree_check_internode(&boot);
    binding_spread();
    PGAS_ASSERT(g->me >= 0 && (uint32_t)g->me < g->npes && g->local_size <= g->npes);
    PGAS_ASSERT(g->peer[g->me].node == &g->node->pe[g->local_rank]);
    PGAS_ASSERT((g->net != NULL) || g->nnodes == 1);
    g->pid = getpid();
    g->thread_level = thread_level;
    g->main_thread = pthread_self();
    g->starts = 1;
    g->life = LIFE_UP;
    check_init();
    init_print_info();
    if (g->me == 0)
        log_debug("of %u PEs; %zu bytes of symmetric heap, %zu of global variables",
                  g->npes, g->heap_len - g->heap_user, g->data_len);
    nodeseg_stage(NODE_STAGE_READY);
    return true;
}

bool init_last(void)
{
    PGAS_ASSERT(pgas_self.starts > 0);
    return --pgas_self.starts == 0;
}

static void init_unmap_peers(void)
{
    struct pgas *g = &pgas_self;

    for (uint32_t i = 0; i < g->npes; i++) {
        if ((int)i == g->me)
            continue;
        if (g->peer[i].heap != NULL)
            munmap(g->peer[i].heap, g->heap_len);
        if (g->peer[i].data != NULL)
            munmap(g->peer[i].data, g->data_len);
    }
}

void init_down(bool exiting)
{
    struct pgas *g = &pgas_self;

    PGAS_ASSERT(g->life == LIFE_UP && (exiting || g->starts == 0));
    nodeseg_stage(NODE_STAGE_LEAVE);
    g->life = LIFE_DOWN;
    check_init();
    net_close(exiting);
    boot_disconnect(&boot, exiting);
    nodeseg_part();
    if (exiting)
        return; /* other threads may still run: what they use goes with the process */
    init_unmap_peers();
    heap_fini();
    peer_fini();
    g->npes = 0; /* no PE number is valid any more: the fast paths fail into an error */
}

void init_abort(int status)
{
    log_flush(stdout);
    log_flush(stderr);
    if (pgas_self.life == LIFE_UP)
        boot_abort(status, "shmem_global_exit");
    _exit(status);
}

/* The program ends without shmem_finalize.  With status 0 that is an old-fashioned
 * program and we do it for it; otherwise it gives up, and must not wait for others.  Nor
 * may it in a signal handler that came while this thread waits for others. */
static void init_on_exit(int status, void *arg)
{
    (void)arg;
    if (pgas_self.life != LIFE_UP || getpid() != pgas_self.pid || status != 0 ||
        block_inside() || net_inside())
        return;
    log_debug("the program ended without shmem_finalize; doing it now");
    finalize_at_exit();
}

void init_at_exit(void (*finalize)(void))
{
    static bool registered;

    finalize_at_exit = finalize;
    if (!registered)
        registered = on_exit(init_on_exit, NULL) == 0;
}
