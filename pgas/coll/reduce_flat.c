/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_flat.c - small reductions in which every PE publishes its elements in its eager
 * slot and combines the slots of all PEs itself: one cache-line transfer per PE and one
 * synchronisation.  In the rooted variant only the root combines, and the other PEs
 * return as soon as they have published.
 * Uses: board, reduce_int, datatype.
 */
#include "config.h"

#include "pgas/coll/board.h"
#include "pgas/coll/reduce_int.h"
#include "pgas/datatype/copy.h"

void reduce_shown(const struct reduce_job *j, char *to, const struct board *b)
{
    const char *first = board_of(b, 0);

    j->op->three(to, first, board_of(b, 1), j->n);
    for (int i = 2; i < j->team->npes; i++)
        j->op->two(to, board_of(b, i), j->n);
}

/* All PEs use board_close (not board_close_all), because a PE that returns early has not
 * observed the others. */
static void show_root(const struct reduce_job *j, struct board *b)
{
    if (j->team->me == j->root) {
        board_show(b);
        reduce_shown(j, j->dest, b);
    } else {
        board_post_to(b, j->root);
    }
    board_close(b);
}

void reduce_flat(const struct reduce_job *j)
{
    struct board b = board_open(j->team, reduce_bytes(j), j->fn);

    copy_bytes(board_mine(&b), j->source, reduce_bytes(j));
    if (j->root >= 0) {
        show_root(j, &b);
        return;
    }
    board_post(&b);
    reduce_shown(j, j->dest, &b);
    board_close_all(&b);
}
