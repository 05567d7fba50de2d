/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_cells.h - the cases that the pack benchmarks measure, and their clock.  A cell is
 * a vector of blocks that is packed or unpacked.  Without the library under test, so that
 * the MPI program has the same cells.  Used by: pack_bench, pack_mpi.
 */
#ifndef BENCH_PACK_CELLS_H
#define BENCH_PACK_CELLS_H

#include <stdbool.h>
#include <stddef.h>

struct pack_cell {
    size_t bytes, block, stride;  /* bytes: packed size, a multiple of block */
    size_t packed_at, strided_at; /* bytes from a cache line to the buffers */
    bool unpack;
};

enum { PACK_CELLS_MAX = 16384 };

struct pack_cells {
    size_t n, most_packed, most_strided; /* bytes of the largest buffers */
    struct pack_cell cell[PACK_CELLS_MAX];
    double seconds; /* of one block of repetitions */
    bool offsets;   /* option -o: each cell with all offsets, which are printed */
    int rounds;     /* blocks of repetitions of each contestant; the fastest counts */
};

/* Reads the options of both programs; exits with a message if they are wrong. */
void pack_cells_read(struct pack_cells *cells, int argc, char **argv);

/* The buffers of all cells, initialised; exits if memory is short. */
char *pack_cells_buffer(size_t bytes);

/* Calls that take about `seconds`, and the time of one call in a block of n calls */
long pack_cells_repetitions(void (*call)(const void *), const void *arg, double seconds);
double pack_cells_time(void (*call)(const void *), const void *arg, long n);

/* Prints a line: direction, bytes, block, stride, contestant, GB/s of packed data and,
 * with option -o, the offsets of packed and strided memory; or another value with its
 * name. */
void pack_cells_print_value(const struct pack_cell *c, const char *name, double value);
void pack_cells_print(const struct pack_cell *c, const char *contestant, double seconds);

#endif
