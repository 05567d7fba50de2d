/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * train.c - a loop like that of data-parallel training; prints `train SIZE N steps/s`.
 *   oshrun -n 4 train [-s sizes] [-k negotiations] [-c us] [-j us] [-d busy|sleep]
 * A step: k times { a k-th of the computation; an allreduce of 8 bytes, in which the PEs
 * agree on what is ready }; then one allreduce of all gradients, fused into SIZE bytes.
 * The computation of a step takes -c us and on each PE a random part of -j us more, by
 * the clock; the j-th step has the same delays in each run and with each library.  When
 * the time is over, PE 0 announces the end of the loop in a negotiation.  Line
 * `train.wait`: the mean fraction of the time that a PE spends in collectives.  Uses:
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
    "  -c US      time of the computation of a step (1000)\n"
    "  -j US      maximum of the additional random time on a PE (1000)\n"
    "  -d HOW     the computation is busy (default) or sleep\n"
    "  -r N       seed of the random numbers (1)\n";

static struct coll_options common = {.seconds = 1, .seed = 1};
static struct {
    double compute, jitter;
    int negotiations;
} options = {.compute = 1000, .jitter = 1000, .negotiations = 4};

static int me, npes;
static double *gradients, *fused, *vote, *votes, *all; /* symmetric */
static double waited;                                  /* seconds in collectives */

static void allreduce(double *dest, const double *src, size_t n)
{
    double start = coll_now();
    coll_lib.allreduce(dest, src, n);
    waited += coll_now() - start;
}

/* Returns, on all PEs, whether PE 0 ends the loop. */
static bool step(uint64_t number, size_t n, bool enough)
{
    double part = coll_uniform(common.seed, me, number) * options.jitter;
    double seconds = (options.compute + part) * 1e-6 / options.negotiations;
    bool end = false;
    for (int i = 0; i < options.negotiations; i++) {
        coll_delay(seconds, common.sleeping);
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
        enough = coll_now() - start >= common.seconds && steps + 1 >= STEPS_MIN;
    while (!step(++steps, n, enough));
    double seconds = coll_now() - start;
    verify(n);
    double share = waited / seconds;
    coll_lib.gather(all, &share, 1);
    if (me == 0)
        print_size(size, seconds, steps);
    coll_lib.barrier();
}

static void open_buffers(void)
{
    size_t most = 0;
    for (int i = 0; i < common.sizes; i++)
        most = common.size[i] > most ? common.size[i] : most;
    gradients = coll_need("train", most);
    fused = coll_need("train", most);
    vote = coll_need("train", sizeof(*vote));
    votes = coll_need("train", sizeof(*votes));
    all = coll_need("train", (size_t)npes * sizeof(*all));
}

static void set_option(int option, const char *text)
{
    switch (option) {
    case 'c':
        options.compute = coll_number("-c", text, 0, 1e7);
        break;
    case 'j':
        options.jitter = coll_number("-j", text, 0, 1e7);
        break;
    case 'k':
        options.negotiations = (int)coll_number("-k", text, 1, NEGOTIATIONS_MAX);
        break;
    default:
        coll_no_option();
        break;
    }
}

static void parse(int argc, char **argv)
{
    common.sizes = coll_sizes("1M,16M", common.size);
    int first = coll_parse(&common, argc, argv, "c:d:hj:k:r:s:t:", set_option);
    if (first < argc)
        coll_wrong("'%s': unexpected operand", argv[first]);
}

int main(int argc, char **argv)
{
    coll_lib.init(&argc, &argv);
    me = coll_lib.me();
    npes = coll_lib.npes();
    parse(argc, argv);
    coll_begin("train", usage_text, common.help);
    open_buffers();
    if (me == 0)
        printf(
            "# train on %s: %d PEs on %ld processors; a step computes %g to %g us (%s)\n"
            "# and has %d negotiations\n",
            coll_lib.name, npes, sysconf(_SC_NPROCESSORS_ONLN), options.compute,
            options.compute + options.jitter, common.sleeping ? "sleeping" : "busy",
            options.negotiations);
    for (int i = 0; i < common.sizes; i++)
        measure(common.size[i]);
    coll_lib.barrier();
    coll_lib.fini();
    return 0;
}
