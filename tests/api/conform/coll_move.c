/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_move.c - broadcast, collect, fcollect, alltoall and alltoalls of every type over
 * the predefined teams and overlapping splits, consecutive calls without synchronization
 * between them, with random delays; 0, 1, odd and large counts, every root, different
 * counts per PE for collect, strides; no byte outside the result may change.
 */
#include "tests/api/conform/conform.h"
#include "tests/api/conform/types.h"

enum kind { BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS };
struct call {
    shmem_team_t team;
    void *d;
    const void *s;
    ptrdiff_t dst, sst;
    size_t n;
    int root;
};
typedef int (*call_fn)(const struct call *c);

/* clang-format off */
#define BODY(fn, C, ...)                                                                 \
    static int do_##fn(const struct call *c)                                             \
    { return fn(c->team, (C *)c->d, (const C *)c->s, __VA_ARGS__); }
#define FIVE(D, broadcast, collect, fcollect, alltoall, alltoalls, C, S)                 \
    D(shmem_##broadcast, C, S, BROADCAST, c->n, c->root)                                 \
    D(shmem_##collect, C, S, COLLECT, c->n)                                              \
    D(shmem_##fcollect, C, S, FCOLLECT, c->n)                                            \
    D(shmem_##alltoall, C, S, ALLTOALL, c->n)                                            \
    D(shmem_##alltoalls, C, S, ALLTOALLS, c->dst, c->sst, c->n)
#define TYPED(D, N, C)                                                                   \
    FIVE(D, N##_broadcast, N##_collect, N##_fcollect, N##_alltoall, N##_alltoalls, C,    \
         sizeof(C))
#define BYTES(D)                                                                         \
    FIVE(D, broadcastmem, collectmem, fcollectmem, alltoallmem, alltoallsmem, void, 1)
#define AS_BODY(fn, C, S, KIND, ...) BODY(fn, C, __VA_ARGS__)
#define AS_ROW(fn, C, S, KIND, ...) {CF_NAME(fn), S, KIND, do_##fn},
#define DEFINE(N, C) TYPED(AS_BODY, N, C)
#define ROW(N, C) TYPED(AS_ROW, N, C)
CF_RMA(DEFINE)
BYTES(AS_BODY)

static const struct routine {
    const char *name;
    size_t size;
    enum kind kind;
    call_fn call;
} routines[] = {CF_RMA(ROW) BYTES(AS_ROW)};
/* clang-format on */

enum { COUNTS = 4, LARGE = 67, HUGE = 5003, CASES = CF_TEAMS * COUNTS };
enum { STRIDE_MAX = 3, GUARD = 16 };
static size_t ncounts = COUNTS;
static size_t counts[COUNTS] = {0, 1, 5, LARGE};
static size_t greatest = LARGE;

/* One call: its team, count, and areas in the source and destination buffers. */
struct one {
    const struct cf_team *team;
    size_t n, from, to;
    size_t from_elements, to_elements; /* sizes of the two areas */
    ptrdiff_t dst, sst;
    int root;
};
static struct one ones[CASES];
static size_t nones, from_used, to_used, buffer_size;
static unsigned char *to_buffer, *from_buffer, *model, *source;

/* Number of elements that PE `rank` of the team contributes to a collect. */
static size_t share(const struct one *o, int rank)
{
    return o->n == 0 && rank % 2 == 0 ? 0 : (o->n + 3 * (size_t)rank) % (greatest + 2);
}

static void size_up(const struct routine *r, struct one *o)
{
    size_t n = o->n, all = n * (size_t)o->team->size;

    o->from_elements = r->kind >= ALLTOALL ? all : n;
    o->to_elements = r->kind == BROADCAST ? n : all;
    if (r->kind == COLLECT) {
        o->from_elements = greatest + 2;
        o->to_elements = 0;
        for (int i = 0; i < o->team->size; i++)
            o->to_elements += share(o, i);
    }
    if (r->kind == ALLTOALLS) {
        o->from_elements *= (size_t)o->sst;
        o->to_elements *= (size_t)o->dst;
    }
}

static void lay_out(const struct routine *r, size_t row)
{
    from_used = to_used = GUARD;
    nones = 0;
    for (int t = 0; t < cf_nteams; t++)
        for (size_t i = 0; i < ncounts; i++) {
            struct one *o = &ones[nones];
            *o = (struct one){.team = &cf_teams[t], .n = counts[i]};
            o->root = (int)((row + nones) % (size_t)o->team->size);
            o->dst = (ptrdiff_t)(1 + (row + nones) % STRIDE_MAX);
            o->sst = (ptrdiff_t)(1 + (row / 2 + nones) % STRIDE_MAX);
            size_up(r, o);
            o->from = from_used;
            o->to = to_used;
            /* SHARED may be larger on another node: reserve space as for the world, so
             * that the layout is the same on all PEs. */
            struct one most = *o;
            most.team = &cf_teams[0];
            size_up(r, &most);
            from_used += (most.from_elements * r->size + 2 * GUARD - 1) / GUARD * GUARD;
            to_used += (most.to_elements * r->size + 2 * GUARD - 1) / GUARD * GUARD;
            nones++;
        }
    CHECK(from_used <= buffer_size && to_used <= buffer_size);
}

static uint64_t salt_of(int pe, size_t row, size_t one)
{
    return ((uint64_t)pe * CF_COUNT(routines) + row) * CASES + one;
}

/* Copies n elements from element i of a member's source to element k of the model. */
static void move(const struct routine *r, size_t i, size_t k, size_t n)
{
    memcpy(model + k * r->size, source + i * r->size, n * r->size);
}

static void take_from(const struct routine *r, const struct one *o, int rank, size_t at)
{
    size_t me = (size_t)cf_rank(o->team), k = (size_t)rank;

    switch (r->kind) {
    case BROADCAST:
        if (rank == o->root)
            move(r, 0, 0, o->n);
        break;
    case COLLECT:
        move(r, 0, at, share(o, rank));
        break;
    case FCOLLECT:
        move(r, 0, k * o->n, o->n);
        break;
    case ALLTOALL:
        move(r, me * o->n, k * o->n, o->n);
        break;
    case ALLTOALLS:
        for (size_t i = 0; i < o->n; i++)
            move(r, (me * o->n + i) * (size_t)o->sst, (k * o->n + i) * (size_t)o->dst, 1);
    }
}

static void verify_dest(size_t row, size_t which)
{
    const struct routine *r = &routines[row];
    const struct one *o = &ones[which];
    size_t bytes = o->to_elements * r->size, at = 0;

    memset(model, CF_FILLER, bytes + GUARD);
    for (int i = 0; i < o->team->size; i++) {
        int pe = cf_world(o->team, i);
        check_fill(source, o->from_elements * r->size, salt_of(pe, row, which));
        take_from(r, o, i, at);
        at += r->kind == COLLECT ? share(o, i) : 0;
    }
    cf_check(memcmp(to_buffer + o->to, model, bytes + 1) == 0,
             "team %s, %zu elements, root %d, dst %td, sst %td: wrong result",
             o->team->name, o->n, o->root, o->dst, o->sst);
}

static void run_row(size_t row, uint64_t *seed)
{
    const struct routine *r = &routines[row];

    lay_out(r, row);
    memset(to_buffer, CF_FILLER, to_used);
    struct call none = {.team = SHMEM_TEAM_WORLD, .dst = 1, .sst = 1};
    int status = r->call(&none);
    cf_case(r->name);
    cf_check(status == 0, "null pointers, 0 elements: returned %d", status);
    shmem_barrier_all();
    for (size_t i = 0; i < nones; i++) {
        const struct one *o = &ones[i];
        int rank = cf_rank(o->team);
        struct call c = {
            o->team->team, to_buffer + o->to, from_buffer + o->from, o->dst, o->sst, o->n,
            o->root};
        if (rank < 0)
            continue;
        if (r->kind == COLLECT)
            c.n = share(o, rank);
        check_delay(seed);
        check_fill(from_buffer + o->from, o->from_elements * r->size,
                   salt_of(cf_me, row, i)); /* at the last moment: others may be in it */
        status = r->call(&c);
        cf_case(r->name);
        cf_check(status == 0, "team %s, %zu elements: returned %d", o->team->name, o->n,
                 status);
        memset(from_buffer + o->from, ~CF_FILLER & 0xff, o->from_elements * r->size);
        verify_dest(row, i); /* at once: the result is complete when the call returns */
    }
    shmem_barrier_all();
}

/* Counts that the library splits into segments, for bytes and one 64-bit type. */
static void run_huge(uint64_t *seed)
{
    counts[0] = greatest = HUGE;
    ncounts = 1;
    for (size_t row = 0; row < CF_COUNT(routines); row++)
        if (routines[row].size == 1 ? strstr(routines[row].name, "mem") != NULL
                                    : strstr(routines[row].name, "uint64") != NULL)
            run_row(row, seed);
}

int main(void)
{
    cf_start("coll_move");
    buffer_size = (size_t)CF_TEAMS * (size_t)cf_npes * STRIDE_MAX * (HUGE + 16) * 8 +
                  CASES * 2 * GUARD;
    to_buffer = check_alloc(buffer_size);
    from_buffer = check_alloc(buffer_size);
    model = malloc(buffer_size);
    source = malloc(buffer_size);
    CHECK(model != NULL && source != NULL);
    uint64_t seed = check_seed(cf_me);
    cf_teams_open();
    for (size_t row = 0; row < CF_COUNT(routines); row++)
        run_row(row, &seed);
    run_huge(&seed);
    cf_teams_close();
    free(model);
    free(source);
    shmem_free(from_buffer);
    shmem_free(to_buffer);
    return cf_finish();
}
