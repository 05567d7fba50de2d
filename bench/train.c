/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * train.c - a loop like that of data-parallel training; prints `train SIZE N steps/s`.
 *   oshrun -n 4 train [-s sizes] [-k negotiations] [-c us] [-j us] [-d busy|sleep]
 * A step: k times { a k-th of the computation; an allreduce of 8 bytes, in which the PEs
 * agree on what is ready }; then one allreduce of all gradients, fused into SIZE bytes.
 * The computation of a step takes -c us and on each PE a random part of -j us more, by
 * the clock; the j-th step has the same ones in each run and with each library.  The
 * loop ends when PE 0 has seen the time pass, which it tells in a negotiation.  Line
 * `train.wait`: the mean share of the time in which a PE is in a collective.  Uses:
 * coll.h.
 */
#include "coll.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NEGOTIATIONS_MAX = 1000, WARM_UP = 2, STEPS_MIN = 5 };

static const char usage_text[] =
    "[option...]\n"
    "  -t S       seconds for each size (1)\n"
    "  -s SIZES   of the fused allreduce, like 1M,16M (1M,16M)\n"
    "  -k N       negotiations before it (4)\n"
    "  -c US      computation of a step (1000)\n"
    "  -j US      what it may last longer on a PE (1000)\n"
    "  -d HOW     the computation is busy (default) or sleep\n"
    "  -r N       another row of random numbers (1)\n";

static struct {
    double seconds, compute, jitter;
    int negotiations, sizes;
    bool sleeping, help;
    uint64_t seed;
    size_t size[COLL_SIZES_MAX];
} options = {.seconds = 1, .compute = 1000, .jitter = 1000, .negotiations = 4, .seed = 1};

static int me, npes;
static double *gradients, *fused, *vote, *votes, *all; /* symmetric */
static double waited;                                  /* seconds in collectives */

static void allreduce(double *dest, const double *src, size_t n)
{
    double start = coll_now();
    coll_lib.allreduce(dest, src, n);
    waited += coll_now() - start;
}

/* All PEs return the same: whether PE 0 wants an end. */
static bool step(uint64_t number, size_t n, bool enough)
{
    double part = coll_uniform(options.seed, me, number) * options.jitter;
    double seconds = (options.compute + part) * 1e-6 / options.negotiations;
    bool end = false;
    for (int i = 0; i < options.negotiations; i++) {
        coll_delay(seconds, options.sleeping);
        *vote = me == 0 && enough && i == 0;
        allreduce(votes, vote, 1);
        end = end || *votes > 0;
    }
    allreduce(fused, gradients, n);
    return end;
}

static void verify(size_t n)
{
    size_t i = 0;
    while (i < n && fused[i] == npes * ((npes - 1) / 2.0 + (double)(i % 7)))
        i++;
    if (i < n) {
        fprintf(stderr, "train: on PE %d of %d element %zu of the sum is wrong\n", me,
                npes, i);
        coll_lib.stop(1);
    }
}

static void print_size(size_t size, double seconds, uint64_t steps)
{
    double share = 0;
    for (int pe = 0; pe < npes; pe++)
        share += all[pe] / npes;
    printf("train %zu %.3f steps/s\n", size, (double)steps / seconds);
    printf("train.wait %zu %.2f %%\n", size, 100 * share);
    fflush(stdout);
}

static void measure(size_t size)
{
    size_t n = size / 8;
    uint64_t steps = 0;
    for (size_t i = 0; i < n; i++)
        gradients[i] = me + (double)(i % 7);
    memset(fused, 0xff, size);
    for (int i = 0; i < WARM_UP; i++)
        step(0, n, false);
    coll_lib.barrier();
    waited = 0;
    double start = coll_now();
    bool enough = false;
    do
        enough = coll_now() - start >= options.seconds && steps + 1 >= STEPS_MIN;
    while (!step(++steps, n, enough));
    double seconds = coll_now() - start;
    verify(n);
    double share = waited / seconds;
    coll_lib.gather(all, &share, 1);
    if (me == 0)
        print_size(size, seconds, steps);
    coll_lib.barrier();
}

static double *need(size_t bytes)
{
    double *p = coll_lib.alloc(bytes);
    if (p == NULL) {
        fprintf(stderr,
                "train: no symmetric memory for %zu MiB on PE %d; "
                "SHMEM_SYMMETRIC_SIZE gives more\n",
                (bytes >> 20) + 1, me);
        coll_lib.stop(1);
    }
    memset(p, 0, bytes);
    return p;
}

static void open_buffers(void)
{
    size_t most = 0;
    for (int i = 0; i < options.sizes; i++)
        most = options.size[i] > most ? options.size[i] : most;
    gradients = need(most);
    fused = need(most);
    vote = need(sizeof(*vote));
    votes = need(sizeof(*votes));
    all = need((size_t)npes * sizeof(*all));
}

static void take(int option, const char *text)
{
    switch (option) {
    case 'c':
        options.compute = coll_number("-c", text, 0, 1e7);
        break;
    case 'd':
        options.sleeping = coll_sleeping(text);
        break;
    case 'h':
        options.help = true;
        break;
    case 'j':
        options.jitter = coll_number("-j", text, 0, 1e7);
        break;
    case 'k':
        options.negotiations = (int)coll_number("-k", text, 1, NEGOTIATIONS_MAX);
        break;
    case 'r':
        options.seed = (uint64_t)coll_number("-r", text, 0, 1e9);
        break;
    case 's':
        options.sizes = coll_sizes(text, options.size);
        break;
    case 't':
        options.seconds = coll_number("-t", text, 0, 1e6);
        break;
    default:
        coll_wrong("there is no such option, or its value is missing; -h: help");
    }
}

static void parse(int argc, char **argv)
{
    int option;
    opterr = 0;
    options.sizes = coll_sizes("1M,16M", options.size);
    while ((option = getopt(argc, argv, "c:d:hj:k:r:s:t:")) != -1)
        take(option, optarg);
    if (optind < argc)
        coll_wrong("'%s' is no option", argv[optind]);
}

int main(int argc, char **argv)
{
    coll_lib.init(&argc, &argv);
    me = coll_lib.me();
    npes = coll_lib.npes();
    parse(argc, argv);
    coll_begin("train", usage_text, options.help);
    open_buffers();
    if (me == 0)
        printf(
            "# train on %s: %d PEs on %ld processors; a step computes %g to %g us (%s)\n"
            "# and has %d negotiations\n",
            coll_lib.name, npes, sysconf(_SC_NPROCESSORS_ONLN), options.compute,
            options.compute + options.jitter, options.sleeping ? "sleeping" : "busy",
            options.negotiations);
    for (int i = 0; i < options.sizes; i++)
        measure(options.size[i]);
    coll_lib.barrier();
    coll_lib.fini();
    return 0;
}
