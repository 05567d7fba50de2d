/* SPDX-License-Identifier: BSD-3-Clause */
/* match.c - see match.h. */
#include "config.h"

#include "compat/mpi/match/match.h"

int match_init(struct matcher *m, const struct match_options *options)
{
    int status = match_queue_init(&m->posted, options, true);

    if (status == 0 && (status = match_queue_init(&m->unexpected, options, false)) != 0)
        match_queue_free(&m->posted);
    return status;
}

void match_free(struct matcher *m)
{
    match_queue_free(&m->posted);
    match_queue_free(&m->unexpected);
}

/* Removes and returns what fits e, or appends e to the other queue. */
static struct match_entry *match_or_append(struct match_queue *searched,
                                           struct match_queue *other,
                                           struct match_entry *e)
{
    struct match_entry *mate = match_queue_search(searched, &e->key);

    if (mate != NULL)
        match_queue_remove(searched, mate);
    else
        match_queue_append(other, e);
    return mate;
}

struct match_entry *match_post(struct matcher *m, struct match_entry *receive)
{
    return match_or_append(&m->unexpected, &m->posted, receive);
}

struct match_entry *match_arrive(struct matcher *m, struct match_entry *message)
{
    return match_or_append(&m->posted, &m->unexpected, message);
}

struct match_entry *match_probe(struct matcher *m, const struct match_key *receive)
{
    return match_queue_search(&m->unexpected, receive);
}

struct match_entry *match_mprobe(struct matcher *m, const struct match_key *receive)
{
    struct match_entry *message = match_queue_search(&m->unexpected, receive);

    if (message != NULL)
        match_queue_remove(&m->unexpected, message);
    return message;
}

bool match_cancel(struct matcher *m, struct match_entry *receive)
{
    if (receive->where == MATCH_NOWHERE)
        return false;
    match_queue_remove(&m->posted, receive);
    return true;
}
