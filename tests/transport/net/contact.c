/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contact.c - the first operation on a PE while the launcher does not answer the request
 * for its address.  See contact.sh.
 *
 * Stands between the library and libpmix: requests for addresses are held until they are
 * released.  6 PEs on 3 nodes.  PE 1 acts, which is not the leader of its node: it
 * connects to no other node in shmem_init.
 */
#include "config.h"

#include <pmix.h>

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include <shmem.h>
#include <shmemx.h>

#include "tests/api/multi/check.h"

enum {
    HELD_MAX = 64,
    OPERATIONS = 200,
    ACTOR = 1,
    NEAR = 2,
    FAR = 4,
    FAR_TOO = 5,
    PES = 6
};

#define check(ok, what, n) CHECK_NAMED(ok, "%s (%d)", what, n)

/* ---- the launcher ------------------------------------------------------------------ */

static struct held {
    pmix_proc_t proc;
    const char *key;
    const pmix_info_t *info;
    size_t ninfo;
    pmix_value_cbfunc_t done;
    void *arg;
} held[HELD_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t asked;       /* posted by each request for an address that is held */
static bool hold;         /* under lock, like these: */
static int nheld, nasked; /* requests that are held; and that were, or would have been */

static bool is_address(const char *key)
{
    return key != NULL && strncmp(key, "pgas.net.", strlen("pgas.net.")) == 0;
}

pmix_status_t PMIx_Get_nb(const pmix_proc_t *proc, const char key[],
                          const pmix_info_t info[], size_t ninfo,
                          pmix_value_cbfunc_t done, void *arg)
{
    pmix_status_t (*get)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t,
                         pmix_value_cbfunc_t, void *);

    *(void **)&get = dlsym(RTLD_NEXT, "PMIx_Get_nb");
    pthread_mutex_lock(&lock);
    nasked += is_address(key);
    bool now = !hold || !is_address(key) || nheld == HELD_MAX;
    if (!now)
        held[nheld++] = (struct held){*proc, key, info, ninfo, done, arg};
    pthread_mutex_unlock(&lock);
    if (now)
        return get(proc, key, info, ninfo, done, arg);
    sem_post(&asked);
    return PMIX_SUCCESS;
}

/* A library that calls it for an address waits until the address is released. */
pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[],
                       const pmix_info_t info[], size_t ninfo, pmix_value_t **value)
{
    pmix_status_t (*get)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t,
                         pmix_value_t **);
    bool wait = is_address(key), first = true;

    *(void **)&get = dlsym(RTLD_NEXT, "PMIx_Get");
    while (wait) {
        pthread_mutex_lock(&lock);
        wait = hold;
        nasked += first;
        pthread_mutex_unlock(&lock);
        if (wait && first)
            sem_post(&asked);
        first = false;
        if (wait)
            usleep(1000);
    }
    return get(proc, key, info, ninfo, value);
}

static void hold_addresses(void)
{
    pthread_mutex_lock(&lock);
    hold = true;
    nasked = 0;
    pthread_mutex_unlock(&lock);
}

static void release_addresses(void)
{
    pthread_mutex_lock(&lock);
    hold = false;
    int n = nheld;
    nheld = 0;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < n; i++)
        check(PMIx_Get_nb(&held[i].proc, held[i].key, held[i].info, held[i].ninfo,
                          held[i].done, held[i].arg) == PMIX_SUCCESS,
              "a released request", i);
}

/* ---- PE 1 -------------------------------------------------------------------------- */

static long word, go, end, global;
static long *heap;

/* The first operations on PEs of the third node, by threads with contexts of all kinds.
 */
static void *put_default(void *arg)
{
    shmem_long_p(&heap[0], 11, FAR);
    shmem_quiet();
    return arg;
}

static void *put_private(void *arg)
{
    shmem_ctx_t ctx;

    check(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0, "a private context", 0);
    shmem_ctx_long_p(ctx, &heap[1], 12, FAR);
    shmem_ctx_quiet(ctx);
    shmem_ctx_destroy(ctx);
    return arg;
}

static void *get_serialized(void *arg)
{
    shmem_ctx_t ctx;

    check(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx) == 0, "a context", 0);
    check(shmem_ctx_long_g(ctx, &heap[3], FAR_TOO) == 3 + FAR_TOO, "a get", FAR_TOO);
    shmem_ctx_destroy(ctx);
    return arg;
}

/* Needs to know whether the PE runs the same program. */
static void *put_global(void *arg)
{
    shmem_long_p(&global, 14, FAR_TOO);
    shmem_quiet();
    return arg;
}

static void *(*const contact[])(void *) = {put_default, put_private, get_serialized,
                                           put_global};
enum { CONTACTS = sizeof contact / sizeof contact[0] };

/* Operations on a PE that is connected, and of that PE on this one, while all other
 * threads wait for the launcher; then the launcher answers, once. */
static void *go_on_beside(void *arg)
{
    pthread_t thread[CONTACTS];

    sem_wait(&asked);
    for (int i = 1; i < CONTACTS; i++)
        check(pthread_create(&thread[i], NULL, contact[i], NULL) == 0, "a thread", i);
    for (int i = 0; i < OPERATIONS; i++) {
        shmem_long_p(&heap[4], i, NEAR);
        check(shmem_long_atomic_fetch_add(&heap[5], 1, NEAR) == i, "fetch_add", i);
        check(shmem_long_g(&heap[4], NEAR) == i, "get", i);
    }
    shmem_long_p(&go, 1, NEAR); /* it calls atomics on this PE */
    shmem_long_wait_until(&end, SHMEM_CMP_EQ, 1);
    check(word == OPERATIONS, "operations of another PE", (int)word);
    release_addresses();
    for (int i = 1; i < CONTACTS; i++)
        pthread_join(thread[i], NULL);
    return arg;
}

static void go_on(void)
{
    pthread_t beside;

    hold_addresses();
    check(pthread_create(&beside, NULL, go_on_beside, NULL) == 0, "a thread", 0);
    put_default(NULL); /* on context 0, which also serves the operations of other PEs */
    pthread_join(beside, NULL);
    check(nasked == 2, "one request for the node, and its release", nasked);
    check(shmem_long_g(&heap[0], FAR) == 11, "put, default context", 0);
    check(shmem_long_g(&heap[1], FAR) == 12, "put, private context", 0);
    check(shmem_long_g(&global, FAR_TOO) == 14, "put, global variable", 0);
}

/* The PE whose address is awaited dies. */
static void failed(void)
{
    hold_addresses();
    shmem_long_p(&go, 1, NEAR); /* tells PE 4 by memory of a PE that is connected */
    shmem_long_p(&heap[0], 11, FAR);
    shmem_quiet();
    check(shmemx_pe_failed(FAR), "the PE has failed", FAR);
    check(shmem_long_g(&heap[4], NEAR) == 4 + NEAR, "a get from a live PE", NEAR);
    release_addresses();
}

/* ---- the others -------------------------------------------------------------------- */

static void near(bool relays)
{
    shmem_long_wait_until(&go, SHMEM_CMP_EQ, 1);
    for (int i = 0; i < OPERATIONS && !relays; i++)
        shmem_long_atomic_add(&word, 1, ACTOR);
    shmem_quiet();
    shmem_long_p(relays ? &go : &end, 1, relays ? FAR : ACTOR);
    shmem_quiet();
}

static void far(void)
{
    shmem_long_wait_until(&go, SHMEM_CMP_EQ, 1);
    raise(SIGKILL);
}

static void run(const char *way, int me)
{
    static const char *const name[CONTACTS] = {"default", "private", "serialized",
                                               "global"};
    bool fails = strcmp(way, "failed") == 0;

    if (me == NEAR && (fails || strcmp(way, "go-on") == 0))
        near(fails);
    if (me == FAR && fails)
        far();
    if (me != ACTOR)
        return;
    shmem_long_p(&heap[4], 4 + NEAR, NEAR); /* connects */
    shmem_quiet();
    if (fails)
        failed();
    else if (strcmp(way, "go-on") == 0)
        go_on();
    else
        hold_addresses();
    for (int i = 0; i < CONTACTS; i++)
        if (strcmp(way, name[i]) == 0) {
            contact[i](NULL);
            CHECK_NAMED(false, "%s: the operation has returned", way);
        }
}

int main(int argc, char **argv)
{
    int provided;

    sem_init(&asked, 0, 0);
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int me = shmem_my_pe();
    CHECK(argc == 2 && provided == SHMEM_THREAD_MULTIPLE && shmem_n_pes() == PES);
    heap = check_alloc(PES * sizeof *heap);
    for (int i = 0; i < PES; i++)
        heap[i] = i + me;
    heap[5] = 0;
    shmem_barrier_all();
    CHECK(me != ACTOR || shmem_ptr(heap, NEAR) == NULL);
    run(argv[1], me);
    shmem_finalize();
    return 0;
}
