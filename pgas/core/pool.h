/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool.h - objects behind handles that a user may get wrong: any pointer can be tested
 * for being a live object without looking at what it points to.
 *
 * Memory is taken in chunks, each twice as long as the one before, and stays until
 * pool_clear.  What is given back is cleared and used again as late as possible, so that
 * a stale handle is found out.  Thread-safe. A leaf.  Used by: team, ctx.
 */
#ifndef PGAS_CORE_POOL_H
#define PGAS_CORE_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { POOL_FIRST = 64, POOL_CHUNKS = 24 };

/* The first member of an object. */
struct pool_item {
    struct pool_item *next; /* of the free ones */
    uint32_t live;          /* between pool_show and pool_give */
};

struct pool {
    size_t size;                    /* bytes of an object */
    pthread_mutex_t lock;           /* all below, and the state of an item */
    struct pool_item *first, *last; /* free ones, the oldest first */
    uint32_t chunks;                /* goes up (release) when chunk[] has one more */
    char *chunk[POOL_CHUNKS];
};

/* A pool of objects of a type */
#define POOL_OF(type)                                                                    \
    {                                                                                    \
        .size = sizeof(type), .lock = PTHREAD_MUTEX_INITIALIZER                          \
    }

/* An object of zeros that is not live yet; NULL without memory. */
void *pool_take(struct pool *pool);

/* It is filled in: from now on pool_has is true, and pool_each visits it. */
void pool_show(struct pool_item *item);

/* Clear it and give it back, live or not. */
void pool_give(struct pool *pool, void *object);

/* Is that the address of a live object?  For any pointer. */
bool pool_has(const struct pool *pool, const void *object);

/* Visit each live object; those for which visit returns true are given back.  The pool is
 * locked meanwhile. */
void pool_each(struct pool *pool, bool (*visit)(void *object, void *arg), void *arg);

/* Free all memory: every object is gone. */
void pool_clear(struct pool *pool);

#endif
