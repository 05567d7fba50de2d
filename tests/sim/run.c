/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.c - runs simulated jobs with random programs and faults, one for each seed:
 *   run [--seed=S] [--count=N] [--calls=N] [--limit=SECONDS] [--ft] [--counters]
 *       [--verbose]
 * The seed determines the size of the job, its settings, its faults and its program.  A
 * job must end with right results; if a PE or a node is killed, it may instead be ended
 * by a PE that reports the loss, or by the launcher.  The first seed that fails is
 * printed with the command that repeats it; exit status 1.  --ft: with SHMEM_FT=continue;
 * PEs and nodes die, and the survivors must end with right results (ft_program.h).
 * --counters: they begin just below 2^31 or 2^32 (tests/coll/counters_start.h).
 */
#include "config.h"

#include <argp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pgas/coll/select/select.h"
#include "pgas/transport/test/random.h"
#include "tests/coll/counters_start.h"
#include "tests/sim/job.h"
#include "tests/sim/ft_program.h"
#include "tests/sim/program.h"

enum {
    NODES_MOST = 5,
    PES_MOST = 3, /* of a node */
    CALLS = 6,
    FORCED_IN = 3, /* one algorithm in so many is set */
    REPORT = 2048, /* bytes of messages shown */
    CHUNK = 1000,  /* seeds of a process */
    SEED_S = 10,   /* the most that a job may take, in real time, without --limit */
};

enum { STREAM_JOB = 100, STREAM_FT_JOB = 101, STREAM_COUNTERS = 102 }; /* of the seed */

/* Of jobs with --ft */
enum {
    LARGE_IN = 50, /* one in so many has up to */
    NODES_LARGE = 32,
    PES_LARGE = 8,
    FT_STOP_NS = 200000, /* less than SHMEM_FT_PERIOD */
    FT_SLOWER = 4,       /* some operations last longer than a shrink */
};
/* SHMEM_SLEEP_NS is so long that a lost wake-up makes the end late; the programs take
 * less than half of this. */
#define FT_LATE_NS UINT64_C(900000000)
#define FT_LIMIT_NS                                                                      \
    UINT64_C(9000000000) /* the library detects most lacks of progress                   \
                          */

struct options {
    uint64_t seed, count;
    int calls;
    unsigned limit_s;
    bool ft, counters, verbose;
};

static const char *program_name;
static uint64_t seed_now;
static struct options options = {
    .seed = 1, .count = 1, .calls = CALLS, .limit_s = SEED_S};
static int messages_fd = -1, stderr_fd = -1;

/* ---- the messages of the PEs ------------------------------------------------------ */

static void messages_capture(void)
{
    messages_fd = memfd_create("messages", MFD_CLOEXEC);
    stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (messages_fd < 0 || stderr_fd < 0 || dup2(messages_fd, STDERR_FILENO) < 0)
        abort();
}

static void messages_clear(void)
{
    if (ftruncate(messages_fd, 0) != 0)
        abort();
    lseek(messages_fd, 0, SEEK_SET);
}

static const char *messages_text(void)
{
    static char text[REPORT];
    ssize_t n = pread(messages_fd, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void report(uint64_t seed, const char *what)
{
    dprintf(stderr_fd,
            "FAIL: seed %llu: %s\n%s  repeat: %s --seed=%llu --calls=%d%s%s -v\n",
            (unsigned long long)seed, what, messages_text(), program_name,
            (unsigned long long)seed, options.calls, options.ft ? " --ft" : "",
            options.counters ? " --counters" : "");
}

/* An assertion of the library has failed, a PE has crashed, or the job loops. */
static void on_crash(int sig)
{
    report(seed_now, strsignal(sig));
    _exit(EXIT_FAILURE);
}

static void catch_crashes(void)
{
    static char stack[64 << 10];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct sigaction act = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};

    sigaltstack(&alternate, NULL);
    sigaction(SIGABRT, &act, NULL);
    sigaction(SIGSEGV, &act, NULL);
    sigaction(SIGBUS, &act, NULL);
    sigaction(SIGALRM, &act, NULL);
}

/* ---- a job ------------------------------------------------------------------------ */

#define X(COLL, NAME, name, bytes, pes, exact) {"SHMEM_" #COLL "_ALGORITHM", name},
static const struct {
    const char *variable, *name;
} algorithms[] = {SELECT_ALGORITHMS(X)};
#undef X
enum { ALGORITHMS = sizeof algorithms / sizeof algorithms[0] };

/* Sets some of the algorithms, SHMEM_STRESS in half of the jobs, and what every simulated
 * job needs: virtual time does not pass while a PE spins. */
static void set_environment(uint64_t *random)
{
    char stress[24];

    for (int i = 0; i < ALGORITHMS; i++)
        unsetenv(algorithms[i].variable);
    for (int i = 0; i < ALGORITHMS; i++)
        if (random_below(random, FORCED_IN) == 0)
            setenv(algorithms[i].variable, algorithms[i].name, 1);
    snprintf(stress, sizeof stress, "%llu",
             (unsigned long long)(random_below(random, 2) * random_below(random, 1000)));
    setenv("SHMEM_STRESS", stress, 1);
    setenv("SHMEM_ISA", "baseline", 1);
    setenv("SHMEM_SPIN_NS", "0", 1);
    setenv("SHMEM_YIELD_NS", "0", 1);
    setenv("SHMEM_NET_TIMEOUT", "2", 1);
    setenv("SHMEM_SYMMETRIC_SIZE", "8M", 1);
}

/* The faults: one job in eight loses a PE, another one a node. */
static void choose_faults(struct job_config *c, uint64_t *random)
{
    uint64_t kind = random_below(random, 8);

    c->jitter_ns = random_below(random, 4) * 1000;
    c->slow_ns = random_below(random, 3) * 20000;
    c->early = (int)random_below(random, 2) * 4;
    c->stops = (int)random_below(random, 2) * 64;
    c->stop_ns = 3000000;
    c->kill_pe = (int)random_below(random, (uint64_t)(c->nodes * c->pes_per_node));
    c->silent = kind == 1;
    if (kind < 2 && c->nodes > 1)
        c->kill_ns = 1 + random_below(random, 400000);
}

static struct job_config choose_job(uint64_t seed, struct program *program)
{
    uint64_t random = random_stream(seed, STREAM_JOB);
    struct job_config c = {.nodes = 1 + (int)random_below(&random, NODES_MOST),
                           .pes_per_node = 1 + (int)random_below(&random, PES_MOST),
                           .cyclic = random_below(&random, 2) != 0,
                           .seed = seed,
                           .latency_ns = 1000,
                           .bytes_per_ns = 10,
                           .body = program_run,
                           .arg = program};

    choose_faults(&c, &random);
    set_environment(&random);
    return c;
}

/* Whether a PE has named a PE of the node that was lost. */
static bool reported_loss(const struct job_config *c)
{
    int node = job_node(c, c->kill_pe);
    char name[24];
    bool named = strstr(messages_text(), "no network progress") != NULL;

    for (int k = 0; k < c->pes_per_node && !named; k++) {
        snprintf(name, sizeof name, "PE %d ", job_pe_of_node(c, node, k));
        named = strstr(messages_text(), name) != NULL;
    }
    return named;
}

static bool is_right(const struct job_config *c, const struct job_result *r,
                     const struct program *p, char *why, size_t size)
{
    bool killed = c->kill_ns > 0;

    snprintf(why, size, "%d nodes of %d PEs: %s", c->nodes, c->pes_per_node, p->why);
    if (p->wrong)
        return false;
    if (r->end == JOB_DONE || (killed && r->end == JOB_EXITED && r->status == JOB_KILLED))
        return true;
    if (killed && r->end == JOB_EXITED && reported_loss(c))
        return true;
    snprintf(why, size, "%d nodes of %d PEs%s: %s after %.3f ms, PE %d, status %d",
             c->nodes, c->pes_per_node,
             !killed     ? ""
             : c->silent ? ", a node is cut off"
                         : ", a PE ends",
             r->end == JOB_STUCK ? "PEs wait" : "the job ended", (double)r->ns / 1e6,
             r->pe, r->status);
    return false;
}

/* Some jobs are large. */
static struct job_config choose_ft_job(uint64_t seed, struct ft_program *program)
{
    uint64_t random = random_stream(seed, STREAM_FT_JOB);
    bool large = random_below(&random, LARGE_IN) == 0;
    uint64_t nodes = large ? NODES_LARGE : NODES_MOST, pes = large ? PES_LARGE : PES_MOST;
    struct job_config c = {.nodes = 1 + (int)random_below(&random, nodes),
                           .pes_per_node = 1 + (int)random_below(&random, pes),
                           .cyclic = random_below(&random, 2) != 0,
                           .agent_in_pe = random_below(&random, 2) != 0,
                           .seed = seed,
                           .latency_ns = 1000,
                           .bytes_per_ns = 10,
                           .limit_ns = FT_LIMIT_NS,
                           .body = ft_program_run,
                           .arg = program};

    choose_faults(&c, &random);
    c.kill_ns = 0;
    c.silent = false;
    c.stop_ns = FT_STOP_NS;
    c.slow_ns *= FT_SLOWER;
    set_environment(&random);
    setenv("SHMEM_FT", "continue", 1);
    setenv("SHMEM_FT_PERIOD", "1", 1);
    setenv("SHMEM_FT_TIMEOUT", "2", 1);
    setenv("SHMEM_SLEEP_NS", "4000000000", 1);
    program->uniform = random_below(&random, 2) != 0;
    setenv("SHMEM_FT_UNIFORM", program->uniform ? "1" : "0", 1);
    ft_program_choose(program, &c, &random);
    return c;
}

static bool is_ft_right(const struct job_config *c, const struct job_result *r,
                        const struct ft_program *p, char *why, size_t size)
{
    if (!p->wrong && r->end == JOB_DONE && p->end_ns < FT_LATE_NS)
        return true;
    snprintf(why, size, "%d nodes of %d PEs, %d shrinks: %s after %.3f ms, PE %d",
             c->nodes, c->pes_per_node, p->rounds,
             p->wrong              ? p->why
             : r->end == JOB_STUCK ? "PEs wait"
             : r->end == JOB_DONE  ? "the end is late,"
                                   : "the job ended",
             (double)r->ns / 1e6, r->pe);
    return false;
}

static void choose_counters(uint64_t seed)
{
    uint64_t random = random_stream(seed, STREAM_COUNTERS);
    int kind = random_below(&random, 2) == 0 ? 31 : 32;

    counters = counters_near(kind, random_below(&random, 2) == 0);
}

static bool run_seed(const struct options *o, uint64_t seed)
{
    struct program program = {.seed = seed, .calls = o->calls};
    static struct ft_program ft_program;
    char why[2 * PROGRAM_WHY];

    ft_program = (struct ft_program){.seed = seed, .calls = o->calls};
    struct job_config c =
        o->ft ? choose_ft_job(seed, &ft_program) : choose_job(seed, &program);
    if (o->counters)
        choose_counters(seed);
    seed_now = seed;
    messages_clear();
    alarm(o->limit_s);
    struct job_result r = job_run(&c);
    bool right = o->ft ? is_ft_right(&c, &r, &ft_program, why, sizeof why)
                       : is_right(&c, &r, &program, why, sizeof why);
    if (o->verbose)
        printf("seed %llu: %d nodes of %d PEs, %.3f ms, digest %016llx\n%s",
               (unsigned long long)seed, c.nodes, c.pes_per_node, (double)r.ns / 1e6,
               (unsigned long long)r.digest, messages_text());
    if (!right)
        report(seed, why);
    return right;
}

static bool run_seeds(const struct options *o, uint64_t first, uint64_t count)
{
    bool right = true;

    for (uint64_t i = 0; i < count && right; i++)
        right = run_seed(o, first + i);
    return right;
}

/* In a process of its own if there are several chunks: a job that a PE has ended leaves
 * private memory of its PEs behind. */
static bool run_chunk(const struct options *o, uint64_t first, uint64_t count)
{
    int status = 0;

    if (o->count <= CHUNK)
        return run_seeds(o, first, count);
    pid_t child = fork();
    if (child == 0) {
        bool right = run_seeds(o, first, count);
        fflush(stdout);
        _exit(right ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (WIFSIGNALED(status))
        dprintf(stderr_fd, "FAIL: signal %d among seeds %llu..%llu\n", WTERMSIG(status),
                (unsigned long long)first, (unsigned long long)(first + count - 1));
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

/* ---- options ---------------------------------------------------------------------- */

static const struct argp_option option_table[] = {
    {"seed", 's', "S", 0, "the first seed (1)", 0},
    {"count", 'n', "N", 0, "the number of seeds (1)", 0},
    {"calls", 'c', "N", 0, "calls of each program (6)", 0},
    {"limit", 'l', "SECONDS", 0, "the most that a job may take (10)", 0},
    {"ft", 'f', NULL, 0, "PEs and nodes die, and the others go on", 0},
    {"counters", 'C', NULL, 0, "counters begin just below 2^31 or 2^32", 0},
    {"verbose", 'v', NULL, 0, "print each job", 0},
    {0}};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
    case 's':
        o->seed = strtoull(arg, NULL, 0);
        return 0;
    case 'n':
        o->count = strtoull(arg, NULL, 0);
        return 0;
    case 'c':
        o->calls = atoi(arg);
        return 0;
    case 'l':
        o->limit_s = (unsigned)atoi(arg);
        return 0;
    case 'f':
        o->ft = true;
        return 0;
    case 'C':
        o->counters = true;
        return 0;
    case 'v':
        o->verbose = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        option_table, parse_option, NULL, "Runs simulated jobs.", NULL, NULL, NULL};

    program_name = argv[0];
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    const struct options o = options;
    messages_capture();
    catch_crashes();
    for (uint64_t at = 0; at < o.count; at += CHUNK)
        if (!run_chunk(&o, o.seed + at, o.count - at < CHUNK ? o.count - at : CHUNK))
            return EXIT_FAILURE;
    printf("%llu seeds from %llu: right\n", (unsigned long long)o.count,
           (unsigned long long)o.seed);
    return EXIT_SUCCESS;
}
