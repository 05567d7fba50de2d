/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_watch.c - see ft_watch.h.  Uses: pgas.h, node.h, ft_map, ft. */
#include "config.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/os.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/core_state.h"
#include "pgas/ft/ft.h"
#include "pgas/ft/ft_boot.h"
#include "pgas/ft/ft_watch.h"

#define STATE core_self.ft

/* The words that a thread watches; index 0 is the epoch. */
struct ft_watch {
    struct futex_waitv wait[FT_WATCHED + 1];
    uint32_t rank[FT_WATCHED + 1]; /* local ranks */
    uint32_t n;
};

static struct ft_word *ft_watch_own_word(void)
{
    return &ft_map_word(pgas_self.ft)[pgas_self.local_rank];
}

static void ft_watch_store(uint32_t value)
{
    struct ft_word *word = ft_watch_own_word();

    atomic_store_explicit(&word->futex, value, memory_order_release);
    os_futex_wake(&word->futex);
}

/* The robust list of the thread has one entry.  The kernel finds the futex of an entry at
 * a fixed distance from it. */
static bool ft_watch_own(void)
{
    struct ft_robust *r = &STATE.robust;
    uintptr_t futex = (uintptr_t)&ft_watch_own_word()->futex;

    r->head = (struct robust_list_head){
        .list.next = &r->entry, .futex_offset = (long)(futex - (uintptr_t)&r->entry)};
    r->entry.next = &r->head.list;
    return syscall(SYS_set_robust_list, &r->head, sizeof r->head) == 0;
}

static void ft_watch_add(struct ft_watch *w, const _Atomic uint32_t *word, uint32_t rank)
{
    w->wait[w->n] = (struct futex_waitv){
        .uaddr = (uintptr_t)word,
        .val = atomic_load_explicit(word, memory_order_acquire),
        .flags = FUTEX_32,
    };
    w->rank[w->n++] = rank;
}

/* Reads the epoch and then the words of the PEs; a change after that ends the sleep. */
static void ft_watch_load(struct ft_watch *w)
{
    const struct ft_map *map = pgas_self.ft;
    uint32_t me = (uint32_t)pgas_self.local_rank;

    w->n = 0;
    ft_watch_add(w, &map->epoch, me);
    for (uint32_t i = 1; i < map->local && w->n <= FT_WATCHED; i++) {
        uint32_t rank = (me + i) % map->local;
        ft_watch_add(w, &ft_map_word(map)[rank].futex, rank);
    }
}

/* Marks the PEs whose thread has died. */
static void ft_watch_find_dead(const struct ft_watch *w)
{
    for (uint32_t i = 1; i < w->n; i++)
        if ((w->wait[i].val & FUTEX_OWNER_DIED) != 0)
            ft_map_fail(pgas_self.node, &ft_map_rank(pgas_self.ft)[w->rank[i]], 1);
}

/* Words of dead PEs do not change any more and are not waited for. */
static void ft_watch_sleep(struct ft_watch *w)
{
    uint32_t n = 0;
    struct timespec until;

    for (uint32_t i = 0; i < w->n; i++)
        if ((w->wait[i].val & FUTEX_OWNER_DIED) == 0 || i == 0)
            w->wait[n++] = w->wait[i];
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(TIMING_FT_CHECK / NS_PER_S);
    if (syscall(SYS_futex_waitv, w->wait, n, 0, &until, CLOCK_MONOTONIC) < 0 &&
        errno != EAGAIN && errno != ETIMEDOUT && errno != EINTR)
        os_sleep(TIMING_FT_POLL); /* an old kernel, or a filter of system calls */
}

static void *ft_watch_run(void *arg)
{
    struct ft_watch watch;

    (void)arg;
    if (ft_watch_own())
        ft_watch_store((uint32_t)syscall(SYS_gettid) | FUTEX_WAITERS);
    while (load_acquire_u32(&STATE.stop) == 0) {
        ft_watch_load(&watch);
        ft_watch_find_dead(&watch);
        ft_host_check();
        ft_process();
        if (load_acquire_u32(&STATE.stop) == 0)
            ft_watch_sleep(&watch);
    }
    ft_watch_store(0);
    return NULL;
}

bool ft_watch_start(void)
{
    sigset_t all, before;

    store_release_u32(&STATE.stop, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&STATE.watch, NULL, ft_watch_run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    STATE.watching = rc == 0;
    errno = rc;
    return rc == 0;
}

void ft_watch_stop(void)
{
    if (!STATE.watching)
        return;
    store_release_u32(&STATE.stop, 1);
    ft_map_wake_watchers(pgas_self.ft);
    pthread_join(STATE.watch, NULL);
    STATE.watching = false;
}
