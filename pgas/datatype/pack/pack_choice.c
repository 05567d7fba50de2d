/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_choice.c - see pack_choice.h.  Uses: pack_isas, pack_ticks, pack_tune. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/datatype/pack/pack_choice.h"
#include "pgas/datatype/pack/pack_isas.h"
#include "pgas/datatype/pack/pack_plan.h"
#include "pgas/datatype/pack/pack_route.h"
#include "pgas/datatype/pack/pack_ticks.h"
#include "pgas/datatype/pack/pack_tune.h"

#define PACK_NAME(NAME, name, ISA) [PACK_##NAME] = #name,
static const char *const pack_names[] = {PACK_KERNEL_TABLE(PACK_NAME)};

#define PACK_NEEDS(NAME, name, ISA) [PACK_##NAME] = ISA_##ISA,
static const enum isa pack_needs[] = {PACK_KERNEL_TABLE(PACK_NEEDS)};

static const struct pack_kernel_fns *const pack_kernels[PACK_KERNELS] = {
    [PACK_SCALAR] = &pack_scalar,
    [PACK_BLOCK] = &pack_block,
    [PACK_FIXED] = &pack_fixed,
    PACK_ISA_KERNELS,
};

/* The kernels that may run, in one word, so that threads that copy while shmem_init
 * selects kernels use the earlier or the later selection as a whole.  0 before: those for
 * the compiler's default instruction set, which are always here. */
enum {
    SETTINGS_HERE = 0,    /* a bit for each kernel */
    SETTINGS_FORCED = 32, /* the forced kernel + 1, or 0 */
    SETTINGS_FIXED = 40,  /* the best kernel with loops of fixed size - PACK_FIXED */
    SETTINGS_SET = 48,    /* pack_choice_init has been called */
};
#define SETTING(value, at) ((uint64_t)(value) << (at))
#define SETTINGS_BASE      (1 << PACK_SCALAR | 1 << PACK_BLOCK | 1 << PACK_FIXED)

/* All 0, because its size would otherwise be that of the library's file, too. */
static struct {
    pthread_mutex_t lock; /* of initialization */
    uint64_t settings;
    uint64_t
        known; /* struct pack_rows *: of an earlier process, sorted, constant; or 0 */
    struct pack_tune tune;
    struct pack_plans plans;
    struct pack_routes routes;
} pack_choice;

static inline uint64_t settings_load(void)
{
    return load_acquire_u64(&pack_choice.settings);
}

static inline bool settings_here(uint64_t settings, enum pack_kernel k)
{
    return ((settings >> SETTINGS_HERE | SETTINGS_BASE) >> k & 1) != 0;
}

/* Or PACK_KERNELS */
static inline enum pack_kernel settings_forced(uint64_t settings)
{
    unsigned forced = (unsigned)(settings >> SETTINGS_FORCED & 0xff);

    return likely(forced == 0) ? PACK_KERNELS : (enum pack_kernel)(forced - 1);
}

/* Before measurements: loops of fixed size are never far from the best kernel for small
 * copies. */
static inline enum pack_kernel settings_default(uint64_t settings,
                                                const struct vector_copy *v)
{
    return v->block <= PACK_FIXED_MAX
               ? (enum pack_kernel)(PACK_FIXED + (settings >> SETTINGS_FIXED & 0xff))
               : PACK_BLOCK;
}

const char *pack_kernel_name(enum pack_kernel k)
{
    return pack_names[k];
}

static bool pack_kernel_usable(enum pack_kernel k, enum isa isa)
{
    return pack_kernels[k] != NULL && pack_needs[k] <= isa && isa_here(pack_needs[k]) &&
           (k != PACK_PERMUTE_VBMI || isa_has_vbmi());
}

bool pack_kernel_here(enum pack_kernel k)
{
    return settings_here(settings_load(), k);
}

bool pack_kernel_can(enum pack_kernel k, const struct vector_copy *v)
{
    return pack_kernel_here(k) && pack_kernels[k]->can(v);
}

/* The plan of a kernel that accepts the vector, or NULL */
static inline const void *pack_kernel_plan(enum pack_kernel k,
                                           const struct vector_copy *v)
{
    const struct pack_kernel_fns *kernel = pack_kernels[k];
    const void *plan = NULL;

    if (kernel->plan_run != NULL) {
        uint64_t id = pack_plan_id(k, v);
        plan = pack_plan_find(&pack_choice.plans, id);
        if (unlikely(plan == NULL))
            plan = pack_plan_make(&pack_choice.plans, kernel, id, v);
    }
    return plan;
}

static inline void pack_kernel_run_plan(enum pack_kernel k, const void *plan,
                                        const struct vector_copy *v)
{
    if (plan != NULL)
        pack_kernels[k]->plan_run(plan, v);
    else
        pack_kernels[k]->run(v);
}

void pack_kernel_run(enum pack_kernel k, const struct vector_copy *v)
{
    pack_kernel_run_plan(k, pack_kernel_plan(k, v), v);
}

static void pack_choice_set(enum isa isa, enum pack_kernel forced)
{
    static const enum pack_kernel fixed[] = {PACK_FIXED_AVX512, PACK_FIXED_AVX2,
                                             PACK_FIXED_SVE, PACK_FIXED};
    uint64_t settings = SETTING(1, SETTINGS_SET);
    size_t i = 0;

    for (enum pack_kernel k = 0; k < PACK_KERNELS; k++)
        settings |= SETTING(pack_kernel_usable(k, isa), SETTINGS_HERE + (unsigned)k);
    if (forced != PACK_KERNELS)
        settings |= SETTING(forced + 1, SETTINGS_FORCED);
    while (!settings_here(settings, fixed[i]))
        i++;
    settings |= SETTING(fixed[i] - PACK_FIXED, SETTINGS_FIXED);
    store_release_u64(&pack_choice.settings, settings);
}

void pack_choice_init(enum isa isa, enum pack_kernel forced)
{
    pthread_mutex_lock(&pack_choice.lock);
    pack_choice_set(isa, forced);
    pthread_mutex_unlock(&pack_choice.lock);
}

void pack_choice_init_default(void)
{
    pthread_mutex_lock(&pack_choice.lock);
    if ((settings_load() >> SETTINGS_SET & 1) == 0)
        pack_choice_set(isa_best(), PACK_KERNELS);
    pthread_mutex_unlock(&pack_choice.lock);
}

int pack_kernel_read(const char *text, enum isa isa, enum pack_kernel *k, char *error,
                     size_t len)
{
    *k = PACK_KERNELS;
    if (strcmp(text, "auto") == 0)
        return 0;
    for (enum pack_kernel i = 0; i < PACK_KERNELS; i++)
        if (strcmp(text, pack_names[i]) == 0 && pack_kernel_usable(i, isa)) {
            *k = i;
            return 0;
        }
    snprintf(error, len, "not a kernel of this processor with SHMEM_ISA=%s; use auto",
             isa_name(isa));
    for (enum pack_kernel i = 0; i < PACK_KERNELS; i++) {
        size_t used = strlen(error);
        if (pack_kernel_usable(i, isa))
            snprintf(error + used, len - used, ", %s", pack_names[i]);
    }
    return -1;
}

enum pack_kernel pack_choice_found(const struct vector_copy *v)
{
    return pack_tune_found(&pack_choice.tune, pack_tune_key(v, settings_load()));
}

bool pack_choice_allows(enum pack_kernel k)
{
    uint64_t settings = settings_load();
    enum pack_kernel forced = settings_forced(settings);

    return settings_here(settings, k) && (forced == PACK_KERNELS || forced == k);
}

static enum pack_kernel pack_choice_default(const struct vector_copy *v)
{
    return settings_default(settings_load(), v);
}

/* ---- kernels known from an earlier process ------------------------------------------
 */

static int pack_row_compare(const void *a, const void *b)
{
    return pack_shape_compare(&((const struct pack_row *)a)->shape,
                              &((const struct pack_row *)b)->shape);
}

static const struct pack_rows *pack_choice_rows(void)
{
    return (const struct pack_rows *)(uintptr_t)load_acquire_u64(&pack_choice.known);
}

static enum pack_kernel pack_choice_known(const struct pack_shape *s)
{
    const struct pack_rows *rows = pack_choice_rows();
    const struct pack_row wanted = {.shape = *s}, *row = NULL;

    if (rows != NULL)
        row = bsearch(&wanted, rows->row, rows->n, sizeof wanted, pack_row_compare);
    return row != NULL ? row->kernel : PACK_KERNELS;
}

bool pack_choice_know(const struct pack_rows *rows)
{
    struct pack_rows *mine = malloc(sizeof *mine);
    bool first = false;

    if (mine == NULL)
        return false;
    *mine = *rows;
    qsort(mine->row, mine->n, sizeof mine->row[0], pack_row_compare);
    pthread_mutex_lock(&pack_choice.lock);
    if (pack_choice.known == 0) {
        store_release_u64(&pack_choice.known, (uintptr_t)mine);
        first = true;
    }
    pthread_mutex_unlock(&pack_choice.lock);
    if (!first)
        free(mine);
    return first;
}

size_t pack_choice_new(struct pack_row row[PACK_TUNE_CELLS])
{
    size_t found = pack_tune_rows(&pack_choice.tune, row), n = 0;

    for (size_t i = 0; i < found; i++)
        if (pack_kernel_here(row[i].kernel) &&
            pack_choice_known(&row[i].shape) == PACK_KERNELS)
            row[n++] = row[i];
    return n;
}

static __attribute__((noinline, cold)) void
pack_choice_run_forced(enum pack_kernel k, const struct vector_copy *v)
{
    pack_kernel_run(pack_kernel_can(k, v) ? k : pack_choice_default(v), v);
}

/* A vector without a route in its first slot.  Not inlined, so that pack_choice_run saves
 * no registers. */
static __attribute__((noinline)) void pack_choice_run_shape(uint64_t key,
                                                            const struct vector_copy *v)
{
    static const struct pack_tune_kernels with = {pack_kernel_can, pack_kernel_run,
                                                  pack_choice_default, pack_choice_known,
                                                  pack_ticks};
    struct pack_route *first = pack_route_slot(&pack_choice.routes, key, 0);
    struct pack_route *second = pack_route_slot(&pack_choice.routes, key, 1);

    if (pack_route_fits(second, key, v)) {
        pack_route_run(second, v);
        return;
    }
    enum pack_kernel k = pack_tune_found(&pack_choice.tune, key);
    bool copied = k == PACK_KERNELS || !pack_kernels[k]->can(v);
    if (copied) {
        k = pack_tune_measure(&pack_choice.tune, &with, key, v);
        if (k == PACK_KERNELS || !pack_kernels[k]->can(v))
            return;
    }
    const void *plan = pack_kernel_plan(k, v);
    if (!copied)
        pack_kernel_run_plan(k, plan, v);
    if ((plan != NULL || pack_kernels[k]->plan_run == NULL) &&
        !pack_route_add(first, key, pack_kernels[k], plan, v))
        (void)pack_route_add(second, key, pack_kernels[k], plan, v);
}

LINE_ALIGNED void pack_choice_run(const struct vector_copy *v)
{
    uint64_t settings = settings_load();

    if (unlikely(settings_forced(settings) != PACK_KERNELS)) {
        pack_choice_run_forced(settings_forced(settings), v);
        return;
    }
    if (v->block * v->count < PACK_TUNE_MIN) {
        pack_kernels[settings_default(settings, v)]->run(v);
        return;
    }
    uint64_t key = pack_tune_key(v, settings);
    const struct pack_route *r = pack_route_slot(&pack_choice.routes, key, 0);
    if (likely(pack_route_fits(r, key, v)))
        pack_route_run(r, v);
    else
        pack_choice_run_shape(key, v);
}
