/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_choice.c - see pack_choice.h.  Uses: pack_isas, pack_tune. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "pgas/datatype/pack/pack_choice.h"
#include "pgas/datatype/pack/pack_isas.h"
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

static struct {
    pthread_mutex_t lock; /* of initialization */
    bool is_set;          /* pack_choice_init has been called */
    bool here[PACK_KERNELS];
    enum pack_kernel forced;
    uint64_t epoch; /* of the tuner: counts calls of pack_choice_init */
    struct pack_tune tune;
} pack_choice = {.lock = PTHREAD_MUTEX_INITIALIZER,
                 .here = {[PACK_SCALAR] = true, [PACK_BLOCK] = true, [PACK_FIXED] = true},
                 .forced = PACK_KERNELS};

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
    return pack_choice.here[k];
}

bool pack_kernel_can(enum pack_kernel k, const struct vector_copy *v)
{
    return pack_choice.here[k] && pack_kernels[k]->can(v);
}

void pack_kernel_run(enum pack_kernel k, const struct vector_copy *v)
{
    pack_kernels[k]->run(v);
}

static void pack_choice_set(enum isa isa, enum pack_kernel forced)
{
    for (enum pack_kernel k = 0; k < PACK_KERNELS; k++)
        pack_choice.here[k] = pack_kernel_usable(k, isa);
    pack_choice.forced = forced;
    pack_choice.epoch++;
    pack_choice.is_set = true;
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
    if (!pack_choice.is_set)
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

/* Before measurements: loops of fixed size are never far from the best kernel for small
 * copies. */
static enum pack_kernel pack_choice_default(const struct vector_copy *v)
{
    static const enum pack_kernel order[] = {PACK_FIXED_AVX512, PACK_FIXED_AVX2,
                                             PACK_FIXED_SVE, PACK_FIXED};

    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (pack_kernel_can(order[i], v))
            return order[i];
    return PACK_BLOCK;
}

enum pack_kernel pack_choice_found(const struct vector_copy *v)
{
    return pack_tune_found(&pack_choice.tune, pack_tune_key(v, pack_choice.epoch));
}

bool pack_choice_allows(enum pack_kernel k)
{
    return pack_choice.here[k] &&
           (pack_choice.forced == PACK_KERNELS || pack_choice.forced == k);
}

static void pack_choice_measure(uint64_t key, const struct vector_copy *v)
{
    static const struct pack_tune_kernels with = {pack_kernel_can, pack_kernel_run,
                                                  pack_choice_default};

    pack_tune_measure(&pack_choice.tune, &with, key, v);
}

static void pack_choice_run_forced(enum pack_kernel k, const struct vector_copy *v)
{
    pack_kernel_run(pack_kernel_can(k, v) ? k : pack_choice_default(v), v);
}

void pack_choice_run(const struct vector_copy *v)
{
    if (unlikely(pack_choice.forced != PACK_KERNELS)) {
        pack_choice_run_forced(pack_choice.forced, v);
        return;
    }
    if (v->block * v->count < PACK_TUNE_MIN) {
        pack_kernel_run(pack_choice_default(v), v);
        return;
    }
    uint64_t key = pack_tune_key(v, pack_choice.epoch);
    enum pack_kernel k = pack_tune_found(&pack_choice.tune, key);
    if (likely(k != PACK_KERNELS && pack_kernels[k]->can(v)))
        pack_kernels[k]->run(v);
    else
        pack_choice_measure(key, v);
}
