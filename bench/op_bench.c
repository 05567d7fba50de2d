/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_bench.c - measures the reduction kernels, called as in a local reduction: those of
 * each instruction set that the processor supports, the same source without
 * vectorization (scalar; baseline is vectorized by the compiler for its default target),
 * and memcpy.
 *
 *   op_bench [-a] [-o] [-f FORM] [-s BYTES]... [-r ROUNDS] [-t SECONDS] [OPERATION]...
 *     -a  all operations and types, not a selection
 *     -o  each operand 0, 8, 16 and 48 bytes after the start of a cache line, all
 *         combinations: the columns "offsets" (acc,in or out,a,b) and "aligned", the
 *         ratio of the best kernel's rates with these offsets and without.  The fastest
 *         round counts, because the rates of a busy machine have outliers in one
 *         direction.
 *     -f  two (acc = acc op in), three (out = a op b), or around (three, with
 *         non-temporal stores); default: all of them
 *     -s  bytes of an operand (k, m); default: 4k, 32k, 256k, 64m
 *
 * The contestants of a line alternate; a figure is the median of the rounds, in GB/s of
 * results.  Before operands that exceed the caches are measured, the caches are filled
 * with other data.  A kernel moves three bytes per byte of result (two loads, a store),
 * memcpy two: "traffic" is the ratio of the bytes per second of the best kernel and of
 * memcpy.
 */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pgas/datatype/op/op_table.h"

enum {
    ROUNDS_MAX = 101,
    SIZES_MAX = 16,
    CACHES = 32 << 20, /* larger operands exceed the caches */
    JUNK = 2 * CACHES,
    APART = 4096 + 256, /* operands are not in the same cache sets */
    ALIGNMENT = 4096,
    OPERANDS = 3,
    OFFSETS = 4,           /* of one operand */
    COMBINATIONS_MAX = 64, /* of three */
};
static const size_t offsets[OFFSETS] = {0, 8, 16, 48};

enum form { TWO, THREE, AROUND, FORMS };
static const char *const form_names[] = {"two", "three", "around"};

struct operation {
    const char *name;
    enum op op;
    enum op_kind kind;
    size_t size, bytes; /* argument of op_find; of an element */
    bool chosen;        /* without -a */
};

#define ROW(NAME, OP, KIND, SIZE, BYTES, CHOSEN)                                         \
    {NAME, OP_##OP, OP_##KIND, SIZE, BYTES, CHOSEN},
#define INT(OP, KIND, PREFIX, BITS, CHOSEN)                                              \
    ROW(#OP " " PREFIX #BITS, OP, KIND, BITS / 8, BITS / 8, CHOSEN)
#define INTS(OP, KIND, PREFIX, CHOSEN)                                                   \
    INT(OP, KIND, PREFIX, 8, CHOSEN)                                                     \
    INT(OP, KIND, PREFIX, 16, CHOSEN)                                                    \
    INT(OP, KIND, PREFIX, 32, CHOSEN) INT(OP, KIND, PREFIX, 64, CHOSEN)
#define REALS(OP, CHOSEN)                                                                \
    ROW(#OP " float", OP, FLT, 4, 4, CHOSEN)                                             \
    ROW(#OP " double", OP, FLT, 8, 8, CHOSEN)                                            \
    ROW(#OP " long double", OP, FLT, 16, 16, false)
#define COMPLEXES(OP, CHOSEN)                                                            \
    ROW(#OP " complex float", OP, CPLX, 8, 8, CHOSEN)                                    \
    ROW(#OP " complex double", OP, CPLX, 16, 16, CHOSEN)
#define PAIRS(OP)                                                                        \
    ROW(#OP " short_int", OP, PAIR_SINT, 2, 8, false)                                    \
    ROW(#OP " 2int", OP, PAIR_SINT, 4, 8, true)                                          \
    ROW(#OP " long_int", OP, PAIR_SINT, 8, 16, false)                                    \
    ROW(#OP " float_int", OP, PAIR_FLT, 4, 8, false)                                     \
    ROW(#OP " double_int", OP, PAIR_FLT, 8, 16, true)

/* clang-format off */
static const struct operation operations[] = {
    INTS(SUM, UINT, "int", true) REALS(SUM, true)
    INTS(PROD, UINT, "int", true) REALS(PROD, false)
    INTS(MAX, SINT, "int", true) INTS(MAX, UINT, "uint", false) REALS(MAX, true)
    INTS(MIN, SINT, "int", false) INTS(MIN, UINT, "uint", false) REALS(MIN, false)
    INTS(AND, UINT, "int", false) INTS(OR, UINT, "int", false)
    INTS(XOR, UINT, "int", false)
    INTS(LAND, UINT, "int", false) INTS(LOR, UINT, "int", false)
    INTS(LXOR, UINT, "int", false)
    COMPLEXES(SUM, false) COMPLEXES(PROD, true) PAIRS(MAXLOC) PAIRS(MINLOC)
};
/* clang-format on */
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static struct {
    bool all, offsets;
    bool form[FORMS];
    size_t size[SIZES_MAX];
    int sizes, rounds;
    double seconds;
    char **names;
    int nnames;
    char *a, *b, *out, *junk;
} o = {.rounds = 9, .seconds = 0.001};

/* ---- contestants ----------------------------------------------------------------- */

enum { MEMCPY, SCALAR, BASELINE, WIDER, CONTESTANTS = WIDER + ISAS };

struct contestant {
    const char *name;
    enum isa isa;
};

static struct contestant contestants[CONTESTANTS] = {
    [MEMCPY] = {.name = "memcpy"},
    [SCALAR] = {.name = "scalar"},
};
static int ncontestants = BASELINE;

static void find_contestants(void)
{
    for (enum isa isa = ISA_BASELINE; isa < ISAS; isa++)
        if (isa_here(isa))
            contestants[ncontestants++] =
                (struct contestant){.name = isa_name(isa), .isa = isa};
}

/* NULL: memcpy */
static const struct op_fns *kernel(const struct contestant *c, const struct operation *p)
{
    unsigned log = (unsigned)__builtin_ctzl(p->size);
    const struct op_fns *f = &op_scalar[p->kind][p->op][log];

    if (c == &contestants[MEMCPY])
        return NULL;
    if (c == &contestants[SCALAR])
        return f->two != NULL ? f : &op_rest[p->kind][p->op][log];
    op_init(c->isa, SIZE_MAX);
    return op_find(p->op, p->kind, p->size);
}

/* ---- measurement ----------------------------------------------------------------- */

/* GB/s, of all rounds, in ascending order after run_line */
static double rates[COMBINATIONS_MAX][CONTESTANTS][ROUNDS_MAX];

static int combinations(enum form form)
{
    return !o.offsets ? 1 : form == TWO ? OFFSETS * OFFSETS : COMBINATIONS_MAX;
}

/* Of the result, the first and the second operand; the first is the result of TWO. */
static void combination_offsets(enum form form, int x, size_t at[OPERANDS])
{
    at[2] = offsets[x % OFFSETS];
    at[1] = offsets[x / OFFSETS % OFFSETS];
    at[0] = form == TWO ? at[1] : offsets[x / OFFSETS / OFFSETS];
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void once(const struct op_fns *f, enum form form, const size_t at[OPERANDS],
                 size_t n, size_t bytes)
{
    char *out = o.out + at[0], *a = o.a + at[1], *b = o.b + at[2];

    if (f == NULL)
        memcpy(out, form == TWO ? b : a, bytes);
    else if (form == TWO)
        f->two(a, b, n);
    else
        f->three(out, a, b, n);
    __asm__ __volatile__("" ::: "memory");
}

/* GB/s of results */
static double measure(const struct op_fns *f, const struct operation *p, enum form form,
                      int x, size_t bytes)
{
    size_t at[OPERANDS];
    long times = 0;
    double spent = 0;
    bool cold = bytes > CACHES / 4;

    combination_offsets(form, x, at);
    kernels.nontemporal_op = form == AROUND ? 0 : SIZE_MAX;
    do {
        if (cold)
            memset(o.junk, (int)times, JUNK);
        double begin = now();
        long turns = cold ? 1 : 1 + (1 << 16) / (long)bytes;
        for (long i = 0; i < turns; i++)
            once(f, form, at, bytes / p->bytes, bytes);
        spent += now() - begin;
        times += turns;
    } while (spent < o.seconds && !cold);
    return (double)times * (double)bytes / spent * 1e-9;
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

/* The index of the rate that counts */
static int figure(void)
{
    return o.offsets ? o.rounds - 1 : o.rounds / 2;
}

/* The best contestant with these offsets, but for scalar and memcpy */
static double best_rate(int x)
{
    double best = 0;

    for (int i = BASELINE; i < ncontestants; i++)
        if (rates[x][i][figure()] > best)
            best = rates[x][i][figure()];
    return best;
}

static void print_line(const struct operation *p, enum form form, size_t bytes, int x)
{
    size_t at[OPERANDS];
    char text[OPERANDS * 24];

    printf("%-7s %9zu  ", form_names[form], bytes);
    combination_offsets(form, x, at);
    if (form == TWO)
        snprintf(text, sizeof text, "%zu,%zu", at[1], at[2]);
    else
        snprintf(text, sizeof text, "%zu,%zu,%zu", at[0], at[1], at[2]);
    if (o.offsets)
        printf("%-8s  ", text);
    printf("%-20s", p->name);
    for (int i = 0; i < ncontestants; i++)
        printf(" %8.2f", rates[x][i][figure()]);
    printf(" %8.2f %7.0f%%", best_rate(x) / rates[x][SCALAR][figure()],
           100 * 3 * best_rate(x) / (2 * rates[x][MEMCPY][figure()]));
    if (o.offsets)
        printf(" %8.2f", best_rate(x) / best_rate(0));
    printf("\n");
}

static void run_line(const struct operation *p, enum form form, size_t bytes)
{
    memset(o.a, 1, bytes + offsets[OFFSETS - 1]); /* no denormal or growing values */
    memset(o.b, 0, bytes + offsets[OFFSETS - 1]);
    for (int r = 0; r < o.rounds; r++)
        for (int x = 0; x < combinations(form); x++)
            for (int i = 0; i < ncontestants; i++)
                rates[x][i][r] = measure(kernel(&contestants[i], p), p, form, x, bytes);
    for (int x = 0; x < combinations(form); x++)
        for (int i = 0; i < ncontestants; i++)
            qsort(rates[x][i], (size_t)o.rounds, sizeof rates[x][i][0], by_value);
    for (int x = 0; x < combinations(form); x++)
        print_line(p, form, bytes, x);
    fflush(stdout);
}

/* ---- program --------------------------------------------------------------------- */

static bool wanted(const struct operation *p)
{
    bool named = false;

    for (int i = 0; i < o.nnames; i++)
        named = named || strcmp(o.names[i], p->name) == 0;
    return o.nnames > 0 ? named : o.all || p->chosen;
}

static void run_table(enum form form, size_t bytes)
{
    printf("# %-5s %9s  ", "form", "bytes");
    if (o.offsets)
        printf("%-8s  ", "offsets");
    printf("%-20s", "operation");
    for (int i = 0; i < ncontestants; i++)
        printf(" %8s", contestants[i].name);
    printf(" %8s %8s%s\n", "/scalar", "traffic", o.offsets ? "  aligned" : "");
    for (size_t i = 0; i < OPERATIONS; i++)
        if (wanted(&operations[i]))
            run_line(&operations[i], form, bytes);
}

static char *operand(size_t bytes, int index)
{
    char *at = aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 8) * ALIGNMENT);

    if (at == NULL) {
        fprintf(stderr, "op_bench: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    memset(at, 0, bytes + 3 * APART);
    return at + index * APART / 2;
}

static size_t read_size(const char *text)
{
    char *end;
    size_t n = strtoul(text, &end, 10);

    return *end == 'm' ? n << 20 : *end == 'k' ? n << 10 : n;
}

static void read_form(const char *text)
{
    for (int f = 0; f < FORMS; f++)
        o.form[f] = o.form[f] || strcmp(text, form_names[f]) == 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: op_bench [-a] [-o] [-f two|three|around] [-s BYTES]... "
                    "[-r ROUNDS] [-t SECONDS] [OPERATION]...\n");
    return 2;
}

static int read_options(int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "aof:s:r:t:")) != -1) {
        if (c == 'a')
            o.all = true;
        else if (c == 'o')
            o.offsets = true;
        else if (c == 'f')
            read_form(optarg);
        else if (c == 's' && o.sizes < SIZES_MAX)
            o.size[o.sizes++] = read_size(optarg);
        else if (c == 'r')
            o.rounds = atoi(optarg);
        else if (c == 't')
            o.seconds = atof(optarg);
        else
            return usage();
    }
    o.names = argv + optind;
    o.nnames = argc - optind;
    return o.rounds < 1 || o.rounds > ROUNDS_MAX ? usage() : 0;
}

static void fill_in(void)
{
    static const size_t sizes[] = {4 << 10, 32 << 10, 256 << 10, 64 << 20};

    for (int i = 0; o.sizes == 0 && i < 4; i++)
        o.size[i] = sizes[i];
    if (o.sizes == 0)
        o.sizes = 4;
    if (!o.form[TWO] && !o.form[THREE] && !o.form[AROUND])
        o.form[TWO] = o.form[THREE] = o.form[AROUND] = true;
}

int main(int argc, char **argv)
{
    size_t most = 0;

    if (read_options(argc, argv) != 0)
        return 2;
    fill_in();
    find_contestants();
    for (int i = 0; i < o.sizes; i++)
        most = o.size[i] > most ? o.size[i] : most;
    o.a = operand(most, 0);
    o.b = operand(most, 1);
    o.out = operand(most, 2);
    o.junk = operand(JUNK, 0);
    for (int i = 0; i < o.sizes; i++)
        for (int f = 0; f < FORMS; f++)
            if (o.form[f])
                run_table((enum form)f, o.size[i]);
    return 0;
}
