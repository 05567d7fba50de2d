/* SPDX-License-Identifier: BSD-3-Clause */
/* match_tail.c - see match_tail.h. */
#include "config.h"

#include "compat/mpi/match/match_tail.h"

/* Tests compile this file with delays at the points where the interleaving matters. */
#ifndef MATCH_TAIL_POINT
#define MATCH_TAIL_POINT(point) ((void)0)
#endif

/* An inbox of more than INBOX_SHORT entries is emptied first without the tail lock, at
 * most INBOX_PASSES times.  A test sets it to 1, so that this happens often. */
#ifndef INBOX_SHORT
#define INBOX_SHORT 16
#endif
enum { INBOX_PASSES = 4 };

int match_tail_init(struct match_tail *t, const struct match_options *options)
{
    *t = (struct match_tail){.tail_lock = {0}};
    int status = match_queue_init(&t->posted.queue, options, true);

    if (status == 0 &&
        (status = match_queue_init(&t->unexpected.queue, options, false)) != 0)
        match_queue_free(&t->posted.queue);
    return status;
}

void match_tail_free(struct match_tail *t)
{
    match_queue_free(&t->posted.queue);
    match_queue_free(&t->unexpected.queue);
}

static struct match_inbox *match_tail_inbox(struct match_tail *t,
                                            const struct match_side *s)
{
    return s == &t->posted ? &t->posted_inbox : &t->unexpected_inbox;
}

static struct match_side *match_tail_other(struct match_tail *t,
                                           const struct match_side *s)
{
    return s == &t->posted ? &t->unexpected : &t->posted;
}

static bool match_inbox_fits(bool posted, const struct match_entry *e,
                             const struct match_key *key)
{
    return posted ? match_key_fits(&e->key, key) : match_key_fits(key, &e->key);
}

/* ---- under the tail lock -------------------------------------------------------- */

/* The count may be read without the lock. */
static void match_inbox_count(struct match_inbox *inbox, uint32_t count)
{
    store_relaxed_u32(&inbox->count, count);
}

static bool match_inbox_is_long(const struct match_inbox *inbox)
{
    return load_relaxed_u32(&inbox->count) > INBOX_SHORT;
}

static void match_inbox_append(struct match_inbox *inbox, struct match_entry *e)
{
    match_list_append(&inbox->list, e, MATCH_IN_INBOX);
    match_inbox_count(inbox, inbox->count + 1);
}

static struct match_list match_inbox_detach_all(struct match_inbox *inbox)
{
    struct match_list all = inbox->list;

    inbox->list = (struct match_list){NULL, NULL};
    match_inbox_count(inbox, 0);
    return all;
}

/* Detaches the first entry that fits, which is returned in *mate, and all older ones;
 * without one, all entries. */
static struct match_list match_inbox_detach(struct match_inbox *inbox, bool posted,
                                            const struct match_key *key,
                                            struct match_entry **mate)
{
    struct match_list detached = inbox->list;
    struct match_entry *e = inbox->list.head;
    uint32_t skipped = 0;

    for (; e != NULL && !match_inbox_fits(posted, e, key); e = e->next)
        skipped++;
    *mate = e;
    if (e == NULL || e->next == NULL)
        return match_inbox_detach_all(inbox);
    inbox->list.head = e->next;
    e->next->prev = NULL;
    e->next = NULL;
    detached.tail = e;
    match_inbox_count(inbox, inbox->count - skipped - 1);
    return detached;
}

/* ---- under the lock of a side --------------------------------------------------- */

/* Appends detached entries, except mate, to the main queue. */
static void match_side_absorb(struct match_side *s, struct match_list detached,
                              const struct match_entry *mate)
{
    for (struct match_entry *e = detached.head, *next; e != NULL; e = next) {
        next = e->next;
        e->where = MATCH_NOWHERE;
        if (e == mate)
            continue;
        match_queue_append(&s->queue, e);
        s->from_inbox++;
    }
}

/* Moves the whole inbox to the main queue, except the first entry that fits if it is to
 * be removed.  Returns this entry. */
static struct match_entry *match_side_empty_inbox(struct match_tail *t,
                                                  struct match_side *s,
                                                  const struct match_key *key,
                                                  bool remove)
{
    adaptive_acquire(&t->tail_lock);
    struct match_list all = match_inbox_detach_all(match_tail_inbox(t, s));
    adaptive_release(&t->tail_lock);
    MATCH_TAIL_POINT(DRAIN);
    struct match_entry *mate = all.head;
    while (mate != NULL && !match_inbox_fits(s->queue.posted, mate, key))
        mate = mate->next;
    match_side_absorb(s, all, remove ? mate : NULL);
    return mate;
}

/* Searches the inbox and, if nothing fits, appends e (unless it is NULL) to the other
 * one: one step, because nothing is appended to either inbox meanwhile. */
static struct match_entry *match_side_search_inbox(struct match_tail *t,
                                                   struct match_side *s,
                                                   const struct match_key *key,
                                                   struct match_entry *e)
{
    struct match_inbox *inbox = match_tail_inbox(t, s);
    struct match_entry *mate = NULL;

    for (int i = 0; i < INBOX_PASSES && match_inbox_is_long(inbox); i++) {
        mate = match_side_empty_inbox(t, s, key, true);
        if (mate != NULL)
            return mate;
    }
    MATCH_TAIL_POINT(LOCK);
    adaptive_acquire(&t->tail_lock);
    struct match_list detached = match_inbox_detach(inbox, s->queue.posted, key, &mate);
    MATCH_TAIL_POINT(APPEND);
    if (mate == NULL && e != NULL)
        match_inbox_append(match_tail_inbox(t, match_tail_other(t, s)), e);
    adaptive_release(&t->tail_lock);
    MATCH_TAIL_POINT(DRAIN);
    match_side_absorb(s, detached, mate);
    return mate;
}

/* ---- the operations ------------------------------------------------------------- */

/* Removes and returns the oldest entry that fits, or appends e to the other side. */
static struct match_entry *match_side_take(struct match_tail *t, struct match_side *s,
                                           const struct match_key *key,
                                           struct match_entry *e)
{
    adaptive_acquire(&s->lock);
    MATCH_TAIL_POINT(SEARCH);
    struct match_entry *mate = match_queue_search(&s->queue, key);
    if (mate != NULL) {
        match_queue_remove(&s->queue, mate);
    } else {
        mate = match_side_search_inbox(t, s, key, e);
        s->inbox_hits += mate != NULL;
    }
    adaptive_release(&s->lock);
    return mate;
}

struct match_entry *match_tail_post(struct match_tail *t, struct match_entry *receive)
{
    return match_side_take(t, &t->unexpected, &receive->key, receive);
}

struct match_entry *match_tail_arrive(struct match_tail *t, struct match_entry *message)
{
    return match_side_take(t, &t->posted, &message->key, message);
}

struct match_entry *match_tail_mprobe(struct match_tail *t,
                                      const struct match_key *receive)
{
    return match_side_take(t, &t->unexpected, receive, NULL);
}

bool match_tail_probe(struct match_tail *t, const struct match_key *receive,
                      match_visit_fn visit, void *arg)
{
    struct match_side *s = &t->unexpected;

    adaptive_acquire(&s->lock);
    MATCH_TAIL_POINT(SEARCH);
    struct match_entry *message = match_queue_search(&s->queue, receive);
    if (message == NULL)
        message = match_side_empty_inbox(t, s, receive, false);
    if (message != NULL)
        visit(message, arg);
    adaptive_release(&s->lock);
    return message != NULL;
}

/* The lock of the side keeps the receive from being matched or moved. */
bool match_tail_cancel(struct match_tail *t, struct match_entry *receive)
{
    struct match_side *s = &t->posted;

    adaptive_acquire(&s->lock);
    const enum match_where where = receive->where;
    if (where == MATCH_IN_INBOX) {
        adaptive_acquire(&t->tail_lock);
        match_list_remove(&t->posted_inbox.list, receive);
        match_inbox_count(&t->posted_inbox, t->posted_inbox.count - 1);
        adaptive_release(&t->tail_lock);
    } else if (where != MATCH_NOWHERE) {
        match_queue_remove(&s->queue, receive);
    }
    adaptive_release(&s->lock);
    return where != MATCH_NOWHERE;
}

struct match_tail_stats match_tail_stats_of(struct match_tail *t, bool posted)
{
    struct match_side *s = posted ? &t->posted : &t->unexpected;
    struct match_tail_stats stats;

    adaptive_acquire(&s->lock);
    stats.queue = match_queue_stats(&s->queue);
    stats.length = s->queue.count;
    stats.from_inbox = s->from_inbox;
    stats.inbox_hits = s->inbox_hits;
    adaptive_acquire(&t->tail_lock);
    stats.inbox = match_tail_inbox(t, s)->count;
    adaptive_release(&t->tail_lock);
    adaptive_release(&s->lock);
    return stats;
}
