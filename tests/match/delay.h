/* SPDX-License-Identifier: BSD-3-Clause */
/* delay.h - random numbers and random delays of the concurrent tests of matching. */
#ifndef TESTS_MATCH_DELAY_H
#define TESTS_MATCH_DELAY_H

#include <sched.h>
#include <stdint.h>

/* A number below `below`. */
static inline uint32_t delay_random(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) * below >> 31);
}

/* A quarter of the calls yield, and a few more execute up to `most` empty loops. */
static inline void delay_at_point(uint64_t *state, uint32_t most)
{
    uint32_t what = delay_random(state, 64);

    if (what < 16)
        sched_yield();
    for (uint32_t i = what < 20 ? delay_random(state, most) : 0; i > 0; i--)
        __asm__ __volatile__("" ::: "memory");
}

#endif
