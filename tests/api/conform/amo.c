/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * amo.c - every atomic of every type, blocking and nbi, with and without a context: all
 * pairs of edge values as content and operand, so that sums wrap; on globals and heap, on
 * the PE itself and its neighbour; then all PEs on one word at once.
 */
#include "tests/api/conform/conform.h"
#include "tests/api/conform/types.h"

enum amo_op {
    AMO_FETCH,
    AMO_SET,
    AMO_SWAP,
    AMO_CSWAP,
    AMO_FINC,
    AMO_INC,
    AMO_FADD,
    AMO_ADD,
    AMO_FAND,
    AMO_AND,
    AMO_FOR,
    AMO_OR,
    AMO_FXOR,
    AMO_XOR
};
/* d: the word, f: buffer for the old value, v: operand, c: condition */
typedef void (*amo_fn)(shmem_ctx_t ctx, void *f, void *d, const void *v, const void *c,
                       int pe);

/* clang-format off */
#define PARAMETERS                                                                       \
    shmem_ctx_t ctx, void *f, void *d, const void *v, const void *c, int pe
#define UNUSED (void)ctx, (void)f, (void)v, (void)c
#define BODY(name, ...) static void name(PARAMETERS) { UNUSED; __VA_ARGS__; }

/* Arguments between d and pe, per kind of operation. */
#define NONE(C)
#define VALUE(C) *(const C *)v,
#define CONDITION(C) *(const C *)c, *(const C *)v,
#define VOIDS(N, C, op, ARGS)                                                            \
    BODY(do_##N##_##op, shmem_##N##_atomic_##op((C *)d, ARGS(C) pe))                     \
    BODY(ctx_##N##_##op, shmem_ctx_##N##_atomic_##op(ctx, (C *)d, ARGS(C) pe))
#define FETCHES(N, C, op, ARGS)                                                          \
    BODY(do_##N##_##op, *(C *)f = shmem_##N##_atomic_##op((C *)d, ARGS(C) pe))           \
    BODY(ctx_##N##_##op, *(C *)f = shmem_ctx_##N##_atomic_##op(ctx, (C *)d, ARGS(C) pe)) \
    BODY(nbi_##N##_##op, shmem_##N##_atomic_##op##_nbi((C *)f, (C *)d, ARGS(C) pe))      \
    BODY(ctx_nbi_##N##_##op,                                                             \
         shmem_ctx_##N##_atomic_##op##_nbi(ctx, (C *)f, (C *)d, ARGS(C) pe))
#define DEFINE_EXT(N, C)                                                                 \
    FETCHES(N, C, fetch, NONE) VOIDS(N, C, set, VALUE) FETCHES(N, C, swap, VALUE)
#define DEFINE_AMO(N, C)                                                                 \
    FETCHES(N, C, compare_swap, CONDITION)                                               \
    FETCHES(N, C, fetch_inc, NONE) VOIDS(N, C, inc, NONE)                                \
    FETCHES(N, C, fetch_add, VALUE) VOIDS(N, C, add, VALUE)
#define DEFINE_BIT(N, C)                                                                 \
    FETCHES(N, C, fetch_and, VALUE) VOIDS(N, C, and, VALUE)                              \
    FETCHES(N, C, fetch_or, VALUE) VOIDS(N, C, or, VALUE)                                \
    FETCHES(N, C, fetch_xor, VALUE) VOIDS(N, C, xor, VALUE)
CF_EXT(DEFINE_EXT)
CF_AMO(DEFINE_AMO)
CF_BIT(DEFINE_BIT)

#define ROW_VOID(N, C, op, OP)                                                           \
    {CF_NAME(shmem_##N##_atomic_##op), CF_TYPE(N, C), OP, false, false, do_##N##_##op},  \
    {CF_NAME(shmem_ctx_##N##_atomic_##op), CF_TYPE(N, C), OP, true, false,               \
     ctx_##N##_##op},
#define ROW_FETCH(N, C, op, OP)                                                          \
    ROW_VOID(N, C, op, OP)                                                               \
    {CF_NAME(shmem_##N##_atomic_##op##_nbi), CF_TYPE(N, C), OP, false, true,             \
     nbi_##N##_##op},                                                                    \
    {CF_NAME(shmem_ctx_##N##_atomic_##op##_nbi), CF_TYPE(N, C), OP, true, true,          \
     ctx_nbi_##N##_##op},
#define ROW_EXT(N, C)                                                                    \
    ROW_FETCH(N, C, fetch, AMO_FETCH) ROW_VOID(N, C, set, AMO_SET)                       \
    ROW_FETCH(N, C, swap, AMO_SWAP)
#define ROW_AMO(N, C)                                                                    \
    ROW_FETCH(N, C, compare_swap, AMO_CSWAP) ROW_FETCH(N, C, fetch_inc, AMO_FINC)        \
    ROW_VOID(N, C, inc, AMO_INC) ROW_FETCH(N, C, fetch_add, AMO_FADD)                    \
    ROW_VOID(N, C, add, AMO_ADD)
#define ROW_BIT(N, C)                                                                    \
    ROW_FETCH(N, C, fetch_and, AMO_FAND) ROW_VOID(N, C, and, AMO_AND)                    \
    ROW_FETCH(N, C, fetch_or, AMO_FOR) ROW_VOID(N, C, or, AMO_OR)                        \
    ROW_FETCH(N, C, fetch_xor, AMO_FXOR) ROW_VOID(N, C, xor, AMO_XOR)

static const struct amo {
    const char *name;
    struct cf_type type;
    enum amo_op op;
    bool ctx, nbi;
    amo_fn call;
} amos[] = {CF_EXT(ROW_EXT) CF_AMO(ROW_AMO) CF_BIT(ROW_BIT)};
/* clang-format on */

/* Applies the operation to the model of the word. */
static void model(const struct amo *a, void *word, const void *v, const void *c)
{
    unsigned char one[CF_VALUE];

    cf_edge(&a->type, 1, one);
    switch (a->op) {
    case AMO_FETCH:
        break;
    case AMO_SET:
    case AMO_SWAP:
        memcpy(word, v, a->type.size);
        break;
    case AMO_CSWAP:
        if (memcmp(word, c, a->type.size) == 0)
            memcpy(word, v, a->type.size);
        break;
    case AMO_FINC:
    case AMO_INC:
        cf_apply(&a->type, CF_SUM, word, one);
        break;
    case AMO_FADD:
    case AMO_ADD:
        cf_apply(&a->type, CF_SUM, word, v);
        break;
    default:
        cf_apply(&a->type,
                 a->op == AMO_FAND || a->op == AMO_AND ? CF_AND
                 : a->op == AMO_FOR || a->op == AMO_OR ? CF_OR
                                                       : CF_XOR,
                 word, v);
    }
}

static bool fetches(enum amo_op op)
{
    return op != AMO_SET && op != AMO_INC && op != AMO_ADD && op != AMO_AND &&
           op != AMO_OR && op != AMO_XOR;
}

/* One word for each content, operand, target and context; fillers lie between. */
enum { PAIRS = CF_EDGES * CF_EDGES, WORDS = PAIRS * 2 * CF_CTXS, BYTES = WORDS * 2 * 8 };
static unsigned char global_words[BYTES + 8] __attribute__((aligned(16)));
static unsigned char fetched[BYTES + 8] __attribute__((aligned(16)));
static unsigned char *heap_words;
/* The short form on several nodes uses every fifth word: 5 is coprime to the numbers of
 * contents and operands. */
static size_t step = 1;

struct target {
    unsigned content, operand;
    enum cf_to to;
    const struct cf_ctx *ctx;
    size_t at;
};

static struct target target_of(const struct amo *a, size_t i)
{
    return (struct target){.content = (unsigned)(i % CF_EDGES),
                           .operand = (unsigned)(i / CF_EDGES % CF_EDGES),
                           .to = i / PAIRS % 2 == 0 ? CF_SELF : CF_RIGHT,
                           .ctx = &cf_ctxs[i / PAIRS / 2],
                           .at = (2 * i + 1) * a->type.size};
}

/* The initial value on PE `owner`.  Contents and operands differ between PEs, so that an
 * operation on the wrong PE is detected. */
static void content(const struct amo *a, const struct target *p, int owner, void *word)
{
    cf_edge(&a->type, p->content + (unsigned)owner, word);
}

/* The condition holds for every third pair; for another third it differs in one bit. */
static void operands(const struct amo *a, const struct target *p, int writer, int owner,
                     void *v, void *c)
{
    cf_edge(&a->type, p->operand + 3 * (unsigned)writer, v);
    cf_edge(&a->type, p->content + (unsigned)owner + (p->operand % 3 == 2), c);
    if (p->operand % 3 == 1)
        ((unsigned char *)c)[a->type.size - 1] ^= 0x80;
}

static void verify_words(const struct amo *a, const struct target *p,
                         const unsigned char *words)
{
    unsigned char expected[CF_VALUE], first[CF_VALUE], v[CF_VALUE], c[CF_VALUE];
    const struct cf_type *t = &a->type;

    operands(a, p, cf_writer(p->to), cf_me, v, c);
    content(a, p, cf_me, first);
    memcpy(expected, first, t->size);
    model(a, expected, v, c);
    cf_case(a->name);
    cf_check(memcmp(words + p->at, expected, t->size) == 0,
             "%s on %s, %s: the word is %s, not %s", cf_text(t, v), cf_text(t, first),
             p->ctx->name, cf_text(t, words + p->at), cf_text(t, expected));
    content(a, p, cf_target(p->to), first);
    cf_check(!fetches(a->op) || memcmp(fetched + p->at, first, t->size) == 0,
             "%s: fetched %s, not %s", p->ctx->name, cf_text(t, fetched + p->at),
             cf_text(t, first));
    cf_check(check_find_other(words + p->at + t->size, t->size, CF_FILLER) == t->size &&
                 check_find_other(fetched + p->at + t->size, t->size, CF_FILLER) ==
                     t->size,
             "changed what lies behind the word");
}

static void run_row(const struct amo *a, unsigned char *words)
{
    size_t n = PAIRS * 2 * (a->ctx ? CF_CTXS : 1);
    unsigned char v[CF_VALUE], c[CF_VALUE];

    memset(words, CF_FILLER, (2 * n + 1) * a->type.size);
    memset(fetched, CF_FILLER, (2 * n + 1) * a->type.size);
    for (size_t i = 0; i < n; i += step) {
        struct target p = target_of(a, i);
        content(a, &p, cf_me, words + p.at);
    }
    shmem_barrier_all();
    for (size_t i = 0; i < n; i += step) {
        struct target p = target_of(a, i);
        operands(a, &p, cf_me, cf_target(p.to), v, c);
        a->call(p.ctx->ctx, fetched + p.at, words + p.at, v, c,
                cf_pe_in(p.ctx, cf_target(p.to)));
    }
    for (int i = 0; i < CF_CTXS; i++)
        shmem_ctx_quiet(cf_ctxs[i].ctx);
    shmem_barrier_all();
    for (size_t i = 0; i < n; i += step) {
        struct target p = target_of(a, i);
        verify_words(a, &p, words);
    }
}

/* v: the addend, or the bit of this PE, or for AND all bits but that.  expected: the
 * result of the operations of all PEs on a word that is initially 0, for AND all ones. */
static void contend_operands(const struct amo *a, int rounds, unsigned char *v,
                             unsigned char *expected)
{
    bool is_and = a->op == AMO_AND || a->op == AMO_FAND;
    int bits = 8 * (int)a->type.size;

    memset(expected, 0, CF_VALUE);
    memset(v, 0, CF_VALUE);
    if (a->op == AMO_FINC || a->op == AMO_INC || a->op == AMO_FADD || a->op == AMO_ADD) {
        cf_edge(&a->type, a->op == AMO_FADD || a->op == AMO_ADD ? 5 : 1, v);
        for (int i = 0; i < rounds * cf_npes; i++)
            cf_apply(&a->type, CF_SUM, expected, v);
        return;
    }
    for (int bit = 0; bit < cf_npes && bit < bits; bit++)
        expected[bit / 8] |= (unsigned char)(1 << bit % 8);
    if (cf_me < bits)
        v[cf_me / 8] = (unsigned char)(1 << cf_me % 8);
    for (size_t i = 0; is_and && i < a->type.size; i++) {
        expected[i] = (unsigned char)~expected[i];
        v[i] = (unsigned char)~v[i];
    }
}

/* All PEs update a word of PE 0: no addition and no bit is lost.  `rounds` is odd because
 * of XOR. */
static void contend(const struct amo *a, unsigned char *words)
{
    int rounds = step == 1 ? 201 : 15;
    unsigned char v[CF_VALUE], expected[CF_VALUE];
    static uint64_t seed;

    if (a->op < AMO_FINC)
        return;
    memset(words, a->op == AMO_AND || a->op == AMO_FAND ? 0xff : 0, 16);
    contend_operands(a, rounds, v, expected);
    if (seed == 0)
        seed = check_seed(cf_me);
    shmem_barrier_all();
    for (int i = 0; i < rounds; i++) {
        a->call(SHMEM_CTX_DEFAULT, fetched, words, v, v, 0);
        if (i % 32 == 0)
            check_delay(&seed);
    }
    shmem_barrier_all();
    cf_case(a->name);
    if (cf_me == 0)
        cf_check(memcmp(words, expected, a->type.size) == 0,
                 "%d PEs at once, %d times each: the word is %s, not %s", cf_npes, rounds,
                 cf_text(&a->type, words), cf_text(&a->type, expected));
}

int main(void)
{
    cf_start("amo");
    if (shmem_team_n_pes(SHMEM_TEAM_SHARED) < cf_npes && getenv("PGAS_TEST_LONG") == NULL)
        step = 5;
    heap_words = check_alloc(BYTES + 8);
    cf_ctxs_open();
    for (size_t row = 0; row < CF_COUNT(amos); row++) {
        unsigned char *words = row % 2 == 0 ? heap_words : global_words;
        run_row(&amos[row], words);
        shmem_barrier_all();
        contend(&amos[row], words);
    }
    cf_ctxs_close();
    shmem_free(heap_words);
    return cf_finish();
}
