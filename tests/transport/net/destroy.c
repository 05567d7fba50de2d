/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * destroy.c - shmem_team_destroy completes the operations on a PE that is stopped: other
 * threads create, use and destroy contexts meanwhile.  See destroy.sh.
 *
 * 3 PEs on 3 nodes: PE 0 stops PE 2, fills the connection to it on a context of a team,
 * and destroys the team.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>

#include "tests/api/multi/check.h"

enum { BYTES = 16 << 20, OPEN_MS = 300, CONTEXTS = 200, LIMIT_S = 15, STOPPED = 2 };

static char *target, *source;
static long pid, word;
static shmem_team_t team;
static uint32_t destroying, destroyed;

static void on_alarm(int signal)
{
    static const char text[] = "destroy: a thread that creates contexts is blocked\n";

    (void)signal;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    kill((pid_t)pid, SIGCONT);
    _exit(1);
}

/* Returns when the process is stopped. */
static void stop(pid_t process)
{
    char name[64], line[512], state = 0;

    CHECK_EQ(kill(process, SIGSTOP), 0);
    snprintf(name, sizeof name, "/proc/%d/stat", (int)process);
    while (state != 'T') {
        FILE *file = fopen(name, "r");
        CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
        state = strrchr(line, ')')[2];
        fclose(file);
        sched_yield();
    }
}

static void *destroy(void *arg)
{
    shmem_ctx_t ctx;

    CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
    shmem_ctx_putmem_nbi(ctx, target, source, BYTES, STOPPED);
    __atomic_store_n(&destroying, 1, __ATOMIC_RELEASE);
    shmem_team_destroy(team);
    __atomic_store_n(&destroyed, 1, __ATOMIC_RELEASE);
    return arg;
}

static void use_contexts(void)
{
    double end = check_now() + 1e-3 * OPEN_MS;

    for (int i = 0; i < CONTEXTS || check_now() < end; i++) {
        shmem_ctx_t ctx;
        CHECK_EQ(shmem_ctx_create(i % 2 ? SHMEM_CTX_PRIVATE : 0, &ctx), 0);
        shmem_ctx_long_p(ctx, &word, i, 1);
        shmem_ctx_destroy(ctx);
    }
}

static void pe_0(void)
{
    pthread_t thread;

    pid = shmem_long_g(&pid, STOPPED);
    signal(SIGALRM, on_alarm);
    alarm(LIMIT_S);
    stop((pid_t)pid);
    CHECK_EQ(pthread_create(&thread, NULL, destroy, NULL), 0);
    while (__atomic_load_n(&destroying, __ATOMIC_ACQUIRE) == 0)
        sched_yield();
    use_contexts();
    CHECK_EQ(__atomic_load_n(&destroyed, __ATOMIC_ACQUIRE), 0);
    kill((pid_t)pid, SIGCONT);
    pthread_join(thread, NULL);
    alarm(0);
}

int main(void)
{
    int provided;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    CHECK(provided == SHMEM_THREAD_MULTIPLE && shmem_n_pes() == STOPPED + 1);
    pid = getpid();
    target = check_alloc(BYTES);
    source = calloc(1, BYTES);
    CHECK(source != NULL);
    CHECK_EQ(
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, STOPPED + 1, NULL, 0, &team), 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        pe_0();
    else
        shmem_team_destroy(team);
    free(source);
    shmem_finalize();
    return 0;
}
