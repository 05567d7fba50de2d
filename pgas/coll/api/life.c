/* SPDX-License-Identifier: BSD-3-Clause */
/* life.c - see life.h.  Uses: select_table, core/agree, core/init, core/nodeseg,
 * core/team, core/log. */
#include "config.h"

#include "pgas/coll/api/active.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/api/life.h"
#include "pgas/coll/api/verify.h"
#include "pgas/coll/nonblocking/nb.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/select/select_table.h"
#include "pgas/coll/shared/shared.h"
#include "pgas/core/boot/agree.h"
#include "pgas/core/team/ctx.h"
#include "pgas/core/boot/init.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/boot/nodeseg.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/team/team.h"
#include "pgas/profile/profile.h"
#include "pgas/threads/atomic.h"

/* Free all state of the library.  No other thread uses it any more. */
static void life_forget(void)
{
    ctx_fini();
    shared_forget();
    active_forget();
    team_fini();
}

static void life_take_down(bool exiting)
{
    nodeseg_stage(NODE_STAGE_FINALIZE);
    fence_full(); /* complete this PE's puts before it announces its departure */
    if (pgas_self.net != NULL) {
        net_quiet(net_ctx_default(), "shmem_finalize");
        if (!exiting) /* at exit other threads may still use contexts */
            ctx_close_all();
    }
    team_leave_all();
    nodeseg_leave(team_world_epoch());
    profile_end();
    net_leave("shmem_finalize");
    if (!exiting)
        life_forget();
    init_down(exiting);
}

/* Every call of shmem_finalize except the last is a barrier (1.6). */
void life_finalize(const char *fn)
{
    if (!init_last()) {
        barrier(team_of(SHMEM_TEAM_WORLD, fn), fn);
        return;
    }
    int left = pgas_self.checks ? ctx_private(NULL) : 0;
    if (left > 0)
        log_die("%s: %d contexts with SHMEM_CTX_PRIVATE still exist; call "
                "shmem_ctx_destroy for them first",
                fn, left);
    nb_check_ended(NULL, fn);
    life_take_down(false);
}

static void life_finalize_at_exit(void)
{
    life_take_down(true);
}

/* Before the first barrier: provide the values that must be equal on all PEs
 * (core/boot/agree.h). */
static void life_prepare(void)
{
    select_init();
    const struct select_table *t = select_init_table(pgas_self.node->cpus);
    const char *value = t->rows > 0 ? t->path : SELECT_TABLE_NONE;
    agree_set(AGREE_TABLE_NEAR, select_table_digest(t, false), value);
    agree_set(AGREE_TABLE_REMOTE, select_table_digest(t, true), value);
}

static void life_print_summary(void)
{
    if (pgas_self.me == 0 && pgas_self.generation == 1 && pgas_self.env.info)
        select_print(stderr, team_of(SHMEM_TEAM_WORLD, "shmem_init"));
}

int life_start(int thread_level)
{
    if (!init_up(thread_level, life_prepare))
        return pgas_self.thread_level;
    team_init();
    verify_init();
    life_print_summary();
    profile_init();
    init_at_exit(life_finalize_at_exit);
    return pgas_self.thread_level;
}
