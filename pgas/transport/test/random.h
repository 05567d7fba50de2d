/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random.h - a pseudo-random number generator (splitmix64).
 * A leaf.  Used by: hook, sim.
 */
#ifndef PGAS_TRANSPORT_RANDOM_H
#define PGAS_TRANSPORT_RANDOM_H

#include <stdint.h>

/* The constants of splitmix64 (Steele, Lea, Flood 2014). */
#define RANDOM_STEP  UINT64_C(0x9e3779b97f4a7c15)
#define RANDOM_MIX_1 UINT64_C(0xbf58476d1ce4e5b9)
#define RANDOM_MIX_2 UINT64_C(0x94d049bb133111eb)

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state += RANDOM_STEP;

    x = (x ^ (x >> 30)) * RANDOM_MIX_1;
    x = (x ^ (x >> 27)) * RANDOM_MIX_2;
    return x ^ (x >> 31);
}

/* 0..n-1, nearly even; n > 0. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
    return random_next(state) % n;
}

/* The initial state of stream `stream` of seed `seed`. */
static inline uint64_t random_stream(uint64_t seed, uint64_t stream)
{
    uint64_t state = seed;

    state = random_next(&state) ^ stream;
    return random_next(&state);
}

#endif
