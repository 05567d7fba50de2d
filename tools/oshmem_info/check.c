/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.c - the self-test: the table of checks and the code that runs each check in a
 * child process with a time limit.  Uses: check_*.c, emit.  Used by: main, report.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/oshmem_info/info.h"

#define CHECK_LIMIT_MS 20000
#define DIR_MAX_LEN    256
#define DIR_DEPTH_MAX  8

static const struct check table[] = {
    {"environment", "variables", check_environment},
    {"memfd", "sealed memory", check_memfd},
    {"procfd", "memory of a peer", check_procfd},
    {"futex", "waiting across PEs", check_futex},
    {"membarrier", "cheap wake-ups", check_membarrier},
    {"thp", "huge pages", check_thp},
    {"hugetlb", "reserved huge pages", check_hugetlb},
    {"pmix", "PMIx server, client", check_pmix},
    {"libfabric", "libfabric", check_libfabric},
    {"ucx", "UCX", check_ucx},
    {"tcp", "TCP sockets", check_tcp},
    {"oshrun", "launcher", check_oshrun},
    {"gdb", "debugger", check_gdb},
};
#define CHECKS (sizeof table / sizeof table[0])

void check_ok(struct finding *f, const char *format, ...)
{
    va_list args;

    f->status = CHECK_OK;
    va_start(args, format);
    vsnprintf(f->reason, sizeof f->reason, format, args);
    va_end(args);
}

void check_flaw(struct finding *f, enum check_status status, const char *remedy,
                const char *format, ...)
{
    va_list args;

    f->status = status;
    snprintf(f->remedy, sizeof f->remedy, "%s", remedy);
    va_start(args, format);
    vsnprintf(f->reason, sizeof f->reason, format, args);
    va_end(args);
}

/* Removes the contents of the open directory fd and closes fd. */
static void check_remove_below(int fd, int depth)
{
    DIR *dir = fdopendir(fd);

    if (dir == NULL) {
        close(fd);
        return;
    }
    for (struct dirent *d = readdir(dir); d != NULL; d = readdir(dir)) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        int sub = openat(fd, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (sub < 0) {
            unlinkat(fd, d->d_name, 0);
            continue;
        }
        if (depth < DIR_DEPTH_MAX)
            check_remove_below(sub, depth + 1);
        else
            close(sub);
        unlinkat(fd, d->d_name, AT_REMOVEDIR);
    }
    closedir(dir);
}

static void check_remove_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0)
        check_remove_below(fd, 0);
    rmdir(path);
}

/* Child process of one check: it returns a finding; output of libraries is discarded. */
static void check_child(const struct check *c, const char *dir, int result)
{
    struct finding f = {.status = CHECK_FAIL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    c->run(&f, dir);
    ssize_t n = write(result, &f, sizeof f);
    _exit(n == (ssize_t)sizeof f ? 0 : 1);
}

static long check_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads the finding, which the child writes with one write(); false on a time-out, when
 * the child has died, or when `stop` is set. */
static bool check_read_finding(int result, int stop, struct finding *f)
{
    long end = check_now_ms() + CHECK_LIMIT_MS;
    struct pollfd p[] = {{.fd = result, .events = POLLIN},
                         {.fd = stop, .events = POLLIN}};
    int ready = -1;

    for (long left = CHECK_LIMIT_MS; ready < 0 && left > 0; left = end - check_now_ms()) {
        ready = poll(p, sizeof p / sizeof p[0], (int)left);
        if (ready < 0 && errno != EINTR)
            return false;
    }
    return p[0].revents != 0 && read(result, f, sizeof *f) == (ssize_t)sizeof *f;
}

/* Kills the child and its descendants; unless it finished, f describes how it ended. */
static void check_reap(pid_t pid, bool finished, struct finding *f)
{
    int status = 0;

    kill(-pid, SIGKILL);
    pid_t waited = waitpid(pid, &status, 0);
    /* Its orphans are reparented to this process (a subreaper) and are being killed. */
    while (waitpid(-pid, NULL, 0) > 0)
        ;
    if (waited < 0 || finished)
        return;
    f->status = CHECK_FAIL;
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        snprintf(f->reason, sizeof f->reason, "the check died: %s",
                 strsignal(WTERMSIG(status)));
    else
        snprintf(f->reason, sizeof f->reason, "no result within %d s",
                 CHECK_LIMIT_MS / 1000);
    snprintf(f->remedy, sizeof f->remedy, "run it under gdb or strace -f and report it");
}

static void check_ending_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

static void check_run_in(const struct check *c, struct finding *f, const char *dir,
                         const sigset_t *ours)
{
    sigset_t ending;
    int result[2], stop;

    check_ending_signals(&ending);
    stop = signalfd(-1, &ending, SFD_CLOEXEC);
    if (pipe2(result, O_CLOEXEC) != 0) {
        check_flaw(f, CHECK_FAIL, "raise ulimit -n", "pipe: %s", strerror(errno));
        return;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        sigprocmask(SIG_SETMASK, ours, NULL);
        check_child(c, dir, result[1]);
    }
    close(result[1]);
    if (pid > 0) {
        setpgid(pid, pid);
        check_reap(pid, check_read_finding(result[0], stop, f), f);
    } else {
        check_flaw(f, CHECK_FAIL, "raise ulimit -u", "fork: %s", strerror(errno));
    }
    close(result[0]);
    close(stop);
}

static int check_make_dir(char dir[DIR_MAX_LEN])
{
    const char *tmp = getenv("TMPDIR");

    snprintf(dir, DIR_MAX_LEN, "%s/oshmem_info.XXXXXX",
             tmp != NULL && tmp[0] == '/' ? tmp : "/tmp");
    return mkdtemp(dir) != NULL ? 0 : -1;
}

static void check_no_dir(struct finding *f, const char *dir)
{
    check_flaw(f, CHECK_FAIL, "set TMPDIR to a directory that can be written",
               "mkdtemp %s: %s", dir, strerror(errno));
}

static void check_run_check(const struct check *c, struct finding *f)
{
    char dir[DIR_MAX_LEN];
    sigset_t ending, ours;

    *f = (struct finding){.status = CHECK_FAIL};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    /* Termination signals stay blocked until the directory is removed. */
    check_ending_signals(&ending);
    sigprocmask(SIG_BLOCK, &ending, &ours);
    if (check_make_dir(dir) != 0) {
        check_no_dir(f, dir);
        sigprocmask(SIG_SETMASK, &ours, NULL);
        return;
    }
    check_run_in(c, f, dir, &ours);
    check_remove_dir(dir);
    sigprocmask(SIG_SETMASK, &ours, NULL);
}

const char *check_line(const struct finding *f, char line[CHECK_LINE_MAX])
{
    bool named = f->subject[0] != '\0';

    snprintf(line, CHECK_LINE_MAX, "%s%s%s", f->subject, named ? ": " : "", f->reason);
    return line;
}

void check_run(const char *key, struct finding *f)
{
    for (size_t i = 0; i < CHECKS; i++)
        if (strcmp(table[i].key, key) == 0)
            check_run_check(&table[i], f);
}

/* The last row, which is derived from others. */
static const struct check network = {"network", "PEs of other nodes", NULL};

static const struct finding *check_of(const char *key, const struct finding *f)
{
    size_t i = 0;

    while (strcmp(table[i].key, key) != 0)
        i++;
    return &f[i];
}

static void check_print(struct emit *e, const struct check *c, const struct finding *f)
{
    static const char *const word[] = {"ok", "warn", "FAIL", "skip"};
    char line[CHECK_LINE_MAX];

    if (e->form == FORM_PAGE) {
        fprintf(e->out, "%-5s %-20s %s\n", word[f->status], c->what, check_line(f, line));
        if (f->remedy[0] != '\0')
            fprintf(e->out, "%-26s what to do: %s\n", "", f->remedy);
        fflush(e->out);
        return;
    }
    emit_item(e, c->key);
    if (e->form == FORM_JSON)
        emit_text(e, "name", "", c->key);
    emit_text(e, "result", "", word[f->status]);
    emit_text(e, "subject", "", f->subject[0] != '\0' ? f->subject : NULL);
    emit_text(e, "reason", "", f->reason);
    emit_text(e, "remedy", "", f->remedy[0] != '\0' ? f->remedy : NULL);
    emit_end(e);
}

/* Every check needs a directory: if none can be made, one failure is reported for all. */
static const struct check tmpdir = {"tmpdir", "temporary files", NULL};

static bool check_tmpdir(struct finding *f)
{
    char dir[DIR_MAX_LEN];

    if (check_make_dir(dir) == 0) {
        check_remove_dir(dir);
        return true;
    }
    check_no_dir(f, dir);
    return false;
}

bool check_all(struct emit *e)
{
    int count[] = {[CHECK_OK] = 0, [CHECK_WARN] = 0, [CHECK_FAIL] = 0, [CHECK_SKIP] = 0};
    struct finding f[CHECKS + 1] = {{.reason = ""}}, tmp = {.status = CHECK_OK};

    emit_list(e, "checks");
    if (!check_tmpdir(&tmp)) {
        check_print(e, &tmpdir, &tmp);
        count[CHECK_FAIL]++;
    }
    for (size_t i = 0; i <= CHECKS; i++) {
        if (tmp.status != CHECK_OK)
            check_flaw(&f[i], CHECK_SKIP, "", "not tested");
        else if (i < CHECKS)
            check_run_check(&table[i], &f[i]);
        else
            network_choose((const struct finding *[]){check_of("libfabric", f),
                                                      check_of("ucx", f),
                                                      check_of("tcp", f)},
                           &f[i]);
        check_print(e, i < CHECKS ? &table[i] : &network, &f[i]);
        count[f[i].status]++;
    }
    emit_end(e);
    if (e->form == FORM_PAGE)
        fprintf(e->out, "\n%d ok, %d warning%s, %d failure%s: %s\n", count[CHECK_OK],
                count[CHECK_WARN], count[CHECK_WARN] == 1 ? "" : "s", count[CHECK_FAIL],
                count[CHECK_FAIL] == 1 ? "" : "s",
                count[CHECK_FAIL] == 0 ? "OpenSHMEM programs can run here"
                                       : "OpenSHMEM programs cannot run here");
    return count[CHECK_FAIL] == 0;
}
