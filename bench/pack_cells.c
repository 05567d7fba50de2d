/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_cells.c - see pack_cells.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pack_cells.h"

enum { SPAN_MAX = 512 << 20, PAGE = 4096, OFFSETS = 4, OFFSET_MAX = 64 };

static bool cells_have_offsets;

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void cells_add(struct pack_cells *cells, size_t bytes, size_t block, size_t stride)
{
    static const size_t offset[OFFSETS] = {0, 8, 16, 48};
    const size_t combinations = cells->offsets ? (size_t)OFFSETS * OFFSETS : 1;
    size_t count = bytes / block, span = count * stride;

    if (count < 2 || span > SPAN_MAX)
        return;
    for (size_t i = 0; i < 2 * combinations && cells->n < PACK_CELLS_MAX; i++)
        cells->cell[cells->n++] = (struct pack_cell){
            count * block,           block,     stride, offset[i / 2 / OFFSETS],
            offset[i / 2 % OFFSETS], i % 2 != 0};
    if (count * block > cells->most_packed)
        cells->most_packed = count * block;
    if (span > cells->most_strided)
        cells->most_strided = span;
}

/* Blocks of two integers with a gap of one */
static void cells_add_reference(struct pack_cells *cells, size_t from, size_t to)
{
    for (size_t bytes = from; bytes <= to; bytes *= 2)
        cells_add(cells, bytes, 8, 12);
}

/* Packed sizes for L1, L2, L3 and memory; strides of 1.5, 2 and 4 blocks, 256 bytes, 1
 * and 4 KiB, unless that is less than 4 blocks */
static void cells_add_sweep(struct pack_cells *cells, const size_t *block, size_t blocks)
{
    static const size_t size[] = {8 << 10, 128 << 10, 4 << 20, 64 << 20};
    static const size_t wide[] = {256, 1024, 4096};

    for (size_t s = 0; s < LENGTH(size); s++)
        for (size_t b = 0; b < blocks; b++) {
            cells_add(cells, size[s], block[b], block[b] * 3 / 2);
            cells_add(cells, size[s], block[b], block[b] * 2);
            cells_add(cells, size[s], block[b], block[b] * 4);
            for (size_t w = 0; w < LENGTH(wide); w++)
                if (wide[w] > block[b] * 4)
                    cells_add(cells, size[s], block[b], wide[w]);
        }
}

static void cells_make(struct pack_cells *cells, const char *mode)
{
    static const size_t all[] = {4, 8, 12, 16, 24, 32, 48, 64, 128, 256};
    static const size_t odd[] = {1, 2, 3, 6, 20, 40, 100};

    if (strcmp(mode, "reference") == 0) {
        cells_add_reference(cells, 1 << 10, 4 << 20);
    } else if (strcmp(mode, "quick") == 0) {
        cells_add_reference(cells, 16 << 10, 16 << 10);
        cells_add(cells, 8 << 10, 64, 4096);
    } else if (strcmp(mode, "short") == 0) {
        cells_add_reference(cells, 1 << 10, 1 << 20);
        cells_add_sweep(cells, all + 1, 1);
        cells_add_sweep(cells, all + 5, 1);
    } else if (strcmp(mode, "long") == 0) {
        cells_add_reference(cells, 1 << 10, 4 << 20);
        cells_add_sweep(cells, all, LENGTH(all));
    } else if (strcmp(mode, "odd") == 0) {
        cells_add_sweep(cells, odd, LENGTH(odd));
    }
}

static void cells_usage(const char *program)
{
    fprintf(
        stderr,
        "usage: %s [-o] [-m reference|quick|short|long|odd] "
        "[-c BYTES:BLOCK:STRIDE]... [-r ROUNDS] [-t SECONDS]\n"
        "  -o, before -c: packed and strided memory 0, 8, 16, 48 bytes behind a cache "
        "line\n",
        program);
    exit(2);
}

void pack_cells_read(struct pack_cells *cells, int argc, char **argv)
{
    size_t bytes, block, stride;
    const char *mode = "short";
    int c;

    *cells = (struct pack_cells){.seconds = 2e-4, .rounds = 7};
    while ((c = getopt(argc, argv, "c:m:or:t:")) != -1) {
        if (c == 'm')
            mode = optarg;
        else if (c == 'o')
            cells->offsets = cells_have_offsets = true;
        else if (c == 'r')
            cells->rounds = atoi(optarg);
        else if (c == 't')
            cells->seconds = atof(optarg);
        else if (c == 'c' &&
                 sscanf(optarg, "%zu:%zu:%zu", &bytes, &block, &stride) == 3 &&
                 block > 0 && stride >= block)
            cells_add(cells, bytes, block, stride);
        else
            cells_usage(argv[0]);
    }
    if (cells->n == 0)
        cells_make(cells, mode);
    if (cells->n == 0 || optind < argc || cells->rounds < 1 || cells->seconds < 0)
        cells_usage(argv[0]);
}

char *pack_cells_buffer(size_t bytes)
{
    char *at = aligned_alloc(PAGE, ((bytes + OFFSET_MAX) / PAGE + 1) * PAGE);

    if (at == NULL) {
        fprintf(stderr, "no memory for a buffer of %zu bytes\n", bytes);
        exit(1);
    }
    memset(at, 1, bytes + OFFSET_MAX);
    return at;
}

static double cells_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double pack_cells_time(void (*call)(const void *), const void *arg, long n)
{
    double begin = cells_now();

    for (long i = 0; i < n; i++)
        call(arg);
    return (cells_now() - begin) / (double)n;
}

long pack_cells_repetitions(void (*call)(const void *), const void *arg, double seconds)
{
    long n = 1;

    call(arg);
    while (n < 1 << 20 && pack_cells_time(call, arg, n) * (double)n < seconds / 2)
        n *= 2;
    return n;
}

void pack_cells_print_value(const struct pack_cell *c, const char *name, double value)
{
    printf("%s %zu %zu %zu %s %.3f", c->unpack ? "unpack" : "pack", c->bytes, c->block,
           c->stride, name, value);
    if (cells_have_offsets)
        printf(" %zu,%zu", c->packed_at, c->strided_at);
    printf("\n");
    fflush(stdout);
}

void pack_cells_print(const struct pack_cell *c, const char *contestant, double seconds)
{
    pack_cells_print_value(c, contestant, 1e-9 * (double)c->bytes / seconds);
}
