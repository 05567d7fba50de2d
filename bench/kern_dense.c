/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern_dense.c - see kern_dense.h.  Uses: kern.h.
 */
#include "kern_dense.h"

#include <math.h>

#include "kern.h"

void dense_add_square(struct dense *m, double factor, const double *v)
{
    for (int i = 0; i < DIM; i++)
        for (int j = 0; j < DIM; j++)
            m->at[i][j] += factor * v[i] * v[j];
}

void dense_times(double *out, const struct dense *m, const double *v)
{
    for (int i = 0; i < DIM; i++) {
        out[i] = 0;
        for (int j = 0; j < DIM; j++)
            out[i] += m->at[i][j] * v[j];
    }
}

void dense_cholesky(struct dense *m)
{
    for (int j = 0; j < DIM; j++) {
        for (int i = j; i < DIM; i++)
            for (int k = 0; k < j; k++)
                m->at[i][j] -= m->at[i][k] * m->at[j][k];
        if (!(m->at[j][j] > 0))
            kern_fail("bpmf: a matrix is not positive definite");
        double root = sqrt(m->at[j][j]);
        for (int i = j; i < DIM; i++)
            m->at[i][j] /= root;
    }
}

void dense_forward(const struct dense *l, double *x)
{
    for (int i = 0; i < DIM; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= l->at[i][k] * x[k];
        x[i] /= l->at[i][i];
    }
}

void dense_backward(const struct dense *l, double *x)
{
    for (int i = DIM - 1; i >= 0; i--) {
        for (int k = i + 1; k < DIM; k++)
            x[i] -= l->at[k][i] * x[k];
        x[i] /= l->at[i][i];
    }
}

/* -- random numbers ------------------------------------------------------------------ */
static double uniform(struct numbers *from)
{
    return coll_uniform(from->seed, from->row, from->k++);
}

double numbers_normal(struct numbers *from)
{
    double radius = sqrt(-2 * log(1 - uniform(from)));
    return radius * cos(6.283185307179586 * uniform(from));
}

/* Marsaglia and Tsang's method for a gamma variate, of at least one degree of freedom. */
static double chi_square(struct numbers *from, double freedom)
{
    double d = freedom / 2 - 1.0 / 3, x, v;
    do {
        x = numbers_normal(from);
        v = 1 + x / sqrt(9 * d);
        v = v * v * v;
    } while (v <= 0 || log(1 - uniform(from)) >= x * x / 2 + d - d * v + d * log(v));
    return 2 * d * v;
}

/* Bartlett's decomposition: column j of its triangular factor, scaled by L^-T. */
static void bartlett_column(struct numbers *from, double *v, int j, double freedom)
{
    for (int i = 0; i < DIM; i++)
        v[i] = i > j ? numbers_normal(from) : 0;
    v[j] = sqrt(chi_square(from, freedom - j));
}

void numbers_wishart(struct numbers *from, struct dense *out, const struct dense *l,
                     double freedom)
{
    *out = (struct dense){0};
    for (int j = 0; j < DIM; j++) {
        double v[DIM];
        bartlett_column(from, v, j, freedom);
        dense_backward(l, v);
        dense_add_square(out, 1, v);
    }
}
