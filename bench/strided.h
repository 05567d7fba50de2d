/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strided.h - applications that exchange non-contiguous data: a 2-D stencil, which
 * exchanges columns with its east and west neighbours, and the transposition of a 2-D
 * FFT.  The numerical code is the same for all libraries and forms.  A form is one way
 * to exchange the data; strided_shmem.c and strided_mpi.c define the forms of a library.
 * Uses: coll.h.  Used by: strided_*.c.
 */
#ifndef BENCH_STRIDED_H
#define BENCH_STRIDED_H

#include "coll.h"

enum { STRIDED_RADIUS_MAX = 3, STRIDED_PES_MAX = 64 };

/* The tile of a PE: rows x columns points with `radius` halo points on each side; rows
 * lie `pitch` doubles apart.  A ring of PEs forms the grid, so that PE me - 1 is to the
 * west, PE me + 1 to the east. */
struct strided_halo {
    int west, east;
    size_t rows, columns, radius, pitch;
    double *tile[2]; /* symmetric; steps alternate between them */
};

/* n x n elements, of which each PE has `rows` rows. */
struct strided_complex {
    double re, im;
};
struct strided_matrix {
    int me, npes;
    size_t n, rows;
    struct strided_complex *source;  /* symmetric */
    struct strided_complex *dest[2]; /* symmetric; calls alternate between them */
};

/* open and close are collective.  halo and transpose return when this PE has its data;
 * its neighbours may still wait for theirs.  They may overwrite a halo or a dest only
 * after its owner has begun the next call, which is why calls alternate: a PE that has
 * received the data of call k knows that the sender has finished with those of k - 1. */
struct strided_form {
    const char *name;
    void (*halo_open)(const struct strided_halo *h);
    void (*halo)(const struct strided_halo *h, int parity);
    void (*matrix_open)(const struct strided_matrix *m);
    void (*transpose)(const struct strided_matrix *m, int parity);
    void (*close)(void);
    bool blocked; /* transpose stores block [pe][row][column] instead of whole rows */
};

extern const struct strided_form strided_forms[];
extern const int strided_forms_count;
extern const char strided_library[];

/* Seconds in halo and transpose */
extern double strided_waited;

/* The start of the first row of a tile that is no halo */
static inline double *strided_first_row(const struct strided_halo *h, int parity)
{
    return h->tile[parity] + h->radius * h->pitch;
}

/* Copies the radius columns from `row` on, of all rows that are no halo. */
static inline void strided_pack_columns(const struct strided_halo *h, const double *row,
                                        double *to)
{
    for (size_t i = 0; i < h->rows; i++, row += h->pitch)
        for (size_t k = 0; k < h->radius; k++)
            *to++ = row[k];
}

static inline void strided_unpack_columns(const struct strided_halo *h, double *row,
                                          const double *from)
{
    for (size_t i = 0; i < h->rows; i++, row += h->pitch)
        for (size_t k = 0; k < h->radius; k++)
            row[k] = *from++;
}

#define strided_fail(...)     coll_fail("strided_bench", __VA_ARGS__)
#define strided_memory(bytes) coll_memory("strided_bench", bytes)

/* An application: `form` may be NULL where only opening and closing the arrays. */
struct strided_app {
    const char *name;
    size_t variants;                        /* radii of the stencil, else 1 */
    void (*check_size)(size_t n, int npes); /* calls coll_wrong if n is invalid */
    void (*open)(size_t n, size_t variant, int me, int npes);
    void (*begin)(const struct strided_form *form); /* opens the form, initial state */
    void (*run)(const struct strided_form *form, long steps);
    void (*verify)(const struct strided_form *form, bool spoil); /* after begin */
    void (*close)(void);
};

extern const struct strided_app strided_stencil, strided_fft;

#endif
