/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c - see pool.h.  Uses: threads/atomic. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/base/pool.h"
#include "pgas/threads/atomic.h"

static size_t pool_items_of(uint32_t chunk)
{
    return (size_t)POOL_FIRST << chunk;
}

static struct pool_item *pool_item_at(const struct pool *pool, uint32_t chunk, size_t i)
{
    return (struct pool_item *)(void *)(pool->chunk[chunk] + i * pool->size);
}

/* Appends an item to the free list.  Called with the lock held. */
static void pool_append(struct pool *pool, struct pool_item *item)
{
    PGAS_ASSERT((pool->first == NULL) ||
                (pool->last != NULL && pool->last->next == NULL));
    memset(item, 0, pool->size);
    if (pool->first == NULL)
        pool->first = item;
    else
        pool->last->next = item;
    pool->last = item;
}

static void pool_grow(struct pool *pool)
{
    uint32_t k = pool->chunks;

    PGAS_ASSERT(pool->first == NULL && k <= POOL_CHUNKS);
    PGAS_ASSERT(pool->size >= sizeof(struct pool_item));
    if (k == POOL_CHUNKS)
        return;
    pool->chunk[k] = calloc(pool_items_of(k), pool->size);
    if (pool->chunk[k] == NULL)
        return;
    for (size_t i = 0; i < pool_items_of(k); i++)
        pool_append(pool, pool_item_at(pool, k, i));
    store_release_u32(&pool->chunks, k + 1);
}

void *pool_alloc(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    if (pool->first == NULL)
        pool_grow(pool);
    struct pool_item *item = pool->first;
    if (item != NULL) {
        pool->first = item->next;
        PGAS_ASSERT(load_relaxed_u32(&item->live) == 0);
        item->next = NULL;
    }
    pthread_mutex_unlock(&pool->lock);
    return item;
}

void pool_publish(struct pool_item *item)
{
    PGAS_ASSERT(load_relaxed_u32(&item->live) == 0 && item->next == NULL);
    store_release_u32(&item->live, 1);
}

void pool_free(struct pool *pool, void *object)
{
    pthread_mutex_lock(&pool->lock);
    pool_append(pool, object);
    pthread_mutex_unlock(&pool->lock);
}

bool pool_has(const struct pool *pool, const void *object)
{
    uint32_t chunks = load_acquire_u32(&pool->chunks);

    for (uint32_t k = 0; k < chunks; k++) {
        size_t offset = (uintptr_t)object - (uintptr_t)pool->chunk[k];
        if (offset < pool_items_of(k) * pool->size)
            return offset % pool->size == 0 &&
                   load_acquire_u32(&((const struct pool_item *)object)->live) != 0;
    }
    return false;
}

struct pool_item *pool_remove(struct pool *pool,
                              bool (*match)(const void *object, const void *arg),
                              const void *arg)
{
    struct pool_item *removed = NULL;

    pthread_mutex_lock(&pool->lock);
    for (uint32_t k = 0; k < pool->chunks; k++) {
        for (size_t i = 0; i < pool_items_of(k); i++) {
            struct pool_item *item = pool_item_at(pool, k, i);
            if (load_acquire_u32(&item->live) == 0 || !match(item, arg))
                continue;
            store_relaxed_u32(&item->live, 0);
            item->next = removed;
            removed = item;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return removed;
}

void pool_each(struct pool *pool, bool (*visit)(void *object, void *arg), void *arg)
{
    pthread_mutex_lock(&pool->lock);
    for (uint32_t k = 0; k < pool->chunks; k++) {
        for (size_t i = 0; i < pool_items_of(k); i++) {
            struct pool_item *item = pool_item_at(pool, k, i);
            if (load_acquire_u32(&item->live) != 0 && visit(item, arg))
                pool_append(pool, item);
        }
    }
    pthread_mutex_unlock(&pool->lock);
}

void pool_clear(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    for (uint32_t k = 0; k < pool->chunks; k++)
        free(pool->chunk[k]);
    pool->first = pool->last = NULL;
    store_release_u32(&pool->chunks, 0);
    pthread_mutex_unlock(&pool->lock);
}
