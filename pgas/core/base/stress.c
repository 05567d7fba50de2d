/* SPDX-License-Identifier: BSD-3-Clause */
/* stress.c - see stress.h.  Uses: pgas.h, block. */
#include "config.h"

#include <unistd.h>

#include "pgas/core/base/os.h"
#include "pgas/core/base/stress.h"

enum {
    SLEEPS = 64, /* one call in 64 sleeps, */
    SPINS = 4,   /* one in 4 spins, the others return immediately */
    SPIN_MAX = 1 << 14,
    SLEEP_NS_MAX = 1 << 18,
};

/* xorshift64* with a seed per thread and PE. */
static uint64_t stress_next_random(void)
{
    uint64_t state = pgas_thread.stress;

    if (state == 0)
        state = (pgas_self.env.stress + (uint64_t)pgas_self.me) * 0x9e3779b97f4a7c15u +
                (uint64_t)(gettid() - getpid()) + 1;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    pgas_thread.stress = state;
    return state * 0x2545f4914f6cdd1du;
}

void stress_delay(void)
{
    uint64_t random = stress_next_random() >> 16;

    if (random % SLEEPS == 0)
        os_sleep(random / SLEEPS % SLEEP_NS_MAX);
    else if (random % SPINS == 0)
        os_spin(random / SLEEPS % SPIN_MAX);
}
