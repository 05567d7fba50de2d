/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mini_halo.c - the exchange of a halo alone: in each iteration MESSAGES messages of n
 * bytes go to each of 6 neighbours (PEs +-1, +-2, +-3), shared by all threads of all PEs,
 * and each thread completes its own.  The number of messages does not depend on the
 * numbers of PEs and threads.
 */
#include "mini.h"

#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS = 6, MESSAGES = 64, ITERATIONS = 200 };

static struct {
    struct mini_job job;
    int each;       /* messages of a PE to a neighbour in an iteration */
    size_t n;       /* doubles of a message */
    double *in;     /* symmetric: messages by direction and number */
    double *source; /* as `in` */
} halo;

static const char *halo_check(const struct mini_job *job)
{
    if (job->n % sizeof(double) != 0)
        return "the bytes of a message are not a multiple of 8";
    return MESSAGES % (job->npes * job->threads) != 0
               ? "64 messages cannot be shared evenly"
               : NULL;
}

static int halo_neighbour(int k)
{
    int distance = k % 2 == 0 ? k / 2 + 1 : -(k / 2 + 1), npes = halo.job.npes;

    return ((halo.job.me + distance) % npes + npes) % npes;
}

static double *halo_message(double *area, int k, int m)
{
    return area + (size_t)(k * halo.each + m) * halo.n;
}

/* Element i of message m that PE `pe` sends in direction k */
static double halo_value(int pe, int k, int m, size_t i)
{
    return pe * 1e6 + k * 1e4 + m * 1e2 + (double)(i % 97);
}

static void halo_open(const struct mini_job *job)
{
    halo.job = *job;
    halo.each = MESSAGES / job->npes;
    halo.n = job->n / sizeof(double);
    size_t bytes = NEIGHBOURS * (size_t)halo.each * job->n;
    halo.in = mini_need(bytes);
    halo.source = mini_memory(bytes);
    for (int k = 0; k < NEIGHBOURS; k++)
        for (int m = 0; m < halo.each; m++)
            for (size_t i = 0; i < halo.n; i++)
                halo_message(halo.source, k, m)[i] = halo_value(job->me, k, m, i);
}

static void halo_close(void)
{
    shmem_free(halo.in);
    free(halo.source);
}

static void halo_begin(void)
{
    memset(halo.in, 0, NEIGHBOURS * (size_t)halo.each * halo.job.n);
}

static void halo_run(struct mini_worker *w)
{
    double start = coll_now();

    for (int i = 0; i < ITERATIONS; i++) {
        for (int k = 0; k < NEIGHBOURS; k++)
            for (int m = w->id; m < halo.each; m += w->threads)
                shmem_ctx_putmem_nbi(w->ctx, halo_message(halo.in, k, m),
                                     halo_message(halo.source, k, m), halo.job.n,
                                     halo_neighbour(k));
        shmem_ctx_quiet(w->ctx);
    }
    w->comm_s += coll_now() - start;
    mini_sum(w, 0); /* the puts of all PEs are complete */
    if (w->id == 0)
        mini_spoil(halo.in);
}

static void halo_verify(void)
{
    for (int k = 0; k < NEIGHBOURS; k++) {
        int sender = halo_neighbour(k ^ 1);
        for (int m = 0; m < halo.each; m++)
            for (size_t i = 0; i < halo.n; i++)
                if (halo_message(halo.in, k, m)[i] != halo_value(sender, k, m, i))
                    mini_fail(
                        "halo: element %zu of message %d in direction %d at PE %d of "
                        "%d is %g",
                        i, m, k, halo.job.me, halo.job.npes,
                        halo_message(halo.in, k, m)[i]);
    }
}

const struct mini_app mini_halo = {
    .name = "halo",
    .usual = "8,4096",
    .check_size = halo_check,
    .open = halo_open,
    .begin = halo_begin,
    .run = halo_run,
    .verify = halo_verify,
    .close = halo_close,
};
