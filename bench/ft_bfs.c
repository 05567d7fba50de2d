/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_bfs.c - level-synchronous breadth-first search in a Kronecker graph, as in Graph500,
 * to measure how much failure detection disturbs an application.
 *   ft_bfs [scale [searches]]      2^scale vertices (16), 16 edges for each; 8 searches
 * Each PE owns a block of vertices with their edges.  In each level it marks the
 * neighbours of its vertices of the frontier in a bitmap of all vertices; an or-reduction
 * combines the bitmaps.  Levels are checked against each edge.  Prints
 *   bfs SCALE PES SECONDS TEPS     mean time of a search; traversed edges per second
 */
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EDGES = 16, BITS = 64, UNSEEN = 255 };

static int me, npes, scale = 16, searches = 8;
static uint32_t vertices, first, end; /* all; this PE's block */
static uint64_t *frontier, *next;     /* symmetric bitmaps of all vertices */
static uint8_t *level;                /* of all vertices */
static uint64_t *offset;              /* of each own vertex in `neighbour` */
static uint32_t *neighbour;
static uint64_t traversed, traversed_all;
static int wrong, wrong_anywhere;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Edge i, by the probabilities 0.57, 0.19, 0.19, 0.05 of Graph500; the vertices are
 * permuted by an odd factor. */
static void edge(uint64_t i, uint32_t *u, uint32_t *v)
{
    uint32_t a = 0, b = 0;

    for (int bit = 0; bit < scale; bit++) {
        uint64_t r = mix(i * 64 + (uint64_t)bit) % 100;
        a = a << 1 | (r >= 76);
        b = b << 1 | ((r >= 57 && r < 76) || r >= 95);
    }
    *u = (uint32_t)(a * 2654435761u + 12345) & (vertices - 1);
    *v = (uint32_t)(b * 2654435761u + 12345) & (vertices - 1);
}

static bool is_own(uint32_t v)
{
    return v >= first && v < end;
}

/* Builds the adjacency lists of this PE's vertices: counts, then fills. */
static bool build(void)
{
    uint64_t edges = (uint64_t)vertices * EDGES;
    uint32_t u, v;

    offset = calloc(end - first + 2, sizeof *offset);
    if (offset == NULL)
        return false;
    for (uint64_t i = 0; i < edges; i++) {
        edge(i, &u, &v);
        if (is_own(u))
            offset[u - first + 2]++;
        if (is_own(v))
            offset[v - first + 2]++;
    }
    for (uint32_t k = 2; k < end - first + 2; k++)
        offset[k] += offset[k - 1];
    neighbour = malloc((offset[end - first + 1] + 1) * sizeof *neighbour);
    if (neighbour == NULL)
        return false;
    for (uint64_t i = 0; i < edges; i++) {
        edge(i, &u, &v);
        if (is_own(u))
            neighbour[offset[u - first + 1]++] = v;
        if (is_own(v))
            neighbour[offset[v - first + 1]++] = u;
    }
    return true;
}

/* Own vertices of the frontier mark their neighbours. */
static void expand(void)
{
    memset(next, 0, vertices / 8);
    for (uint32_t v = first; v < end; v++) {
        if ((frontier[v / BITS] >> v % BITS & 1) == 0)
            continue;
        for (uint64_t k = offset[v - first]; k < offset[v - first + 1]; k++)
            next[neighbour[k] / BITS] |= (uint64_t)1 << neighbour[k] % BITS;
        traversed += offset[v - first + 1] - offset[v - first];
    }
}

/* The frontier becomes the marked vertices that have no level.  False: there are none. */
static bool advance(int depth)
{
    bool any = false;

    for (uint32_t v = 0; v < vertices; v++) {
        uint64_t bit = (uint64_t)1 << v % BITS;
        if ((frontier[v / BITS] & bit) == 0)
            continue;
        if (level[v] == UNSEEN) {
            level[v] = (uint8_t)depth;
            any = true;
        } else
            frontier[v / BITS] &= ~bit;
    }
    return any;
}

static void search(uint32_t root)
{
    memset(level, UNSEEN, vertices);
    memset(frontier, 0, vertices / 8);
    frontier[root / BITS] = (uint64_t)1 << root % BITS;
    for (int depth = 0; advance(depth); depth++) {
        expand();
        shmem_uint64_or_reduce(SHMEM_TEAM_WORLD, frontier, next, vertices / BITS);
    }
}

/* Levels at the ends of an edge differ by one at most; each but the root's has a
 * neighbour in the level before. */
static bool check(uint32_t root)
{
    for (uint32_t v = first; v < end; v++) {
        bool parent = v == root || level[v] == UNSEEN;
        for (uint64_t k = offset[v - first]; k < offset[v - first + 1]; k++) {
            int difference = level[neighbour[k]] - level[v];
            if (difference < -1 || difference > 1)
                return false;
            parent = parent || difference == -1;
        }
        if (!parent)
            return false;
    }
    return level[root] == 0;
}

static uint32_t root_of(int i)
{
    uint32_t u, v;

    edge(mix((uint64_t)i) % ((uint64_t)vertices * EDGES), &u, &v);
    return u;
}

int main(int argc, char **argv)
{
    double seconds = 0;

    scale = argc > 1 ? atoi(argv[1]) : scale;
    searches = argc > 2 ? atoi(argv[2]) : searches;
    if (scale < 7 || scale > 26 || searches < 1) {
        fprintf(stderr, "usage: ft_bfs [scale 7..26 [searches]]\n");
        return 2;
    }
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    vertices = (uint32_t)1 << scale;
    first = (uint32_t)((uint64_t)vertices * (uint64_t)me / (uint64_t)npes);
    end = (uint32_t)((uint64_t)vertices * (uint64_t)(me + 1) / (uint64_t)npes);
    frontier = shmem_malloc(vertices / 8);
    next = shmem_malloc(vertices / 8);
    level = malloc(vertices);
    if (frontier == NULL || next == NULL || level == NULL || !build())
        shmem_global_exit(1);
    for (int i = 0; i < searches; i++) {
        shmem_barrier_all();
        double start = now_s();
        search(root_of(i));
        shmem_barrier_all();
        seconds += now_s() - start;
        wrong = wrong || !check(root_of(i));
    }
    shmem_int_max_reduce(SHMEM_TEAM_WORLD, &wrong_anywhere, &wrong, 1);
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, &traversed_all, &traversed, 1);
    if (me == 0 && wrong_anywhere)
        fprintf(stderr, "ft_bfs: wrong levels\n");
    else if (me == 0)
        printf("bfs %d %d %.6f %.3g\n", scale, npes, seconds / searches,
               (double)traversed_all / 2 / seconds);
    shmem_finalize();
    return wrong_anywhere;
}
