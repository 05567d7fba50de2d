/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - see job.h. */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/ft/agent/job.h"
#include "tests/steady/steady.h"

enum { NS_PER_MS = 1000000, POLL_NS = 20000 };

unsigned period_ms = 100, timeout_ms = 200;
static struct job *current;
static struct steady steady; /* since job_start */
static uint64_t steady_since_ns;

void job_choose_times(void)
{
    struct sched_param rr = {.sched_priority = 1}, other = {.sched_priority = 0};

    if (sched_setscheduler(0, SCHED_RR, &rr) == 0) {
        sched_setscheduler(0, SCHED_OTHER, &other);
        return;
    }
    period_ms *= 4;
    timeout_ms *= 4;
}

_Noreturn void job_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("agents: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    if (current != NULL)
        job_end(current);
    exit(1);
}

uint64_t job_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void job_sleep_ms(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * NS_PER_MS};

    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        continue;
}

void job_pause(uint64_t end_ns, const char *what)
{
    if (job_now_ns() >= end_ns)
        job_die("%s: not within %d ms", what, PATIENT_MS);
    nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
}

/* A process that does not outlive the test. */
static pid_t job_fork(void)
{
    pid_t parent = getpid(), pid = fork();

    if (pid < 0)
        job_die("fork: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
    }
    return pid;
}

static _Noreturn void job_run_agent(const struct job *j, uint32_t node)
{
    char why[256], domain[16];
    snprintf(domain, sizeof domain, "host%u", node);
    struct ft_agent_options o = {.node = j->node[node],
                                 .loopback = true,
                                 .period_ms = period_ms,
                                 .timeout_ms = timeout_ms,
                                 .domain = domain};

    if (ft_agent_start(&o, why, sizeof why) == NULL) {
        fprintf(stderr, "agents: node %u: %s\n", node, why);
        _exit(1);
    }
    for (;;)
        pause();
}

void job_start_agent(struct job *j, uint32_t node)
{
    j->agent[node] = job_fork();
    if (j->agent[node] == 0)
        job_run_agent(j, node);
    JOB_AWAIT(atomic_load(&j->map[node]->agent) != FT_AGENT_NONE, "an agent listens");
}

void job_kill_agent(struct job *j, uint32_t node)
{
    kill(j->agent[node], SIGKILL);
    waitpid(j->agent[node], NULL, 0);
    j->agent[node] = 0;
}

static void job_make_node(struct job *j, uint32_t i)
{
    uint32_t npes = j->nnodes * LOCAL;
    size_t at = node_bytes(LOCAL);

    j->bytes = at + ft_map_bytes(npes, j->nnodes, LOCAL);
    j->node[i] =
        mmap(NULL, j->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (j->node[i] == MAP_FAILED)
        job_die("mmap: %s", strerror(errno));
    j->node[i]->npes = LOCAL;
    j->node[i]->ft_at = at;
    j->map[i] = node_ft(j->node[i]);
    ft_map_init(j->map[i], npes, j->nnodes, i, LOCAL);
    for (uint32_t pe = 0; pe < npes; pe++)
        ft_map_node_of(j->map[i])[pe] = pe / LOCAL;
    for (uint32_t k = 0; k < LOCAL; k++) {
        ft_map_rank(j->map[i])[k] = i * LOCAL + k;
        pid_t pid = job_fork();
        if (pid == 0)
            for (;;)
                pause();
        j->pe[i * LOCAL + k] = pid;
        j->node[i]->pe[k].pid = pid;
    }
}

void job_start(struct job *j, uint32_t nnodes)
{
    *j = (struct job){.nnodes = nnodes};
    current = j;
    steady_since_ns = job_now_ns();
    steady_begin(&steady, getpid());
    for (uint32_t i = 0; i < nnodes; i++)
        job_make_node(j, i);
    for (uint32_t i = 0; i < nnodes; i++)
        job_start_agent(j, i);
    job_arm(j, 1);
}

void job_arm(struct job *j, uint32_t generation)
{
    uint8_t secret[FT_SECRET];

    if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret)
        job_die("getrandom: %s", strerror(errno));
    for (uint32_t i = 0; i < j->nnodes; i++) {
        if (generation == 1)
            memcpy(j->map[i]->secret, secret, sizeof secret);
        for (uint32_t k = 0; generation == 1 && k < j->nnodes; k++)
            ft_map_endpoint(j->map[i])[k] = j->map[k]->own;
        j->map[i]->generation = generation;
        ft_map_set_agent(j->node[i], FT_AGENT_ARMED);
    }
    for (uint32_t i = 0; i < j->nnodes; i++)
        JOB_AWAIT(atomic_load(&j->map[i]->agent) >= FT_AGENT_RUNNING, "an agent runs");
}

void job_end(struct job *j)
{
    current = NULL;
    for (uint32_t i = 0; i < j->nnodes; i++)
        if (j->agent[i] > 0)
            job_kill_agent(j, i);
    for (uint32_t i = 0; i < j->nnodes * LOCAL; i++) {
        kill(j->pe[i], SIGKILL);
        waitpid(j->pe[i], NULL, 0);
    }
    for (uint32_t i = 0; i < j->nnodes; i++)
        munmap(j->node[i], j->bytes);
}

bool job_failed(const struct job *j, uint32_t node, uint32_t pe)
{
    return ft_map_has_failed(j->map[node], pe);
}

/* An agent that did not run for timeout_ms may be considered failed. */
static _Noreturn void job_detects_wrongly(uint32_t node, uint32_t pe)
{
    fprintf(stderr, "agents: node %u considers PE %u failed, which lives\n", node, pe);
    int status = steady_status(&steady, job_now_ns() - steady_since_ns, "the job");
    job_end(current);
    exit(status);
}

void job_check_no_other_failure(const struct job *j, uint64_t set)
{
    for (uint32_t i = 0; i < j->nnodes; i++)
        for (uint32_t pe = 0; j->agent[i] > 0 && pe < j->nnodes * LOCAL; pe++)
            if (job_failed(j, i, pe) && (set >> pe & 1) == 0)
                job_detects_wrongly(i, pe);
}

/* ---- agreements ---------------------------------------------------------------------
 */

void job_post(struct job *j, uint32_t pe, uint64_t team, uint32_t seq, uint64_t and,
              uint64_t max)
{
    struct ft_map *map = j->map[pe / LOCAL];
    struct ft_mailbox *box = ft_map_mailbox(map, pe % LOCAL, 0);

    box->request = FT_AGREE;
    box->team = team;
    box->seq = seq;
    box->ands = box->maxs = 1;
    box->word[0] = and;
    box->word[1] = max;
    ft_map_members(map, pe % LOCAL, 0)[0] = (UINT64_C(1) << j->nnodes * LOCAL) - 1;
    atomic_store(&box->state, FT_POSTED);
    ft_map_notify_agent(map);
}

bool job_done(const struct job *j, uint32_t pe)
{
    return atomic_load(&ft_map_mailbox(j->map[pe / LOCAL], pe % LOCAL, 0)->state) ==
           FT_DONE;
}

void job_take(struct job *j, uint32_t pe, uint64_t *and, uint64_t *max, uint64_t *failed)
{
    struct ft_map *map = j->map[pe / LOCAL];
    struct ft_mailbox *box = ft_map_mailbox(map, pe % LOCAL, 0);

    *and = box->word[0];
    *max = box->word[1];
    *failed = ft_map_agreed(map, pe % LOCAL, 0)[0];
    atomic_store(&box->state, FT_IDLE);
}
