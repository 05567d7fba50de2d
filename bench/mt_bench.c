/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mt_bench.c - put, get and atomics by several threads of a PE: latency, bandwidth,
 * message rate, and a halo exchange with 6 neighbours.
 *
 *   oshrun -n 2 mt_bench [-T threads] [-t seconds per point] [-s bytes] [-w] [name...]
 *
 * Prints lines `name threads context size value unit`, for the default context
 * (`default`) and for a context per thread (`private`).  latency and bandwidth transfer
 * `size` bytes in total, split evenly among the threads; in rate each thread transfers
 * messages of `size` bytes; in halo the number of messages of an iteration is constant
 * and the threads share it.  PE 0 and PE 1 (PE 0 in a job of one) take part, in halo all
 * PEs.  After each point the transferred data are verified; -w: verify against a wrong
 * value, to show that an error is detected.
 *
 * The benchmark re-creates SHMEM-MT (Dosanjh et al., "RMA-MT"; section 4.7 of the
 * thesis).  Uses: OpenSHMEM 1.4 and pthreads, so that it compiles with any
 * implementation.
 */
#include <pthread.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS_MAX = 64,
    BYTES_MAX = 1 << 20,
    LINE_LONGS = 128 / sizeof(long), /* two cache lines: prefetch of the next one */
    WINDOW = 64,                     /* nonblocking operations before a quiet */
    NEIGHBOURS = 6,                  /* of the halo: PEs +-1, +-2, +-3 */
    HALO_EACH = 16, /* messages to each neighbour in an iteration, by all threads */
    BATCHES = 5,
    ITERATIONS_MAX = 1 << 26
};

enum mode { MODE_DEFAULT, MODE_PRIVATE, MODES };
static const char *const mode_name[] = {"default", "private"};

/* One point of a table, the same on all PEs. */
struct point {
    const struct row *row;
    enum mode mode;
    int threads;
    size_t size; /* bytes of a message of one thread */
    long n;      /* iterations of each thread */
};

struct worker {
    const struct point *point;
    pthread_t thread;
    int id;
    shmem_ctx_t ctx;
    unsigned char *remote, *local; /* this thread's BYTES_MAX bytes */
    long *counter;                 /* this thread's, in a line of its own */
    double begin, end;
};

/* A benchmark.  Its body executes n iterations in a thread. */
struct row {
    const char *name, *unit;
    void (*body)(struct worker *w, long n);
    bool (*verify)(const struct point *point);
    double per; /* messages of all threads in an iteration, if they share them; else 0 */
    bool split; /* the size is that of all threads together */
    bool all;   /* all PEs take part */
    bool word;  /* only 8-byte words */
};

static int me, npes, peer;
static double seconds = 0.05;
static bool wrong;
static unsigned char *area;     /* symmetric, THREADS_MAX * BYTES_MAX bytes */
static long *counter;           /* symmetric: the targets of atomics */
static long *control;           /* symmetric: iterations, decided by PE 0 */
static unsigned char *buffer;   /* local, as area */
static pthread_barrier_t start; /* of the threads of a batch */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static _Noreturn void fail(const char *text)
{
    fprintf(stderr, "mt_bench: PE %d: %s\n", me, text);
    shmem_global_exit(1);
    exit(1);
}

/* The byte i of the message of thread t. */
static unsigned char pattern(int t, size_t i)
{
    return (unsigned char)((size_t)t * 131 + i * 7 + 1);
}

/* -- bodies ---------------------------------------------------------------------------
 */

static void put_quiet(struct worker *w, long n)
{
    for (long i = 0; i < n; i++) {
        shmem_ctx_putmem(w->ctx, w->remote, w->local, w->point->size, peer);
        shmem_ctx_quiet(w->ctx);
    }
}

static void get(struct worker *w, long n)
{
    for (long i = 0; i < n; i++)
        shmem_ctx_getmem(w->ctx, w->local, w->remote, w->point->size, peer);
}

static void put_window(struct worker *w, long n)
{
    for (long i = 0; i < n; i++) {
        shmem_ctx_putmem_nbi(w->ctx, w->remote, w->local, w->point->size, peer);
        if ((i + 1) % WINDOW == 0)
            shmem_ctx_quiet(w->ctx);
    }
    shmem_ctx_quiet(w->ctx);
}

static void get_window(struct worker *w, long n)
{
    for (long i = 0; i < n; i++) {
        shmem_ctx_getmem_nbi(w->ctx, w->local, w->remote, w->point->size, peer);
        if ((i + 1) % WINDOW == 0)
            shmem_ctx_quiet(w->ctx);
    }
    shmem_ctx_quiet(w->ctx);
}

static void add(struct worker *w, long n)
{
    for (long i = 0; i < n; i++)
        shmem_ctx_long_atomic_add(w->ctx, w->counter, 1, peer);
    shmem_ctx_quiet(w->ctx);
}

static void fetch_add(struct worker *w, long n)
{
    for (long i = 0; i < n; i++)
        shmem_ctx_long_atomic_fetch_add(w->ctx, w->counter, 1, peer);
}

static int neighbour(int k)
{
    int distance = k / 2 + 1;

    return ((k % 2 == 0 ? me + distance : me - distance) % npes + npes) % npes;
}

/* Each thread sends its share of the messages to each neighbour. */
static void halo(struct worker *w, long n)
{
    int threads = w->point->threads;

    for (long i = 0; i < n; i++) {
        for (int k = 0; k < NEIGHBOURS; k++)
            for (int m = w->id; m < HALO_EACH; m += threads)
                shmem_ctx_putmem_nbi(w->ctx, w->remote, w->local, w->point->size,
                                     neighbour(k));
        shmem_ctx_quiet(w->ctx);
    }
}

/* -- verification ----------------------------------------------------------------------
 */

static bool verify_bytes(const unsigned char *bytes, const struct point *point)
{
    int senders = point->threads; /* a thread of the halo may have no message */

    if (point->row->per > 0 && senders > HALO_EACH)
        senders = HALO_EACH;
    for (int t = 0; t < senders; t++)
        for (size_t i = 0; i < point->size; i++)
            if (bytes[(size_t)t * BYTES_MAX + i] != (pattern(t, i) ^ (wrong && i == 0)))
                return false;
    return true;
}

static bool verify_put(const struct point *point)
{
    return (!point->row->all && me != peer) || verify_bytes(area, point);
}

static bool verify_get(const struct point *point)
{
    return me != 0 || verify_bytes(buffer, point);
}

static bool verify_count(const struct point *point)
{
    for (int t = 0; me == peer && t < point->threads; t++)
        if (counter[t * LINE_LONGS] != point->n + wrong)
            return false;
    return true;
}

static const struct row rows[] = {
    {"latency.put", "us", put_quiet, verify_put, 0, true, false, false},
    {"latency.get", "us", get, verify_get, 0, true, false, false},
    {"bandwidth.put", "GB/s", put_window, verify_put, 0, true, false, false},
    {"bandwidth.get", "GB/s", get_window, verify_get, 0, true, false, false},
    {"rate.put", "M/s", put_window, verify_put, 0, false, false, false},
    {"rate.get", "M/s", get_window, verify_get, 0, false, false, false},
    {"rate.add", "M/s", add, verify_count, 0, false, false, true},
    {"rate.fetch_add", "M/s", fetch_add, verify_count, 0, false, false, true},
    {"halo.put", "M/s", halo, verify_put, (double)NEIGHBOURS *HALO_EACH, false, true,
     false},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* -- batches ---------------------------------------------------------------------------
 */

static void *work(void *arg)
{
    struct worker *w = arg;

    w->ctx = SHMEM_CTX_DEFAULT;
    if (w->point->mode == MODE_PRIVATE &&
        shmem_ctx_create(SHMEM_CTX_PRIVATE, &w->ctx) != 0)
        fail("shmem_ctx_create(SHMEM_CTX_PRIVATE) failed");
    /* Connections are opened at the first use of a context; the default one may have some
     * for each thread. */
    for (int pe = 0; pe < npes; pe++)
        (void)shmem_ctx_long_g(w->ctx, control, pe);
    pthread_barrier_wait(&start);
    w->begin = now();
    w->point->row->body(w, w->point->n);
    w->end = now();
    pthread_barrier_wait(&start); /* no context is destroyed while others are timed */
    if (w->ctx != SHMEM_CTX_DEFAULT)
        shmem_ctx_destroy(w->ctx);
    return NULL;
}

/* Executes the iterations in the threads of this PE.  Returns the seconds from the first
 * thread's begin to the last one's end. */
static double run_threads(const struct point *point)
{
    struct worker w[THREADS_MAX];
    double begin = 1e300, end = 0;

    pthread_barrier_init(&start, NULL, (unsigned)point->threads);
    for (int t = 0; t < point->threads; t++) {
        w[t] = (struct worker){.point = point,
                               .id = t,
                               .remote = area + (size_t)t * BYTES_MAX,
                               .local = buffer + (size_t)t * BYTES_MAX,
                               .counter = counter + t * LINE_LONGS};
        if (pthread_create(&w[t].thread, NULL, work, &w[t]) != 0)
            fail("pthread_create failed");
    }
    for (int t = 0; t < point->threads; t++) {
        pthread_join(w[t].thread, NULL);
        begin = w[t].begin < begin ? w[t].begin : begin;
        end = w[t].end > end ? w[t].end : end;
    }
    pthread_barrier_destroy(&start);
    return end - begin;
}

static void fill(unsigned char *bytes, bool with_pattern, const struct point *point)
{
    for (int t = 0; t < point->threads; t++)
        for (size_t i = 0; i < point->size; i++)
            bytes[(size_t)t * BYTES_MAX + i] = with_pattern ? pattern(t, i) : 0;
}

/* One batch on all PEs.  The source has the pattern, the destination zeroes. */
static double batch(const struct point *point)
{
    bool gets = point->row->verify == verify_get;
    double time = 0;

    fill(buffer, !gets, point);
    fill(area, gets, point);
    memset(counter, 0, (size_t)point->threads * LINE_LONGS * sizeof *counter);
    shmem_barrier_all();
    if (point->row->all || me == 0)
        time = run_threads(point);
    shmem_barrier_all();
    if (!point->row->verify(point)) {
        fprintf(stderr, "mt_bench: %s with %d threads (%s): wrong data at PE %d\n",
                point->row->name, point->threads, mode_name[point->mode], me);
        shmem_global_exit(1);
    }
    return time;
}

/* PE 0's value, on all PEs. */
static long broadcast(long value)
{
    if (me == 0)
        for (int pe = 0; pe < npes; pe++)
            shmem_long_p(control, value, pe);
    shmem_barrier_all();
    value = *control;
    shmem_barrier_all();
    return value;
}

/* Increases the iterations until a batch takes its share of the time. */
static void calibrate(struct point *point)
{
    double share = seconds / BATCHES;

    for (point->n = 1;;) {
        double time = batch(point);
        double factor = time > share / 16 ? share / time * 1.1 : 8;
        bool enough = time >= share || point->n >= ITERATIONS_MAX;
        long next = (long)((double)point->n * factor) + 1;
        next = broadcast(enough ? 0 : next < ITERATIONS_MAX ? next : ITERATIONS_MAX);
        if (next == 0)
            return;
        point->n = next;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double convert(const struct point *point, double time)
{
    double messages = point->row->per > 0 ? point->row->per * (double)point->n
                                          : (double)point->n * point->threads;

    if (strcmp(point->row->unit, "us") == 0)
        return time / (double)point->n * 1e6;
    if (strcmp(point->row->unit, "GB/s") == 0)
        return messages * (double)point->size / time * 1e-9;
    return messages / time * 1e-6;
}

/* Batches of both modes alternate, so that their ratio does not depend on the speed of
 * the machine. */
static void measure(const struct row *row, int threads, size_t size)
{
    struct point point[MODES];
    double values[MODES][BATCHES];

    for (enum mode m = MODE_DEFAULT; m < MODES; m++) {
        point[m] =
            (struct point){.row = row, .mode = m, .threads = threads, .size = size};
        if (row->split)
            point[m].size = size > (size_t)threads ? size / (size_t)threads : 1;
        calibrate(&point[m]);
    }
    for (int i = 0; i < BATCHES; i++)
        for (enum mode m = MODE_DEFAULT; m < MODES; m++)
            values[m][i] = convert(&point[m], batch(&point[m]));
    for (enum mode m = MODE_DEFAULT; m < MODES; m++) {
        qsort(values[m], BATCHES, sizeof values[m][0], compare);
        if (me == 0)
            printf("%s %d %s %zu %.4g %s\n", row->name, threads, mode_name[m], size,
                   values[m][BATCHES / 2], row->unit);
    }
    fflush(stdout);
}

/* -- the command line ------------------------------------------------------------------
 */

static _Noreturn void usage(const char *problem, const char *value)
{
    if (me == 0)
        fprintf(stderr, "mt_bench: %s '%s'\n", problem, value);
    shmem_finalize();
    exit(2);
}

static long number(const char *text, long most)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*text == '\0' || *end != '\0' || value < 1 || value > most)
        usage("this is not a whole number in the permitted range:", text);
    return value;
}

static bool selected(const char *name, char **names)
{
    bool yes = *names == NULL;

    for (; !yes && *names != NULL; names++)
        yes = strncmp(name, *names, strlen(*names)) == 0;
    return yes;
}

static void check_names(char **names)
{
    for (; *names != NULL; names++) {
        bool known = false;
        for (int i = 0; i < ROWS; i++)
            known = known || strncmp(rows[i].name, *names, strlen(*names)) == 0;
        if (!known)
            usage("this is none of the benchmarks:", *names);
    }
}

static void run_all(int threads, size_t size, char **names)
{
    for (int i = 0; i < ROWS; i++)
        if (selected(rows[i].name, names) && (size == 8 || !rows[i].word))
            measure(&rows[i], threads, size);
}

int main(int argc, char **argv)
{
    int provided, option, threads = 1;
    size_t size = 8;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    peer = npes > 1 ? 1 : 0;
    if (provided != SHMEM_THREAD_MULTIPLE)
        fail("the library does not provide SHMEM_THREAD_MULTIPLE");
    while ((option = getopt(argc, argv, "T:s:t:w")) != -1)
        if (option == 'T')
            threads = (int)number(optarg, THREADS_MAX);
        else if (option == 's')
            size = (size_t)number(optarg, BYTES_MAX);
        else if (option == 't')
            seconds = strtod(optarg, NULL);
        else if (option == 'w')
            wrong = true;
        else
            usage("unknown option; see the top of mt_bench.c:", argv[optind - 1]);
    check_names(argv + optind);
    area = shmem_malloc((size_t)threads * BYTES_MAX);
    counter = shmem_calloc((size_t)threads * LINE_LONGS, sizeof *counter);
    control = shmem_calloc(1, sizeof *control);
    buffer = malloc((size_t)threads * BYTES_MAX);
    if (area == NULL || counter == NULL || control == NULL || buffer == NULL)
        fail("not enough memory");
    run_all(threads, size, argv + optind);
    shmem_barrier_all();
    free(buffer);
    shmem_free(area);
    shmem_finalize();
    return 0;
}
