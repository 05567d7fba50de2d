/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.c - measures whether the processes of a test get a processor.
 * usage: watch [-p DIRECTORY] PID FILE
 *   Adds up the delays on run queues of all threads of PID and of the processes below it,
 *   and the time that the hypervisor has stolen from any processor.  Writes three counts
 * to FILE, one line: samples, nanoseconds of delay, nanoseconds stolen.  Returns after
 * the first sample; a process in the background continues until PID has ended. -p: reads
 * DIRECTORY instead of /proc.
 *
 * It samples because the kernel forgets the delay of a process that has ended: what such
 * a process has waited for since the last sample, at most PERIOD_MS earlier, is not
 * counted.  A process once found is followed even when its parent ends.
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    PERIOD_MS = 20,
    PIDS = 1 << 22, /* the kernel's PID_MAX_LIMIT */
    LISTED = 1 << 14,
    LINE = 64,
    NS_PER_MS = 1000000,
    NS_PER_S = 1000000000,
    STOLEN_FIELD = 8, /* of the first line of /proc/stat */
};

static struct watch {
    const char *proc;
    uint64_t *delay_ns; /* at the last sample, by thread */
    bool *is_listed;    /* by process */
    int pid[LISTED];    /* the processes that are followed */
    int npids;
    uint64_t samples, delayed_ns, stolen_first_ns, stolen_ns;
} watch;

static bool watch_read(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n >= 0;
}

static void watch_list(long pid)
{
    if (pid <= 0 || pid >= PIDS || watch.is_listed[pid] || watch.npids == LISTED)
        return;
    watch.is_listed[pid] = true;
    watch.pid[watch.npids++] = (int)pid;
}

/* Adds the delay of a thread since the last sample, and lists its child processes. */
static bool watch_thread(int pid, long tid)
{
    char path[4096], text[1 << 14], *next = text;
    uint64_t ran, delay;

    snprintf(path, sizeof path, "%s/%d/task/%ld/schedstat", watch.proc, pid, tid);
    if (tid <= 0 || tid >= PIDS || !watch_read(path, text, sizeof text) ||
        sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &delay) != 2)
        return false;
    uint64_t last = watch.delay_ns[tid];
    watch.delayed_ns += delay >= last ? delay - last : delay; /* less: another thread */
    watch.delay_ns[tid] = delay;
    snprintf(path, sizeof path, "%s/%d/task/%ld/children", watch.proc, pid, tid);
    if (!watch_read(path, text, sizeof text))
        return false;
    for (long child; (child = strtol(next, &next, 10)) > 0;)
        watch_list(child);
    return true;
}

/* False if it has ended. */
static bool watch_process(int pid)
{
    char path[4096];
    bool measured = false;

    snprintf(path, sizeof path, "%s/%d/task", watch.proc, pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL)
        return false;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;)
        if (task->d_name[0] != '.')
            measured |= watch_thread(pid, strtol(task->d_name, NULL, 10));
    closedir(tasks);
    return measured;
}

static uint64_t watch_stolen(void)
{
    char path[4096], text[1 << 10];
    long long ticks[STOLEN_FIELD] = {0};

    snprintf(path, sizeof path, "%s/stat", watch.proc);
    if (!watch_read(path, text, sizeof text) ||
        sscanf(text, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &ticks[0], &ticks[1],
               &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6],
               &ticks[7]) != STOLEN_FIELD)
        return 0;
    return (uint64_t)ticks[STOLEN_FIELD - 1] *
           (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* One sample of all listed processes; those that it finds are appended.  What threads
 * have waited for before the first sample does not count.  False if the root has ended.
 */
static bool watch_sample(void)
{
    bool has_root = true;

    for (int i = 0; i < watch.npids;) {
        int pid = watch.pid[i];
        if (watch_process(pid)) {
            i++;
            continue;
        }
        has_root = has_root && i > 0;
        if (i == 0)
            break;
        watch.is_listed[pid] = false;
        watch.pid[i] = watch.pid[--watch.npids];
    }
    if (watch.samples == 0) {
        watch.delayed_ns = 0;
        watch.stolen_first_ns = watch_stolen();
    }
    watch.stolen_ns = watch_stolen() - watch.stolen_first_ns;
    watch.samples += has_root;
    return has_root;
}

static bool watch_write(int fd)
{
    char line[3 * LINE];
    int n = snprintf(line, sizeof line, "%20" PRIu64 " %20" PRIu64 " %20" PRIu64 "\n",
                     watch.samples, watch.delayed_ns, watch.stolen_ns);

    return pwrite(fd, line, (size_t)n, 0) == n;
}

/* Keeps no descriptor open that a reader waits for to be closed. */
static int watch_detach(int fd)
{
    const int null = open("/dev/null", O_RDWR);

    setsid();
    for (int i = 0; i <= STDERR_FILENO; i++)
        dup2(null, i);
    fd = dup2(fd, STDERR_FILENO + 1);
    close_range((unsigned)fd + 1, UINT_MAX, 0);
    return chdir("/") == 0 ? fd : -1;
}

int main(int argc, char **argv)
{
    const struct timespec nap = {.tv_nsec = PERIOD_MS * NS_PER_MS};

    watch.proc = "/proc";
    if (argc == 5 && strcmp(argv[1], "-p") == 0) {
        watch.proc = argv[2];
        argv += 2, argc -= 2;
    }
    if (argc != 3)
        return 2;
    watch.delay_ns = calloc(PIDS, sizeof *watch.delay_ns);
    watch.is_listed = calloc(PIDS, sizeof *watch.is_listed);
    int fd = open(argv[2], O_WRONLY | O_CREAT, 0600);
    if (watch.delay_ns == NULL || watch.is_listed == NULL || fd < 0)
        return 2;
    watch_list(strtol(argv[1], NULL, 10));
    if (!watch_sample() || !watch_write(fd)) {
        fprintf(stderr, "watch: %s/%s has no schedstat and children\n", watch.proc,
                argv[1]);
        return 1;
    }
    pid_t child = fork();
    if (child != 0)
        return child < 0;
    fd = watch_detach(fd);
    while (fd >= 0 && watch_sample() && watch_write(fd))
        nanosleep(&nap, NULL);
    _exit(0);
}
