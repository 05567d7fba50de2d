/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_permute.h - the source of the kernels `permute`, which fill each register of the
 * target, a line, from a window of consecutive source registers.
 *
 * In lanes: a block has E, target blocks are T apart, source blocks S.  Lane t of the
 * target is in block t / T, is data if t % T < E, and comes from lane t / T * S + t % T
 * of the source.  The pattern of a line repeats after T / gcd(L, T, S) lines of L lanes;
 * then both sides have advanced by whole registers.  Lines begin at multiples of the
 * register size, and windows too where they then need no more registers, because an
 * access that crosses cache lines costs two.
 *
 * A file that includes this one defines REGISTER, LANE (bytes), TO_STRIDE_MAX (lanes),
 * PERMUTE_FNS, lane_mask, lanes_below, line_lanes, line_load, line_store, line_subtract
 * and registers_permute.  Uses: pack_table.  Used by: pack_permute_avx512,
 * pack_permute_vbmi.
 */

enum {
    LANES = REGISTER / LANE,
    PERIOD_MAX = 32, /* lines */
    UNROLL_MAX = 4,
    SOME_PERIODS = 8,
    FROM_STRIDE_MAX = 4 * LANES * LANES,
};

struct permute {
    size_t block, to_stride, from_stride; /* E, T, S */
    size_t period, window;                /* lines; registers */
    size_t from_step;                     /* bytes of source in a period */
    size_t last_start;                    /* the largest start */
    size_t reciprocal;                    /* 65536 / T + 1 */
    unsigned period_shift;                /* a period has 1 << period_shift blocks */
    ptrdiff_t to_less, from_less;         /* of permute_whole_periods */
    size_t head;                          /* lanes in front of the first line */
    size_t head_start;                    /* of its window, in bytes */
    lane_mask head_data;
    __m512i head_index;
    size_t start[PERIOD_MAX]; /* of the window, in bytes */
    lane_mask data[PERIOD_MAX];
    __m512i index[PERIOD_MAX]; /* lanes from the start of the window */
};
_Static_assert(sizeof(struct permute) <= PACK_PLAN_BYTES, "a plan is a struct permute");

PACK_INLINE __m512i window_permute(const char *at, __m512i index, size_t window)
{
    __m512i in[WINDOW_MAX];

    for (size_t w = 0; w < window; w++)
        in[w] = _mm512_loadu_si512(at + w * REGISTER);
    return registers_permute(in, index, window);
}

/* Only `limit` lanes may be read. */
static __m512i window_edge(const char *at, size_t limit, __m512i index)
{
    __m512i in[WINDOW_MAX];

    for (size_t w = 0; w < WINDOW_MAX; w++)
        in[w] = limit <= w * LANES
                    ? _mm512_setzero_si512()
                    : line_load(lanes_below(limit - w * LANES), at + w * REGISTER);
    return registers_permute(in, index, WINDOW_MAX);
}

static size_t permute_gcd_lanes(size_t n)
{
    size_t low = n & -n;

    return low < LANES ? low : LANES;
}

/* lane / T for lanes of the first blocks: (T + 2 L) * T < 65536 */
static inline size_t permute_block(const struct permute *x, size_t lane)
{
    return lane * x->reciprocal >> 16;
}

static inline size_t permute_source(const struct permute *x, size_t lane)
{
    size_t block = permute_block(x, lane);

    return lane + block * (x->from_stride - x->to_stride);
}

/* The line that begins at lane `in` of a block, at source lane `base`: the source lanes
 * relative to the first lane with data, which is returned, and their number */
static size_t permute_make_line(const struct permute *x, size_t in, size_t base,
                                lane_mask *data, __m512i *index, size_t *span)
{
    __m512i at = line_lanes(x, in, data);

    *span = 0;
    *index = at;
    if (*data == 0)
        return 0;
    size_t low = permute_source(x, in + (size_t)__builtin_ctzll(*data));
    size_t high = permute_source(x, in + 63 - (size_t)__builtin_clzll(*data));
    *index = line_subtract(at, low);
    *span = high + 1 - low;
    return base + low;
}

/* Moves the start of the window of line k down to a multiple of the register size, if
 * the window has as many registers then. */
static void permute_align_window(struct permute *x, size_t k, const char *from,
                                 size_t span)
{
    size_t beyond = (size_t)((uintptr_t)from + x->start[k]) % REGISTER;

    if (beyond % LANE != 0 || beyond > x->start[k] ||
        span * LANE + beyond > x->window * REGISTER)
        return;
    x->start[k] -= beyond;
    x->index[k] = line_subtract(x->index[k], -(beyond / LANE));
}

/* The lines from lane x->head on, at most `lines` */
static void permute_make_lines(struct permute *x, size_t lines, const char *from)
{
    size_t span[PERIOD_MAX], block = permute_block(x, x->head);
    size_t in = x->head - block * x->to_stride, base = block * x->from_stride;

    x->window = 1;
    x->last_start = 0;
    for (size_t k = 0; k < lines; k++) {
        x->start[k] =
            LANE * permute_make_line(x, in, base, &x->data[k], &x->index[k], &span[k]);
        size_t registers = (span[k] + LANES - 1) / LANES;
        x->window = registers > x->window ? registers : x->window;
        x->last_start = x->start[k] > x->last_start ? x->start[k] : x->last_start;
        block = permute_block(x, in + LANES);
        in += LANES - block * x->to_stride;
        base += block * x->from_stride;
    }
    for (size_t k = 0; k < lines; k++)
        permute_align_window(x, k, from, span[k]);
}

static ptrdiff_t permute_ceil(ptrdiff_t n, ptrdiff_t by)
{
    return n > 0 ? (n + by - 1) / by : -(-n / by);
}

/* What permute_whole_periods subtracts from the number of blocks.  After the head, the
 * target has T * (count - 1 - block) + E - in lanes; a period reads `read` bytes, and the
 * source has S * (count - 1) + E lanes. */
static void permute_make_limits(struct permute *x)
{
    size_t block = permute_block(x, x->head), in = x->head - block * x->to_stride;
    ptrdiff_t ends = in > x->block ? -1 : x->block - in == x->to_stride;
    ptrdiff_t read = (ptrdiff_t)(x->last_start + x->window * REGISTER);

    x->to_less = 1 + (ptrdiff_t)block - ends;
    x->from_less = 1 + permute_ceil(read - (ptrdiff_t)(x->block * LANE),
                                    (ptrdiff_t)(x->from_stride * LANE));
}

/* Everything that does not depend on the number of blocks.  Only the lines that `count`
 * blocks need are made. */
static void permute_make(struct permute *x, const struct vector_copy *v, size_t count)
{
    size_t beyond = (uintptr_t)v->to % REGISTER, gcd, lines, span;

    x->block = v->block / LANE;
    x->to_stride = (size_t)v->to_stride / LANE;
    x->from_stride = (size_t)v->from_stride / LANE;
    x->reciprocal = 65536 / (uint32_t)x->to_stride + 1;
    x->head = beyond % LANE == 0 && beyond > 0 ? (REGISTER - beyond) / LANE : 0;
    gcd = permute_gcd_lanes(x->to_stride | x->from_stride);
    if (x->to_stride / gcd > PERIOD_MAX)
        gcd = permute_gcd_lanes(x->to_stride);
    x->period = x->to_stride / gcd;
    x->period_shift = (unsigned)__builtin_ctzll(LANES / gcd);
    x->from_step = LANES / gcd * x->from_stride * LANE;
    if (x->head > 0)
        x->head_start =
            LANE * permute_make_line(x, 0, 0, &x->head_data, &x->head_index, &span);
    lines = (x->to_stride * count + LANES - 1) / LANES;
    permute_make_lines(x, lines < x->period ? lines : x->period, v->from);
    permute_make_limits(x);
}

/* period, window and gaps are constants: what repeats stays in registers. */
PACK_INLINE void permute_unrolled(const struct permute *x, char *restrict to,
                                  const char *restrict from, size_t n, size_t period,
                                  size_t window, bool gaps)
{
    __m512i index[UNROLL_MAX];
    lane_mask data[UNROLL_MAX];
    size_t start[UNROLL_MAX], step = x->from_step;

#pragma GCC unroll 4
    for (size_t k = 0; k < period; k++) {
        index[k] = x->index[k];
        data[k] = x->data[k];
        start[k] = x->start[k];
    }
    for (; n > 0; n--) {
#pragma GCC unroll 4
        for (size_t k = 0; k < period; k++)
            line_store(gaps, to + k * REGISTER, data[k],
                       window_permute(from + start[k], index[k], window));
        to += period * REGISTER;
        from += step;
    }
}

/* window and gaps are constants.  Each line of some periods in turn, because its index
 * and mask then stay in registers; few periods, so that the lines are near each other. */
PACK_INLINE void permute_looped(const struct permute *x, char *to, const char *from,
                                size_t n, size_t window, bool gaps)
{
    const size_t to_step = x->period * REGISTER, from_step = x->from_step;

    while (n > 0) {
        const size_t some = n < SOME_PERIODS ? n : SOME_PERIODS;
        for (size_t k = 0; k < x->period; k++) {
            const __m512i index = x->index[k];
            const lane_mask data = x->data[k];
            const char *f = from + x->start[k];
            char *t = to + k * REGISTER;
            for (size_t i = some; i > 0; i--, t += to_step, f += from_step)
                line_store(gaps, t, data, window_permute(f, index, window));
        }
        to += some * to_step;
        from += some * from_step;
        n -= some;
    }
}

/* n periods */
PACK_INLINE void permute_periods(const struct permute *x, char *to, const char *from,
                                 size_t n, size_t window, bool gaps)
{
    switch (x->period) {
    case 1:
        permute_unrolled(x, to, from, n, 1, window, gaps);
        break;
    case 2:
        permute_unrolled(x, to, from, n, 2, window, gaps);
        break;
    case 3:
        permute_unrolled(x, to, from, n, 3, window, gaps);
        break;
    default:
        permute_looped(x, to, from, n, window, gaps);
        break;
    }
}

PACK_INLINE void permute_window(const struct permute *x, char *to, const char *from,
                                size_t n, size_t window)
{
    if (x->block == x->to_stride)
        permute_periods(x, to, from, n, window, false);
    else
        permute_periods(x, to, from, n, window, true);
}

#define PERMUTE_WINDOW(W)                                                                \
    static void permute_window_##W(const struct permute *x, char *to, const char *from,  \
                                   size_t n)                                             \
    {                                                                                    \
        permute_window(x, to, from, n, W);                                               \
    }
PERMUTE_WINDOW(1)
PERMUTE_WINDOW(2)
PERMUTE_WINDOW(3)
PERMUTE_WINDOW(4)

/* A line at lane t that has at most `left` lanes; its window begins at `start`.  Nothing
 * is read beyond from_end, the end of the source. */
static void permute_edge(const struct vector_copy *v, size_t t, size_t left,
                         lane_mask data, size_t start, size_t from_end, __m512i index)
{
    data &= lanes_below(left);
    if (data != 0)
        line_store(true, v->to + t * LANE, data,
                   window_edge(v->from + start, (from_end - start) / LANE, index));
}

/* Periods that write no lane beyond the target and read nothing beyond the source */
static size_t permute_whole_periods(const struct permute *x, size_t count)
{
    ptrdiff_t to = (ptrdiff_t)count - x->to_less, from = (ptrdiff_t)count - x->from_less;
    ptrdiff_t n = to >> x->period_shift, n_read = (from >> x->period_shift) + 1;

    n = n < n_read ? n : n_read;
    return n > 0 ? (size_t)n : 0;
}

static void permute_plan_make(void *plan, const struct vector_copy *v)
{
    permute_make(plan, v, SIZE_MAX / 256);
}

static void permute_plan_run(const void *plan, const struct vector_copy *v)
{
    static void (*const run[])(const struct permute *, char *, const char *, size_t) = {
        NULL, permute_window_1, permute_window_2, permute_window_3, permute_window_4};
    const struct permute *x = plan;
    size_t to_end = x->to_stride * (v->count - 1) + x->block, t = x->head;
    size_t from_end = (x->from_stride * (v->count - 1) + x->block) * LANE;
    size_t n = permute_whole_periods(x, v->count), passed = n * x->from_step;

    if (t > 0)
        permute_edge(v, 0, t < to_end ? t : to_end, x->head_data, x->head_start, from_end,
                     x->head_index);
    if (n > 0)
        run[x->window](x, v->to + t * LANE, v->from, n);
    t += n * x->period * LANES;
    for (size_t k = 0; t < to_end; t += LANES) {
        permute_edge(v, t, to_end - t, x->data[k], passed + x->start[k], from_end,
                     x->index[k]);
        k = k + 1 == x->period ? 0 : k + 1;
        passed += k == 0 ? x->from_step : 0;
    }
}

static bool permute_can(const struct vector_copy *v)
{
    const int lanes = LANES;

    if (pack_unit(v) % LANE != 0 || v->to_stride < (ptrdiff_t)v->block ||
        v->from_stride < (ptrdiff_t)v->block || v->to_stride > TO_STRIDE_MAX * LANE ||
        v->from_stride > FROM_STRIDE_MAX * LANE)
        return false;
    int t = (int)v->to_stride / LANE, s = (int)v->from_stride / LANE;
    if (t >> __builtin_ctz((unsigned)t | LANES) > PERIOD_MAX)
        return false;
    /* L consecutive lanes contain the starts of at most (L + T - 2) / T blocks; without
     * division, since this runs with every copy. */
    return (lanes + t - 2) * (s - t) <= (WINDOW_MAX - 1) * lanes * t;
}

static void permute_run(const struct vector_copy *v)
{
    struct permute x;

    permute_make(&x, v, v->count);
    permute_plan_run(&x, v);
}

const struct pack_kernel_fns PERMUTE_FNS = {.can = permute_can,
                                            .run = permute_run,
                                            .plan_make = permute_plan_make,
                                            .plan_run = permute_plan_run};
