/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scale.c - what detection and broadcast cost on many nodes, against their formulas, and
 * beside SWIM (swim.h) in the same simulator. tests/ft/protocol/scale NODES... For each
 * number of nodes it checks
 *   - one send per time unit: all nodes have a broadcast after ceil(log2 N) units;
 *   - frames of a broadcast: the sum of the degrees of all nodes;
 *   - degree - 1 random failed nodes that nobody knows: the broadcast reaches all others;
 *   - detection of a failed node within [delta, eta] plus delay, at all nodes.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pgas/ft/protocol/ft_bmg.h"
#include "pgas/transport/test/random.h"
#include "tests/ft/protocol/cluster.h"
#include "tests/ft/protocol/swim.h"

enum { TRIALS = 300, DETECTIONS = 5 };
#define UNIT  UINT64_C(1000)
#define DELTA (UINT64_C(1000) * 1000) /* of detection: a delay is 1/100 delta */

struct row {
    uint32_t n, degree;
    uint64_t frames, edges;
    double rounds, degraded_mean, degraded_max; /* of a broadcast, in units of UNIT */
    double jitter;          /* with random delays of 0.5 to 1.5 units */
    double detected, known; /* in units of delta after the failure, mean */
    double known_max;
    struct swim_result swim;
};

static unsigned failures;

static void require(bool condition, const struct row *r, const char *what)
{
    if (condition)
        return;
    failures++;
    printf("FAIL: %u nodes: %s\n", r->n, what);
}

static uint32_t log2_ceiling(uint32_t n)
{
    uint32_t log = 0;

    while ((UINT64_C(1) << log) < n)
        log++;
    return log;
}

/* Detection does not disturb the measured broadcast: the first heartbeats are over, and
 * the next are far away. */
static struct cluster *broadcast_open(uint32_t n, uint64_t delay_min, uint64_t delay_max)
{
    struct cluster_config config = {.nnodes = n,
                                    .pes_per_node = 1,
                                    .delta = 1000000 * UNIT,
                                    .eta = 2000000 * UNIT,
                                    .delay_min = delay_min,
                                    .delay_max = delay_max,
                                    .port_time = UNIT,
                                    .agreements = 1,
                                    .log_bytes = 256,
                                    .seed = n};
    struct cluster *c = cluster_open(&config);

    cluster_run(c, 100 * UNIT);
    c->frames = 0;
    return c;
}

/* Time until the last live node has the payload; -1 if one does not get it. */
static double broadcast_time(struct cluster *c, uint32_t root)
{
    uint64_t start = c->now, last = start;

    cluster_add_payload(c, start, root);
    cluster_run(c, start + 1000 * UNIT);
    for (uint32_t i = 0; i < c->config.nnodes; i++) {
        const struct agent *a = &c->agent[i];

        if (a->dead)
            continue;
        if (a->payloads[c->npayloads - 1] == 0)
            return -1;
        last = a->informed_at > last ? a->informed_at : last;
    }
    return (double)(last - start) / (double)UNIT;
}

static uint64_t edges_of(uint32_t n)
{
    uint32_t out[FT_BMG_DEGREE_MAX];
    uint64_t edges = 0;

    for (uint32_t i = 0; i < n; i++)
        edges += ft_bmg_neighbours(n, i, out);
    return edges;
}

static void measure_broadcast(struct row *r)
{
    /* A frame arrives one port time after its send begins. */
    struct cluster *c = broadcast_open(r->n, UNIT, UNIT);

    r->rounds = broadcast_time(c, r->n / 3);
    r->frames = c->frames;
    cluster_close(c);
    require(r->rounds == log2_ceiling(r->n), r, "not ceil(log2 N) rounds");
    require(r->frames == r->edges, r, "frames are not the sum of the degrees");
    c = broadcast_open(r->n, UNIT / 2, UNIT * 3 / 2);
    for (uint32_t i = 0; i < PAYLOADS_MAX; i++)
        r->jitter += broadcast_time(c, i) / PAYLOADS_MAX;
    cluster_close(c);
}

/* In each trial another set of nodes is dead; all other nodes are as at the start,
 * because nobody learns of it. */
static void measure_degraded(struct row *r, uint32_t trials)
{
    uint64_t random = random_stream(r->n, 7);

    for (uint32_t t = 0; t < trials; t += PAYLOADS_MAX) {
        struct cluster *c = broadcast_open(r->n, UNIT, UNIT);

        for (uint32_t i = 0; i < PAYLOADS_MAX; i++) {
            uint32_t root = (uint32_t)random_below(&random, r->n), dead = 0;

            while (dead < r->degree - 1) {
                struct agent *a = &c->agent[random_below(&random, r->n)];

                if (a->id == root || a->dead)
                    continue;
                a->dead = true;
                dead++;
            }
            double rounds = broadcast_time(c, root);

            require(rounds >= 0, r, "a broadcast does not reach all live nodes");
            r->degraded_mean += rounds;
            r->degraded_max = rounds > r->degraded_max ? rounds : r->degraded_max;
            for (uint32_t k = 0; k < r->n; k++)
                c->agent[k].dead = false;
        }
        cluster_close(c);
    }
    r->degraded_mean /= (trials + PAYLOADS_MAX - 1) / PAYLOADS_MAX * PAYLOADS_MAX;
}

static void measure_detection(struct row *r)
{
    uint64_t random = random_stream(r->n, 8);

    for (uint32_t i = 0; i < DETECTIONS; i++) {
        struct cluster_config config = {.nnodes = r->n,
                                        .pes_per_node = 1,
                                        .delta = DELTA,
                                        .eta = 2 * DELTA,
                                        .delay_min = DELTA / 100,
                                        .delay_max = DELTA / 100,
                                        .agreements = 1,
                                        .log_bytes = 256,
                                        .seed = i};
        struct cluster *c = cluster_open(&config);
        uint32_t victim = (uint32_t)random_below(&random, r->n);
        uint64_t at = 2 * DELTA + random_below(&random, DELTA), last = 0;

        cluster_at(c, at, EVENT_KILL, victim, 0, 0);
        cluster_run(c, at + 4 * DELTA);
        cluster_check(c);
        require(c->wrong[0] == '\0', r, c->wrong);
        for (uint32_t k = 0; k < r->n; k++)
            last = c->agent[k].informed_at > last ? c->agent[k].informed_at : last;
        double detected = (double)(c->first_verdict - at) / (double)DELTA;
        double known = (double)(last - at) / (double)DELTA;

        require(detected >= 1 && detected <= 2.01, r,
                "detection not within [delta, eta]");
        r->detected += detected / DETECTIONS;
        r->known += known / DETECTIONS;
        r->known_max = known > r->known_max ? known : r->known_max;
        cluster_close(c);
    }
}

/* Least squares of y = a * log2(n) + b. */
static void print_fit(const char *name, const struct row *rows, uint32_t n,
                      double (*value)(const struct row *))
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;

    for (uint32_t i = 0; i < n; i++) {
        double x = log2(rows[i].n), y = value(&rows[i]);

        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    double a = (n * sxy - sx * sy) / (n * sxx - sx * sx);

    printf("%s: %.3f * log2(n) %+.3f\n", name, a, (sy - a * sx) / n);
}

static double rounds_of(const struct row *r)
{
    return r->rounds;
}

static double jitter_of(const struct row *r)
{
    return r->jitter;
}

static double known_of(const struct row *r)
{
    return r->known - r->detected;
}

int main(int argc, char **argv)
{
    static struct row rows[16];
    uint32_t n = 0;

    printf("%6s %6s %8s %6s %13s %7s | %8s %6s %6s | %14s\n", "nodes", "degree", "frames",
           "rounds", "degree-1 dead", "jitter", "detected", "known", "max",
           "SWIM det/known");
    for (int i = 1; i < argc && n < sizeof rows / sizeof rows[0]; i++) {
        struct row *r = &rows[n++];
        uint32_t out[FT_BMG_DEGREE_MAX];

        r->n = (uint32_t)strtoul(argv[i], NULL, 10);
        if (r->n < 2) {
            fprintf(stderr, "usage: %s NODES...\n", argv[0]);
            return 2;
        }
        r->degree = ft_bmg_neighbours(r->n, 0, out);
        r->edges = edges_of(r->n);
        measure_broadcast(r);
        measure_degraded(r,
                         r->n <= 1024 || getenv("PGAS_TEST_LONG") != NULL ? TRIALS : 32);
        measure_detection(r);
        r->swim = swim_measure(r->n, DETECTIONS);
        printf(
            "%6u %6u %8llu %6.0f %7.2f/%5.0f %7.2f | %8.2f %6.2f %6.2f | %6.2f %7.2f\n",
            r->n, r->degree, (unsigned long long)r->frames, r->rounds, r->degraded_mean,
            r->degraded_max, r->jitter, r->detected, r->known, r->known_max,
            r->swim.detected, r->swim.known);
    }
    if (n > 1) {
        print_fit("rounds", rows, n, rounds_of);
        print_fit("units with random delays", rows, n, jitter_of);
        print_fit("delta from detection to the last node", rows, n, known_of);
    }
    return failures > 0;
}
