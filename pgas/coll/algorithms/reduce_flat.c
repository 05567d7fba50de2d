/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_flat.c - small reductions in which every PE publishes its elements in its eager
 * slot and combines the slots of all PEs itself: one cache-line transfer per PE and one
 * synchronisation.  In the rooted variant only the root combines, and the other PEs
 * return as soon as they have published.
 * Uses: mailbox, reduce_int, datatype.
 */
#include "config.h"

#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/algorithms/reduce_int.h"
#include "pgas/datatype/copy.h"

void reduce_slots(const struct reduce_job *j, char *to, const struct mailbox *b)
{
    const char *first = mailbox_of(b, 0);

    j->op->three(to, first, mailbox_of(b, 1), j->n);
    for (int i = 2; i < j->team->npes; i++)
        j->op->two(to, mailbox_of(b, i), j->n);
}

/* All PEs use mailbox_close, because a PE that returns early has not read the data of the
 * others. */
static void reduce_flat_to(const struct reduce_job *j, struct mailbox *b)
{
    if (j->team->me == j->root) {
        mailbox_publish(b);
        reduce_slots(j, j->dest, b);
    } else {
        mailbox_post_to(b, j->root);
    }
    mailbox_close(b);
}

void reduce_flat(const struct reduce_job *j)
{
    struct mailbox b = mailbox_open(j->team, reduce_bytes(j), j->fn);

    copy_bytes(mailbox_own(&b), j->source, reduce_bytes(j));
    if (j->root >= 0) {
        reduce_flat_to(j, &b);
        return;
    }
    mailbox_post(&b);
    reduce_slots(j, j->dest, &b);
    mailbox_close_all(&b);
}
