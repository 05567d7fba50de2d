/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * life.c - queries about PEs and addresses; nested initialization; finalization followed
 * by another initialization.  The program ends with shmem_global_exit(0), and run-pes
 * checks that the exit status is 0.
 */
#include "tests/api/conform/conform.h"

static long global_word;

int main(void);

static void run_numbers(void)
{
    static long seen[CHECK_NAME_MAX];
    int major = -1, minor = -1;
    char name[SHMEM_MAX_NAME_LEN];

    cf_case("shmem_my_pe");
    cf_check(shmem_my_pe() >= 0 && shmem_my_pe() < shmem_n_pes(), "%d", shmem_my_pe());
    CHECK(cf_npes <= CHECK_NAME_MAX);
    memset(seen, 0, sizeof(seen));
    shmem_barrier_all();
    shmem_long_atomic_inc(&seen[shmem_my_pe()], 0);
    shmem_barrier_all();
    for (int pe = 0; cf_me == 0 && pe < cf_npes; pe++)
        cf_check(seen[pe] == 1, "%ld PEs have the number %d", seen[pe], pe);
    cf_case("shmem_n_pes");
    const char *expected = getenv("CHECK_NPES"); /* from run-pes */
    cf_check(expected == NULL || atoi(expected) == shmem_n_pes(), "%d, not %s",
             shmem_n_pes(), expected);
    shmem_info_get_version(&major, &minor);
    cf_case("shmem_info_get_version");
    cf_check(major == 1 && minor == 6 && major == SHMEM_MAJOR_VERSION &&
                 minor == SHMEM_MINOR_VERSION,
             "%d.%d", major, minor);
    memset(name, CF_FILLER, sizeof(name));
    shmem_info_get_name(name);
    cf_case("shmem_info_get_name");
    cf_check(memchr(name, '\0', sizeof(name)) != NULL &&
                 strcmp(name, SHMEM_VENDOR_STRING) == 0,
             "not the vendor string");
    shmem_pcontrol(0);
    shmem_pcontrol(1, "argument", 2);
    cf_case("shmem_pcontrol");
}

/* The pointer is NULL or accesses the peer's memory. */
static void verify_ptr(const char *routine, long *at, int pe, long value)
{
    cf_case(routine);
    cf_check(at == NULL || *at == value, "PE %d holds %ld, not %ld", pe, at ? *at : 0,
             value);
}

static void run_stores(long *word)
{
    long *right = shmem_ptr(word, cf_target(CF_RIGHT));

    if (right != NULL)
        *right = 300 + cf_me;
    shmem_barrier_all();
    bool stored = shmem_ptr(word, cf_target(CF_LEFT)) != NULL;
    cf_case("shmem_ptr");
    cf_check(!stored || *word == 300 + cf_target(CF_LEFT), "a store was lost");
    shmem_barrier_all();
}

static void run_access(long *heap_word)
{
    long local = 0, *private_word = malloc(sizeof(long));

    *heap_word = 100 + cf_me;
    global_word = 200 + cf_me;
    shmem_barrier_all();
    for (int pe = 0; pe < cf_npes; pe++) {
        cf_case("shmem_pe_accessible");
        cf_check(shmem_pe_accessible(pe) == 1, "PE %d", pe);
        cf_case("shmem_addr_accessible");
        cf_check(shmem_addr_accessible(heap_word, pe) == 1, "heap, PE %d", pe);
        cf_check(shmem_addr_accessible(&global_word, pe) == 1, "global, PE %d", pe);
        cf_check(shmem_addr_accessible(&local, pe) == 0, "stack, PE %d", pe);
        cf_check(shmem_addr_accessible(private_word, pe) == 0, "malloc, PE %d", pe);
        verify_ptr("shmem_ptr", shmem_ptr(heap_word, pe), pe, 100 + pe);
        verify_ptr("shmem_ptr", shmem_ptr(&global_word, pe), pe, 200 + pe);
        verify_ptr("shmem_team_ptr", shmem_team_ptr(SHMEM_TEAM_WORLD, heap_word, pe), pe,
                   100 + pe);
    }
    struct check_pes node = check_node();
    for (int i = 0; i < node.size; i++) {
        long *at = shmem_team_ptr(SHMEM_TEAM_SHARED, &global_word, i);
        int pe = node.start + i * node.stride;
        verify_ptr("shmem_team_ptr", at, pe, 200 + pe);
        cf_check(at != NULL && at == shmem_ptr(&global_word, pe), "PE %d shares no node",
                 pe);
    }
    cf_case("shmem_pe_accessible");
    cf_check(shmem_pe_accessible(-1) == 0 && shmem_pe_accessible(cf_npes) == 0,
             "a PE that does not exist");
    cf_case("shmem_ptr");
    if (getenv("SHMEM_DEBUG") == NULL) /* with it these calls end the job */
        cf_check(shmem_ptr(heap_word, -1) == NULL &&
                     shmem_ptr(heap_word, cf_npes) == NULL,
                 "of a PE that does not exist");
    cf_check(shmem_ptr(heap_word, cf_me) == heap_word, "of its own address");
    cf_check(shmem_ptr(&local, cf_me) == NULL && shmem_ptr(private_word, cf_me) == NULL &&
                 shmem_ptr(NULL, cf_me) == NULL,
             "of an address that is not symmetric");
    cf_case("shmem_addr_accessible");
    cf_check(shmem_addr_accessible(NULL, cf_me) == 0, "NULL");
    cf_check(shmem_addr_accessible((void *)(uintptr_t)main, cf_me) == 0, "code");
    shmem_barrier_all();
    run_stores(heap_word);
    run_stores(&global_word);
    global_word = 200 + cf_me; /* checked by run_between() */
    free(private_word);
}

/* Nested initialization: the library stays initialized until the matching number of
 * shmem_finalize calls. */
static void run_again(void)
{
    int provided = -1, still = -1;

    shmem_init();
    cf_case("shmem_init");
    CHECK(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided) == 0);
    cf_case("shmem_init_thread");
    cf_check(shmem_my_pe() == cf_me && shmem_n_pes() == cf_npes, "changed the PEs");
    shmem_finalize();
    shmem_long_p(&global_word, 400 + cf_me, cf_target(CF_RIGHT));
    shmem_finalize(); /* not the last call: acts as a barrier */
    cf_case("shmem_finalize");
    cf_check(global_word == 400 + cf_target(CF_LEFT), "a put was not complete");
    shmem_query_initialized(&still);
    cf_case("shmem_query_initialized");
    cf_check(still != 0, "finalized too early");
    shmem_barrier_all();
}

/* While the library is finalized, stdio, malloc and the program's globals work. */
static void run_between(void)
{
    long *block = malloc(1 << 20);
    FILE *file = tmpfile();

    cf_case("shmem_finalize");
    cf_check(global_word == 200 + cf_me, "the global is %ld", global_word);
    cf_check(block != NULL && file != NULL && fputs("text", file) >= 0 &&
                 fclose(file) == 0,
             "the C library no longer works");
    memset(block, 1, 1 << 20);
    free(block);
    global_word = -1;
}

/* The library works after each initialization. */
static void run_cycle(int cycle)
{
    enum { HEAP_LONGS = 1 << 17 };
    long *heap = check_alloc(HEAP_LONGS * sizeof(long)),
         *heap_word = heap + HEAP_LONGS - 1;
    shmem_team_t team;
    shmem_ctx_t ctx;

    run_numbers();
    run_again();
    run_access(heap_word);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, cf_npes - 1, -1, cf_npes, NULL, 0,
                                   &team) == 0);
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    shmem_ctx_long_put(ctx, heap_word, &(long){1000 * cycle + cf_me}, 1,
                       cf_target(CF_RIGHT));
    shmem_ctx_quiet(ctx);
    shmem_team_sync(team);
    cf_case("shmem_init");
    cf_check(*heap_word == 1000 * cycle + cf_target(CF_LEFT),
             "initialization %d: %ld arrived", cycle, *heap_word);
    shmem_barrier_all();
    if (cycle % 2 == 0) { /* otherwise shmem_finalize frees them */
        shmem_ctx_destroy(ctx);
        shmem_team_destroy(team);
        shmem_free(heap);
    }
}

static void verify_initialized(bool should, int cycle)
{
    int is = -1;

    shmem_query_initialized(&is);
    cf_case("shmem_query_initialized");
    cf_check((is != 0) == should, "initialization %d: %d", cycle, is);
}

int main(void)
{
    enum { CYCLES = 4 };
    int before = -1, provided = -1;

    shmem_query_initialized(&before);
    cf_start("life");
    cf_case("shmem_query_initialized");
    cf_check(before == 0, "%d before shmem_init", before);
    shmem_query_thread(&provided);
    cf_case("shmem_query_thread");
    cf_check(provided == SHMEM_THREAD_SINGLE, "%d", provided);
    run_cycle(0);
    for (int cycle = 1; cycle < CYCLES; cycle++) {
        shmem_finalize();
        verify_initialized(false, cycle);
        run_between();
        CHECK(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided) == 0);
        verify_initialized(true, cycle);
        cf_case("shmem_init_thread");
        cf_check(shmem_my_pe() == cf_me && shmem_n_pes() == cf_npes, "changed the PEs");
        run_cycle(cycle);
    }
    cf_case("shmem_global_exit");
    cf_report();
    shmem_global_exit(0);
    return 99;
}
