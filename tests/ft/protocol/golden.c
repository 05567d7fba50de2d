/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * golden.c - traces of three scenarios, which ft.sh compares with golden-NAME.txt.
 *   tests/ft/protocol/golden one-failure | contiguous | coordinator
 * Times are in units of delta; heartbeats are not shown.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tests/ft/protocol/cluster.h"

#define DELTA UINT64_C(1000000)

static struct cluster *golden_open(uint32_t nnodes)
{
    struct cluster_config config = {.nnodes = nnodes,
                                    .pes_per_node = 2,
                                    .delta = DELTA,
                                    .eta = 2 * DELTA,
                                    .delay_min = DELTA / 100,
                                    .delay_max = DELTA / 100,
                                    .agreements = 4,
                                    .log_bytes = 4096,
                                    .seed = 1,
                                    .trace = true};

    return cluster_open(&config);
}

/* One of 8 nodes fails. */
static void golden_one_failure(struct cluster *c)
{
    cluster_at(c, DELTA * 3 / 2, EVENT_KILL, 5, 0, 0);
    cluster_run(c, 6 * DELTA);
}

/* Two neighbours on the ring of 8 nodes fail together: the second is detected by the same
 * observer, one timeout later. */
static void golden_contiguous(struct cluster *c)
{
    cluster_at(c, DELTA * 3 / 2, EVENT_KILL, 4, 0, 0);
    cluster_at(c, DELTA * 3 / 2, EVENT_KILL, 5, 0, 0);
    cluster_run(c, 8 * DELTA);
}

/* In an agreement of 4 nodes the coordinator dies after the first frame of its decision.
 */
static void golden_coordinator(struct cluster *c)
{
    struct team team = {.rounds = 1, .members = {0xf}};

    cluster_at(c, 0, EVENT_KILL_AFTER, 0, 0, 2); /* a heartbeat, and then one frame */
    cluster_add_team(c, &team);
    cluster_run(c, 6 * DELTA);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint32_t nnodes;
        void (*run)(struct cluster *c);
    } scenarios[] = {{"one-failure", 8, golden_one_failure},
                     {"contiguous", 8, golden_contiguous},
                     {"coordinator", 4, golden_coordinator}};

    for (size_t i = 0; argc == 2 && i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (strcmp(argv[1], scenarios[i].name) != 0)
            continue;
        struct cluster *c = golden_open(scenarios[i].nnodes);
        bool good;

        scenarios[i].run(c);
        cluster_check(c);
        good = c->wrong[0] == '\0';
        printf("%s\n", good ? "right" : c->wrong);
        cluster_close(c);
        return !good;
    }
    fprintf(stderr, "usage: %s one-failure | contiguous | coordinator\n", argv[0]);
    return 2;
}
