/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * annex.c - behaviour that the specification leaves undefined (annex "Undefined Behavior"
 * and the routines' descriptions), one case each: with SHMEM_DEBUG=2 the job must end
 * with a message.
 * usage: annex CASE    run one case
 *        annex --list  print "case|part of the message" for annex.sh; an empty part means
 *                      that the case is allowed and must end with status 0
 */
#include <pthread.h>

#include "tests/api/check/annex.h"

long word[64], other[64], psync[SHMEM_SYNC_SIZE], pwrk[SHMEM_SYNC_SIZE];
int me, npes;

void start(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
}

static void start_threads(int level)
{
    int provided;

    CHECK_EQ(shmem_init_thread(level, &provided), 0);
    me = shmem_my_pe();
    npes = shmem_n_pes();
}

/* A team of the first n PEs with one context. */
static void make_team(int n, shmem_team_t *team)
{
    shmem_team_config_t config = {.num_contexts = 1};

    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, &config,
                                      SHMEM_TEAM_NUM_CONTEXTS, team),
             0);
}

/* ---- entries of the annex -------------------------------------------------------- */

static void before_init(void)
{
    shmem_my_pe();
}

static void quiet_before_init(void)
{
    shmem_quiet();
}

static void after_finalize(void)
{
    start();
    shmem_finalize();
    shmem_barrier_all();
}

/* Allowed since OpenSHMEM 1.6: calls are counted. */
static void init_twice(void)
{
    start();
    shmem_init();
    shmem_finalize();
    shmem_finalize();
    start();
    shmem_finalize();
}

static void pe_too_large(void)
{
    start();
    shmem_long_p(word, 1, npes);
}

static void pe_negative(void)
{
    start();
    (void)shmem_long_atomic_fetch_inc(word, -1);
}

/* PE npes - 1 exists, but is not a member of the team. */
static void pe_of_no_member(void)
{
    shmem_team_t team;
    shmem_ctx_t ctx;

    start();
    make_team(npes - 1, &team);
    if (team == SHMEM_TEAM_INVALID)
        for (;;)
            check_sleep_us(1000);
    CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
    shmem_ctx_long_p(ctx, word, 1, npes - 1);
}

static void root_of_no_member(void)
{
    start();
    shmem_long_broadcast(SHMEM_TEAM_WORLD, word, other, 1, npes);
}

static void not_symmetric(void)
{
    long local = 0;

    start();
    shmem_long_p(&local, 1, 0);
}

static void null_source(void)
{
    start();
    shmem_long_put(word, NULL, 1, 0);
}

static void null_dest(void)
{
    start();
    shmem_long_put(NULL, other, 1, 0);
}

static void null_of_nothing(void)
{
    start();
    shmem_long_put(NULL, NULL, 0, 0);
    shmem_long_get(word, NULL, 0, 0);
    shmem_long_broadcast(SHMEM_TEAM_WORLD, NULL, NULL, 0, 0);
    shmem_long_fcollect(SHMEM_TEAM_WORLD, NULL, NULL, 0);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, NULL, NULL, 0);
    shmem_finalize();
}

static void *barriers(void *team)
{
    for (int i = 0; i < 100000; i++)
        shmem_team_sync(team);
    return NULL;
}

static void two_threads_one_team(void)
{
    pthread_t thread;

    start_threads(SHMEM_THREAD_MULTIPLE);
    CHECK_EQ(pthread_create(&thread, NULL, barriers, SHMEM_TEAM_WORLD), 0);
    barriers(SHMEM_TEAM_WORLD);
}

static void *set_barriers(void *unused)
{
    for (int i = 0; i < 100000; i++)
        shmem_barrier(0, 0, npes, psync);
    return unused;
}

static void set_and_team(void)
{
    pthread_t thread;

    start_threads(SHMEM_THREAD_MULTIPLE);
    CHECK_EQ(pthread_create(&thread, NULL, set_barriers, NULL), 0);
    barriers(SHMEM_TEAM_WORLD);
}

static void private_context_left(void)
{
    shmem_team_t team;
    shmem_ctx_t ctx;

    start();
    make_team(npes, &team);
    CHECK_EQ(shmem_team_create_ctx(team, SHMEM_CTX_PRIVATE, &ctx), 0);
    shmem_team_destroy(team);
}

/* ---- undefined by the descriptions of the routines ------------------------------- */

static void stride_zero(void)
{
    start();
    shmem_long_iput(word, other, 0, 1, 2, 0);
}

static void triplet_wraps(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;

    start();
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, npes, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 0, 2, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    shmem_finalize();
}

static void put_to_freed(void)
{
    start();
    long *p = shmem_malloc(64);
    shmem_free(p);
    shmem_long_p(p, 1, 0);
}

static void put_beyond_block(void)
{
    start();
    long *p = shmem_malloc(64);
    shmem_long_put(p, other, 9, 0);
}

static void free_twice(void)
{
    start();
    long *p = shmem_malloc(64);
    shmem_free(p);
    shmem_free(p);
}

static void reduction_overlaps(void)
{
    start();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, word + 1, word, 4);
}

static void put_overlaps(void)
{
    start();
    shmem_long_put(word, word, 4, me); /* allowed */
    shmem_long_put(word, word + 1, 4, (me + 1) % npes);
    shmem_long_put(word, word + 1, 4, me);
}

static void unaligned_atomic(void)
{
    start();
    shmem_int_atomic_inc((int *)(void *)((char *)word + 2), 0);
}

static void *one_put(void *unused)
{
    shmem_long_p(word, 1, 0);
    return unused;
}

static void thread_of_single(void)
{
    pthread_t thread;

    start_threads(SHMEM_THREAD_FUNNELED);
    CHECK_EQ(pthread_create(&thread, NULL, one_put, NULL), 0);
    pthread_join(thread, NULL);
}

static void *put_in(void *ctx)
{
    shmem_ctx_long_p(ctx, word, 1, 0);
    return NULL;
}

static void private_context_shared(void)
{
    pthread_t thread;
    shmem_ctx_t ctx;

    start_threads(SHMEM_THREAD_MULTIPLE);
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
    CHECK_EQ(pthread_create(&thread, NULL, put_in, ctx), 0);
    pthread_join(thread, NULL);
}

static void psync_too_short(void)
{
    start();
    long *p = shmem_calloc(8, sizeof(long));
    shmem_barrier(0, 0, npes, p);
}

static void no_member_of_set(void)
{
    start();
    shmem_barrier(0, 0, npes - 1, psync);
    for (;;)
        check_sleep_us(1000);
}

/* The length of dest is the sum of all contributions, unknown before the call. */
static void collect_beyond_block(void)
{
    start();
    long *p = shmem_malloc(64), *q = shmem_malloc(64);
    CHECK(p != NULL && q != NULL);
    shmem_long_collect(SHMEM_TEAM_WORLD, p, word, 8);
}

static void collect_to_null(void)
{
    start();
    shmem_long_collect(SHMEM_TEAM_WORLD, me == 0 ? NULL : word, other, me == 0 ? 0 : 2);
}

static void collect_null_of_nothing(void)
{
    start();
    for (int silent = 0; silent < npes; silent++) {
        bool brings = me != silent;
        shmem_long_collect(SHMEM_TEAM_WORLD, word, brings ? other : NULL, brings ? 2 : 0);
        shmem_collect64(word, brings ? other : NULL, brings ? 2 : 0, 0, 0, npes, psync);
        shmem_barrier_all();
        shmem_long_collect(SHMEM_TEAM_WORLD, brings ? word : NULL, NULL, 0);
    }
    shmem_finalize();
}

static void collect_sources_differ(void)
{
    start();
    shmem_long_collect(SHMEM_TEAM_WORLD, word, me == 0 ? other : other + 1, 1);
}

static void set_lock_of(long value, const char *debug)
{
    if (debug != NULL)
        CHECK_EQ(setenv("SHMEM_DEBUG", debug, 1), 0);
    start();
    word[0] = value;
    shmem_barrier_all();
    shmem_set_lock(word);
    shmem_clear_lock(word);
    shmem_barrier_all();
}

static void lock_of_no_pe(void)
{
    set_lock_of(12345, NULL);
}

static void lock_of_no_pe_unchecked(void)
{
    set_lock_of(12345, "0");
}

static void lock_of_minus_one(void)
{
    set_lock_of(-1, NULL);
}

static void lock_of_minus_one_unchecked(void)
{
    set_lock_of(-1, "0");
}

static void lock_of_a_pe(void)
{
    set_lock_of(2, NULL);
}

/* The lock word names PE 1 as the tail of the queue, but PE 1 is not in it. */
static void lock_of_idle_pe(void)
{
    CHECK_EQ(setenv("SHMEM_DEBUG", "0", 1), 0);
    start();
    word[0] = 2;
    shmem_barrier_all();
    if (me == 0)
        shmem_set_lock(word);
    shmem_barrier_all();
}

static void test_lock_of_a_pe(void)
{
    start();
    word[0] = 1;
    shmem_barrier_all();
    (void)shmem_test_lock(word);
    shmem_barrier_all();
}

/* The lock word of a single PE is wrong, even if that PE does not hold the queue's tail.
 */
static void lock_of_one(void)
{
    start();
    word[0] = me == 0 ? 77 : 0;
    shmem_barrier_all();
    shmem_set_lock(word);
    shmem_clear_lock(word);
    shmem_barrier_all();
}

static void signal_in_dest(void)
{
    static uint64_t block[16];

    start();
    shmem_putmem_signal(block, other, 12, &block[1], 7, SHMEM_SIGNAL_SET, 0);
}

static void signal_behind_dest(void)
{
    static uint64_t block[16];

    start();
    shmem_putmem_signal(block, other, 8, &block[1], 7, SHMEM_SIGNAL_SET, 0);
    shmem_putmem_signal(&block[1], other, 0, &block[1], 7, SHMEM_SIGNAL_SET, 0);
    shmem_finalize();
}

static void indices_in_ivars(void)
{
    start();
    (void)shmem_long_test_some(word, 8, (size_t *)&word[7], NULL, SHMEM_CMP_NE, 0);
}

static void indices_in_status(void)
{
    static size_t indices[8];

    start();
    (void)shmem_long_wait_until_some_vector(word, 8, indices, (int *)&indices[2],
                                            SHMEM_CMP_EQ, other);
}

static void status_in_ivars(void)
{
    start();
    (void)shmem_int_test_any((int *)word, 4, (int *)&word[1], SHMEM_CMP_NE, 0);
}

static void sum_with(long *dest, long *source, long *work, long *sync)
{
    start();
    shmem_long_sum_to_all(dest, source, 4, 0, 0, npes, work, sync);
}

static void pwrk_is_dest(void)
{
    sum_with(pwrk + 2, word, pwrk, psync);
}

static void pwrk_is_source(void)
{
    sum_with(word, pwrk, pwrk, psync);
}

static void pwrk_is_psync(void)
{
    sum_with(word, other, psync + 8, psync);
}

static void psync_not_ready(void)
{
    psync[5] = 7;
    sum_with(word, other, pwrk, psync);
}

static void strides_too_remote(void)
{
    start();
    shmem_long_ibput(word, other, (ptrdiff_t)1 << 61, 1, 8, 4, 0);
}

static void blocks_too_long(void)
{
    start();
    shmem_long_ibput(word, other, 1, 1, (size_t)1 << 60, 4, 0);
}

static const struct annex_case cases[] = {
    {"before_init", "shmem_my_pe: called before shmem_init", before_init},
    {"quiet_before_init", "shmem_quiet: called before shmem_init", quiet_before_init},
    {"after_finalize", "shmem_barrier_all: called after shmem_finalize", after_finalize},
    {"init_twice", "", init_twice},
    {"pe_too_large", "shmem_long_p: argument 3 'pe' = 3, but team WORLD has PEs 0..2",
     pe_too_large},
    {"pe_negative", "shmem_long_atomic_fetch_inc: argument 2 'pe' = -1, but",
     pe_negative},
    {"pe_of_no_member", "shmem_ctx_long_p: argument 4 'pe' = 2, but team",
     pe_of_no_member},
    {"root_of_no_member", "shmem_long_broadcast: argument 5 'PE_root' = 3, but",
     root_of_no_member},
    {"not_symmetric", "shmem_long_p: argument 1 'dest' = 0x", not_symmetric},
    {"null_source", "shmem_long_put: argument 2 'source' = NULL, but", null_source},
    {"null_dest", "shmem_long_put: argument 1 'dest' = NULL, but", null_dest},
    {"null_of_nothing", "", null_of_nothing},
    {"two_threads_one_team", "two threads of this PE", two_threads_one_team},
    {"set_and_team", "two threads of this PE", set_and_team},
    {"private_context_left",
     "shmem_team_destroy: argument 1 'team' = ", private_context_left},
    {"stride_zero", "shmem_long_iput: argument 3 'dst' = 0, but a stride", stride_zero},
    {"triplet_wraps", "", triplet_wraps},
    {"put_to_freed", "shmem_long_p: argument 1 'dest' = 0x", put_to_freed},
    {"put_beyond_block", "the block of shmem_malloc ends after 64", put_beyond_block},
    {"free_twice", "shmem_free: argument 1 'ptr' = 0x", free_twice},
    {"reduction_overlaps", "shmem_long_sum_reduce: argument 2 'dest' = 0x",
     reduction_overlaps},
    {"put_overlaps", "shmem_long_put: argument 2 'source' = 0x", put_overlaps},
    {"unaligned_atomic", "shmem_int_atomic_inc: argument 1 'dest' = 0x",
     unaligned_atomic},
    {"thread_of_single", "called by a thread other than", thread_of_single},
    {"private_context_shared", "shmem_ctx_long_p: argument 1 'ctx' = 0x",
     private_context_shared},
    {"psync_too_short", "argument 4 'pSync' = 0x", psync_too_short},
    {"no_member_of_set", "is not a member of that active set", no_member_of_set},
    {"collect_beyond_block", "the sum over the PEs of 'nelems': 192 bytes are needed at",
     collect_beyond_block},
    {"collect_to_null", "'nelems': 32 bytes are needed at (nil), and they are not",
     collect_to_null},
    {"collect_null_of_nothing", "", collect_null_of_nothing},
    {"collect_sources_differ", "argument 3 'source' = 0x", collect_sources_differ},
    {"lock_of_no_pe", "is 12345, which is not the state of a lock", lock_of_no_pe},
    {"lock_of_no_pe_unchecked", "is 12345, which is not the state of a lock",
     lock_of_no_pe_unchecked},
    {"lock_of_minus_one", "is -1, which is not the state of a lock", lock_of_minus_one},
    {"lock_of_minus_one_unchecked", "is -1, which is not the state of a lock",
     lock_of_minus_one_unchecked},
    {"lock_of_a_pe", "shmem_set_lock: argument 1 'lock' = 0x", lock_of_a_pe},
    {"lock_of_idle_pe", "is 2, which is not the state of a lock", lock_of_idle_pe},
    {"test_lock_of_a_pe", "shmem_test_lock: argument 1 'lock' = 0x", test_lock_of_a_pe},
    {"lock_of_one", "the word on PE 0 is 77, which is not the state of a lock",
     lock_of_one},
    {"signal_in_dest", "shmem_putmem_signal: argument 4 'sig_addr' = 0x", signal_in_dest},
    {"signal_behind_dest", "", signal_behind_dest},
    {"indices_in_ivars", "its 64 bytes overlap the 64 of 'ivars'", indices_in_ivars},
    {"indices_in_status", "its 64 bytes overlap the 32 of 'status'", indices_in_status},
    {"status_in_ivars", "its 16 bytes overlap the 16 of 'ivars'", status_in_ivars},
    {"pwrk_is_dest", "overlap the 32 of 'dest'", pwrk_is_dest},
    {"pwrk_is_source", "overlap the 32 of 'source'", pwrk_is_source},
    {"pwrk_is_psync", "overlap the 512 of 'pSync'", pwrk_is_psync},
    {"psync_not_ready", "its element 5 is 7, and all must be SHMEM_SYNC_VALUE (0)",
     psync_not_ready},
    {"strides_too_remote", "strides of 2305843009213693952 elements overflows size_t",
     strides_too_remote},
    {"blocks_too_long", "'bsize' = 1152921504606846976 elements of 8 bytes overflows",
     blocks_too_long},
    {NULL, NULL, NULL},
};

/* The case of that name, or NULL; name NULL: prints all cases. */
static const struct annex_case *find(const struct annex_case *list, const char *name)
{
    for (; list->name != NULL; list++) {
        if (name == NULL)
            printf("%s|%s\n", list->name, list->message);
        else if (strcmp(name, list->name) == 0)
            return list;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const char *name = argc == 2 && strcmp(argv[1], "--list") != 0 ? argv[1] : NULL;
    const struct annex_case *one = find(cases, name);

    if (one == NULL)
        one = find(annex_verify_cases, name);
    if (one != NULL)
        one->run();
    return one != NULL || name == NULL ? 0 : 2;
}
