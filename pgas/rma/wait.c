/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c - see wait.h.  Uses: core/block, core/log. */
#include "config.h"

#include "include/shmem.h"
#include "pgas/core/block.h"
#include "pgas/core/log.h"
#include "pgas/rma/wait.h"

struct condition {
    const void *word;
    size_t size;
    enum wait_kind kind;
    int cmp;
    uint64_t value;
    uint64_t *seen; /* the value that was compared last goes here */
};

static uint64_t load(const struct condition *c)
{
    switch (c->size) {
    case sizeof(uint16_t): {
        uint16_t v = __atomic_load_n((const uint16_t *)c->word, __ATOMIC_ACQUIRE);
        return c->kind == WAIT_SINT ? (uint64_t)(int64_t)(int16_t)v : v;
    }
    case sizeof(uint32_t): {
        uint32_t v = load_acquire_u32(c->word);
        return c->kind == WAIT_SINT ? (uint64_t)(int64_t)(int32_t)v : v;
    }
    default:
        return load_acquire_u64(c->word);
    }
}

/* -1, 0, 1 as a <, =, > b */
static int order(enum wait_kind kind, uint64_t a, uint64_t b)
{
    if (kind == WAIT_SINT)
        return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
    return (a > b) - (a < b);
}

static bool holds(const void *arg)
{
    const struct condition *c = arg;

    *c->seen = load(c);
    int o = order(c->kind, *c->seen, c->value);

    switch (c->cmp) {
    case SHMEM_CMP_EQ:
        return o == 0;
    case SHMEM_CMP_NE:
        return o != 0;
    case SHMEM_CMP_GT:
        return o > 0;
    case SHMEM_CMP_GE:
        return o >= 0;
    case SHMEM_CMP_LT:
        return o < 0;
    default:
        return o <= 0;
    }
}

static void check(int cmp, const char *fn)
{
    if (pgas_self.life != LIFE_UP)
        log_die("%s: called %s", fn,
                pgas_self.life == LIFE_NEW ? "before shmem_init: call shmem_init first"
                                           : "after shmem_finalize");
    if (cmp < SHMEM_CMP_EQ || cmp > SHMEM_CMP_GE)
        log_die(
            "%s: argument 'cmp' = %d, but it must be one of SHMEM_CMP_EQ..SHMEM_CMP_GE "
            "(%d..%d)",
            fn, cmp, SHMEM_CMP_EQ, SHMEM_CMP_GE);
}

bool wait_test(const void *word, size_t size, enum wait_kind kind, int cmp,
               uint64_t value, const char *fn)
{
    uint64_t seen;
    struct condition c = {word, size, kind, cmp, value, &seen};

    check(cmp, fn);
    return holds(&c);
}

void wait_until(const void *word, size_t size, enum wait_kind kind, int cmp,
                uint64_t value, const char *fn)
{
    uint64_t seen;
    struct condition c = {word, size, kind, cmp, value, &seen};

    check(cmp, fn);
    block_until(holds, &c, word, fn);
}

uint64_t wait_signal(const uint64_t *word, int cmp, uint64_t value, const char *fn)
{
    uint64_t seen = 0;
    struct condition c = {word, sizeof *word, WAIT_UINT, cmp, value, &seen};

    check(cmp, fn);
    block_until(holds, &c, word, fn);
    return seen;
}
