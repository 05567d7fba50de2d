/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune_run.c - runs one job of the tuner (oshrun with oshmem_info as its PEs) and parses
 * the output of PE 0.  Uses: tune, info (find_beside).  Used by: tune.c, tune_table.c.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/oshmem_info/info.h"
#include "tools/oshmem_info/tune_run.h"

enum { LINE_LEN = 256, NUMBER_LEN = 16, NAME_LEN = 128, EXEC_FAILED = 127 };

static volatile sig_atomic_t stopped; /* the signal received, or 0 */
static volatile sig_atomic_t child;   /* oshrun, 0 = none */

/* ---- ending early ---------------------------------------------------------------- */

static void tune_run_stop(int signal)
{
    int keep = errno;

    stopped = signal;
    if (child > 0)
        kill((pid_t)child, SIGTERM);
    errno = keep;
}

void tune_watch(void)
{
    static const int ending[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction act = {.sa_handler = tune_run_stop};
    struct sigaction before;

    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ending[i], &act, NULL);
}

int tune_stopped(void)
{
    return stopped;
}

/* ---- oshrun ---------------------------------------------------------------------- */

/* SHMEM_INTERNODE_*: algorithms and parameters of the inter-node phases. */
static void tune_run_clear_internode(void)
{
    static const char prefix[] = "SHMEM_INTERNODE_";

    for (char **at = environ; *at != NULL;) {
        size_t len = strcspn(*at, "=");
        char name[NAME_LEN];
        if (strncmp(*at, prefix, sizeof prefix - 1) != 0 || len >= sizeof name) {
            at++;
            continue;
        }
        memcpy(name, *at, len);
        name[len] = '\0';
        unsetenv(name);
        at = environ; /* which unsetenv has changed */
    }
}

/* Variables that would change the measurement or its location are unset; those that
 * select the network remain. */
static void tune_run_clear_environment(void)
{
    static const char *const names[] = {"SHMEM_DEBUG",
                                        "SMA_DEBUG",
                                        "SHMEM_INFO",
                                        "SMA_INFO",
                                        "SHMEM_VERSION",
                                        "SMA_VERSION",
                                        "SHMEM_SYMMETRIC_SIZE",
                                        "SMA_SYMMETRIC_SIZE",
                                        "SHMEM_STRESS",
                                        "SHMEM_FAULTS",
                                        "SHMEM_FT",
                                        "SHMEM_REPRODUCIBLE",
                                        "SHMEM_LAUNCH_VNODES",
                                        "SHMEM_LAUNCH_HOSTFILE",
                                        "SHMEM_LAUNCH_HOSTS",
                                        "SHMEM_PROFILE_ARRIVAL",
#define X(NAME, name) "SHMEM_" #NAME "_ALGORITHM",
                                        SELECT_COLLECTIVES(X)
#undef X
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    tune_run_clear_internode();
    setenv("SHMEM_COLL_TABLE", "none", 1);
    setenv("SHMEM_ADAPT", "0", 1); /* the node phases stay the same */
}

static _Noreturn void tune_run_become_oshrun(const char *oshrun,
                                             const struct tune_step *step,
                                             const struct tune_options *o,
                                             const char *how, int out)
{
    char self[PATH_MAX], pes[NUMBER_LEN], per_node[NUMBER_LEN], nodes[NUMBER_LEN];
    bool virtual = o->vnodes != NULL && step->nodes > 1;
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);

    if (len <= 0)
        _exit(EXEC_FAILED);
    self[len] = '\0';
    snprintf(pes, sizeof pes, "%d", step->pes);
    snprintf(per_node, sizeof per_node, "%d", step->pes / step->nodes);
    snprintf(nodes, sizeof nodes, "%d", step->nodes);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(out, STDOUT_FILENO);
    tune_run_clear_environment();
    execl(oshrun, oshrun, virtual ? "--vnodes" : "-H",
          virtual            ? nodes
          : o->hosts != NULL ? o->hosts
                             : "localhost",
          "-N", per_node, "-n", pes, "--", self, TUNE_PE, how, (char *)NULL);
    fprintf(stderr, "oshmem_info: cannot run %s: %s\n", oshrun, strerror(errno));
    _exit(EXEC_FAILED);
}

/* The read end of the pipe from oshrun's output, or -1. */
static int tune_run_start(const char *oshrun, const struct tune_step *step,
                          const struct tune_options *o, const char *how, pid_t *pid)
{
    int out[2];

    if (pipe2(out, O_CLOEXEC) != 0)
        return -1;
    fflush(NULL);
    *pid = fork();
    if (*pid == 0)
        tune_run_become_oshrun(oshrun, step, o, how, out[1]);
    child = *pid > 0 ? *pid : 0;
    close(out[1]);
    if (*pid > 0)
        return out[0];
    close(out[0]);
    return -1;
}

/* ---- output of the job ----------------------------------------------------------- */

/* The point of the series for this size: the last one, or a new one. */
static struct tune_point *tune_run_point_of(struct tune_series *s, size_t bytes)
{
    if (s->points > 0 && s->point[s->points - 1].bytes == bytes)
        return &s->point[s->points - 1];
    if (s->points == TUNE_SIZES_MAX)
        return NULL;
    s->point[s->points] = (struct tune_point){.bytes = bytes};
    return &s->point[s->points++];
}

/* The text of a line behind its name, without the newline.  False if the line has another
 * name. */
static bool tune_run_take_text(const char *line, const char *name, char *text,
                               size_t size)
{
    size_t len = strlen(name);

    if (strncmp(line, name, len) != 0)
        return false;
    snprintf(text, size, "%.*s", (int)strcspn(line + len, "\n"), line + len);
    return true;
}

static void tune_run_take_line(const char *line, struct tune_job *job)
{
    int a, better, rounds, builtin;
    size_t bytes;
    double ns;

    if (sscanf(line, TUNE_LINE_JOB_SCAN, &job->processors, &job->nodes) == 2 ||
        tune_run_take_text(line, TUNE_LINE_MACHINE, job->machine, sizeof job->machine) ||
        tune_run_take_text(line, TUNE_LINE_NETWORK, job->network, sizeof job->network))
        return;
    if (sscanf(line, TUNE_LINE_SCAN, &a, &bytes, &ns, &better, &rounds, &builtin) != 6 ||
        a < 0 || a >= SELECT_ALGORITHMS_ALL)
        return;
    struct tune_series *s = &job->series[select_info((enum select_algorithm)a)->what];
    struct tune_point *p = tune_run_point_of(s, bytes);
    if (p == NULL)
        return;
    p->ns[a] = ns;
    p->sure[a] = 3 * better >= 2 * rounds;
    if (builtin)
        p->builtin = (enum select_algorithm)a;
}

static void tune_run_read_lines(int from, struct tune_job *job)
{
    FILE *in = fdopen(from, "r");
    char line[LINE_LEN];

    if (in == NULL) {
        close(from);
        return;
    }
    while (fgets(line, sizeof line, in) != NULL || (ferror(in) && errno == EINTR))
        if (ferror(in))
            clearerr(in);
        else
            tune_run_take_line(line, job);
    fclose(in);
}

static void tune_run_report_failure(const struct tune_step *step,
                                    const struct tune_options *o)
{
    int pes = step->pes, nodes = step->nodes;

    if (o->hosts != NULL)
        tune_wrong("--hosts '%s': the job of %d PEs on %d of them failed, as reported "
                   "above; test with: oshrun -H '%s' -N 1 -n %d oshmem_info --version",
                   o->hosts, pes, nodes, o->hosts, nodes);
    else if (nodes > 1)
        tune_wrong("--vnodes '%s': the job of %d PEs on %d virtual nodes failed, as "
                   "reported above; test with: oshrun --vnodes %d -n %d hostname, and "
                   "oshmem_info --check",
                   o->vnodes, pes, nodes, nodes, pes);
    else
        tune_wrong("the job of %d PEs failed", pes);
}

bool tune_run(const struct tune_step *step, const struct tune_options *o, const char *how,
              struct tune_job *job)
{
    char oshrun[PATH_MAX];
    int status = -1;
    pid_t pid;

    *job = (struct tune_job){.step = *step};
    if (!find_beside("oshrun", oshrun, sizeof oshrun)) {
        tune_wrong("oshrun must be in the directory of oshmem_info");
        return false;
    }
    int out = tune_run_start(oshrun, step, o, how, &pid);
    if (out < 0) {
        tune_wrong("cannot start oshrun: %s", strerror(errno));
        return false;
    }
    tune_run_read_lines(out, job);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    if (stopped != 0)
        return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && job->nodes == step->nodes)
        return true;
    tune_run_report_failure(step, o);
    return false;
}
