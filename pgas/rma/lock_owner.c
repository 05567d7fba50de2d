/* SPDX-License-Identifier: BSD-3-Clause */
/* lock_owner.c - see lock_owner.h.  Uses: amo_at, core/block, ft. */
#include "config.h"

#include "pgas/core/base/clock.h"
#include "pgas/core/base/os.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/memory/symaddr.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/team/team.h"
#include "pgas/ft/ft.h"
#include "pgas/rma/amo_at.h"
#include "pgas/rma/lock_owner.h"

struct lock_owner {
    uint32_t *tail; /* symmetric address */
    int home;
    uint64_t next_ns, pause_ns; /* of the next attempt */
    bool owned;
    const char *fn;
};

static int lock_owner_home(const long *lock)
{
    size_t offset;
    enum transport_segment segment = symaddr_find(lock, sizeof *lock, &offset);
    uint32_t npes = pgas_self.npes, first = (uint32_t)(offset / sizeof(long) % npes);

    PGAS_ASSERT(segment != SEGMENTS);
    (void)segment;
    for (uint32_t i = 0; i < npes; i++)
        if (team_index(team_live(), (int)((first + i) % npes)) >= 0)
            return (int)((first + i) % npes);
    return pgas_self.me;
}

static struct lock_owner lock_owner_of(long *lock, const char *fn)
{
    return (struct lock_owner){
        .tail = (uint32_t *)lock, .home = lock_owner_home(lock), .fn = fn};
}

/* True if the owner was `old` and is this PE now.  An operation on a failed PE is dropped
 * and returns 0. */
static bool lock_owner_replace(const struct lock_owner *o, uint32_t old, uint32_t *seen)
{
    *seen = (uint32_t)amo_compare_swap_at(o->tail, sizeof *o->tail, old,
                                          (uint32_t)pgas_self.me + 1, o->home, o->fn);
    return *seen == old && !ft_pe_failed(o->home);
}

static bool lock_owner_acquire(const struct lock_owner *o)
{
    uint32_t owner, seen;

    if (lock_owner_replace(o, 0, &owner))
        return true;
    return owner != 0 && owner <= pgas_self.npes && ft_pe_failed((int)owner - 1) &&
           lock_owner_replace(o, owner, &seen);
}

/* A block_ready function: true if the lock is acquired, or lost.  Attempts are made at
 * growing intervals, because each one may be a message. */
static bool lock_owner_settled(const void *arg)
{
    struct lock_owner *o = (struct lock_owner *)(uintptr_t)arg;
    uint64_t now = clock_ns();

    if (ft_pe_failed(o->home))
        return true;
    if (now < o->next_ns)
        return false;
    o->owned = lock_owner_acquire(o);
    o->pause_ns = o->pause_ns == 0 ? TIMING_LOCK_FIRST : o->pause_ns * 2;
    o->pause_ns = o->pause_ns < TIMING_LOCK_MAX ? o->pause_ns : TIMING_LOCK_MAX;
    o->next_ns = clock_ns() + o->pause_ns;
    return o->owned;
}

static void lock_owner_sleep(const void *arg, uint64_t ns)
{
    const struct lock_owner *o = arg;

    os_sleep(ns < o->pause_ns ? ns : o->pause_ns);
}

bool lock_owner_set(long *lock, const char *fn)
{
    struct lock_owner o = lock_owner_of(lock, fn);

    block_until(&(struct block_wait){
        .ready = lock_owner_settled, .arg = &o, .sleep = lock_owner_sleep, .what = fn});
    return o.owned;
}

bool lock_owner_try(long *lock, const char *fn)
{
    struct lock_owner o = lock_owner_of(lock, fn);

    return lock_owner_acquire(&o);
}

void lock_owner_clear(long *lock, const char *fn)
{
    struct lock_owner o = lock_owner_of(lock, fn);

    amo_compare_swap_at(o.tail, sizeof *o.tail, (uint32_t)pgas_self.me + 1, 0, o.home,
                        fn);
}

bool lock_owner_lost(const long *lock)
{
    return ft_pe_failed(lock_owner_home(lock));
}
