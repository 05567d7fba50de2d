/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c - see guard.h. */
#include "config.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "pgas/core/core_state.h"
#include "pgas/core/memory/guard.h"

#define STATE core_self.guard

static bool guard_more_than_one_thread(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;

    if (tasks == NULL)
        return true;
    for (struct dirent *e = readdir(tasks); e != NULL; e = readdir(tasks))
        n += e->d_name[0] != '.';
    closedir(tasks);
    return n > 1;
}

static bool guard_is_guarded(uintptr_t at)
{
    size_t len = __atomic_load_n(&STATE.len, __ATOMIC_ACQUIRE);

    return at - STATE.pages < len;
}

/* SIGSEGV handler; returning from it retries the store.  A fault at another address is
 * the program's: restores the program's handler, which the retried instruction calls. */
static void guard_wait_or_pass(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (!guard_is_guarded((uintptr_t)info->si_addr)) {
        if (__atomic_load_n(&STATE.len, __ATOMIC_ACQUIRE) == 0)
            return; /* faulted just before guard_end: the page is writable now */
        sigaction(sig, &STATE.before, NULL);
        return;
    }
    while (guard_is_guarded((uintptr_t)info->si_addr))
        sched_yield();
}

int guard_begin(void *pages, size_t len)
{
    struct sigaction act = {.sa_sigaction = guard_wait_or_pass,
                            .sa_flags = SA_SIGINFO | SA_ONSTACK};

    if (!guard_more_than_one_thread())
        return 0;
    sigemptyset(&act.sa_mask);
    STATE.pages = (uintptr_t)pages;
    __atomic_store_n(&STATE.len, len, __ATOMIC_RELEASE);
    if (sigaction(SIGSEGV, &act, &STATE.before) != 0) {
        __atomic_store_n(&STATE.len, 0, __ATOMIC_RELEASE);
        return -1;
    }
    STATE.active = true;
    if (mprotect(pages, len, PROT_READ) == 0)
        return 0;
    guard_end(pages, len);
    return -1;
}

void guard_end(void *pages, size_t len)
{
    if (!STATE.active)
        return;
    mprotect(pages, len, PROT_READ | PROT_WRITE); /* in case they were not replaced */
    __atomic_store_n(&STATE.len, 0, __ATOMIC_RELEASE);
    sigaction(SIGSEGV, &STATE.before, NULL);
    STATE.active = false;
}
