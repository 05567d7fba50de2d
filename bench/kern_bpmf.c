/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern_bpmf.c - Bayesian probabilistic matrix factorization by Gibbs sampling: a sparse
 * matrix of ratings is approximated by the products of DIM features of each row and
 * column.
 * Each PE has `n` rows and `n` columns (items).  An iteration: a region samples the
 * features of the rows, given those of the columns, a second region those of the columns;
 * then each PE predicts a held-out rating of each of its rows.  In a region, all PEs
 * sample the hyperparameters of that side, each PE samples its items, and three fcollects
 * exchange the features (DIM n doubles), the sum of their outer products (DIM^2) and
 * their squared norm (1).
 * The ratings are synthetic: products of TRUE_DIM features, plus noise.  All random
 * numbers belong to an item, not to a PE, and sums are in PE order: the model (the same
 * blocks in one process) and all libraries have the same answer to the last bit.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kern.h"
#include "kern_dense.h"

enum { ROWS, COLUMNS, SIDES };
enum { ITERATIONS = 20, BURN_IN = 10, RATINGS = 32, TRUE_DIM = 4, MODEL_MAX = 200 };
static const double noise = 0.5;

/* The ratings of items first .. first + n - 1 of a side. */
struct ratings {
    size_t first, n;
    size_t *start; /* n + 1: offset of the first rating of each item */
    uint32_t *who; /* item of the other side */
    double *value;
};

/* The results of the fcollects of a side. */
struct side {
    const double *features, *squares, *norms; /* of all items; of each PE */
    struct kern_result of_features, of_squares, of_norms;
};

/* The hyperparameters of a side. */
struct common {
    struct dense precision;
    double pull[DIM]; /* precision times mean */
};

static struct kern_job job;
static struct ratings mine[SIDES];
static struct side sides[SIDES];
static double *predicted;      /* of each row: the sum over iterations */
static double *error, *errors; /* symmetric: squared error of this PE, of all PEs */

static size_t usual(const struct kern_job *j)
{
    (void)j;
    return 1000;
}

static void check_size(const struct kern_job *j)
{
    if (j->n > 1000000 || j->n * (size_t)j->npes > UINT32_MAX / RATINGS)
        coll_wrong("bpmf: %zu items of %d PEs are too many", j->n, j->npes);
}

static size_t items(void)
{
    return job.n * (size_t)job.npes;
}

/* -- ratings ------------------------------------------------------------------------- */
/* Random sequences: true features, choice of ratings, noise; then those of a run. */
enum { TRUE_ROWS, TRUE_COLUMNS, CHOICE, NOISE, BEGIN, RUNS = BEGIN + SIDES };

static double true_rating(size_t row, size_t column)
{
    double sum = 0;
    for (uint64_t k = 0; k < TRUE_DIM; k++)
        sum += (coll_uniform(job.seed, TRUE_ROWS, row * TRUE_DIM + k) - 0.5) *
               (coll_uniform(job.seed, TRUE_COLUMNS, column * TRUE_DIM + k) - 0.5);
    return 12 * sum; /* of features with variance 1 */
}

/* The column of rating k of a row; rating RATINGS is the held-out one. */
static size_t rated(size_t row, int k)
{
    uint64_t number = row * (RATINGS + 1) + (uint64_t)k;
    return (size_t)(coll_uniform(job.seed, CHOICE, number) * (double)items());
}

static double noisy_rating(size_t row, int k)
{
    struct numbers from = {job.seed, NOISE, 2 * (row * RATINGS + (uint64_t)k)};
    return true_rating(row, rated(row, k)) + noise * numbers_normal(&from);
}

static bool belongs(const struct ratings *r, size_t item)
{
    return item >= r->first && item < r->first + r->n;
}

/* Calls `visit` for all ratings of the items of r, row by row. */
static void each_rating(struct ratings *r, int side,
                        void (*visit)(struct ratings *r, int side, size_t row, int k))
{
    size_t begin = side == ROWS ? r->first : 0;
    size_t end = side == ROWS ? r->first + r->n : items();
    for (size_t row = begin; row < end; row++)
        for (int k = 0; k < RATINGS; k++)
            if (side == ROWS || belongs(r, rated(row, k)))
                visit(r, side, row, k);
}

static size_t index_of(const struct ratings *r, int side, size_t row, int k)
{
    return (side == ROWS ? row : rated(row, k)) - r->first;
}

static void count_rating(struct ratings *r, int side, size_t row, int k)
{
    r->start[index_of(r, side, row, k) + 1]++;
}

/* Moves start[i] to the end of i's ratings, which is the start of those of i + 1. */
static void add_rating(struct ratings *r, int side, size_t row, int k)
{
    size_t at = r->start[index_of(r, side, row, k)]++;
    r->who[at] = (uint32_t)(side == ROWS ? rated(row, k) : row);
    r->value[at] = noisy_rating(row, k);
}

static void open_ratings(struct ratings *r, int side, size_t first, size_t n)
{
    r->first = first;
    r->n = n;
    r->start = kern_memory((n + 2) * sizeof(*r->start));
    each_rating(r, side, count_rating);
    for (size_t i = 0; i < n; i++)
        r->start[i + 1] += r->start[i];
    r->who = kern_memory((r->start[n] + 1) * sizeof(*r->who));
    r->value = kern_memory((r->start[n] + 1) * sizeof(*r->value));
    each_rating(r, side, add_rating);
    memmove(r->start + 1, r->start, n * sizeof(*r->start));
    r->start[0] = 0;
}

static void close_ratings(struct ratings *r)
{
    free(r->start);
    free(r->who);
    free(r->value);
}

/* -- hyperparameters ----------------------------------------------------------------- */
static void mean_of(double *mean, const double *features)
{
    memset(mean, 0, DIM * sizeof(*mean));
    for (size_t i = 0; i < items(); i++)
        for (size_t d = 0; d < DIM; d++)
            mean[d] += features[i * DIM + d];
    for (size_t d = 0; d < DIM; d++)
        mean[d] /= (double)items();
}

/* The unit matrix plus the scatter of all features about their mean plus n / (1 + n)
 * times mean mean^T. */
static void scatter_of(struct dense *m, const double *squares, const double *mean)
{
    double n = (double)items();
    *m = (struct dense){0};
    for (size_t i = 0; i < DIM * DIM; i++)
        for (size_t pe = 0; pe < (size_t)job.npes; pe++)
            m->at[i / DIM][i % DIM] += squares[pe * DIM * DIM + i];
    dense_add_square(m, n / (1 + n) - n, mean);
    for (int i = 0; i < DIM; i++)
        m->at[i][i] += 1;
}

/* Normal-Wishart posterior; the prior counts as 1 observation of the mean and DIM of the
 * precision. */
static void draw_common(struct common *c, const double *features, const double *squares,
                        int row)
{
    struct numbers from = {job.seed, row, 0};
    struct dense scatter, root;
    double n = (double)items(), mean[DIM], off[DIM];
    mean_of(mean, features);
    scatter_of(&scatter, squares, mean);
    dense_cholesky(&scatter);
    numbers_wishart(&from, &c->precision, &scatter, DIM + n);
    root = c->precision;
    dense_cholesky(&root);
    for (int d = 0; d < DIM; d++)
        off[d] = numbers_normal(&from) / sqrt(1 + n);
    dense_backward(&root, off);
    for (int d = 0; d < DIM; d++)
        off[d] += mean[d] * n / (1 + n);
    dense_times(c->pull, &c->precision, off);
}

/* -- items --------------------------------------------------------------------------- */
/* Small values: sampling does not move away from large ones in so few iterations. */
static void first_item(double *x, struct numbers *from)
{
    for (int d = 0; d < DIM; d++)
        x[d] = 0.1 * numbers_normal(from);
}

static void draw_item(double *x, const struct ratings *r, size_t i, const double *others,
                      const struct common *c, struct numbers *from)
{
    struct dense precision = c->precision;
    const double weight = 1 / (noise * noise);
    memcpy(x, c->pull, sizeof(c->pull));
    for (size_t k = r->start[i]; k < r->start[i + 1]; k++) {
        const double *v = others + (size_t)r->who[k] * DIM;
        dense_add_square(&precision, weight, v);
        for (int d = 0; d < DIM; d++)
            x[d] += weight * r->value[k] * v[d];
    }
    dense_cholesky(&precision);
    dense_forward(&precision, x);
    for (int d = 0; d < DIM; d++)
        x[d] += numbers_normal(from);
    dense_backward(&precision, x);
}

/* A PE's items `begin`.., which are items of r; initial values if c == NULL. */
static void draw_items(double *x, const struct ratings *r, size_t begin,
                       const double *others, const struct common *c, int row)
{
    for (size_t i = 0; i < job.n; i++) {
        struct numbers from = {job.seed, row, (begin + i + 1) << 10};
        if (c == NULL)
            first_item(x + i * DIM, &from);
        else
            draw_item(x + i * DIM, r, begin - r->first + i, others, c, &from);
    }
}

static void sum_squares(double *squares, double *norm, const double *x)
{
    struct dense sum = {0};
    *norm = 0;
    for (size_t i = 0; i < job.n; i++)
        dense_add_square(&sum, 1, x + i * DIM);
    for (size_t i = 0; i < job.n * DIM; i++)
        *norm += x[i] * x[i];
    memcpy(squares, sum.at, sizeof(sum.at));
}

/* The random number sequence of a region; iteration -1 samples the initial features. */
static int row_of(int iteration, int side)
{
    return iteration < 0 ? BEGIN + side : RUNS + 2 * SIDES * iteration + 2 * side;
}

/* Adds the predictions for the rows of r to sum[]. */
static void predict(double *sum, const struct ratings *r, const double *row_features,
                    const double *column_features)
{
    for (size_t i = 0; i < r->n; i++) {
        size_t row = r->first + i;
        const double *u = row_features + row * DIM;
        const double *v = column_features + rated(row, RATINGS) * DIM;
        for (int d = 0; d < DIM; d++)
            sum[i] += u[d] * v[d];
    }
}

/* Sum of the squared errors of the mean predictions for a PE's rows. */
static double square_error(const double *sum, size_t first)
{
    double squares = 0;
    for (size_t i = 0; i < job.n; i++) {
        double is = sum[i] / (ITERATIONS - BURN_IN);
        double off = is - true_rating(first + i, rated(first + i, RATINGS));
        squares += off * off;
    }
    return squares;
}

/* -- run ----------------------------------------------------------------------------- */
static void region(int side, int iteration)
{
    struct side *s = &sides[side];
    struct common c;
    size_t first = mine[side].first;
    int row = row_of(iteration, side);
    if (iteration >= 0)
        draw_common(&c, s->features, s->squares, row + 1);
    double *x = kern_block(&s->of_features, job.n * DIM * sizeof(double));
    double *squares = kern_block(&s->of_squares, DIM * DIM * sizeof(double));
    double *norm = kern_block(&s->of_norms, sizeof(double));
    draw_items(x, &mine[side], first, sides[1 - side].features,
               iteration >= 0 ? &c : NULL, row);
    sum_squares(squares, norm, x);
    s->features = kern_fcollect(&s->of_features, job.n * DIM * sizeof(double));
    s->squares = kern_fcollect(&s->of_squares, DIM * DIM * sizeof(double));
    s->norms = kern_fcollect(&s->of_norms, sizeof(double));
}

static void begin(void)
{
    memset(predicted, 0, job.n * sizeof(*predicted));
}

static void run(void)
{
    region(ROWS, -1);
    region(COLUMNS, -1);
    for (int i = 0; i < ITERATIONS; i++) {
        region(ROWS, i);
        region(COLUMNS, i);
        if (i >= BURN_IN)
            predict(predicted, &mine[ROWS], sides[ROWS].features,
                    sides[COLUMNS].features);
    }
}

/* -- verification -------------------------------------------------------------------- */
/* The collected norms and traces must be those of the collected features. */
static void verify_norms(int side)
{
    const struct side *s = &sides[side];
    for (size_t pe = 0; pe < (size_t)job.npes; pe++) {
        double norm = 0, trace = 0;
        for (size_t i = 0; i < job.n * DIM; i++)
            norm += s->features[pe * job.n * DIM + i] * s->features[pe * job.n * DIM + i];
        for (size_t d = 0; d < DIM; d++)
            trace += s->squares[pe * DIM * DIM + d * (DIM + 1)];
        if (fabs(norm - s->norms[pe]) > 1e-9 * norm || fabs(trace - norm) > 1e-9 * norm)
            kern_fail("bpmf: the features of PE %zu have the norm %.17g on PE %d, but "
                      "the collected norm is %.17g and the trace %.17g",
                      pe, norm, job.me, s->norms[pe], trace);
    }
}

static double rmse(void)
{
    double sum = 0;
    *error = square_error(predicted, mine[ROWS].first);
    coll_lib.gather(errors, error, 1);
    for (int pe = 0; pe < job.npes; pe++)
        sum += errors[pe];
    coll_lib.barrier();
    return sqrt(sum / (double)items());
}

/* Products of features with variance 1 have the standard deviation sqrt(TRUE_DIM). */
static void verify(double *answers)
{
    verify_norms(ROWS);
    verify_norms(COLUMNS);
    answers[0] = rmse();
    if (!(answers[0] < noise * sqrt(TRUE_DIM)))
        kern_fail("bpmf: predictions are %g off, more than %g: the factorisation found "
                  "nothing",
                  answers[0], noise * sqrt(TRUE_DIM));
}

/* -- model: the same blocks in one process ------------------------------------------- */
struct model {
    struct ratings ratings[SIDES];
    double *features[SIDES], *squares[SIDES], *predicted;
};

static void model_region(struct model *m, int side, int iteration)
{
    struct common c;
    double norm;
    int row = row_of(iteration, side);
    if (iteration >= 0)
        draw_common(&c, m->features[side], m->squares[side], row + 1);
    for (size_t pe = 0; pe < (size_t)job.npes; pe++) {
        double *x = m->features[side] + pe * job.n * DIM;
        draw_items(x, &m->ratings[side], pe * job.n, m->features[1 - side],
                   iteration >= 0 ? &c : NULL, row);
        sum_squares(m->squares[side] + pe * DIM * DIM, &norm, x);
    }
}

static void open_model(struct model *m)
{
    for (int side = 0; side < SIDES; side++) {
        open_ratings(&m->ratings[side], side, 0, items());
        m->features[side] = kern_memory(items() * DIM * sizeof(double));
        m->squares[side] = kern_memory((size_t)job.npes * DIM * DIM * sizeof(double));
    }
    m->predicted = kern_memory(items() * sizeof(double));
}

static void close_model(struct model *m)
{
    for (int side = 0; side < SIDES; side++) {
        close_ratings(&m->ratings[side]);
        free(m->features[side]);
        free(m->squares[side]);
    }
    free(m->predicted);
}

static void run_model(struct model *m)
{
    model_region(m, ROWS, -1);
    model_region(m, COLUMNS, -1);
    for (int i = 0; i < ITERATIONS; i++) {
        model_region(m, ROWS, i);
        model_region(m, COLUMNS, i);
        if (i >= BURN_IN)
            predict(m->predicted, &m->ratings[ROWS], m->features[ROWS],
                    m->features[COLUMNS]);
    }
}

static void model(const double *answers)
{
    struct model m;
    double sum = 0;
    open_model(&m);
    run_model(&m);
    for (size_t pe = 0; pe < (size_t)job.npes; pe++)
        sum += square_error(m.predicted + pe * job.n, pe * job.n);
    for (int side = 0; side < SIDES; side++)
        if (memcmp(m.features[side], sides[side].features,
                   items() * DIM * sizeof(double)) != 0)
            kern_fail("bpmf: features of %s differ from the model's on PE %d of %d",
                      side == ROWS ? "rows" : "columns", job.me, job.npes);
    if (sqrt(sum / (double)items()) != answers[0])
        kern_fail("bpmf: predictions are %.17g off, the model's %.17g", answers[0],
                  sqrt(sum / (double)items()));
    close_model(&m);
}

static bool small(const struct kern_job *j)
{
    return j->n <= MODEL_MAX;
}

/* -- memory -------------------------------------------------------------------------- */
static void open_side(int side)
{
    struct side *s = &sides[side];
    size_t pes = (size_t)job.npes;
    open_ratings(&mine[side], side, (size_t)job.me * job.n, job.n);
    kern_open(&s->of_features, KERN_WORLD, items() * DIM * sizeof(double));
    kern_open(&s->of_squares, KERN_WORLD, pes * DIM * DIM * sizeof(double));
    kern_open(&s->of_norms, KERN_WORLD, pes * sizeof(double));
}

static void open_all(const struct kern_job *j)
{
    job = *j;
    open_side(ROWS);
    open_side(COLUMNS);
    predicted = kern_memory(job.n * sizeof(*predicted));
    error = coll_need("kern_bench", sizeof(*error));
    errors = coll_need("kern_bench", (size_t)job.npes * sizeof(*errors));
}

static void close_all(void)
{
    for (int side = 0; side < SIDES; side++) {
        kern_lib.close(&sides[side].of_features);
        kern_lib.close(&sides[side].of_squares);
        kern_lib.close(&sides[side].of_norms);
        close_ratings(&mine[side]);
    }
    coll_lib.free(error);
    coll_lib.free(errors);
    free(predicted);
}

const struct kernel kern_bpmf = {
    .name = "bpmf",
    .answers = {"rmse"},
    .usual = usual,
    .check_size = check_size,
    .open = open_all,
    .begin = begin,
    .run = run,
    .verify = verify,
    .model = model,
    .small = small,
    .close = close_all,
};
