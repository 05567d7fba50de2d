/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_tune_test.c - the tuner finds the fastest kernel, and copies each byte once. */
#include "config.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/datatype/pack/pack_route.h"
#include "pgas/datatype/pack/pack_tune.h"

/* Kernel FAST is the fastest; kernel BAD accepts nothing. */
enum { CALLS = 400, BLOCKS = 100 };
#define DEFAULT PACK_SCALAR
#define BAD     PACK_BLOCK
#define FAST    PACK_FIXED

static struct pack_tune tune;
static long runs[PACK_KERNELS];

static bool model_can(enum pack_kernel k, const struct vector_copy *v)
{
    (void)v;
    return k != BAD;
}

/* Of the calling thread: the clock of the model, which no other load disturbs */
static _Thread_local uint64_t model_clock;

static uint64_t model_ticks(void)
{
    return model_clock;
}

/* Adds 1 to each target byte, so that a second copy is visible. */
static void model_run(enum pack_kernel k, const struct vector_copy *v)
{
    __atomic_fetch_add(&runs[k], 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < v->count; i++)
        for (size_t b = 0; b < v->block; b++)
            v->to[(ptrdiff_t)i * v->to_stride + (ptrdiff_t)b]++;
    model_clock += v->count * (k == FAST ? 10 : 200);
}

static enum pack_kernel model_first(const struct vector_copy *v)
{
    (void)v;
    return DEFAULT;
}

/* What an earlier process has found, if `earlier` is set */
static const struct pack_row *earlier;

static enum pack_kernel model_known(const struct pack_shape *s)
{
    return earlier != NULL && pack_shape_compare(&earlier->shape, s) == 0
               ? earlier->kernel
               : PACK_KERNELS;
}

static const struct pack_tune_kernels model = {model_can, model_run, model_first,
                                               model_known, model_ticks};

static void copy(char *to, size_t count, uint64_t epoch)
{
    struct vector_copy v = {to, to, 12, 8, 8, count};
    uint64_t key = pack_tune_key(&v, epoch);
    enum pack_kernel k = pack_tune_found(&tune, key);

    if (k == PACK_KERNELS)
        pack_tune_measure(&tune, &model, key, &v);
    else
        model_run(k, &v);
}

static enum pack_kernel found(size_t count, uint64_t epoch)
{
    struct vector_copy v = {NULL, NULL, 12, 8, 8, count};

    return pack_tune_found(&tune, pack_tune_key(&v, epoch));
}

static void expect_copied(const char *to, size_t count, char times)
{
    for (size_t i = 0; i < count * 12; i++)
        cr_assert_eq(to[i], i % 12 < 8 ? times : 0, "byte %zu", i);
}

Test(pack_tune, many_copies_find_the_fastest_kernel)
{
    static char to[12 * BLOCKS];
    int calls = 0;

    for (; calls < CALLS && found(BLOCKS, 0) == PACK_KERNELS; calls++) {
        memset(to, 0, sizeof to);
        copy(to, BLOCKS, 0);
        expect_copied(to, BLOCKS, 1);
    }
    cr_expect_eq(found(BLOCKS, 0), FAST);
    cr_expect(calls < CALLS, "nothing learned in %d calls", calls);
    cr_expect_eq(runs[BAD], 0);
    for (enum pack_kernel k = 0; k < PACK_KERNELS; k++)
        cr_expect(k == FAST || k == BAD || runs[k] <= 7, "slow kernel %d: %ld runs", k,
                  runs[k]);
    copy(to, BLOCKS, 0);
    cr_expect_eq(runs[DEFAULT], 6, "a slow kernel is not dropped after 6 turns");
}

Test(pack_tune, the_second_long_copy_finds_the_fastest_kernel)
{
    size_t count = 1 << 20;
    char *to = calloc(count, 12);

    copy(to, count, 0);
    expect_copied(to, count, 1);
    cr_expect_eq(found(count, 0), PACK_KERNELS, "cold data was measured");
    copy(to, count, 0);
    expect_copied(to, count, 2);
    cr_expect_eq(found(count, 0), FAST);
    free(to);
}

Test(pack_tune, sizes_strides_and_epochs_are_apart)
{
    static char to[12 * BLOCKS];

    for (int i = 0; i < CALLS; i++)
        copy(to, BLOCKS, 0);
    cr_expect_eq(found(BLOCKS, 0), FAST);
    cr_expect_eq(found(BLOCKS * 2, 0), PACK_KERNELS);
    cr_expect_eq(found(BLOCKS, 1), PACK_KERNELS);
    struct vector_copy other = {to, to, 16, 8, 8, BLOCKS};
    cr_expect_eq(pack_tune_found(&tune, pack_tune_key(&other, 0)), PACK_KERNELS);
}

Test(pack_tune, what_was_found_is_known_to_a_later_process)
{
    static char to[12 * BLOCKS];
    static struct pack_tune later;
    struct pack_row row[PACK_TUNE_CELLS];
    struct vector_copy v = {to, to, 12, 8, 8, BLOCKS};
    uint64_t key = pack_tune_key(&v, 0);

    cr_assert_eq(pack_tune_rows(&tune, row), 0);
    for (int i = 0; i < CALLS; i++)
        copy(to, BLOCKS, 0);
    cr_assert_eq(pack_tune_rows(&tune, row), 1);
    cr_expect_eq(row[0].kernel, FAST);
    struct pack_shape shape = pack_shape_of(&v);
    cr_expect_eq(pack_shape_compare(&row[0].shape, &shape), 0);
    earlier = row;
    memset(runs, 0, sizeof runs);
    pack_tune_measure(&later, &model, key, &v);
    cr_expect_eq(runs[FAST], 1);
    cr_expect_eq(pack_tune_found(&later, key), FAST);
    row[0].kernel = BAD; /* such as a file of another processor */
    memset(&later, 0, sizeof later);
    pack_tune_measure(&later, &model, key, &v);
    cr_expect_eq(pack_tune_found(&later, key), PACK_KERNELS);
    cr_expect_eq(runs[BAD], 0);
}

/* Long vectors with the same two cells; the model does not read the source. */
enum { SHAPES = 3, LONG = 1 << 16 };

static void shapes_of_a_set(struct vector_copy v[SHAPES], char *to)
{
    size_t cell = 0;
    ptrdiff_t stride = 16;

    for (int n = 0; n < SHAPES; stride += 8) {
        v[n] = (struct vector_copy){to, to, 8, stride, 8, LONG};
        const size_t its = pack_tune_cell_of(pack_tune_key(&v[n], 0));
        if (n == 0)
            cell = its;
        n += (its | 1) == (cell | 1);
    }
}

/* As pack_choice_run: what a copy has found, the next one of the shape uses by its route.
 * True if this copy used one. */
static bool copy_routed(struct pack_routes *routes, const struct vector_copy *v)
{
    static const struct pack_kernel_fns kernel = {.can = NULL};
    const uint64_t key = pack_tune_key(v, 0);
    struct pack_route *first = pack_route_slot(routes, key, 0);
    struct pack_route *second = pack_route_slot(routes, key, 1);

    if (pack_route_fits(first, key, v) || pack_route_fits(second, key, v)) {
        model_run(FAST, v);
        return true;
    }
    enum pack_kernel k = pack_tune_found(&tune, key);
    cr_assert_eq(k, PACK_KERNELS, "a found shape has no route");
    k = pack_tune_measure(&tune, &model, key, v);
    cr_expect(k == PACK_KERNELS || k == FAST, "kernel %d", (int)k);
    if (k != PACK_KERNELS && !pack_route_add(first, key, &kernel, NULL, v))
        cr_assert(pack_route_add(second, key, &kernel, NULL, v));
    return false;
}

/* Copies until all shapes have routes.  Returns the copies. */
static int copies_until_routed(const struct vector_copy *v, int shapes, int limit)
{
    static struct pack_routes routes;
    int calls = 0, routed = 0;

    for (; calls < limit && routed < shapes; calls++)
        routed = copy_routed(&routes, &v[calls % shapes]) ? routed + 1 : 0;
    cr_expect_eq(routed, shapes, "%d routes after %d copies", routed, calls);
    return calls;
}

Test(pack_tune, long_shapes_with_the_same_cells_are_found_though_they_take_turns)
{
    char *to = malloc((size_t)LONG * 8);
    struct vector_copy v[SHAPES];

    shapes_of_a_set(v, to);
    (void)copies_until_routed(v, SHAPES, CALLS);
    free(to);
}

/* Short vectors with the same two cells, at most two of which have the same slots */
enum { TURNS = 12, STRIDE_MAX = 1 << 14 };

static void short_shapes_of_a_set(struct vector_copy v[TURNS], char *to)
{
    unsigned routes[PACK_ROUTES / 2] = {0};
    size_t cell = 0;
    ptrdiff_t stride = 16;

    for (int n = 0; n < TURNS; stride += 8) {
        cr_assert(stride < STRIDE_MAX);
        v[n] = (struct vector_copy){to, to, 8, stride, 8, BLOCKS};
        const uint64_t key = pack_tune_key(&v[n], 0);
        if (n == 0)
            cell = pack_tune_cell_of(key);
        if ((pack_tune_cell_of(key) | 1) == (cell | 1))
            n += routes[key >> (64 - PACK_ROUTE_BITS + 1)]++ < 2;
    }
}

Test(pack_tune, twelve_short_shapes_with_the_same_cells_are_found_though_they_take_turns)
{
    char *to = calloc(BLOCKS, STRIDE_MAX);
    struct vector_copy v[TURNS];

    short_shapes_of_a_set(v, to);
    (void)copies_until_routed(v, TURNS, TURNS * TURNS * CALLS);
    free(to);
}

Test(pack_tune, a_shape_that_is_not_copied_any_more_gives_up_its_cell)
{
    char *to = malloc((size_t)LONG * 8);
    struct vector_copy v[SHAPES];

    shapes_of_a_set(v, to);
    for (int s = 0; s < SHAPES - 1; s++)
        pack_tune_measure(&tune, &model, pack_tune_key(&v[s], 0), &v[s]);
    const uint64_t key = pack_tune_key(&v[SHAPES - 1], 0);
    for (int i = 0; i < CALLS / 4 && pack_tune_found(&tune, key) == PACK_KERNELS; i++)
        pack_tune_measure(&tune, &model, key, &v[SHAPES - 1]);
    cr_expect_eq(pack_tune_found(&tune, key), FAST);
    free(to);
}

Test(pack_route, a_shape_has_two_slots)
{
    static struct pack_routes routes;
    static const struct pack_kernel_fns kernel = {.can = NULL};
    const uint64_t same = (uint64_t)5 << (64 - PACK_ROUTE_BITS);
    struct vector_copy v[] = {{NULL, NULL, 8, 16, 8, 100},
                              {NULL, NULL, 8, 24, 8, 100},
                              {NULL, NULL, 8, 32, 8, 100}};
    int taken = 0;

    for (size_t i = 0; i < 3; i++)
        for (unsigned second = 0; second < 2; second++)
            if (pack_route_add(pack_route_slot(&routes, same + 2 * i, second),
                               same + 2 * i, &kernel, NULL, &v[i])) {
                taken++;
                break;
            }
    cr_expect_eq(taken, 2);
    for (size_t i = 0; i < 3; i++)
        for (unsigned second = 0; second < 2; second++)
            cr_expect_eq(pack_route_fits(pack_route_slot(&routes, same, second),
                                         same + 2 * i, &v[i]),
                         i == second);
}

Test(pack_route, a_route_that_another_thread_has_added_is_not_added_again)
{
    static struct pack_routes routes;
    static const struct pack_kernel_fns kernel = {.can = NULL};
    const struct vector_copy v = {NULL, NULL, 8, 16, 8, 100};
    struct vector_copy other = v;
    struct pack_route *slot = pack_route_slot(&routes, 4, 0);

    cr_expect(pack_route_add(slot, 4, &kernel, NULL, &v));
    cr_expect(pack_route_add(slot, 4, &kernel, NULL, &v), "the same route");
    other.to_stride = 24;
    cr_expect_not(pack_route_add(slot, 4, &kernel, NULL, &other));
    cr_expect(pack_route_fits(slot, 4, &v));
    slot->tag = PACK_ROUTE_BUSY;
    cr_expect(pack_route_add(slot, 4, &kernel, NULL, &v), "a slot in use");
    cr_expect_eq(slot->tag, PACK_ROUTE_BUSY);
}

enum { THREADS = 4 };

static void *copy_often(void *arg)
{
    char *to = arg;

    for (int i = 0; i < CALLS; i++) {
        copy(to, BLOCKS, (uint64_t)(i / 50)); /* shapes that replace each other */
        if (i % 7 == 0)
            usleep(1);
    }
    return NULL;
}

Test(pack_tune, threads_share_a_table)
{
    static char to[THREADS][12 * BLOCKS];
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&thread[i], NULL, copy_often, to[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        expect_copied(to[i], BLOCKS, (char)CALLS);
    }
    for (size_t i = 0; i < PACK_TUNE_CELLS; i++)
        cr_expect_eq(tune.cell[i].busy, 0);
}
