/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool.h - objects with handles that can be validated: pool_has tests whether a pointer
 * is a live object and dereferences it only if it points to an object of the pool.
 *
 * Memory is allocated in chunks of doubling size and kept until pool_clear.  A freed
 * object is cleared and reused as late as possible (FIFO), so that stale handles are
 * detected.  Thread-safe, except for pool_clear.  A leaf.  Used by: team, ctx.
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
    struct pool_item *next; /* in the free list, or that of pool_remove */
    uint32_t live;          /* 1 between pool_publish and pool_free; atomic */
};

struct pool {
    size_t size;                    /* bytes of an object */
    pthread_mutex_t lock;           /* protects the members below and free items */
    struct pool_item *first, *last; /* the free list, oldest first */
    uint32_t chunks;                /* incremented (release) after chunk[] is filled in */
    char *chunk[POOL_CHUNKS];
};

/* Initialiser of a pool of objects of a type. */
#define POOL_OF(type)                                                                    \
    {                                                                                    \
        .size = sizeof(type), .lock = PTHREAD_MUTEX_INITIALIZER                          \
    }

/* Allocates a zeroed object that is not live yet; NULL if out of memory. */
void *pool_alloc(struct pool *pool);

/* Publishes a filled-in object: pool_has becomes true, and pool_each visits it. */
void pool_publish(struct pool_item *item);

/* Clears and frees an object, live or not. */
void pool_free(struct pool *pool, void *object);

/* True if `object` is the address of a live object; accepts any pointer. */
bool pool_has(const struct pool *pool, const void *object);

/* Ends the life of each live object for which match is true (called with the pool
 * locked), and returns them, linked by `next`: pool_has is false, and the caller uses
 * pool_free when it has done what may wait. */
struct pool_item *pool_remove(struct pool *pool,
                              bool (*match)(const void *object, const void *arg),
                              const void *arg);

/* Calls visit for each live object with the pool locked, and frees the object if it
 * returns true.  It must not wait. */
void pool_each(struct pool *pool, bool (*visit)(void *object, void *arg), void *arg);

/* Frees all objects and their memory. */
void pool_clear(struct pool *pool);

#endif
