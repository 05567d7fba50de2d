/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nohang.c - one job of the no-hang test: in each round one or more PEs kill themselves
 * in a blocking routine; all others must return from it and continue.
 *
 *     nohang -b BOARD [-s seed] [-r rounds] [-f first] [-c case] [-m mode] [-t] [-N] [-F]
 *     nohang -l
 *
 * -f: number of the first pair of case and mode; -t: SHMEM_THREAD_MULTIPLE; -N: kill the
 * node daemons of virtual nodes instead of PEs, every other round; -F: a PE is killed in
 * shmem_finalize; -l: print the cases.
 */
#include "tests/ft/nohang.h"

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

enum { FALLBACK_NS = 20000000, SECOND_MAX_NS = 3000000, KILL_MAX_NS = 200000 };

struct options {
    const char *board, *test;
    uint64_t seed;
    int rounds, first, mode;
    bool nodes, finalize;
};

struct board *nohang_board;
struct board_pe *nohang_me;
bool nohang_threads;
uint64_t nohang_alive;

static _Atomic int nohang_round_number;
static const char *const nohang_modes[] = {"before", "inside", "after"};

/* ---- cases ------------------------------------------------------------------------ */

static int nohang_cases(void)
{
    return nohang_rma_count + nohang_coll_count + nohang_team_count;
}

static const struct nohang_case *nohang_at(int i)
{
    if (i < nohang_rma_count)
        return &nohang_rma[i];
    i -= nohang_rma_count;
    return i < nohang_coll_count ? &nohang_coll[i] : &nohang_team[i - nohang_coll_count];
}

static void nohang_list(void)
{
    for (int i = 0; i < nohang_cases(); i++)
        puts(nohang_at(i)->name);
    puts("finalize");
}

static const struct nohang_case *nohang_find(const char *name)
{
    for (int i = 0; i < nohang_cases(); i++)
        if (strcmp(nohang_at(i)->name, name) == 0)
            return nohang_at(i);
    fprintf(stderr, "nohang: no case '%s'\n", name);
    exit(2);
}

/* ---- random numbers --------------------------------------------------------------- */

static uint64_t nohang_mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
    x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
    return x ^ x >> 33;
}

int nohang_draw(const struct nohang_round *r, int what, int n)
{
    uint64_t x = nohang_mix(r->random + (uint64_t)(what + 1) * 0x9e3779b97f4a7c15u);

    return (int)(x % (uint64_t)n);
}

bool nohang_has(uint64_t set, int pe)
{
    return pe >= 0 && (set >> pe & 1) != 0;
}

/* ---- kills ------------------------------------------------------------------------ */

static void nohang_failed(const int *pes, int n, void *arg)
{
    int round = atomic_load(&nohang_round_number);
    uint64_t set = 0;

    (void)arg;
    for (int i = 0; i < n; i++)
        set |= (uint64_t)1 << pes[i];
    atomic_fetch_or(&nohang_me->knows, set);
    if (atomic_load(&nohang_me->told_ns[round]) == 0)
        atomic_store(&nohang_me->told_ns[round], board_now_ns());
}

static bool nohang_kills_node(const struct nohang_round *r)
{
    return (r->victims & (r->victims - 1)) != 0;
}

void nohang_die(struct nohang_round *r)
{
    struct board_round *br = &nohang_board->round[r->number];
    uint64_t none = 0;

    atomic_compare_exchange_strong(&br->killed_ns, &none, board_now_ns());
    atomic_fetch_add(&br->kills, (uint32_t)__builtin_popcountll(r->victims));
    if (nohang_kills_node(r))
        kill((pid_t)atomic_load(&nohang_me->parent), SIGKILL);
    kill(getpid(), SIGKILL);
}

struct nohang_timer {
    struct nohang_round *r;
    uint64_t at_ns;
};

static void *nohang_timer_run(void *arg)
{
    struct nohang_timer *t = arg;

    for (uint64_t now; (now = board_now_ns()) < t->at_ns;)
        if (t->at_ns - now > 100000)
            check_sleep_us(50);
    nohang_die(t->r);
    return NULL;
}

void nohang_die_after(struct nohang_round *r, uint64_t ns)
{
    static struct nohang_timer t;
    pthread_t thread;

    t = (struct nohang_timer){.r = r, .at_ns = board_now_ns() + ns};
    CHECK_EQ(pthread_create(&thread, NULL, nohang_timer_run, &t), 0);
}

/* ---- rounds ----------------------------------------------------------------------- */

bool nohang_over(const struct nohang_round *r)
{
    return r->done || (!r->test->uniform && shmemx_pe_failed(r->victim));
}

/* The n-th live PE. */
static int nohang_nth_alive(int n)
{
    int pe = -1;

    while (n >= 0)
        n -= nohang_has(nohang_alive, ++pe);
    return pe;
}

/* The PEs of the victim's node, unless all live PEs are among them. */
static uint64_t nohang_node_of(int victim)
{
    uint64_t set = 0;
    int parent = atomic_load(&nohang_board->pe[victim].parent);

    for (int pe = 0; pe < shmem_n_pes(); pe++)
        if (nohang_has(nohang_alive, pe) &&
            atomic_load(&nohang_board->pe[pe].parent) == parent)
            set |= (uint64_t)1 << pe;
    return set != nohang_alive ? set : (uint64_t)1 << victim;
}

/* Rounds of one case take all modes in turn; else all cases have one mode, then the next.
 */
static int nohang_mode_of(const struct options *o, int pair)
{
    if (o->mode >= 0)
        return o->mode;
    if (o->test != NULL)
        return (int)((o->seed + (uint64_t)pair) % MODES);
    return pair / nohang_cases() % MODES;
}

static void nohang_plan(struct nohang_round *r, const struct options *o,
                        shmem_team_t team)
{
    int alive = __builtin_popcountll(nohang_alive);
    int pair = o->first + r->number;

    r->random = nohang_mix(o->seed * 1000 + (uint64_t)r->number);
    r->own = r->random + (uint64_t)shmem_my_pe() + 1;
    r->test = o->test != NULL ? nohang_find(o->test) : nohang_at(pair % nohang_cases());
    r->mode = (enum nohang_mode)nohang_mode_of(o, pair);
    r->team = team;
    r->me = shmem_team_my_pe(team);
    r->npes = shmem_team_n_pes(team);
    r->victim_index = nohang_draw(r, 0, alive);
    r->victim = nohang_nth_alive(r->victim_index);
    r->victims = (uint64_t)1 << r->victim;
    r->second = -1;
    if (o->nodes && nohang_draw(r, 1, 2) == 0)
        r->victims = nohang_node_of(r->victim);
    int pe = nohang_nth_alive(nohang_draw(r, 2, alive));
    if (alive > 3 && nohang_draw(r, 3, 4) == 0 && !nohang_has(r->victims, pe) &&
        __builtin_popcountll(r->victims) + 2 < alive)
        r->second = pe;
    r->kill_ns = (uint64_t)nohang_draw(r, 4, KILL_MAX_NS);
    r->second_ns = (uint64_t)nohang_draw(r, 5, SECOND_MAX_NS);
}

static void nohang_be_victim(struct nohang_round *r)
{
    const struct nohang_case *t = r->test;

    if (r->mode == BEFORE)
        nohang_die(r);
    nohang_die_after(r, r->mode == INSIDE ? r->kill_ns : FALLBACK_NS);
    while (r->mode == INSIDE || t->victim_idle) {
        if (t->victim_idle)
            check_sleep_us(1000);
        else
            t->call(r);
    }
    t->call(r);
    nohang_die(r);
}

static void nohang_check_result(struct nohang_round *r)
{
    const struct nohang_case *t = r->test;

    if (t->result == ANY_RESULT)
        return;
    shmem_team_t team = t->result == TEAM_RESULT ? r->team : SHMEM_TEAM_WORLD;
    int status = shmemx_team_status(team);
    CHECK_NAMED(status == SHMEMX_ERR_PE_FAILED, "%s: status of the team is %d", t->name,
                status);
    int rc = t->call(r);
    CHECK_NAMED(t->result == WORLD_RESULT || rc != 0, "%s returned 0 after a failure",
                t->name);
}

static void nohang_be_survivor(struct nohang_round *r)
{
    const struct nohang_case *t = r->test;

    do {
        t->call(r);
    } while (!nohang_over(r));
    atomic_store(&nohang_me->returned_ns[r->number], board_now_ns());
    board_says(nohang_me, "round %d: %s again", r->number, t->name);
    nohang_check_result(r);
}

/* The victim may return from the barrier, and be killed, before other PEs return. */
static void nohang_start(const struct nohang_round *r)
{
    int rc = shmem_team_sync(r->team);

    CHECK_NAMED(rc == 0 || rc == SHMEMX_ERR_PE_FAILED, "shmem_team_sync returned %d", rc);
}

static shmem_team_t nohang_play(struct nohang_round *r)
{
    const struct nohang_case *t = r->test;
    int me = shmem_my_pe();

    snprintf(nohang_board->round[r->number].name, BOARD_TEXT, "%s %s%s", t->name,
             nohang_modes[r->mode], nohang_kills_node(r) ? " node" : "");
    board_says(nohang_me, "round %d: begin of %s", r->number, t->name);
    if (t->begin != NULL)
        t->begin(r);
    nohang_start(r);
    board_says(nohang_me, "round %d: %s", r->number, t->name);
    if (me == r->victim && t->call != NULL)
        nohang_be_victim(r);
    else if (me == r->victim)
        nohang_die_after(r, r->mode == BEFORE ? 0 : r->mode * r->kill_ns);
    else if (t->call != NULL)
        nohang_be_survivor(r);
    if (t->end != NULL)
        t->end(r);
    if (me == r->second)
        nohang_die_after(r, r->second_ns);
    shmem_team_t next = nohang_mend(r);
    atomic_store(&nohang_me->mended_ns[r->number], board_now_ns());
    return next;
}

/* A PE is killed in shmem_finalize.  The next round of the board records it. */
static void nohang_finalize(struct nohang_round *r, const struct options *o,
                            shmem_team_t team)
{
    nohang_plan(r, o, team);
    r->victims = (uint64_t)1 << r->victim;
    snprintf(nohang_board->round[r->number].name, BOARD_TEXT, "finalize %s",
             nohang_modes[r->mode]);
    nohang_start(r);
    board_says(nohang_me, "shmem_finalize");
    if (shmem_my_pe() == r->victim) {
        if (r->mode == BEFORE)
            nohang_die(r);
        nohang_die_after(r, r->mode * r->kill_ns);
    }
    shmem_finalize();
    atomic_store(&nohang_me->returned_ns[r->number], board_now_ns());
    if (shmem_my_pe() == r->victim)
        nohang_die(r);
    board_says(nohang_me, "end");
}

static void nohang_run(const struct options *o)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    static struct nohang_round r;
    int npes = shmem_n_pes(), n = 0;

    nohang_board = board_open(o->board);
    nohang_me = &nohang_board->pe[shmem_my_pe()];
    atomic_store(&nohang_board->npes, npes);
    atomic_store(&nohang_me->pid, getpid());
    atomic_store(&nohang_me->parent, getppid());
    nohang_alive = ((uint64_t)1 << npes) - 1;
    shmemx_failure_handler(nohang_failed, NULL);
    nohang_mend_begin();
    shmem_barrier_all();
    for (; n < o->rounds && (nohang_alive & (nohang_alive - 1)) != 0; n++) {
        r = (struct nohang_round){.number = n, .ctx = SHMEM_CTX_INVALID};
        atomic_store(&nohang_round_number, n);
        nohang_plan(&r, o, team);
        team = nohang_play(&r);
    }
    if (o->finalize && (nohang_alive & (nohang_alive - 1)) != 0) {
        r = (struct nohang_round){.number = n};
        atomic_store(&nohang_round_number, n);
        nohang_finalize(&r, o, team);
        return;
    }
    board_says(nohang_me, "shmem_finalize");
    shmem_finalize();
    board_says(nohang_me, "end");
}

int main(int argc, char **argv)
{
    struct options o = {.rounds = BOARD_ROUNDS - 1, .seed = 1, .mode = -1};
    int provided;

    for (int c; (c = getopt(argc, argv, "b:s:r:f:c:m:tNFl")) != -1;)
        switch (c) {
        case 'b':
            o.board = optarg;
            break;
        case 's':
            o.seed = strtoull(optarg, NULL, 0);
            break;
        case 'r':
            o.rounds = atoi(optarg);
            break;
        case 'f':
            o.first = atoi(optarg);
            break;
        case 'c':
            o.test = optarg;
            break;
        case 'm':
            o.mode = atoi(optarg);
            break;
        case 't':
            nohang_threads = true;
            break;
        case 'N':
            o.nodes = true;
            break;
        case 'F':
            o.finalize = true;
            break;
        case 'l':
            nohang_list();
            return 0;
        default:
            return 2;
        }
    if (o.board == NULL || o.rounds >= BOARD_ROUNDS)
        return 2;
    shmem_init_thread(nohang_threads ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE,
                      &provided);
    nohang_run(&o);
    return 0;
}
