/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net-peers.c - measures the memory that a PE needs for its remote peers, for
 * bench/net-memory.
 *   net-peers            shmem_init and shmem_finalize
 *   net-peers FILE ALL   each PE prints `memory STAGE PEERS RSS PSS PRIVATE FILES` (KiB)
 *                        after shmem_init, after its first access to one remote PE and,
 *                        if ALL is not 0, after accesses to all remote PEs.  Between the
 *                        stages the PEs synchronize through FILE (zero-filled, on a
 *                        shared file system), because a barrier of the library would
 *                        itself connect peers.
 */
#include <dirent.h>
#include <fcntl.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 256, PAUSE_NS = 2000000, PAUSES_MAX = 90000, STAGES_MAX = 8 };

static long word; /* symmetric */
static _Atomic int *arrived;
static int stage;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "net-peers: PE %d: %s\n", shmem_my_pe(), what);
    shmem_global_exit(1);
    abort();
}

static void open_sync_file(const char *name)
{
    size_t len = STAGES_MAX * sizeof(*arrived);
    int fd = open(name, O_RDWR | O_CLOEXEC);
    void *at =
        fd >= 0 ? mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (at == MAP_FAILED)
        fail("cannot map FILE");
    close(fd);
    arrived = at;
}

static void sync_file_barrier(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    _Atomic int *count = &arrived[stage++];
    atomic_fetch_add(count, 1);
    for (int i = 0; atomic_load(count) < shmem_n_pes(); i++) {
        if (i == PAUSES_MAX)
            fail("time-out: not all PEs have reached the barrier");
        nanosleep(&pause, NULL);
    }
}

static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    if (d == NULL)
        fail("cannot read /proc/self/fd");
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n - 3; /* ".", ".." and the descriptor of d */
}

/* Collective: all PEs have completed the stage, and none has started the next one. */
static void report(const char *what, int peers)
{
    char line[LINE];
    unsigned long rss = 0, pss = 0, private = 0, v;
    sync_file_barrier();
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    if (f == NULL)
        fail("cannot read /proc/self/smaps_rollup");
    while (fgets(line, sizeof(line), f) != NULL) {
        if (sscanf(line, "Rss: %lu", &v) == 1)
            rss = v;
        else if (sscanf(line, "Pss: %lu", &v) == 1)
            pss = v;
        else if (sscanf(line, "Private_Clean: %lu", &v) == 1 ||
                 sscanf(line, "Private_Dirty: %lu", &v) == 1)
        private += v;
    }
    fclose(f);
    printf("memory %s %d %lu %lu %lu %d\n", what, peers, rss, pss, private, open_files());
    fflush(stdout);
    sync_file_barrier();
}

/* Accesses up to n remote PEs, starting at PE me + npes / 2; returns their number. */
static int use_peers(int n)
{
    int npes = shmem_n_pes(), used = 0;
    for (int i = 0; i < npes && used < n; i++) {
        int pe = (shmem_my_pe() + npes / 2 + i) % npes;
        if (shmem_ptr(&word, pe) != NULL)
            continue;
        shmem_long_atomic_fetch_inc(&word, pe);
        used++;
    }
    return used;
}

int main(int argc, char **argv)
{
    if (argc != 1 && argc != 3) {
        fputs("usage: net-peers [FILE ALL]\n", stderr);
        return 2;
    }
    shmem_init();
    if (argc == 3) {
        open_sync_file(argv[1]);
        report("init", 0);
        report("one", use_peers(1));
        if (strcmp(argv[2], "0") != 0)
            report("all", use_peers(shmem_n_pes()));
    }
    shmem_finalize();
    return 0;
}
