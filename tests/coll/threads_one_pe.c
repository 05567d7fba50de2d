/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads_one_pe.c - threads of one PE (SHMEM_THREAD_MULTIPLE) use one team handle and
 * wait at the same time, for the thread sanitizer: all threads enter one runtime
 * instance.
 *   threads_one_pe [calls]
 */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/progress/block.h"
#include "pgas/core/team/ctx.h"
#include "pgas/core/team/team.h"

enum { THREADS = 3, CALLS = 200, HEAP_BYTES = 1 << 16 };

static char *heap;
static struct node *node;
static long calls = CALLS;
static uint32_t turn; /* number of turns so far; modulo THREADS: the next thread */

static struct pgas *instance;

static void make_instance(void)
{
    struct pgas *g = instance = pgas_instance_new(NULL);

    g->heap_base = (uintptr_t)heap;
    g->heap_len = HEAP_BYTES;
    g->npes = g->local_size = 1;
    g->node = node;
    g->nnodes = 1;
    g->life = LIFE_UP;
    g->oversubscribed = true; /* waits sleep soon */
    g->env.yield_ns = 0;
    g->env.sleep_ns = 100 * 1000;
}

static bool is_my_turn(const void *arg)
{
    return load_acquire_u32(&turn) % THREADS == (uint32_t)(uintptr_t)arg;
}

static void *run(void *arg)
{
    static const char *const names[THREADS] = {"first routine", "second",
                                               "third routine"};
    const char *name = names[(uintptr_t)arg];

    pgas_thread.instance = instance;
    for (long i = 0; i < calls; i++) {
        const struct shmem_team *team = team_of(SHMEM_TEAM_WORLD, name);
        if (ctx_team(SHMEM_CTX_DEFAULT) != team)
            abort();
        block_until(&(struct block_wait){.ready = is_my_turn, .arg = arg, .what = name});
        store_release_u32(&turn, load_relaxed_u32(&turn) + 1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    size_t bytes = (node_bytes(1) + NODE_LINE - 1) / NODE_LINE * NODE_LINE;
    char what[NODE_WHAT];

    calls = argc > 1 ? atol(argv[1]) : CALLS;
    node = aligned_alloc(NODE_LINE, bytes);
    heap = aligned_alloc(4096, HEAP_BYTES);
    memset(node, 0, bytes);
    node->npes = 1;
    make_instance();
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    memcpy(what, (const void *)node->pe[0].what, sizeof what);
    if (what[0] != '\0')
        fprintf(stderr, "no thread waits, but the PE's wait record is: %.*s\n", NODE_WHAT,
                what);
    pgas_instance_free(instance);
    free(node);
    free(heap);
    return what[0] != '\0';
}
