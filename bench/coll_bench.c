/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_bench.c - measures collectives; prints lines `name size value unit`.
 *   oshrun -n 4 coll_bench [-b | -i MIF [-f] [-d busy|sleep] [-a file] [-l first:2]]
 *                          [operation...]
 * Three modes:
 *   balanced    loop { barrier; collective }: each PE's time in the collective
 *   -b          back to back: loop { collective }, divided by the number of calls
 *   -i MIF      imbalanced: loop { barrier; own delay; collective }: a delay is r times
 *               alpha(size), r = MIF * U[0,1), and is not in the time; alpha is half of a
 *               ping-pong of a message of that size between PE 0 and PE 1
 * Where the published harness is unspecified or wrong, this program does the following:
 * the seed depends on the PE, and the k-th iteration has the same delays in each run and
 * with each library; r is drawn in each iteration, or once with -f; the delay loop runs
 * until r * alpha has elapsed on the clock, so that fractions of a unit are exact.  If
 * there are more PEs than processors, busy delays set_option processor time from other
 * PEs and lengthen their delays; sleeping (-d sleep) avoids this, but oversleeps by some
 * microseconds.
 * A barrier has the alpha of 8 bytes.
 * Sizes: bytes of the result for allreduce, broadcast and scans, of each PE's
 * contribution for fcollect, of the block for each destination PE for alltoall. Output:
 * NAME is the mean over iterations and PEs; NAME.mid the median over batches of such
 * means; NAME.max that of the slowest PE; NAME.last (not with -b) the mean time from the
 * last arrival to the last exit, where all PEs have one clock; NAME.skew (-i) the mean
 * time between the first and the last arrival in units of alpha.  Uses: coll.h.
 */
#include "coll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_MAX = 1024, LOOP_MAX = 1 << 20, BATCHES_MAX = 4096, BATCHES_MIN = 3 };
enum { IMBALANCED_MIN = 8, PARTS = 9, PINGPONGS = 5 };
enum { BARRIER, ALLREDUCE, BROADCAST, FCOLLECT, ALLTOALL, INSCAN, EXSCAN, OPS };
enum { DEFAULT_OPS = INSCAN }; /* measured if none is named */

static const char *const op_names[OPS] = {
    "barrier", "allreduce", "broadcast", "fcollect", "alltoall", "inscan", "exscan"};

static const char usage_text[] =
    "[option...] [operation...]\n"
    "operations: barrier allreduce broadcast fcollect alltoall (all of these), inscan,\n"
    "            exscan\n"
    "  -t S         seconds for each size of each operation (0.05)\n"
    "  -s SIZES     in bytes, like 8,64K,1M\n"
    "  -b           back to back, without a barrier before each call\n"
    "  -i MIF       imbalanced arrival: delays up to MIF times alpha(size)\n"
    "  -f           a PE has the same delay in all iterations\n"
    "  -d HOW       delays are busy (default) or sleep\n"
    "  -l WHICH:N   only one of each N consecutive PEs is late, the first or a random "
    "one\n"
    "               (WHICH is first or random); never PE 0, the root of broadcasts\n"
    "  -a FILE      alpha of each size, as -c prints it (default: measured)\n"
    "  -c           only measures and prints alpha\n"
    "  -r N         seed of the random numbers (1)\n"
    "  -m MIB       leave out points whose buffers on all PEs together are larger "
    "(2048)\n";

static struct coll_options common = {.seconds = 0.05, .seed = 1};
static struct {
    double mif, cap;
    bool imbalanced, fixed, loop, calibrate, ops[OPS];
    int group; /* number of PEs of which one is late; 0: all are */
    bool random_of_group;
    const char *alpha_file;
} options = {.cap = 2048};

static double alpha[COLL_SIZES_MAX + 1]; /* seconds; the last one is that of a barrier */
static int me, npes;
static uint64_t iteration;
static char *dest, *src;     /* symmetric */
static double *stamps, *all; /* arrival and exit of each row; symmetric: all PEs' */
static double batch_us[BATCHES_MAX]; /* mean time of a call */

/* Sums over the batches of a point. */
struct sums {
    double calls, rows, mean, last, skew, max[COLL_PES_MAX];
    int batches;
};

/* -- buffers and results ------------------------------------------------------------ */
static size_t src_bytes(int op, size_t size)
{
    return op == ALLTOALL ? size * (size_t)npes : size;
}

static size_t dest_bytes(int op, size_t size)
{
    return op == ALLTOALL || op == FCOLLECT ? size * (size_t)npes : size;
}

static bool fits(int op, size_t size)
{
    double bytes = (double)src_bytes(op, size) + (double)dest_bytes(op, size);
    return bytes * npes <= options.cap * 1048576;
}

static uint64_t word(int from, int to, size_t i)
{
    return ((uint64_t)from << 48 ^ (uint64_t)to << 32) + i * UINT64_C(0x9e3779b97f4a7c15);
}

static bool adds(int op)
{
    return op == ALLREDUCE || op == INSCAN || op == EXSCAN;
}

static void fill(int op, size_t size)
{
    size_t n = size / 8;
    uint64_t *to = (uint64_t *)(void *)src;
    for (size_t i = 0; i < src_bytes(op, size) / 8; i++)
        to[i] = word(me, op == ALLTOALL ? (int)(i / n) : 0, op == ALLTOALL ? i % n : i);
    for (size_t i = 0; adds(op) && i < n; i++)
        ((double *)(void *)src)[i] = me + (double)(i % 7);
    memset(dest, 0xff, dest_bytes(op, size));
}

static bool right(int op, size_t n, size_t i)
{
    int pes = op == INSCAN ? me + 1 : op == EXSCAN ? me : npes;

    if (adds(op) && pes > 0)
        return ((double *)(void *)dest)[i] == pes * ((pes - 1) / 2.0 + (double)(i % 7));
    if (adds(op))
        return true; /* undefined in MPI */
    if (op == BROADCAST)
        return me == 0 || ((uint64_t *)(void *)dest)[i] == word(0, 0, i);
    return ((uint64_t *)(void *)dest)[i] ==
           word((int)(i / n), op == ALLTOALL ? me : 0, i % n);
}

static void verify(int op, size_t size)
{
    size_t n = dest_bytes(op, size) / 8, i = 0;
    while (i < n && right(op, size / 8, i))
        i++;
    if (i < n) {
        fprintf(stderr,
                "coll_bench: %s of %zu bytes: on PE %d of %d element %zu is wrong\n",
                op_names[op], size, me, npes, i);
        coll_lib.stop(1);
    }
}

static void open_buffers(void)
{
    size_t src_most = 0, dest_most = 0;
    size_t row = 2 * ROWS_MAX * sizeof(double);
    for (int op = 0; op < OPS; op++)
        for (int i = 0; i < common.sizes; i++)
            if ((options.ops[op] || op == BROADCAST) && fits(op, common.size[i])) {
                size_t from = src_bytes(op, common.size[i]);
                size_t to = dest_bytes(op, common.size[i]);
                src_most = from > src_most ? from : src_most;
                dest_most = to > dest_most ? to : dest_most;
            }
    src = coll_need("coll_bench", src_most);
    dest = coll_need("coll_bench", dest_most);
    all = coll_need("coll_bench", row * (size_t)npes);
    stamps = coll_need("coll_bench", row);
}

/* -- time --------------------------------------------------------------------------- */
static void call(int op, size_t size)
{
    switch (op) {
    case BARRIER:
        coll_lib.barrier();
        break;
    case ALLREDUCE:
        coll_lib.allreduce((double *)(void *)dest, (double *)(void *)src, size / 8);
        break;
    case INSCAN:
        coll_lib.inscan((double *)(void *)dest, (double *)(void *)src, size / 8);
        break;
    case EXSCAN:
        coll_lib.exscan((double *)(void *)dest, (double *)(void *)src, size / 8);
        break;
    case BROADCAST:
        coll_lib.broadcast(dest, src, size);
        break;
    case FCOLLECT:
        coll_lib.fcollect(dest, src, size);
        break;
    default:
        coll_lib.alltoall(dest, src, size);
        break;
    }
}

static bool is_late(uint64_t k)
{
    int late = 0, group;

    if (options.group == 0)
        return true;
    group = me / options.group;
    if (options.random_of_group) /* the same number on all PEs of the group */
        late = (int)(coll_uniform(common.seed, -1 - group, k) * options.group);
    return me % options.group == late && me != 0;
}

static void delay(double unit)
{
    uint64_t k = options.fixed ? 0 : ++iteration;
    if (!is_late(k))
        return;
    coll_delay(options.mif * coll_uniform(common.seed, me, k) * unit, common.sleeping);
}

static double stamp(const double *row, int pe, long rows, int which)
{
    return row[2 * pe * rows + which];
}

/* Adds the rows of all PEs; returns the seconds from the first to the last of them. */
static double add_rows(struct sums *s, long rows, double calls)
{
    double mean = 0, first = all[0], end = 0;
    for (long i = 0; i < rows; i++) {
        double *row = all + 2 * i, arrival = 0, from = row[0], until = 0;
        for (int pe = 0; pe < npes; pe++) {
            double in = stamp(row, pe, rows, 0), out = stamp(row, pe, rows, 1);
            s->max[pe] += out - in;
            mean += (out - in) / npes;
            arrival = in > arrival ? in : arrival;
            from = in < from ? in : from;
            until = out > until ? out : until;
        }
        s->last += until - arrival;
        s->skew += arrival - from;
        first = from < first ? from : first;
        end = until > end ? until : end;
    }
    if (s->batches < BATCHES_MAX)
        batch_us[s->batches++] = mean / calls * 1e6;
    s->mean += mean;
    s->rows += (double)rows;
    s->calls += calls;
    return end - first;
}

/* n calls; all PEs return the same seconds. */
static double batch(struct sums *s, int op, size_t size, double unit, long n)
{
    long rows = options.loop ? 1 : n;
    for (long i = 0; i < rows; i++) {
        coll_lib.barrier();
        if (options.imbalanced)
            delay(unit);
        stamps[2 * i] = coll_now();
        for (long j = 0; j < n / rows; j++)
            call(op, size);
        stamps[2 * i + 1] = coll_now();
    }
    coll_lib.gather(all, stamps, 2 * (size_t)rows);
    return add_rows(s, rows, (double)n);
}

static void line(const char *name, const char *suffix, size_t size, double value,
                 const char *unit)
{
    printf("%s%s %zu %.*f %s\n", name, suffix, size, value < 10 ? 3 : 2, value, unit);
}

static void print_point(const char *name, struct sums *s, size_t size, double unit)
{
    double slowest = 0;
    for (int pe = 0; pe < npes; pe++)
        slowest = s->max[pe] > slowest ? s->max[pe] : slowest;
    line(name, "", size, s->mean / s->calls * 1e6, "us");
    line(name, ".mid", size, coll_median(batch_us, s->batches), "us");
    line(name, ".max", size, slowest / s->calls * 1e6, "us");
    if (!options.loop)
        line(name, ".last", size, s->last / s->rows * 1e6, "us");
    if (options.imbalanced)
        line(name, ".skew", size, s->skew / s->rows / unit, "alpha");
    fflush(stdout);
}

/* The warm-up doubles the batch until it lasts its share of the time. */
static void measure(int op, size_t size, double unit)
{
    static struct sums s;
    long most = options.loop ? LOOP_MAX : ROWS_MAX, n = 1;
    int least = options.imbalanced ? IMBALANCED_MIN : BATCHES_MIN;
    iteration = 0;
    memset(&s, 0, sizeof(s));
    while (batch(&s, op, size, unit, n) < common.seconds / PARTS && n < most)
        n *= 2;
    memset(&s, 0, sizeof(s));
    for (double t = 0; t < common.seconds || s.batches < least;)
        t += s.batches < BATCHES_MAX ? batch(&s, op, size, unit, n) : common.seconds;
    if (me == 0)
        print_point(op_names[op], &s, size, unit);
}

static void point(int op, size_t size, double unit)
{
    if (op == BARRIER) {
        measure(op, 0, unit);
    } else if (!fits(op, size)) {
        if (me == 0)
            printf("# %s %zu is left out: its buffers on %d PEs are more than %g MiB\n",
                   op_names[op], size, npes, options.cap);
    } else {
        fill(op, size);
        coll_lib.barrier();
        call(op, size);
        verify(op, size);
        measure(op, size, unit);
        verify(op, size);
    }
}

static void all_points(void)
{
    for (int op = 0; op < OPS; op++)
        for (int i = 0; options.ops[op] && i < (op == BARRIER ? 1 : common.sizes); i++)
            point(op, common.size[i], alpha[op == BARRIER ? COLL_SIZES_MAX : i]);
}

/* -- alpha -------------------------------------------------------------------------- */
/* Seconds for n round trips, the same on all PEs. */
static double exchange(size_t size, long n)
{
    coll_lib.barrier();
    stamps[0] = coll_now();
    coll_lib.pingpong(dest, src, size, n);
    stamps[1] = coll_now();
    coll_lib.gather(all, stamps, 2);
    return all[1] - all[0];
}

static double pingpong_alpha(size_t size)
{
    double seconds[PINGPONGS];
    long n = 1;
    while (exchange(size, n) < common.seconds / PINGPONGS && n < LOOP_MAX)
        n *= 2;
    for (int i = 0; i < PINGPONGS; i++)
        seconds[i] = exchange(size, n) / (double)n / 2;
    return coll_median(seconds, PINGPONGS);
}

/* alpha[i] is that of common.size[i], alpha[COLL_SIZES_MAX] that of 8 bytes. */
static size_t alpha_size(int i)
{
    return i == COLL_SIZES_MAX ? 8 : common.size[i];
}

static bool needs_alpha(int i)
{
    return i == COLL_SIZES_MAX || (i < common.sizes && fits(BROADCAST, common.size[i]));
}

static void read_alpha(const char *name)
{
    char row[256];
    size_t size;
    double us;
    FILE *f = fopen(name, "r");
    if (f == NULL) {
        coll_wrong("%s cannot be opened", name);
        return;
    }
    while (fgets(row, sizeof(row), f) != NULL)
        if (sscanf(row, "alpha %zu %lf us", &size, &us) == 2 && us > 0)
            for (int i = 0; i <= COLL_SIZES_MAX; i++)
                alpha[i] = alpha_size(i) == size ? us * 1e-6 : alpha[i];
    fclose(f);
    for (int i = 0; i <= COLL_SIZES_MAX; i++)
        if (needs_alpha(i) && alpha[i] == 0)
            coll_wrong("%s has no line 'alpha %zu ... us'", name, alpha_size(i));
}

static void print_alpha(int i)
{
    if (me == 0 && alpha[i] > 0)
        printf("%salpha %zu %.4f us\n", options.calibrate ? "" : "# ", alpha_size(i),
               alpha[i] * 1e6);
    fflush(stdout);
}

static void measure_alpha(void)
{
    for (int i = 0; i < common.sizes; i++)
        alpha[i] = needs_alpha(i) ? pingpong_alpha(common.size[i]) : 0;
    alpha[COLL_SIZES_MAX] = common.size[0] == 8 ? alpha[0] : pingpong_alpha(8);
    if (common.size[0] != 8)
        print_alpha(COLL_SIZES_MAX);
    for (int i = 0; i < common.sizes; i++)
        print_alpha(i);
}

/* -- options ------------------------------------------------------------------------ */
static void choose_op(const char *name)
{
    int op = 0;
    while (op < OPS && strcmp(op_names[op], name) != 0)
        op++;
    if (op == OPS)
        coll_wrong("'%s' is none of the operations barrier, allreduce, broadcast, "
                   "fcollect, alltoall, inscan, exscan",
                   name);
    else if (op >= DEFAULT_OPS && coll_lib.inscan == NULL)
        coll_wrong("%s does not have the operation %s", coll_lib.name, name);
    else
        options.ops[op] = true;
}

static void set_late(const char *text)
{
    const char *n = strchr(text, ':');
    bool is_first = strncmp(text, "first:", 6) == 0;

    options.random_of_group = strncmp(text, "random:", 7) == 0;
    if (!is_first && !options.random_of_group)
        coll_wrong("-l %s should be like first:2 or random:2", text);
    else
        options.group = (int)coll_number("-l", n + 1, 1, COLL_PES_MAX);
}

static void set_option(int option, const char *text)
{
    switch (option) {
    case 'a':
        options.alpha_file = text;
        break;
    case 'b':
        options.loop = true;
        break;
    case 'c':
        options.calibrate = true;
        break;
    case 'f':
        options.fixed = true;
        break;
    case 'i':
        options.imbalanced = true;
        options.mif = coll_number("MIF", text, 0, 1e6);
        break;
    case 'l':
        set_late(text);
        break;
    case 'm':
        options.cap = coll_number("-m", text, 1, 1e9);
        break;
    default:
        coll_no_option();
        break;
    }
}

static void parse(int argc, char **argv)
{
    common.sizes = coll_sizes("8,64,512,4K,32K,64K,256K,1M,4M,16M", common.size);
    int first = coll_parse(&common, argc, argv, "a:bcd:fhi:l:m:r:s:t:", set_option);
    for (int i = first; i < argc; i++)
        choose_op(argv[i]);
    for (int op = 0; first == argc && op < DEFAULT_OPS; op++)
        options.ops[op] = true;
    if (options.loop && options.imbalanced)
        coll_wrong("-b and -i cannot be combined");
    if (options.group > 0 && !options.imbalanced)
        coll_wrong("-l needs -i, the delays of the late PEs");
    if ((options.calibrate || (options.imbalanced && options.alpha_file == NULL)) &&
        npes < 2)
        coll_wrong("alpha can be measured only with at least two PEs");
    if (options.alpha_file != NULL)
        read_alpha(options.alpha_file);
}

static void print_head(void)
{
    printf(
        "# coll_bench on %s: %d PEs on %ld processors, %g s each, buffers up to %g MiB\n",
        coll_lib.name, npes, sysconf(_SC_NPROCESSORS_ONLN), common.seconds, options.cap);
    if (options.imbalanced)
        printf("# imbalanced, MIF %g, %s, %s, seed %llu\n", options.mif,
               options.fixed ? "fixed" : "fresh in each iteration",
               common.sleeping ? "sleeping" : "busy", (unsigned long long)common.seed);
    else
        printf("# %s\n", options.calibrate ? "half of a ping-pong"
                         : options.loop    ? "back to back"
                                           : "balanced");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    coll_lib.init(&argc, &argv);
    me = coll_lib.me();
    npes = coll_lib.npes();
    parse(argc, argv);
    coll_begin("coll_bench", usage_text, common.help);
    open_buffers();
    if (me == 0)
        print_head();
    if (options.calibrate || (options.imbalanced && options.alpha_file == NULL))
        measure_alpha();
    if (!options.calibrate)
        all_points();
    coll_lib.barrier();
    coll_lib.fini();
    return 0;
}
