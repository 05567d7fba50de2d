/* SPDX-License-Identifier: BSD-3-Clause */
/* check_kinds.c - see check_kinds.h. */
#include "config.h"

#include <limits.h>

#include "pgas/core/check/check_kinds.h"
#include "pgas/core/team/ctx.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/log.h"
#include "pgas/core/memory/peer.h"

enum { MAX_LOG_STRIDE = 30 };

#define PSYNC_BYTES (sizeof(long) * SHMEM_SYNC_SIZE)

/* ---- numbers --------------------------------------------------------------------- */

void check_nothing(const struct check_param *p)
{
    (void)p;
}

void check_count(const struct check_param *p)
{
    size_t block = check_value(p->call, CHECK_BSIZE, 1), bytes;

    if (!__builtin_mul_overflow(block, p->call->size, &bytes) &&
        !__builtin_mul_overflow(bytes, p->value, &bytes))
        return;
    if (check_value(p->call, CHECK_BSIZE, 0) != 0)
        check_bad(p, "times 'bsize' = %zu elements of %zu bytes overflows size_t", block,
                  p->call->size);
    check_bad(p, "times %zu bytes per element overflows size_t", p->call->size);
}

void check_positive(const struct check_param *p)
{
    if ((int64_t)p->value < 0)
        check_bad(p, "it must not be negative");
}

void check_stride(const struct check_param *p)
{
    if ((int64_t)p->value < 1)
        check_bad(p, "a stride must be at least 1");
}

void check_alignment(const struct check_param *p)
{
    if (p->value == 0 || (p->value & (p->value - 1)) != 0)
        check_bad(p, "it must be a power of two");
}

void check_cmp(const struct check_param *p)
{
    if ((int64_t)p->value < SHMEM_CMP_EQ || (int64_t)p->value > SHMEM_CMP_GE)
        check_bad(p, "it must be one of SHMEM_CMP_EQ..SHMEM_CMP_GE (%d..%d)",
                  SHMEM_CMP_EQ, SHMEM_CMP_GE);
}

void check_signal_op(const struct check_param *p)
{
    if (p->value != SHMEM_SIGNAL_SET && p->value != SHMEM_SIGNAL_ADD)
        check_bad(p, "it must be SHMEM_SIGNAL_SET (%d) or SHMEM_SIGNAL_ADD (%d)",
                  SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD);
}

static void check_only_bits(const struct check_param *p, long bits, const char *names)
{
    if ((p->value & ~(uint64_t)bits) != 0)
        check_bad(p, "only bits of %s (0x%lx) may be set", names, bits);
}

void check_ctx_options(const struct check_param *p)
{
    check_only_bits(p, SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE,
                    "SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE and SHMEM_CTX_NOSTORE");
}

void check_session_options(const struct check_param *p)
{
    check_only_bits(p, SHMEM_CTX_SESSION_BATCH, "SHMEM_CTX_SESSION_BATCH");
}

/* A mask selects members of the configuration that is the preceding parameter. */
static void check_selects(const struct check_param *p)
{
    if (p->value != 0 && p->call->value[p->i - 1] == 0)
        check_bad(p, "it selects members of '%s', which is NULL",
                  p->call->name[p->i - 1]);
}

void check_session_mask(const struct check_param *p)
{
    check_only_bits(p, SHMEM_CTX_SESSION_TOTAL_OPS, "SHMEM_CTX_SESSION_TOTAL_OPS");
    check_selects(p);
}

void check_config_mask(const struct check_param *p)
{
    check_config_wanted(p);
    check_selects(p);
}

void check_config_wanted(const struct check_param *p)
{
    check_only_bits(p, SHMEM_TEAM_NUM_CONTEXTS, "SHMEM_TEAM_NUM_CONTEXTS");
}

/* ---- PEs, teams and contexts ------------------------------------------------------ */

void check_ctx_or_none(const struct check_param *p)
{
    if (p->value != 0)
        check_ctx(p);
}

void check_ctx(const struct check_param *p)
{
    shmem_ctx_t ctx = (shmem_ctx_t)(uintptr_t)p->value;

    if (ctx == SHMEM_CTX_DEFAULT)
        return;
    if (!ctx_alive(ctx))
        check_bad(p,
                  "%s; use one from shmem_ctx_create or shmem_team_create_ctx, or "
                  "SHMEM_CTX_DEFAULT",
                  p->value == 0 ? "it is SHMEM_CTX_INVALID"
                                : "it is not a valid context (already destroyed?)");
    if ((ctx->options & SHMEM_CTX_PRIVATE) != 0 &&
        !pthread_equal(ctx->owner, pthread_self()))
        check_bad(p, "it is private to the thread that created it (SHMEM_CTX_PRIVATE), "
                     "which is not the calling thread");
}

void check_team_or_none(const struct check_param *p)
{
    if (p->value != 0)
        check_team(p);
}

void check_team(const struct check_param *p)
{
    if (!team_alive((shmem_team_t)(uintptr_t)p->value))
        check_bad(p,
                  "%s; use one from shmem_team_split_strided or "
                  "shmem_team_split_2d, SHMEM_TEAM_WORLD or SHMEM_TEAM_SHARED",
                  p->value == 0 ? "it is SHMEM_TEAM_INVALID"
                                : "it is not a valid team (already destroyed?)");
}

void check_team_doomed(const struct check_param *p)
{
    shmem_team_t handle = (shmem_team_t)(uintptr_t)p->value;

    check_team_or_none(p);
    if (handle == SHMEM_TEAM_WORLD || handle == SHMEM_TEAM_SHARED)
        check_bad(p, "a predefined team cannot be destroyed");
    int remaining = p->value != 0 ? ctx_private(team_of(handle, p->call->fn)) : 0;
    if (remaining > 0)
        check_bad(p,
                  "%d of its contexts with SHMEM_CTX_PRIVATE still exist; call "
                  "shmem_ctx_destroy for them first",
                  remaining);
}

/* The team to which a call's PE numbers refer. */
static struct shmem_team *check_team_for(const struct check_call *c)
{
    uint64_t ctx = check_value(c, CHECK_CTX, check_value(c, CHECK_CTX_OR_NONE, 0));
    uint64_t team = check_team_value(c);

    if (ctx != 0)
        return ctx_team((shmem_ctx_t)(uintptr_t)ctx);
    return team_of(team != 0 ? (shmem_team_t)(uintptr_t)team : SHMEM_TEAM_WORLD, c->fn);
}

static const char *check_team_name(const struct shmem_team *team)
{
    return team->name != NULL ? team->name : "of the program";
}

static void check_in_team(const struct check_param *p, const struct shmem_team *team)
{
    int64_t pe = (int64_t)p->value;

    if (pe < 0 || pe >= team->npes)
        check_bad(p, "team %s has PEs 0..%d", check_team_name(team), team->npes - 1);
}

void check_pe(const struct check_param *p)
{
    check_in_team(p, check_team_for(p->call));
}

/* With SHMEM_TEAM_INVALID the PE number is not used. */
void check_team_pe(const struct check_param *p)
{
    if (check_value(p->call, CHECK_TEAM_OR_NONE, 1) != 0)
        check_in_team(p, check_team_for(p->call));
}

static int check_kinds_set_size(const struct check_call *c)
{
    return (int)check_value(c, CHECK_SET_SIZE, 0);
}

void check_root(const struct check_param *p)
{
    if (p->call->scope != CHECK_BY_SET)
        check_in_team(p, check_team_for(p->call));
    else if ((int64_t)p->value < 0 || (int64_t)p->value >= check_kinds_set_size(p->call))
        check_bad(p, "the active set has PEs 0..%d (the number within the set)",
                  check_kinds_set_size(p->call) - 1);
}

void check_pe_list(const struct check_param *p)
{
    const struct shmem_team *team = check_team_for(p->call);
    const int *list = (const int *)(uintptr_t)p->value;
    size_t n = check_value(p->call, CHECK_COUNT, 0);

    check_local(p);
    for (size_t i = 0; i < n; i++)
        if (list[i] < 0 || list[i] >= team->npes)
            check_bad(p, "its element %zu is %d, and team %s has PEs 0..%d", i, list[i],
                      check_team_name(team), team->npes - 1);
}

void check_members(const struct check_param *p)
{
    const struct shmem_team *team = check_team_for(p->call);
    const int *list = (const int *)(uintptr_t)p->value;
    int64_t n = (int64_t)check_value(p->call, CHECK_COUNT_INT, 0);

    check_local(p);
    for (int64_t i = 0; i < n; i++)
        if (list[i] < 0 || list[i] >= team->npes)
            check_bad(p, "its element %d is %d, and team %s has PEs 0..%d", (int)i,
                      list[i], check_team_name(team), team->npes - 1);
}

/* The active set consists of the world PEs start, start + stride, ... */
void check_set_start(const struct check_param *p)
{
    if ((int64_t)p->value < 0 || (int64_t)p->value >= pgas_self.npes)
        check_bad(p, "team WORLD has PEs 0..%u", pgas_self.npes - 1);
}

void check_set_stride(const struct check_param *p)
{
    /* The stride of a set of one PE is irrelevant. */
    int max = check_kinds_set_size(p->call) > 1 ? MAX_LOG_STRIDE : INT_MAX;

    if ((int64_t)p->value < 0 || (int64_t)p->value > max)
        check_bad(p, "it is the base-2 logarithm of a stride: 0..%d", MAX_LOG_STRIDE);
}

/* Checked after start and stride, which are therefore valid. */
void check_set_size(const struct check_param *p)
{
    int64_t start = (int64_t)check_value(p->call, CHECK_SET_START, 0);
    int64_t size = (int64_t)p->value, me = pgas_self.me - start;
    int64_t stride =
        size > 1 ? (int64_t)1 << check_value(p->call, CHECK_SET_STRIDE, 0) : 1;

    if (size < 1 || (size - 1) > (pgas_self.npes - 1 - start) / stride)
        check_bad(p,
                  "with PE_start = %d and a stride of %lld PEs it must be 1..%lld for "
                  "%u PEs",
                  (int)start, (long long)stride,
                  (long long)((pgas_self.npes - 1 - start) / stride + 1), pgas_self.npes);
    if (me < 0 || me % stride != 0 || me / stride >= size)
        check_bad(p,
                  "the calling PE %d is not a member of that active set (PE_start = "
                  "%d, stride %lld PEs)",
                  pgas_self.me, (int)start, (long long)stride);
}

/* ---- symmetric memory ------------------------------------------------------------- */

static size_t check_count_of(const struct check_call *c)
{
    return check_value(
        c, CHECK_COUNT,
        check_value(c, CHECK_COUNT_OWN, check_value(c, CHECK_COUNT_INT, 1)));
}

/* The number of PEs of the call's team or active set. */
static size_t check_members_of(const struct check_call *c)
{
    return c->scope == CHECK_BY_SET ? (size_t)check_kinds_set_size(c)
                                    : (size_t)check_team_for(c)->npes;
}

enum range { RANGE_GOOD, RANGE_NOT_SYMMETRIC, RANGE_NO_BLOCK, RANGE_TOO_LONG };

/* Classifies a range of bytes.  At level 2 heap memory must be inside one allocated
 * block, and *rest is set to the number of bytes from `at` to the end of that block. */
static enum range check_range_of(uintptr_t at, size_t bytes, size_t *rest)
{
    const struct pgas *g = &pgas_self;
    size_t offset;
    enum transport_segment segment = symaddr_find((const void *)at, bytes, &offset);

    if (bytes == 0 || segment == SEGMENT_DATA)
        return RANGE_GOOD;
    if (segment == SEGMENTS || offset < g->heap_user)
        return RANGE_NOT_SYMMETRIC;
    if (!check_deep())
        return RANGE_GOOD;
    *rest = heap_block_rest((const void *)at);
    return *rest == 0 ? RANGE_NO_BLOCK : *rest < bytes ? RANGE_TOO_LONG : RANGE_GOOD;
}

static void check_symmetric(const struct check_param *p, size_t bytes)
{
    char where[CHECK_TEXT_MAX];
    size_t rest;
    enum range range = check_range_of(p->value, bytes, &rest);

    if (range == RANGE_NOT_SYMMETRIC && p->value == 0)
        check_bad(p, "%zu bytes of symmetric memory are needed there", bytes);
    if (range == RANGE_NOT_SYMMETRIC)
        check_bad(p, "%zu bytes there are not symmetric: %s", bytes,
                  peer_regions(where, sizeof where));
    if (range == RANGE_NO_BLOCK)
        check_bad(p,
                  "it is not in an allocated block of shmem_malloc: it has been freed, "
                  "or was never allocated");
    if (range == RANGE_TOO_LONG)
        check_bad(p,
                  "%zu bytes are needed there, and the block of shmem_malloc ends "
                  "after %zu",
                  bytes, rest);
}

void check_inside(const void *addr, size_t bytes, const char *fn, const char *what)
{
    size_t rest;
    enum range range = check_range_of((uintptr_t)addr, bytes, &rest);

    if (range == RANGE_NOT_SYMMETRIC)
        log_misuse("%s: %s: %zu bytes are needed at %p, and they are not symmetric; use "
                   "shmem_malloc or a global or static variable of the executable",
                   fn, what, bytes, addr);
    if (range == RANGE_NO_BLOCK)
        log_misuse("%s: %s: no block of shmem_malloc is at %p", fn, what, addr);
    if (range == RANGE_TOO_LONG)
        log_misuse(
            "%s: %s: %zu bytes are needed at %p, and the block of shmem_malloc ends "
            "after %zu",
            fn, what, bytes, addr, rest);
}

/* True if n bytes at a and m bytes at b overlap. */
static bool check_overlap(uint64_t a, size_t n, uint64_t b, size_t m)
{
    return n > 0 && m > 0 && (a < b ? b - a < n : a - b < m);
}

/* Checks that the `bytes` bytes at the parameter do not overlap the `others` bytes at any
 * parameter of that kind. */
static void check_apart(const struct check_param *p, size_t bytes, enum check_kind kind,
                        size_t others)
{
    const struct check_call *c = p->call;

    for (int i = 0; i < c->n; i++)
        if (c->kind[i] == kind && check_overlap(p->value, bytes, c->value[i], others))
            check_bad(p,
                      "its %zu bytes overlap the %zu of '%s' = 0x%llx; they must not "
                      "share memory",
                      bytes, others, c->name[i], (unsigned long long)c->value[i]);
}

void check_sym(const struct check_param *p)
{
    check_symmetric(p, check_count_of(p->call) * p->call->size);
}

/* In reductions and scans, only a partial overlap is invalid. */
void check_sym_apart(const struct check_param *p)
{
    size_t bytes = check_count_of(p->call) * p->call->size;

    check_symmetric(p, bytes);
    for (int i = 0; i < p->call->n; i++) {
        uint64_t other = p->call->value[i];
        if (i == p->i || p->call->kind[i] != CHECK_SYM || other == p->value)
            continue;
        if (check_overlap(p->value, bytes, other, bytes))
            check_bad(p,
                      "its %zu bytes overlap '%s' = 0x%llx; they must be the same "
                      "array or two that do not overlap",
                      bytes, p->call->name[i], (unsigned long long)other);
    }
}

/* The extent in bytes of n blocks of b elements with `stride` elements between block
 * starts; 0 if there are none, SIZE_MAX on overflow. */
static size_t check_extent(const struct check_call *c, size_t n, size_t stride)
{
    size_t b = check_value(c, CHECK_BSIZE, 1), elements;

    if (n == 0 || b == 0)
        return 0;
    if (__builtin_mul_overflow(n - 1, stride, &elements) ||
        __builtin_add_overflow(elements, b, &elements) ||
        __builtin_mul_overflow(elements, c->size, &elements))
        return SIZE_MAX;
    return elements;
}

/* Checks n blocks whose stride is the parameter of kind `which`; CHECK_ANY: stride 1. */
static void check_strided(const struct check_param *p, size_t n, enum check_kind which)
{
    size_t stride = which != CHECK_ANY ? check_value(p->call, which, 1) : 1;
    size_t bytes = check_extent(p->call, n, stride);

    if (bytes == SIZE_MAX && which != CHECK_ANY)
        check_bad(p, "the extent with strides of %zu elements overflows size_t", stride);
    if (bytes == SIZE_MAX)
        check_bad(p, "the size in bytes of all PEs' elements overflows size_t");
    check_symmetric(p, bytes);
}

void check_sym_dst(const struct check_param *p)
{
    check_strided(p, check_count_of(p->call), CHECK_DST);
}

void check_sym_sst(const struct check_param *p)
{
    check_strided(p, check_count_of(p->call), CHECK_SST);
}

static size_t check_times_members(const struct check_param *p)
{
    size_t all;

    if (__builtin_mul_overflow(check_count_of(p->call), check_members_of(p->call), &all))
        return SIZE_MAX;
    return all;
}

void check_sym_each(const struct check_param *p)
{
    check_strided(p, check_times_members(p), CHECK_ANY);
}

void check_sym_each_dst(const struct check_param *p)
{
    check_strided(p, check_times_members(p), CHECK_DST);
}

void check_sym_each_sst(const struct check_param *p)
{
    check_strided(p, check_times_members(p), CHECK_SST);
}

void check_element(const struct check_param *p)
{
    check_symmetric(p, p->call->size);
}

static void check_aligned(const struct check_param *p, size_t size)
{
    if (p->value % size != 0)
        check_bad(p,
                  "it must be a multiple of %zu, so that the word can be accessed "
                  "atomically",
                  size);
}

void check_word(const struct check_param *p)
{
    check_symmetric(p, p->call->size);
    check_aligned(p, p->call->size);
}

void check_words(const struct check_param *p)
{
    check_symmetric(p, check_count_of(p->call) * p->call->size);
    check_aligned(p, p->call->size);
}

void check_word64(const struct check_param *p)
{
    check_symmetric(p, sizeof(uint64_t));
    check_aligned(p, sizeof(uint64_t));
}

void check_signal_apart(const struct check_param *p)
{
    check_word64(p);
    check_apart(p, sizeof(uint64_t), CHECK_SYM, check_count_of(p->call) * p->call->size);
}

/* Other PEs may have entered the call and incremented element 0 (coll/api/active.c); the
 * library has not written the other elements. */
void check_psync(const struct check_param *p)
{
    const uint64_t *psync = (const uint64_t *)(uintptr_t)p->value;

    check_symmetric(p, PSYNC_BYTES);
    check_aligned(p, sizeof(long));
    for (int i = 1; i < SHMEM_SYNC_SIZE; i++) {
        long value = (long)load_relaxed_u64(&psync[i]);
        if (value != SHMEM_SYNC_VALUE)
            check_bad(p,
                      "its element %d is %ld, and all must be SHMEM_SYNC_VALUE (%ld) "
                      "before the first use",
                      i, value, SHMEM_SYNC_VALUE);
    }
}

void check_pwrk(const struct check_param *p)
{
    size_t n = check_count_of(p->call) / 2 + 1;

    if (n < SHMEM_REDUCE_MIN_WRKDATA_SIZE)
        n = SHMEM_REDUCE_MIN_WRKDATA_SIZE;
    check_symmetric(p, n * p->call->size);
    size_t bytes = check_count_of(p->call) * p->call->size;
    check_apart(p, n * p->call->size, CHECK_SYM_APART, bytes);
    check_apart(p, n * p->call->size, CHECK_SYM, bytes);
    check_apart(p, n * p->call->size, CHECK_PSYNC, PSYNC_BYTES);
}

void check_block(const struct check_param *p)
{
    if (p->value != 0 && heap_size((const void *)(uintptr_t)p->value) == 0)
        check_bad(p, "no block of shmem_malloc begins there (or it has been freed "
                     "already)");
}

/* ---- local memory ----------------------------------------------------------------- */

/* True if the call accesses the calling PE. */
static bool check_is_own(const struct check_call *c)
{
    const struct shmem_team *team = check_team_for(c);
    int64_t pe = (int64_t)check_value(c, CHECK_PE, UINT64_MAX);

    return pe >= 0 && pe < team->npes && team_world_pe(team, (int)pe) == pgas_self.me;
}

void check_local(const struct check_param *p)
{
    size_t n = check_count_of(p->call), bytes = n * p->call->size;

    if (p->value == 0 && n > 0 && check_value(p->call, CHECK_BSIZE, 1) > 0)
        check_bad(p, "%zu elements are needed there", n);
    /* On one PE, dest and source of a put or get must be identical or disjoint. */
    if (check_value(p->call, CHECK_SYM, p->value) != p->value && check_is_own(p->call))
        check_apart(p, bytes, CHECK_SYM, bytes);
}

void check_status(const struct check_param *p)
{
    size_t n = check_count_of(p->call);

    if (p->value != 0)
        check_apart(p, n * sizeof(int), CHECK_WORDS, n * p->call->size);
}

void check_indices(const struct check_param *p)
{
    size_t n = check_count_of(p->call);

    check_local(p);
    check_apart(p, n * sizeof(size_t), CHECK_WORDS, n * p->call->size);
    check_apart(p, n * sizeof(size_t), CHECK_STATUS, n * sizeof(int));
}

void check_config_out(const struct check_param *p)
{
    if (check_value(p->call, CHECK_CONFIG_WANTED, 0) != 0)
        check_pointer(p);
}

void check_pointer(const struct check_param *p)
{
    if (p->value == 0)
        check_bad(p, "the result is to be stored there");
}
