/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c - see wait.h and compare.h.  Uses: compare, core/block, core/net, core/log. */
#include "config.h"

#include "include/shmem.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net.h"
#include "pgas/rma/wait.h"
#include "pgas/threads/pause.h"

/* Polls of the word before block_until is called, whose polls cost a function call each.
 * Oversubscribed PEs poll less. */
enum { SPINS = 64, SPINS_OVERSUBSCRIBED = 4 };

struct condition {
    const void *word;
    size_t size;
    enum wait_kind kind;
    struct interval interval;
    uint64_t *seen; /* out: the last value compared */
};

static _Noreturn void wait_bad_cmp(int cmp, const char *fn)
{
    log_misuse(
        "%s: argument 'cmp' = %d, but it must be one of SHMEM_CMP_EQ..SHMEM_CMP_GE "
        "(%d..%d)",
        fn, cmp, SHMEM_CMP_EQ, SHMEM_CMP_GE);
}

/* GT is the interval above v and LE its complement; LT is the interval below v and GE its
 * complement.  An empty interval is represented as the complement of all values. */
struct interval interval_of(int cmp, enum wait_kind kind, uint64_t v, const char *fn)
{
    uint64_t max = kind == WAIT_SINT ? (uint64_t)INT64_MAX : UINT64_MAX;
    uint64_t min = max + 1; /* of the signed or unsigned order, modulo 2^64 */
    bool above = cmp == SHMEM_CMP_GT || cmp == SHMEM_CMP_LE;
    bool below = cmp == SHMEM_CMP_LT || cmp == SHMEM_CMP_GE;
    bool within = cmp == SHMEM_CMP_EQ || cmp == SHMEM_CMP_GT || cmp == SHMEM_CMP_LT;

    if (unlikely(cmp < SHMEM_CMP_EQ || cmp > SHMEM_CMP_GE))
        wait_bad_cmp(cmp, fn);
    if ((above && v == max) || (below && v == min))
        return (struct interval){.low = 0, .span = UINT64_MAX, .within = !within};
    if (above)
        return (struct interval){.low = v + 1, .span = max - v - 1, .within = within};
    if (below)
        return (struct interval){.low = min, .span = v - 1 - min, .within = within};
    return (struct interval){.low = v, .span = 0, .within = within};
}

static bool wait_holds(const void *arg)
{
    const struct condition *c = arg;

    *c->seen = word_load(c->word, c->size, c->kind);
    return interval_has(&c->interval, *c->seen);
}

bool wait_test(const void *word, size_t size, enum wait_kind kind, int cmp,
               uint64_t value, const char *fn)
{
    struct interval interval = interval_of(cmp, kind, value, fn);
    bool has = interval_has(&interval, word_load(word, size, kind));

    if (!has)
        net_poll(); /* the program may call this routine in a loop */
    return has;
}

uint64_t wait_for(const void *word, size_t size, enum wait_kind kind,
                  const struct interval *interval, const char *fn)
{
    const struct interval in = *interval; /* a private copy can stay in registers */
    uint64_t seen;

    net_send();
    for (int i = pgas_self.oversubscribed ? SPINS_OVERSUBSCRIBED : SPINS; i > 0; i--) {
        seen = word_load(word, size, kind);
        if (interval_has(&in, seen))
            return seen;
        cpu_pause();
    }
    struct condition c = {word, size, kind, in, &seen};
    block_until(&(struct block_wait){.ready = wait_holds,
                                     .arg = &c,
                                     .word = block_word_of(word, size),
                                     .ends_on_failure = true,
                                     .what = fn});
    return seen;
}

uint64_t wait_until(const void *word, size_t size, enum wait_kind kind, int cmp,
                    uint64_t value, const char *fn)
{
    struct interval interval = interval_of(cmp, kind, value, fn);

    return wait_for(word, size, kind, &interval, fn);
}
