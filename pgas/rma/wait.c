/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.c - see wait.h.  Uses: core/block, core/log.
 *
 * Every comparison with a value is membership of one interval modulo 2^64 (or of its
 * complement), whatever the sign: x > v is x in v+1..MAX.  So the loop that spins has one
 * subtraction and one comparison.
 */
#include "config.h"

#include "include/shmem.h"
#include "pgas/core/block.h"
#include "pgas/core/log.h"
#include "pgas/core/peer.h"
#include "pgas/rma/wait.h"
#include "pgas/threads/pause.h"

/* Looks at the word before block_until is asked, which would cost a call for each; the
 * fewer the more PEs there are than processors. */
enum { SPINS = 64, SPINS_CROWDED = 4 };

struct condition {
    const void *word;
    size_t size;
    enum wait_kind kind;
    uint64_t low, span; /* holds if (word - low <= span) == within */
    bool within;
    uint64_t *seen; /* the value that was compared last goes here */
};

static inline uint64_t load(const void *word, size_t size, enum wait_kind kind)
{
    bool is_signed = kind == WAIT_SINT;

    if (size == sizeof(uint64_t))
        return load_acquire_u64(word);
    if (size == sizeof(uint32_t)) {
        uint32_t v = load_acquire_u32(word);
        return is_signed ? (uint64_t)(int64_t)(int32_t)v : v;
    }
    uint16_t v = __atomic_load_n((const uint16_t *)word, __ATOMIC_ACQUIRE);
    return is_signed ? (uint64_t)(int64_t)(int16_t)v : v;
}

static inline bool holds_now(const struct condition *c)
{
    *c->seen = load(c->word, c->size, c->kind);
    return (*c->seen - c->low <= c->span) == c->within;
}

static bool holds(const void *arg)
{
    return holds_now(arg);
}

/* Fill in the interval: GT and LE from the values above v, LT and GE from those below,
 * each empty interval as the complement of all values. */
static void set_interval(struct condition *c, int cmp, uint64_t v)
{
    uint64_t max = c->kind == WAIT_SINT ? (uint64_t)INT64_MAX : UINT64_MAX;
    uint64_t min = max + 1; /* of the signed or unsigned order, modulo 2^64 */
    bool above = cmp == SHMEM_CMP_GT || cmp == SHMEM_CMP_LE;
    bool below = cmp == SHMEM_CMP_LT || cmp == SHMEM_CMP_GE;

    c->within = cmp == SHMEM_CMP_EQ || cmp == SHMEM_CMP_GT || cmp == SHMEM_CMP_LT;
    c->low = above ? v + 1 : below ? min : v;
    c->span = above ? max - c->low : below ? v - 1 - min : 0;
    if ((above && v == max) || (below && v == min)) {
        c->low = 0;
        c->span = UINT64_MAX;
        c->within = !c->within;
    }
}

static void check(int cmp, const char *fn)
{
    if (unlikely(pgas_self.life != LIFE_UP))
        peer_check(pgas_self.me, fn);
    if (unlikely(cmp < SHMEM_CMP_EQ || cmp > SHMEM_CMP_GE))
        log_die(
            "%s: argument 'cmp' = %d, but it must be one of SHMEM_CMP_EQ..SHMEM_CMP_GE "
            "(%d..%d)",
            fn, cmp, SHMEM_CMP_EQ, SHMEM_CMP_GE);
}

bool wait_test(const void *word, size_t size, enum wait_kind kind, int cmp,
               uint64_t value, const char *fn)
{
    uint64_t seen;
    struct condition c = {.word = word, .size = size, .kind = kind, .seen = &seen};

    check(cmp, fn);
    set_interval(&c, cmp, value);
    return holds_now(&c);
}

/* Returns the value that satisfied the condition. */
static uint64_t wait_for(struct condition *c, int cmp, uint64_t value, const char *fn)
{
    uint64_t seen;

    c->seen = &seen;
    check(cmp, fn);
    set_interval(c, cmp, value);
    for (int i = pgas_self.oversubscribed ? SPINS_CROWDED : SPINS; i > 0; i--) {
        if (holds_now(c))
            return seen;
        cpu_pause();
    }
    block_until(
        &(struct block_wait){.ready = holds, .arg = c, .word = c->word, .what = fn});
    return seen;
}

void wait_until(const void *word, size_t size, enum wait_kind kind, int cmp,
                uint64_t value, const char *fn)
{
    struct condition c = {.word = word, .size = size, .kind = kind};

    wait_for(&c, cmp, value, fn);
}

uint64_t wait_signal(const uint64_t *word, int cmp, uint64_t value, const char *fn)
{
    struct condition c = {.word = word, .size = sizeof *word, .kind = WAIT_UINT};

    return wait_for(&c, cmp, value, fn);
}
