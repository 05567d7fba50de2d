/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_handler.c - see ft_handler.h.  Uses: core_state.h, ft, ft_map. */
#include "config.h"

#include <signal.h>

#include "pgas/core/base/os.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/core_state.h"
#include "pgas/ft/ft.h"
#include "pgas/ft/ft_handler.h"

#define STATE core_self.ft

/* The epoch and `handler_stop` are loaded before the function is called, so that a change
 * during the call ends the sleep, and failures that are known at the end are reported. */
static void *ft_handler_run(void *arg)
{
    _Atomic uint32_t *epoch = &pgas_self.ft->epoch;

    (void)arg;
    for (;;) {
        uint32_t seen = atomic_load_explicit(epoch, memory_order_acquire);
        bool stop = load_acquire_u32(&STATE.handler_stop) != 0;
        ft_call_handler();
        if (stop)
            return NULL;
        os_futex_wait(epoch, seen, TIMING_FT_CHECK);
    }
}

bool ft_handler_wake(void)
{
    sigset_t all, before;

    if (STATE.handler_runs) {
        ft_map_wake_watchers(pgas_self.ft);
        return true;
    }
    store_release_u32(&STATE.handler_stop, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    STATE.handler_runs =
        pthread_create(&STATE.handler_thread, NULL, ft_handler_run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return STATE.handler_runs;
}

void ft_handler_stop(void)
{
    if (!STATE.handler_runs)
        return;
    store_release_u32(&STATE.handler_stop, 1);
    ft_map_wake_watchers(pgas_self.ft);
    if (!pthread_equal(pthread_self(),
                       STATE.handler_thread)) /* the function may exit() */
        pthread_join(STATE.handler_thread, NULL);
    STATE.handler_runs = false;
}
