/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_list.h - a doubly linked list of entries in order of age.  Appending and removing
 * cannot fail.  Uses: match_key.  Used by: match_queue, match_tail.
 */
#ifndef COMPAT_MPI_MATCH_LIST_H
#define COMPAT_MPI_MATCH_LIST_H

#include <stddef.h>

#include "compat/mpi/match/match_key.h"

struct match_list {
    struct match_entry *head, *tail;
};

static inline void match_list_append(struct match_list *l, struct match_entry *e,
                                     enum match_where where)
{
    e->where = (uint16_t)where;
    e->prev = l->tail;
    e->next = NULL;
    if (l->tail == NULL)
        l->head = e;
    else
        l->tail->next = e;
    l->tail = e;
}

static inline void match_list_remove(struct match_list *l, struct match_entry *e)
{
    if (e->prev == NULL)
        l->head = e->next;
    else
        e->prev->next = e->next;
    if (e->next == NULL)
        l->tail = e->prev;
    else
        e->next->prev = e->prev;
    e->where = MATCH_NOWHERE;
}

/* The oldest receive that fits a message */
static inline struct match_entry *match_list_find_receive(const struct match_list *l,
                                                          const struct match_key *message)
{
    struct match_entry *e = l->head;

    while (e != NULL && !match_key_fits(&e->key, message))
        e = e->next;
    return e;
}

/* The oldest message that fits a receive.  The wildcards of the search are the same for
 * all entries: a comparison under two masks. */
static inline struct match_entry *match_list_find_message(const struct match_list *l,
                                                          const struct match_key *receive)
{
    const uint32_t source_mask = match_field_mask(receive->source),
                   tag_mask = match_field_mask(receive->tag);
    struct match_entry *e = l->head;

    while (e != NULL && (((uint32_t)(e->key.source ^ receive->source) & source_mask) |
                         ((uint32_t)(e->key.tag ^ receive->tag) & tag_mask) |
                         (e->key.context ^ receive->context)) != 0)
        e = e->next;
    return e;
}

#endif
