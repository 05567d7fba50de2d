/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_kernel.c - checks the kernel features that the runtime needs: sealed memory
 * files, memory of another process, futexes between processes, membarrier, huge pages.
 * Uses: check.  Used by: check (its table).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/oshmem_info/info.h"

#define MEMORY_BYTES 65536
#define HUGE_BYTES   (2u << 20)
#define HUGE_TEST    (4 * (size_t)HUGE_BYTES)
#define WORD_BEFORE  0x5eed0001u
#define WORD_AFTER   0x5eed0002u
#define SETTING_LEN  128
#define COLLAPSE     25 /* MADV_COLLAPSE, Linux 6.1; not in Debian 12's headers */

static const char *const old_kernel =
    "Linux 4.14 or newer is needed, and a container must not forbid the system call "
    "(Docker: --security-opt seccomp=unconfined)";

void check_memfd(struct finding *f, const char *dir)
{
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    int fd = memfd_create("oshmem_info", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    (void)dir;
    if (fd < 0)
        check_flaw(f, CHECK_FAIL, old_kernel, "memfd_create: %s", strerror(errno));
    else if (ftruncate(fd, MEMORY_BYTES) != 0)
        check_flaw(f, CHECK_FAIL, old_kernel, "ftruncate: %s", strerror(errno));
    else if (fcntl(fd, F_ADD_SEALS, seals) != 0)
        check_flaw(f, CHECK_FAIL, old_kernel, "F_ADD_SEALS: %s", strerror(errno));
    else if (ftruncate(fd, 0) == 0)
        check_flaw(f, CHECK_FAIL, old_kernel, "a sealed memory file could be truncated");
    else
        check_ok(f, "memfd_create works and keeps its seals");
}

void *check_memory(size_t len, int *fd)
{
    *fd = memfd_create("oshmem_info", MFD_CLOEXEC);
    if (*fd < 0 || ftruncate(*fd, (off_t)len) != 0)
        return MAP_FAILED;
    return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
}

/* The peer: creates memory, sends its descriptor, and waits until the pipe `live` is
 * closed or the time limit expires. */
static void check_kernel_procfd_peer(int out, int live)
{
    int fd;
    struct pollfd p = {.fd = live, .events = POLLIN};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _Atomic uint32_t *word = check_memory(MEMORY_BYTES, &fd);
    if (word == MAP_FAILED)
        _exit(1);
    atomic_store(word, WORD_BEFORE);
    if (write(out, &fd, sizeof fd) != (ssize_t)sizeof fd)
        _exit(1);
    poll(&p, 1, CHECK_WAIT_MS);
    _exit(atomic_load(word) == WORD_AFTER ? 0 : 1);
}

/* Changes the word in the memory file fd of process pid; 0 or errno. */
static int check_kernel_procfd_change(pid_t pid, int fd)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    int mine = open(path, O_RDWR | O_CLOEXEC);
    if (mine < 0)
        return errno;
    _Atomic uint32_t *word =
        mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, mine, 0);
    if (word == MAP_FAILED)
        return errno;
    if (atomic_load(word) != WORD_BEFORE)
        return EIO;
    atomic_store(word, WORD_AFTER);
    return 0;
}

/* Reads an int from the peer; false on a time-out. */
static bool check_kernel_read_int(int from, int *value)
{
    struct pollfd p = {.fd = from, .events = POLLIN};

    return poll(&p, 1, CHECK_WAIT_MS) == 1 &&
           read(from, value, sizeof *value) == (ssize_t)sizeof *value;
}

void check_procfd(struct finding *f, const char *dir)
{
    static const char *const remedy =
        "mount /proc, and permit ptrace between processes of one user: in a container "
        "add --cap-add=SYS_PTRACE or --security-opt seccomp=unconfined";
    int ready[2], live[2], fd = -1, status = -1;

    (void)dir;
    if (pipe2(ready, O_CLOEXEC) != 0 || pipe2(live, O_CLOEXEC) != 0) {
        check_flaw(f, CHECK_FAIL, "raise ulimit -n", "pipe: %s", strerror(errno));
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(live[1]);
        check_kernel_procfd_peer(ready[1], live[0]);
    }
    int error = check_kernel_read_int(ready[0], &fd) ? check_kernel_procfd_change(pid, fd)
                                                     : ETIMEDOUT;
    close(live[1]);
    if (error != 0)
        check_flaw(f, CHECK_FAIL, remedy, "/proc/PID/fd/N of another process: %s",
                   strerror(error));
    else if (waitpid(pid, &status, 0) != pid || status != 0)
        check_flaw(f, CHECK_FAIL, remedy,
                   "a store to a peer's memory is not visible there");
    else
        check_ok(f, "a peer's memory can be mapped through /proc/PID/fd");
}

static long check_kernel_futex(_Atomic uint32_t *word, int op, uint32_t value,
                               struct timespec *limit)
{
    return syscall(SYS_futex, word, op, value, limit, NULL, 0);
}

/* Sleeps while *word == value; false on a time-out. */
static bool check_kernel_futex_await(_Atomic uint32_t *word, uint32_t value)
{
    struct timespec limit = {.tv_sec = CHECK_WAIT_MS / 1000};

    if (check_kernel_futex(word, FUTEX_WAIT, value, &limit) == 0)
        return true;
    return errno == EAGAIN;
}

void check_futex(struct finding *f, const char *dir)
{
    int fd;
    _Atomic uint32_t *word = check_memory(MEMORY_BYTES, &fd);

    (void)dir;
    if (word == MAP_FAILED) {
        check_flaw(f, CHECK_FAIL, old_kernel, "shared memory: %s", strerror(errno));
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        bool woken = check_kernel_futex_await(&word[0], 0);
        atomic_store(&word[1], 1);
        check_kernel_futex(&word[1], FUTEX_WAKE, 1, NULL);
        _exit(woken ? 0 : 1);
    }
    atomic_store(&word[0], 1);
    check_kernel_futex(&word[0], FUTEX_WAKE, 1, NULL);
    if (pid < 0)
        check_flaw(f, CHECK_FAIL, "raise ulimit -u", "fork: %s", strerror(errno));
    else if (!check_kernel_futex_await(&word[1], 0))
        check_flaw(f, CHECK_FAIL, old_kernel,
                   "a futex wake did not reach the other process");
    else
        check_ok(f, "a process wakes another by a futex in shared memory");
}

static int check_kernel_membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

void check_membarrier(struct finding *f, const char *dir)
{
    static const char *const remedy =
        "none needed: every put executes a fence instead (a few ns)";
    int have = check_kernel_membarrier(MEMBARRIER_CMD_QUERY);

    (void)dir;
    if (have < 0)
        check_flaw(f, CHECK_WARN, remedy, "membarrier: %s", strerror(errno));
    else if ((have & MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0)
        check_flaw(f, CHECK_WARN, remedy, "membarrier has no global expedited command");
    else if (check_kernel_membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) != 0 ||
             check_kernel_membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0)
        check_flaw(f, CHECK_WARN, remedy, "membarrier fails: %s", strerror(errno));
    else
        check_ok(f, "membarrier (global, expedited) works");
}

/* The word in brackets of a file such as "always [madvise] never". */
static void check_kernel_read_setting(const char *path, char *value, size_t len)
{
    char line[SETTING_LEN] = "";
    FILE *in = fopen(path, "re");

    snprintf(value, len, "unknown");
    if (in == NULL)
        return;
    char *open = fgets(line, sizeof line, in) != NULL ? strchr(line, '[') : NULL;
    if (open != NULL)
        snprintf(value, len, "%.*s", (int)strcspn(open + 1, "]"), open + 1);
    fclose(in);
}

/* True if pages at `at` are mapped as huge pages, by /proc/self/smaps. */
static bool check_kernel_mapped_huge(const void *at)
{
    char line[512];
    unsigned long start, kib;
    bool here = false, huge = false;
    FILE *in = fopen("/proc/self/smaps", "re");

    if (in == NULL)
        return false;
    while (!huge && fgets(line, sizeof line, in) != NULL) {
        if (sscanf(line, "%lx-", &start) == 1 && strchr(line, '-') != NULL &&
            strncmp(line, "Shmem", 5) != 0)
            here = start == (unsigned long)(uintptr_t)at;
        else if (here && sscanf(line, "ShmemPmdMapped: %lu", &kib) == 1)
            huge = kib > 0;
    }
    fclose(in);
    return huge;
}

/* Reserves an address range of len bytes, aligned to the size of a huge page. */
static void *check_kernel_reserve_aligned(size_t len)
{
    char *at =
        mmap(NULL, len + HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    size_t over = (uintptr_t)at % HUGE_BYTES;
    return over == 0 ? at : at + (HUGE_BYTES - over);
}

/* Touches memory advised for huge pages: 0 without huge pages, 1 with, 2 only after
 * MADV_COLLAPSE. */
static int check_kernel_try_huge(void)
{
    int fd = memfd_create("oshmem_info", MFD_CLOEXEC);
    void *range = check_kernel_reserve_aligned(HUGE_TEST);

    if (fd < 0 || range == NULL || ftruncate(fd, (off_t)HUGE_TEST) != 0)
        return 0;
    char *at =
        mmap(range, HUGE_TEST, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    if (at == MAP_FAILED)
        return 0;
    (void)madvise(at, HUGE_TEST, MADV_HUGEPAGE);
    memset(at, 1, HUGE_TEST);
    if (check_kernel_mapped_huge(at))
        return 1;
    return madvise(at, HUGE_TEST, COLLAPSE) == 0 && check_kernel_mapped_huge(at) ? 2 : 0;
}

void check_thp(struct finding *f, const char *dir)
{
    char setting[SETTING_LEN];

    (void)dir;
    check_kernel_read_setting("/sys/kernel/mm/transparent_hugepage/shmem_enabled",
                              setting, sizeof setting);
    switch (check_kernel_try_huge()) {
    case 1:
        check_ok(f, "shared memory gets huge pages (shmem_enabled is %s)", setting);
        break;
    case 2:
        check_ok(f,
                 "shared memory can be collapsed into huge pages (shmem_enabled is %s)",
                 setting);
        break;
    default:
        check_flaw(f, CHECK_WARN,
                   "optional, for speed with large heaps; as root: echo advise "
                   ">/sys/kernel/mm/transparent_hugepage/shmem_enabled",
                   "shared memory gets no huge pages (shmem_enabled is %s)", setting);
    }
}

void check_hugetlb(struct finding *f, const char *dir)
{
    int fd = memfd_create("oshmem_info", MFD_CLOEXEC | MFD_HUGETLB);

    (void)dir;
    if (fd >= 0 && fallocate(fd, 0, 0, HUGE_BYTES) == 0)
        check_ok(f, "huge pages are reserved");
    else
        check_ok(f, "none are reserved (not needed)");
}
