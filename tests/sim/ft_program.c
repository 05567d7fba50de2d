/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_program.c - see ft_program.h. */
#include "config.h"

#include <string.h>

#include "include/shmem.h"
#include "include/shmemx.h"
#include "pgas/core/base/os.h"
#include "pgas/transport/test/random.h"
#include "tests/sim/ft_program_int.h"

enum {
    ELEMENTS_FEW = 48,
    ELEMENTS_MOST = 3000, /* of each PE */
    MOST_IN = 12,         /* one call in so many has up to ELEMENTS_MOST, or */
    QUIET = 512,          /* elements of dest that are checked after a shrink */
    LATE_IN = 4,          /* is late by up to LATE_NS */
    NUMBERS = 100,        /* between two calls */
    FULL_IN = 3,          /* one job in so many has a queue that overflows */
    AGENT_IN = 3,         /* one death in so many hits an agent that processes another */
    DEATH_NS = 400000,    /* most until a death of round 0 */
    SHRINK_NS = 40000,    /* .. of a later round */
    KNOWN_NS = 40000000,  /* after which every death is known to all */
};

/* Of the seed; job.c and run.c have others. */
enum {
    STREAM_CALLS = 1000,
    STREAM_PES = 200,
    STREAM_ROUNDS = 100000,
    STREAM_FIRST = 200000
};

/* ---- the world after a failure ----------------------------------------------------- */

/* The first PE that begins the round plans its deaths. */
static void ft_begin_round(struct ft_program *p, int round)
{
    if (p->begun[round])
        return;
    p->begun[round] = true;
    for (int i = 0; i < p->deaths; i++) {
        const struct ft_death *d = &p->death[i];
        if (d->round != round)
            continue;
        job_fail(d->pe, d->kind, d->delay_ns);
        if (p->last_ns < sim_now_ns() + d->delay_ns)
            p->last_ns = sim_now_ns() + d->delay_ns;
    }
}

static void ft_set_of(uint64_t *set, const int *pes, int n)
{
    for (int i = 0; i < n; i++)
        set[pes[i] / 64] |= UINT64_C(1) << pes[i] % 64;
}

/* The members of the team, as PEs of the world, in ascending order. */
static void ft_members(struct ft_program *p, shmem_team_t team, uint64_t *set)
{
    int before = -1;

    for (int i = 0; i < shmem_team_n_pes(team); i++) {
        int pe = shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);
        if (pe <= before)
            ft_fail(p, "PE %d of the survivors is PE %d of the world", i, pe);
        before = pe;
        ft_set_of(set, &pe, 1);
    }
    if (shmem_team_my_pe(team) < 0)
        ft_fail(p, "is not among the survivors");
}

/* Equal on all survivors. */
static void ft_compare(struct ft_program *p, int round, const struct ft_round *got)
{
    struct ft_round *first = &p->round[round];

    if (!first->known) {
        *first = *got;
        first->known = true;
        p->rounds = round > p->rounds ? round : p->rounds;
    }
    if (memcmp(first->members, got->members, sizeof first->members) != 0)
        ft_fail(p, "shrink %d: other survivors than elsewhere", round);
    if (first->flags != got->flags || first->agreed != got->agreed)
        ft_fail(p, "agreement %d: result %d, %llx; elsewhere %d, %llx", round,
                got->agreed, (unsigned long long)got->flags, first->agreed,
                (unsigned long long)first->flags);
}

/* Agreement and shrink, which every survivor calls. */
static shmem_team_t ft_shrink_world(struct pe *pe)
{
    struct ft_program *p = pe->program;
    struct ft_round got = {.flags = ~(uint64_t)0};
    shmem_team_t survivors = SHMEM_TEAM_INVALID;

    int round = ++pe->round;
    pe->number = 0;
    pe->mends = true;
    if (round >= FT_ROUNDS) {
        ft_fail(p, "%d shrinks", round);
        round = FT_ROUNDS - 1;
    }
    ft_begin_round(p, round);
    uint64_t random = random_stream(p->seed, STREAM_ROUNDS + (uint64_t)round);
    if (random_below(&random, 2) != 0) {
        got.flags = ~(UINT64_C(1) << random_below(&pe->own, 64));
        uint64_t mine = got.flags;
        got.agreed = shmemx_team_agree(SHMEM_TEAM_WORLD, &got.flags);
        if ((got.flags & ~mine) != 0)
            ft_fail(p, "agreement %d: without the value of this PE", round);
    }
    int rc = shmemx_team_shrink(SHMEM_TEAM_WORLD, &survivors);
    if (rc != 0 || survivors == SHMEM_TEAM_INVALID) {
        ft_fail(p, "shrink %d: error %d", round, rc);
        shmem_global_exit(1);
    }
    ft_members(p, survivors, got.members);
    ft_compare(p, round, &got);
    return survivors;
}

/* Ends the calls of PEs on a team without a failed PE. */
static void ft_revoke_team(shmem_team_t team)
{
    if (team != SHMEM_TEAM_INVALID && team != SHMEM_TEAM_WORLD &&
        shmemx_team_status(team) == 0)
        shmemx_team_revoke(team);
}

static void ft_revoke_teams(struct pe *pe)
{
    for (int i = 0; i < TEAMS; i++)
        ft_revoke_team(pe->team[i]);
    ft_revoke_team(pe->even);
}

static void ft_drop_team(shmem_team_t *team)
{
    if (*team != SHMEM_TEAM_INVALID && *team != SHMEM_TEAM_WORLD &&
        shmemx_team_status(*team) != 0)
        shmem_team_destroy(*team);
    *team = SHMEM_TEAM_INVALID;
}

static void ft_drop_teams(struct pe *pe)
{
    for (int i = 0; i < TEAMS; i++)
        ft_drop_team(&pe->team[i]);
    ft_drop_team(&pe->even);
}

/* After a shrink no put of an earlier call changes the destination. */
static void ft_clear_dest(struct pe *pe)
{
    memset(pe->dest, 0, QUIET * sizeof *pe->dest);
}

static void ft_check_dest(struct pe *pe)
{
    for (int i = 0; i < QUIET && pe->round > 0; i++)
        if (pe->dest[i] != 0)
            ft_fail(pe->program, "shrink %d: element %d of dest has changed to %ld",
                    pe->round, i, pe->dest[i]);
}

/* Team 0: all live PEs; team 1: every other one; team 2: all but the first. */
static int ft_make_teams(struct pe *pe)
{
    int npes = shmem_team_n_pes(pe->team[0]), rc;

    rc = ft_same(pe, shmem_team_split_strided(pe->team[0], 0, 2, (npes + 1) / 2, NULL, 0,
                                              &pe->team[1]));
    if (rc == 0 && npes > 1)
        rc = ft_same(pe, shmem_team_split_strided(pe->team[0], 1, 1, npes - 1, NULL, 0,
                                                  &pe->team[2]));
    ft_check_dest(pe);
    if (rc == 0) /* all PEs have the teams and can revoke them */
        rc = ft_sync(pe, pe->team[0]);
    if (rc != 0 && shmemx_team_status(pe->team[0]) == 0)
        ft_fail(pe->program, "a split has failed with %d", rc);
    return rc;
}

/* A token passes the survivors in order. */
static int ft_pass_token(struct pe *pe)
{
    uint64_t *token = (uint64_t *)&pe->word[WORD_TOKEN], round = (uint64_t)pe->round;
    int me = shmem_team_my_pe(pe->team[0]), npes = shmem_team_n_pes(pe->team[0]);

    uint64_t got = me > 0 ? shmem_signal_wait_until(token, SHMEM_CMP_GE, round) : round;
    if (got < round && ft_status() == 0)
        ft_fail(pe->program, "shrink %d: a wait has ended without a failure", pe->round);
    if (got >= round && me + 1 < npes)
        shmem_ulong_p((unsigned long *)token, round,
                      shmem_team_translate_pe(pe->team[0], me + 1, SHMEM_TEAM_WORLD));
    return ft_status();
}

static int ft_sync_world(struct pe *pe)
{
    (void)pe;
    shmem_barrier_all();
    return ft_status();
}

/* The first calls after a shrink, which must notice later failures. */
static int ft_first_call(struct pe *pe)
{
    uint64_t random =
        random_stream(pe->program->seed, STREAM_FIRST + (uint64_t)pe->round);
    uint64_t kind = random_below(&random, 3);

    return kind == 0 ? ft_pass_token(pe) : kind == 1 ? ft_sync_world(pe) : 0;
}

/* After a shrink: the survivors continue after the last call that one of them has begun,
 * and their heaps are equal. */
static int ft_continue(struct pe *pe)
{
    struct ft_program *p = pe->program;
    long *in = &pe->word[WORD_IN], *out = &pe->word[WORD_OUT];

    memset(pe->block, 0, sizeof pe->block); /* may be in use elsewhere */
    ft_clear_dest(pe);
    *in = pe->step;
    int rc = ft_first_call(pe);
    if (rc != 0)
        return rc;
    rc = ft_same_data(pe, shmem_long_max_reduce(pe->team[0], out, in, 1));
    if (rc != 0)
        return rc;
    pe->step = (int)*out;
    void *block = shmem_malloc(BLOCK_MOST);
    rc = ft_check_block(pe, (size_t)(p->calls + pe->round), block);
    return rc != 0 ? rc : ft_make_teams(pe);
}

static void ft_recover(struct pe *pe)
{
    int rc;

    do {
        ft_revoke_teams(pe);
        shmem_team_t survivors = ft_shrink_world(pe);
        ft_drop_teams(pe);
        pe->team[0] = survivors;
        rc = ft_continue(pe);
    } while (rc != 0 && !pe->program->wrong);
}

/* ---- the program ----------------------------------------------------------------- */

/* Call pe->step; false: this PE is not in its team. */
static bool ft_next_call(struct pe *pe, struct call *c, const struct trial **trial)
{
    uint64_t random = random_stream(pe->program->seed, STREAM_CALLS + (uint64_t)pe->step);
    uint64_t k = random_below(&random, (uint64_t)ft_trials_n),
             team = random_below(&random, TEAMS);
    uint64_t most = random_below(&random, MOST_IN) == 0 ? ELEMENTS_MOST : ELEMENTS_FEW;
    uint64_t n = 1 + random_below(&random, most), root = random_next(&random);

    *trial = &ft_trials[k];
    *c = (struct call){.pe = pe, .number = (pe->step + 1) * (long)NUMBERS};
    c->pick = random_next(&random) >> 32;
    c->team = pe->team[(*trial)->all ? 0 : team];
    if (c->team == SHMEM_TEAM_INVALID)
        return false;
    c->me = shmem_team_my_pe(c->team);
    c->npes = shmem_team_n_pes(c->team);
    c->root = (int)(root % (uint64_t)c->npes);
    c->n = n * (uint64_t)c->npes <= SPACE ? n : SPACE / (uint64_t)c->npes;
    return true;
}

static int ft_run_call(struct pe *pe, const struct call *c, const struct trial *trial)
{
    int rc = 0;

    if (random_below(&pe->own, LATE_IN) == 0)
        os_sleep(random_below(&pe->own, LATE_NS));
    if (trial->follows) {
        memset(pe->word, 0, WORD_IN * sizeof *pe->word);
        rc = ft_sync(c->pe, c->team);
    }
    if (rc == 0)
        rc = trial->run(c);
    return rc == 0 && trial->follows ? ft_sync(c->pe, c->team) : rc;
}

static void ft_run_calls(struct pe *pe)
{
    const struct trial *trial;
    struct call c;

    for (pe->step = 0; pe->step < pe->program->calls && !pe->program->wrong; pe->step++) {
        pe->number = 0;
        pe->mends = false;
        if (ft_next_call(pe, &c, &trial) && ft_run_call(pe, &c, trial) != 0)
            ft_recover(pe);
    }
}

/* When every death is known, the survivors recover from those that they have not seen. */
static void ft_settle(struct pe *pe)
{
    struct ft_program *p = pe->program;

    for (;;) {
        uint64_t until = p->last_ns + KNOWN_NS, now = sim_now_ns();
        if (now < until)
            os_sleep(until - now);
        if (ft_status() != 0)
            ft_recover(pe);
        else if (p->last_ns + KNOWN_NS <= until)
            return;
    }
}

/* In the end each survivor knows of exactly the PEs that have died, and the routines of
 * the world work. */
static void ft_check_end(struct pe *pe)
{
    struct ft_program *p = pe->program;
    int npes = shmem_n_pes(), dead = 0;

    for (int i = 0; i < npes; i++) {
        dead += job_is_dead(i);
        if (shmemx_pe_failed(i) != job_is_dead(i))
            ft_fail(p, "PE %d is %s, but is considered %s", i,
                    job_is_dead(i) ? "dead" : "alive",
                    job_is_dead(i) ? "alive" : "failed");
        if (job_has_stray_agent(i))
            ft_fail(p, "the agent of PE %d does not know that its node has failed", i);
    }
    if (shmemx_team_failed(SHMEM_TEAM_WORLD, NULL, 0) != dead)
        ft_fail(p, "shmemx_team_failed: not %d", dead);
    if (pe->round > 0 && shmem_team_n_pes(pe->team[0]) != npes - dead)
        ft_fail(p, "%d survivors, not %d", shmem_team_n_pes(pe->team[0]), npes - dead);
    shmem_barrier_all();
    if (ft_status() != 0 && !p->begun[FT_LAST])
        ft_fail(p, "the last barrier has ended with %d", ft_status());
}

void ft_program_run(void *arg)
{
    struct ft_program *p = arg;
    struct pe pe = {.program = p,
                    .own = random_stream(p->seed, STREAM_PES + (uint64_t)shmem_my_pe()),
                    .source = shmem_malloc(SPACE * sizeof(long)),
                    .dest = shmem_malloc(SPACE * sizeof(long)),
                    .word = shmem_calloc(WORDS, sizeof *pe.word),
                    .lock = shmem_calloc(1, sizeof *pe.lock)};

    pe.team[0] = SHMEM_TEAM_WORLD;
    pe.mends = true;
    pe.team[1] = pe.team[2] = pe.even = SHMEM_TEAM_INVALID;
    ft_make_teams(&pe);
    ft_begin_round(p, 0);
    ft_run_calls(&pe);
    if (!p->wrong)
        ft_settle(&pe);
    if (!p->wrong)
        ft_check_end(&pe);
    if (p->wrong)
        shmem_global_exit(1);
    p->end_ns = sim_now_ns();
    ft_begin_round(p, FT_LAST);
}

void ft_program_choose(struct ft_program *p, const struct job_config *c, uint64_t *random)
{
    int npes = c->nodes * c->pes_per_node;

    p->deaths = (int)random_below(random, FT_DEATHS + 1);
    for (int i = 0; i < p->deaths; i++) {
        struct ft_death *d = &p->death[i];
        uint64_t kind = random_below(random, 8);
        d->round = kind < 4 ? 0 : kind < 7 ? 1 + (int)random_below(random, 3) : FT_LAST;
        d->pe = 1 + (int)random_below(random, (uint64_t)npes);
        d->pe %= npes;
        d->kind = random_below(random, 4) == 0 ? JOB_NODE_DIES : JOB_PE_DIES;
        d->delay_ns = 1 + random_below(random, d->round == 0 ? DEATH_NS : SHRINK_NS);
        if (i == 0 || random_below(random, AGENT_IN) != 0)
            continue;
        d->kind = JOB_AGENT_DIES;
        d->round = d[-1].round;
        d->delay_ns = d[-1].delay_ns;
    }
    if (p->deaths == FT_DEATHS || random_below(random, FULL_IN) != 0)
        return;
    struct ft_death *full = &p->death[p->deaths++];
    *full = (struct ft_death){.round = (int)random_below(random, 3),
                              .pe = (int)random_below(random, (uint64_t)npes),
                              .kind = JOB_QUEUE_FILLS};
    full->delay_ns = 1 + random_below(random, full->round == 0 ? DEATH_NS : SHRINK_NS);
}
