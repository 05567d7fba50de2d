/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune_plan.c - which jobs the tuner runs, and to which teams their results apply.
 * Uses: tune.  Used by: tune.c, tests.
 */
#include "config.h"

#include "tools/oshmem_info/tune.h"

/* Adds a number that is larger than the others. */
static void tune_plan_append(struct tune_numbers *list, int number)
{
    if (list->n < TUNE_NUMBERS_MAX)
        list->number[list->n++] = number;
}

/* Powers of 2 up to twice the processors, and the processors. */
static struct tune_numbers tune_plan_default_pes(int processors)
{
    struct tune_numbers list = {0};

    for (int pes = 2; pes <= 2 * processors || pes <= 4; pes *= 2) {
        if (pes / 2 < processors && processors < pes && processors > 1)
            tune_plan_append(&list, processors);
        tune_plan_append(&list, pes);
    }
    return list;
}

/* PEs of jobs on this number of nodes: multiples of it, so that all nodes have as many;
 * by default one on each node, and one for each processor. */
static struct tune_numbers tune_plan_internode_pes(const struct tune_options *o,
                                                   int nodes, int processors)
{
    struct tune_numbers list = {0};

    for (int i = 0; i < o->pes.n; i++)
        if (o->pes.number[i] % nodes == 0)
            tune_plan_append(&list, o->pes.number[i]);
    if (o->pes.n > 0)
        return list;
    int per_node = o->vnodes != NULL ? processors / nodes : processors;
    tune_plan_append(&list, nodes);
    if (per_node > 1)
        tune_plan_append(&list, nodes * per_node);
    return list;
}

/* Adds the jobs on a number of nodes.  `dedicated`: how many PEs can have a processor
 * each.  Results apply down to the next smaller number of PEs, but those of more PEs do
 * not apply to as many or fewer. */
static int tune_plan_add(struct tune_step base, const struct tune_numbers *pes,
                         int dedicated, struct tune_step *step)
{
    for (int i = 0; i < pes->n; i++) {
        struct tune_step *s = &step[i];
        *s = base;
        s->pes = s->pes_to = pes->number[i];
        if (i > 0)
            s->pes_from = pes->number[i - 1] + 1;
        if (s->pes > dedicated && s->pes_from <= dedicated)
            s->pes_from = dedicated + 1;
        s->last = i == pes->n - 1;
    }
    return pes->n;
}

int tune_plan(const struct tune_options *o, int processors,
              struct tune_step step[TUNE_STEPS_MAX], int *nodes)
{
    struct tune_numbers pes = o->pes.n > 0 ? o->pes : tune_plan_default_pes(processors);
    struct tune_step base = {.nodes = 1, .nodes_from = 1, .nodes_to = 1, .pes_from = 2};
    int n = o->one_node ? tune_plan_add(base, &pes, processors, step) : 0;

    for (int i = 0; i < o->nodes.n; i++) {
        base.nodes = base.nodes_to = *nodes = o->nodes.number[i];
        base.nodes_from = i > 0 ? o->nodes.number[i - 1] + 1 : 2;
        base.pes_from = base.nodes_from; /* at least one on each node */
        pes = tune_plan_internode_pes(o, *nodes, processors);
        if (pes.n == 0)
            return -1;
        n += tune_plan_add(
            base, &pes, o->vnodes != NULL ? processors : *nodes * processors, step + n);
    }
    return n;
}
