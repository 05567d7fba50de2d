/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_bench.c - measures the reduction kernels, called as in a local reduction: those of
 * each instruction set that the processor supports, the same source without
 * vectorization (scalar; baseline is vectorized by the compiler for its default target),
 * and memcpy.
 *
 *   op_bench [-a] [-f FORM] [-s BYTES]... [-r ROUNDS] [-t SECONDS] [OPERATION]...
 *     -a  all operations and types, not a selection
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
};

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
    bool all;
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
    double rate[ROUNDS_MAX], median;
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

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void once(const struct op_fns *f, enum form form, size_t n, size_t bytes)
{
    if (f == NULL)
        memcpy(o.out, o.a, bytes);
    else if (form == TWO)
        f->two(o.a, o.b, n);
    else
        f->three(o.out, o.a, o.b, n);
    __asm__ __volatile__("" ::: "memory");
}

/* GB/s of results */
static double measure(const struct op_fns *f, const struct operation *p, enum form form,
                      size_t bytes)
{
    long times = 0;
    double spent = 0;
    bool cold = bytes > CACHES / 4;

    kernels.nontemporal_op = form == AROUND ? 0 : SIZE_MAX;
    do {
        if (cold)
            memset(o.junk, (int)times, JUNK);
        double begin = now();
        long turns = cold ? 1 : 1 + (1 << 16) / (long)bytes;
        for (long i = 0; i < turns; i++)
            once(f, form, bytes / p->bytes, bytes);
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

static void run_line(const struct operation *p, enum form form, size_t bytes)
{
    struct contestant *best = &contestants[BASELINE];

    memset(o.a, 1, bytes); /* no denormal or growing values */
    memset(o.b, 0, bytes);
    for (int r = 0; r < o.rounds; r++)
        for (int i = 0; i < ncontestants; i++)
            contestants[i].rate[r] = measure(kernel(&contestants[i], p), p, form, bytes);
    printf("%-7s %9zu  %-20s", form_names[form], bytes, p->name);
    for (int i = 0; i < ncontestants; i++) {
        struct contestant *c = &contestants[i];
        qsort(c->rate, (size_t)o.rounds, sizeof c->rate[0], by_value);
        c->median = c->rate[o.rounds / 2];
        printf(" %8.2f", c->median);
        if (i > BASELINE && c->median > best->median)
            best = c;
    }
    printf(" %8.2f %7.0f%%\n", best->median / contestants[SCALAR].median,
           100 * 3 * best->median / (2 * contestants[MEMCPY].median));
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
    printf("# %-5s %9s  %-20s", "form", "bytes", "operation");
    for (int i = 0; i < ncontestants; i++)
        printf(" %8s", contestants[i].name);
    printf(" %8s %8s\n", "/scalar", "traffic");
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
    fprintf(stderr, "usage: op_bench [-a] [-f two|three|around] [-s BYTES]... "
                    "[-r ROUNDS] [-t SECONDS] [OPERATION]...\n");
    return 2;
}

static int read_options(int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "af:s:r:t:")) != -1) {
        if (c == 'a')
            o.all = true;
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
