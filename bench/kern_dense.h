/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern_dense.h - small dense matrices and the random numbers of the matrix factorization;
 * a number depends only on its seed, sequence and index.
 * Used by: kern_bpmf.c.
 */
#ifndef BENCH_KERN_DENSE_H
#define BENCH_KERN_DENSE_H

#include <stdint.h>

enum { DIM = 10 };

struct dense {
    double at[DIM][DIM];
};

void dense_add_square(struct dense *m, double factor, const double *v); /* f v v^T */
void dense_times(double *out, const struct dense *m, const double *v);

/* m = L L^T, in its lower triangle; it must be positive definite.  Then x becomes L^-1 x,
 * or L^-T x. */
void dense_cholesky(struct dense *m);
void dense_forward(const struct dense *l, double *x);
void dense_backward(const struct dense *l, double *x);

struct numbers {
    uint64_t seed;
    int row;
    uint64_t k; /* the next one of it */
};

double numbers_normal(struct numbers *from);

/* A sample of the Wishart distribution with these degrees of freedom and the scale
 * (L L^T)^-1. */
void numbers_wishart(struct numbers *from, struct dense *out, const struct dense *l,
                     double freedom);

#endif
