/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sleeper.c - asynchronous progress: operations on the memory of the last PE complete
 * although that PE does not call the library for S seconds.
 *   sleeper sleep S    the last PE sleeps: measures the latency of puts, gets and atomics
 *                      to it, and the processor time that it uses
 *   sleeper compute S  the last PE computes, bound to one processor: measures how much
 *                      the traffic slows it down
 *   sleeper late S     the last PE is late: measures the processor time of waiting PEs
 * Prints the figures and compares them with limits, which are multiplied by SLEEPER_SLACK
 * (environment) for busy machines.  The check that no operation waits for the last PE is
 * independent of SLEEPER_SLACK.  If a latency is too long and the PEs did not get their
 * processors, the exit status is 75.
 */
#include "config.h"

#include <sched.h>

#include "tests/api/multi/check.h"
#include "tests/steady/steady.h"

enum kind { PUT, GET, ADD, KINDS };
enum {
    OPS_MAX = 1000,  /* of a kind */
    PER_SECOND = 10, /* operations of a kind */
    WORK = 1000,     /* iterations of the compute loop between two clock reads */
    HOLDS = 42,
};
#define MEDIAN_MAX_S  0.010 /* "milliseconds" */
#define SLEEPER_MAX   1.0   /* percent of a processor */
#define COMPUTING_MAX 5.0
#define WAITER_MAX    2.0

static long put_word, get_word = HOLDS, add_word, late_word;
static int me, npes, last;
static struct steady steady;

/* Seconds of processor time: of this process with all its threads, or of this thread. */
static double cpu_time(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double slack(void)
{
    const char *text = getenv("SLEEPER_SLACK");

    return text != NULL ? atof(text) : 1;
}

static void check_limit(double is, double most, const char *what)
{
    double limit = most * slack();

    CHECK_NAMED(is < limit, "%s: %.4f, limit %.4f", what, is, limit);
}

/* A latency in seconds, of operations that took `passed` in all. */
static void check_latency(double is, double most, const char *what, double passed)
{
    if (is < most)
        return;
    fprintf(stderr, "PE %d: %s: took %.4f s, limit %.4f\n", me, what, is, most);
    shmem_global_exit(steady_status(&steady, (uint64_t)(passed * 1e9), what));
}

/* ---- operations on the last PE --------------------------------------------------- */

static double latency[KINDS][OPS_MAX];
static int nlatency;

static double operate(enum kind kind)
{
    double begin = check_now();
    long value = me;

    switch (kind) {
    case PUT:
        shmem_long_put(&put_word, &value, 1, last);
        shmem_quiet();
        break;
    case GET:
        shmem_long_get(&value, &get_word, 1, last);
        CHECK_EQ(value, HOLDS);
        break;
    default:
        shmem_long_atomic_fetch_add(&add_word, 1, last);
    }
    return check_now() - begin;
}

static void traffic(double seconds)
{
    double end = check_now() + seconds;

    steady_begin(&steady, getppid());
    for (nlatency = 0; nlatency < OPS_MAX && check_now() < end; nlatency++)
        for (enum kind kind = PUT; kind < KINDS; kind++) {
            latency[kind][nlatency] = operate(kind);
            check_sleep_us(1000000 / PER_SECOND / KINDS);
        }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The first operation may have to connect, so it is printed separately. */
static void report_traffic(double seconds)
{
    static const char *const names[KINDS] = {"put+quiet", "get", "fetch_add"};

    for (int kind = 0; kind < KINDS; kind++) {
        double first = latency[kind][0];
        qsort(latency[kind], (size_t)nlatency, sizeof latency[kind][0], compare);
        double median = latency[kind][nlatency / 2], most = latency[kind][nlatency - 1];
        double sum = 0;
        for (int i = 0; i < nlatency; i++)
            sum += latency[kind][i];
        printf("PE %d: %d %s: median %.0f us, max %.0f us (the first %.0f us)\n", me,
               nlatency, names[kind], median * 1e6, most * 1e6, first * 1e6);
        check_latency(most, 0.7 * seconds, names[kind], sum);
        check_latency(median, MEDIAN_MAX_S * slack(), names[kind], sum);
    }
}

/* ---- the three modes ------------------------------------------------------------- */

static void sleeping(double seconds)
{
    shmem_barrier_all();
    if (me == last) {
        double cpu = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
        check_sleep_us((long)(seconds * 1e6));
        cpu = 100 * (cpu_time(CLOCK_PROCESS_CPUTIME_ID) - cpu) / seconds;
        printf("PE %d: slept %.1f s with %.2f %% of a processor, served %ld adds\n", me,
               seconds, cpu, *(volatile long *)&add_word);
        check_limit(cpu, SLEEPER_MAX, "percent of a processor, asleep");
    } else {
        traffic(seconds * 3 / 4);
        report_traffic(seconds);
    }
    if (me != last)
        shmem_long_atomic_add(&late_word, nlatency, last);
    shmem_barrier_all();
    CHECK(me != last || add_word == late_word);
}

struct rate {
    double work, thread, process; /* per second of wall-clock time */
};

static struct rate compute(double seconds)
{
    double begin = check_now(), work = 0, passed;
    double thread = cpu_time(CLOCK_THREAD_CPUTIME_ID);
    double process = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
    volatile double x = 1;

    do {
        for (int i = 0; i < WORK; i++)
            x = x * 0.999 + 1;
        work++;
        passed = check_now() - begin;
    } while (passed < seconds);
    thread = cpu_time(CLOCK_THREAD_CPUTIME_ID) - thread;
    process = cpu_time(CLOCK_PROCESS_CPUTIME_ID) - process;
    return (struct rate){work / passed, thread / passed, process / passed};
}

/* The last PE is bound before shmem_init, as by a launcher. */
static void bind_to_one(void)
{
    cpu_set_t all, one;
    size_t cpu = CPU_SETSIZE - 1;

    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    while (!CPU_ISSET(cpu, &all))
        cpu--;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

static void computing(double seconds)
{
    shmem_barrier_all();
    if (me == last) {
        struct rate quiet = compute(seconds), busy = compute(seconds);
        double served = 100 * (busy.process - busy.thread);
        printf("PE %d: computed %.1f s, bound to a processor: %.1f %% less work with "
               "traffic than without; served it with %.2f %% of a processor\n",
               me, seconds, 100 * (1 - busy.work / quiet.work), served);
        check_limit(served, COMPUTING_MAX, "percent of a processor, for traffic");
    } else {
        check_sleep_us((long)(seconds * 1e6));
        traffic(seconds * 3 / 4);
        report_traffic(seconds);
    }
    shmem_barrier_all();
}

static void report_wait(const char *what, double begin, double cpu)
{
    double passed = check_now() - begin;

    cpu = 100 * (cpu_time(CLOCK_PROCESS_CPUTIME_ID) - cpu) / passed;
    printf("PE %d: waited %.1f s in %s with %.2f %% of a processor\n", me, passed, what,
           cpu);
    check_limit(cpu, WAITER_MAX, what);
}

static void waiting(double seconds)
{
    shmem_barrier_all();
    double begin = check_now(), cpu = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
    if (me == last)
        check_sleep_us((long)(seconds * 1e6));
    shmem_barrier_all();
    if (me != last)
        report_wait("shmem_barrier_all", begin, cpu);
    begin = check_now(), cpu = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
    if (me == last) {
        check_sleep_us((long)(seconds * 1e6));
        for (int pe = 0; pe < npes; pe++)
            shmem_long_p(&late_word, 1, pe);
        shmem_quiet();
    } else {
        shmem_long_wait_until(&late_word, SHMEM_CMP_EQ, 1);
        report_wait("shmem_long_wait_until", begin, cpu);
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(double);
    } ways[] = {{"sleep", sleeping}, {"compute", computing}, {"late", waiting}};
    const char *rank = getenv("PMIX_RANK"), *pes = getenv("SLEEPER_PES");
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 0;

    if (seconds <= 0 || pes == NULL || rank == NULL)
        return 2;
    if (strcmp(argv[1], "compute") == 0 && atoi(rank) == atoi(pes) - 1)
        bind_to_one();
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    last = npes - 1;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].run(seconds);
    shmem_finalize();
    return 0;
}
