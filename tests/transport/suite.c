/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * suite.c - the conformance suite of the transport contract (pgas/transport/transport.h).
 * usage: suite TRANSPORT [-n NPES] [-p PROVIDER] [-a AVOID] [-r ORDER] [-c FAULTS]
 *              [-o CASE,..] [-l TIMES]
 * TRANSPORT is shm, ofi, ucx, tcp or sim, or hook:TRANSPORT for one of them.
 * -o: only the cases whose names start with one of these; -l: multiply the repetitions.
 * The last line of output is "TRANSPORT: N passed, N failed".
 *
 * Cases run one after the other in one set of processes.  If a case fails, the set is
 * killed, and a new set continues with the next case.
 * Uses: suite, sim_pe.
 */
#include "config.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pgas/transport/choice.h"
#include "pgas/transport/test/hook.h"
#include "pgas/transport/test/sim.h"
#include "tests/transport/sim_pe.h"
#include "tests/transport/suite.h"

#ifdef PGAS_SANITIZED
enum { SET_SECONDS = 100 };
#else
enum { SET_SECONDS = 45 };
#endif

enum {
    NPES_DEFAULT = 3,
    NPES_MAX = 16,
    TIMEOUT_MS = 30000, /* the transport's, unless the case has its own */
    STEP_MS = 20,
    GRACE_MS = 500, /* for the other PEs to exit after the first failure */
    STACKS_MS = 300,
    FRAMES = 40,
    HEAP_ODD = 4099, /* so that no segment ends at a page boundary */
    DATA_ODD = 1234 + 1,
    NS_PER_MS = 1000000,
    ADDRESS_STEP = 3 << 20, /* reserved space grows by this per PE: see map_own */
};

struct suite {
    struct options options;
    const struct test_case *cases[MAX_CASES];
    int n, passed, failed;
    struct layout layout;
    /* The current set. */
    struct shared *shared;
    size_t shared_len;
    struct pe *pes;
    int *fds[SEGMENTS];
    unsigned char **view[SEGMENTS];
    pid_t *pids;
    int npes, to, alive, printed;
    bool bad;
};

static const struct test_case *const all_cases[] = {
    data_cases, blocks_cases, order_cases, signal_cases, done_cases,    amo_cases,
    race_cases, ctx_cases,    error_cases, lost_cases,   stopped_cases, many_cases};

static const struct {
    const char *name;
    const struct transport *transport;
    bool memory;
} transports[] = {
    {"shm", &transport_shm, true},  {"ofi", &transport_ofi, false},
    {"ucx", &transport_ucx, false}, {"tcp", &transport_tcp, false},
    {"sim", &transport_sim, false},
};

static void die(const char *what)
{
    fprintf(stderr, "suite: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

/* -- memory of a set ------------------------------------------------------------ */

static unsigned char *map(size_t len, int fd)
{
    void *at = mmap(NULL, len, PROT_READ | PROT_WRITE,
                    MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

    if (at == MAP_FAILED)
        die("mmap");
    return at;
}

/* With a thousand PEs, segments have only the words, no slots. */
static void lay_out(struct suite *s)
{
    const bool many = s->cases[s->to - 1]->flags & CASE_MANY;
    const size_t slots = (size_t)s->npes + 1;

    s->layout.slot[SEGMENT_HEAP] = many ? 0 : HEAP_SLOT;
    s->layout.slot[SEGMENT_DATA] = many ? 0 : DATA_SLOT;
    s->layout.len[SEGMENT_HEAP] = WORDS + slots * s->layout.slot[SEGMENT_HEAP] + HEAP_ODD;
    s->layout.len[SEGMENT_DATA] = WORDS + slots * s->layout.slot[SEGMENT_DATA] + DATA_ODD;
}

/* A segment of PE i: a memfd, or anonymous memory for fibers, which share all memory. */
static void make_segment(struct suite *s, int seg, int i)
{
    const size_t len = s->layout.len[seg];

    s->fds[seg][i] = -1;
    if (!s->options.sim) {
        s->fds[seg][i] = memfd_create(seg == SEGMENT_HEAP ? "heap" : "data", 0);
        if (s->fds[seg][i] < 0 || ftruncate(s->fds[seg][i], (off_t)len) != 0)
            die("memfd");
    }
    s->view[seg][i] = map(len, s->fds[seg][i]);
}

static void *make_array(int n, size_t size)
{
    void *at = calloc((size_t)n, size);

    if (!at)
        die("calloc");
    return at;
}

static void make_memory(struct suite *s)
{
    lay_out(s);
    s->shared_len = sizeof *s->shared + (size_t)s->npes * sizeof s->shared->pe[0];
    s->shared = (void *)map(s->shared_len, -1);
    s->pids = make_array(s->npes, sizeof s->pids[0]);
    s->pes = make_array(s->npes, sizeof s->pes[0]);
    for (int seg = 0; seg < SEGMENTS; seg++) {
        s->fds[seg] = make_array(s->npes, sizeof s->fds[seg][0]);
        s->view[seg] = make_array(s->npes, sizeof s->view[seg][0]);
        for (int i = 0; i < s->npes; i++)
            make_segment(s, seg, i);
    }
}

static void drop_memory(struct suite *s)
{
    for (int seg = 0; seg < SEGMENTS; seg++) {
        for (int i = 0; i < s->npes; i++) {
            munmap(s->view[seg][i], s->layout.len[seg]);
            if (s->fds[seg][i] >= 0)
                close(s->fds[seg][i]);
        }
        free(s->fds[seg]);
        free(s->view[seg]);
    }
    free(s->pids);
    free(s->pes);
    munmap(s->shared, s->shared_len);
}

/* Maps a segment of PE i in its process; reserves address space of a different size in
 * each PE first, so that the addresses differ. */
static void *map_own(struct suite *s, int seg, int i)
{
    if (s->options.sim)
        return s->view[seg][i];
    if (mmap(NULL, (size_t)(i + 1) * ADDRESS_STEP, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
        die("mmap");
    return map(s->layout.len[seg], s->fds[seg][i]);
}

static void make_pe(struct suite *s, int i)
{
    const struct options *o = &s->options;
    const struct test_case *first = s->cases[s->to - 1];
    struct pe *pe = &s->pes[i];

    pe->me = i;
    pe->npes = s->npes;
    pe->options = o;
    pe->shared = s->shared;
    pe->mine = &s->shared->pe[i];
    pe->layout = &s->layout;
    pe->world = (struct transport_world){.me = i,
                                         .coalesce = 16 << 10,
                                         .npes = s->npes,
                                         .provider = o->provider,
                                         .order = o->order,
                                         .avoid = o->avoid,
                                         .survives = o->survives ||
                                                     (first->flags & CASE_SURVIVES)};
    pe->world.timeout_ns =
        (uint64_t)(first->timeout_ms > 0 ? first->timeout_ms : TIMEOUT_MS) * NS_PER_MS;
    pe->world.faults = first->faults ? first->faults : o->faults;
    for (int seg = 0; seg < SEGMENTS; seg++) {
        pe->view[seg] = s->view[seg];
        pe->world.segment[seg].len = s->layout.len[seg];
        pe->world.segment[seg].fd = s->fds[seg][i];
        pe->world.segment[seg].base = map_own(s, seg, i);
    }
}

/* -- the processes of a set ----------------------------------------------------- */

static void print_stack(int sig)
{
    void *frames[FRAMES];

    backtrace_symbols_fd(frames, backtrace(frames, FRAMES), STDERR_FILENO);
    if (sig != SIGUSR1)
        raise(sig); /* with its default action: SA_RESETHAND */
}

static void catch_signals(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    struct sigaction action = {.sa_handler = print_stack};
    void *frames[FRAMES];

    backtrace(frames, FRAMES); /* loads libgcc now, not in the signal handler */
    sigaction(SIGUSR1, &action, NULL);
    action.sa_flags = (int)SA_RESETHAND;
    for (size_t i = 0; SET_SECONDS < 100 && i < sizeof fatal / sizeof fatal[0]; i++)
        sigaction(fatal[i], &action, NULL);
}

struct fibers {
    struct suite *suite;
    int from, status;
};

static void fiber(int me, void *arg)
{
    struct fibers *f = arg;
    const int status = pe_run(&f->suite->pes[me], f->suite->cases, f->from, f->suite->to);

    if (status != PE_OK)
        f->status = status;
}

static int child(struct suite *s, int i, int from)
{
    struct fibers fibers = {.suite = s, .from = from, .status = PE_OK};
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    catch_signals();
    if (s->options.hook)
        hook_wrap(s->options.inner);
    if (!s->options.sim) {
        make_pe(s, i);
        return pe_run(&s->pes[i], s->cases, from, s->to);
    }
    for (int pe = 0; pe < s->npes; pe++)
        make_pe(s, pe);
    if (sim_pe_run(s->npes, fiber, &fibers) != 0)
        return PE_FAILED;
    return fibers.status;
}

static void start(struct suite *s, int from)
{
    s->alive = s->options.sim ? 1 : s->npes;
    fflush(NULL);
    for (int i = 0; i < s->alive; i++) {
        s->pids[i] = fork();
        if (s->pids[i] < 0)
            die("fork");
        if (s->pids[i] == 0)
            exit(child(s, i, from));
    }
}

/* -- monitoring the processes --------------------------------------------------- */

static void signal_all(const struct suite *s, int sig)
{
    for (int i = 0; i < s->npes; i++)
        if (s->pids[i] > 0)
            kill(s->pids[i], sig);
}

static void pause_ms(unsigned ms)
{
    const struct timespec t = {.tv_sec = 0, .tv_nsec = (long)ms * NS_PER_MS};

    nanosleep(&t, NULL);
}

static void print_waits(const struct suite *s)
{
    for (int i = 0; i < s->npes; i++) {
        const struct shared_pe *pe = &s->shared->pe[i];

        fprintf(stderr,
                "suite: PE %d: last waited for %s (line %d); pending %llu, PE %d%s%s\n",
                i, pe->waits_for ? pe->waits_for : "nothing", pe->line,
                (unsigned long long)pe->pending, pe->pending_pe,
                pe->message[0] ? "; message: " : "", pe->message);
    }
}

static bool may_die(const struct suite *s, int i, int status)
{
    return (s->cases[s->to - 1]->flags & CASE_DIES) && i == 1 && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGKILL;
}

static void ended(struct suite *s, int i, int status)
{
    s->pids[i] = -1;
    s->alive--;
    if (status == 0 || may_die(s, i, status))
        return;
    s->bad = true;
    if (WIFSIGNALED(status))
        fprintf(stderr, "suite: %s: PE %d was killed by signal %d\n", s->options.name, i,
                WTERMSIG(status));
    else if (WEXITSTATUS(status) < PE_FAILED || WEXITSTATUS(status) > PE_CANNOT_OPEN)
        fprintf(stderr, "suite: %s: PE %d exited with status %d\n", s->options.name, i,
                WEXITSTATUS(status));
}

static void reap(struct suite *s)
{
    int status;

    for (int i = 0; i < s->npes; i++)
        if (s->pids[i] > 0 && waitpid(s->pids[i], &status, WNOHANG) == s->pids[i])
            ended(s, i, status);
}

static void print_passed(struct suite *s)
{
    for (; s->printed < s->to; s->printed++) {
        if (!__atomic_load_n(&s->shared->passed[s->printed], __ATOMIC_ACQUIRE))
            return;
        printf("ok %s %.2f s\n", s->cases[s->printed]->name,
               s->shared->seconds[s->printed]);
        fflush(stdout);
        s->passed++;
    }
}

static void end_set(struct suite *s, bool stacks)
{
    pause_ms(GRACE_MS);
    reap(s);
    if (s->alive > 0)
        print_waits(s);
    if (stacks && s->alive > 0) {
        signal_all(s, SIGUSR1);
        pause_ms(STACKS_MS);
    }
    signal_all(s, SIGKILL);
    while (s->alive > 0) {
        reap(s);
        pause_ms(1);
    }
}

static void watch(struct suite *s)
{
    const uint64_t limit = (uint64_t)SET_SECONDS * s->options.scale * 1000 * NS_PER_MS;
    uint64_t since = now_ns();
    int printed = s->printed;

    while (s->alive > 0) {
        pause_ms(STEP_MS);
        reap(s);
        print_passed(s);
        if (printed != s->printed) {
            printed = s->printed;
            since = now_ns();
        }
        if (s->bad || now_ns() - since > limit) {
            if (!s->bad)
                fprintf(stderr, "suite: %s: no case completed for %d s\n",
                        s->options.name, SET_SECONDS);
            end_set(s, !s->bad);
            s->bad = true;
        }
    }
    print_passed(s);
}

/* -- sets ----------------------------------------------------------------------- */

static bool alone(const struct test_case *c)
{
    return c->flags & (CASE_ALONE | CASE_MANY) || c->faults || c->timeout_ms > 0;
}

/* Run the cases from `from` on that share a set; returns the first that did not run. */
static int run_set(struct suite *s, int from)
{
    s->to = from + 1;
    while (!alone(s->cases[from]) && s->to < s->n && !alone(s->cases[s->to]))
        s->to++;
    s->npes = s->cases[from]->flags & CASE_MANY ? NPES_MANY : s->options.npes;
    s->bad = false;
    s->printed = from;
    make_memory(s);
    start(s, from);
    watch(s);
    if (from == 0 && !s->bad)
        printf("# %s: %s; address %zu bytes, open %.1f ms\n", s->options.name,
               s->shared->describe, s->shared->pe[0].address_len,
               s->shared->pe[0].open_ms);
    drop_memory(s);
    if (!s->bad)
        return s->printed;
    s->failed++;
    printf("FAILED %s\n", s->printed < s->to ? s->cases[s->printed]->name : "close");
    fflush(stdout);
    return s->printed < s->to ? s->printed + 1 : s->printed;
}

/* True if the name starts with a prefix of the comma-separated list. */
static bool is_listed(const char *list, const char *name)
{
    while (list != NULL) {
        size_t length = strcspn(list, ",");
        if (strncmp(list, name, length) == 0)
            return true;
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    return false;
}

static bool wanted(const struct options *o, const struct test_case *c)
{
    if (o->only && !is_listed(o->only, c->name))
        return false;
    if (c->flags & (o->sim ? CASE_THREADS | CASE_PROCESSES : CASE_SIM))
        return false;
    return o->hook || !(c->flags & CASE_HOOK);
}

static void select_cases(struct suite *s)
{
    for (size_t i = 0; i < sizeof all_cases / sizeof all_cases[0]; i++)
        for (const struct test_case *c = all_cases[i]; c->name; c++)
            if (wanted(&s->options, c))
                s->cases[s->n++] = c;
}

/* -- the command line ----------------------------------------------------------- */

static bool choose(struct options *o)
{
    const char *name = o->name;

    if (strncmp(name, "hook:", strlen("hook:")) == 0) {
        name += strlen("hook:");
        o->hook = true;
    }
    for (size_t i = 0; i < sizeof transports / sizeof transports[0]; i++)
        if (strcmp(name, transports[i].name) == 0) {
            o->inner = transports[i].transport;
            o->transport = o->hook ? &transport_hook : o->inner;
            o->memory = transports[i].memory;
            o->sim = strcmp(name, "sim") == 0;
        }
    return o->transport && o->inner;
}

static bool parse(struct options *o, int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "n:p:a:r:c:o:l:s")) != -1)
        switch (c) {
        case 'n':
            o->npes = atoi(optarg);
            break;
        case 'p':
            o->provider = optarg;
            break;
        case 'a':
            o->avoid = optarg;
            break;
        case 'r':
            if (!choice_read_order(optarg, &o->order))
                return false;
            break;
        case 'c':
            o->faults = optarg;
            break;
        case 'o':
            o->only = optarg;
            break;
        case 's':
            o->survives = true;
            break;
        case 'l':
            o->scale = (unsigned)atoi(optarg);
            break;
        default:
            return false;
        }
    if (optind + 1 != argc || o->npes < 2 || o->npes > NPES_MAX || o->scale < 1)
        return false;
    o->name = argv[optind];
    return choose(o);
}

int main(int argc, char **argv)
{
    static struct suite s = {.options = {.npes = NPES_DEFAULT, .scale = 1}};

    if (!parse(&s.options, argc, argv)) {
        fprintf(stderr,
                "usage: suite shm|ofi|ucx|sim|hook:TRANSPORT [-n 2..%d] [-p PROVIDER]"
                " [-a AVOID] [-r ORDER] [-c FAULTS] [-o CASE,..] [-l TIMES] [-s]\n",
                NPES_MAX);
        return EXIT_FAILURE;
    }
    select_cases(&s);
    pattern(0);
    for (int i = 0; i < s.n;)
        i = run_set(&s, i);
    printf("%s: %d passed, %d failed\n", s.options.name, s.passed, s.failed);
    return s.failed == 0 && s.passed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
