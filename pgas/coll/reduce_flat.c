/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_flat.c - a small reduction in which each PE shows its elements to all others and
 * combines those of all for itself: nobody waits for more than one line from each.
 * Uses: board, reduce_int, datatype.
 */
#include "config.h"

#include "pgas/coll/board.h"
#include "pgas/coll/reduce_int.h"
#include "pgas/datatype/copy.h"

void reduce_shown(const struct reduce_job *j, const struct board *b)
{
    const char *first = board_of(b, 0);

    j->op->three(j->dest, first, board_of(b, 1), j->n);
    for (int i = 2; i < j->team->npes; i++)
        j->op->two(j->dest, board_of(b, i), j->n);
}

void reduce_flat(const struct reduce_job *j)
{
    struct board b = board_open(j->team, reduce_bytes(j), j->fn);

    copy_bytes(board_mine(&b), j->source, reduce_bytes(j));
    board_post(&b);
    reduce_shown(j, &b);
    board_close_all(&b);
}
