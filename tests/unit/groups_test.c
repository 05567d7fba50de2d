/* SPDX-License-Identifier: BSD-3-Clause */
/* groups_test.c - groups of PEs by cache, as each PE computes them, and the caches from a
 * directory as the kernel has it. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "pgas/coll/groups/groups.h"
#include "pgas/core/boot/binding.h"
#include "pgas/core/boot/locality.h"

enum { MOST = 300, AUTO = 0, NONE = -1 };

static struct groups view[MOST]; /* of each PE */

/* n PEs; PE i is in cache i / per_cache (0: unknown), four caches in a NUMA node.
 * `scattered`: in cache i % (n / per_cache). */
static void make(int n, int per_cache, bool scattered, int size)
{
    struct groups_pe pes[MOST];

    for (int me = 0; me < n; me++) {
        for (int i = 0; i < n; i++) {
            int cache = per_cache == 0 ? -1
                        : scattered    ? i % (n / per_cache)
                                       : i / per_cache;
            pes[i] = (struct groups_pe){.cache = cache + 1, .numa = cache / 4, .pe = i};
        }
        cr_assert(groups_make(&view[me], pes, n, me, size));
    }
}

/* All PEs have the same groups; a group of level l consists of groups of level l - 1. */
static void check_levels(int n)
{
    const struct groups *g = &view[0];

    for (int i = 0; i < n; i++)
        cr_assert_eq(g->position[g->order[i]], i);
    for (int l = 0; l < g->levels; l++) {
        const struct groups_level *level = &g->level[l];
        cr_assert_eq(level->begin[0], 0);
        cr_assert_eq(level->begin[level->n], n);
        for (int i = 0; i < level->n; i++)
            cr_assert_lt(level->begin[i], level->begin[i + 1]);
        for (int me = 0; me < n; me++) {
            const struct groups_level *mine = &view[me].level[l];
            cr_assert_eq(view[me].levels, g->levels);
            cr_assert_eq(view[me].own, g->own);
            cr_assert_arr_eq(mine->begin, level->begin,
                             sizeof(int) * ((size_t)level->n + 1));
            cr_assert_leq(mine->begin[mine->mine], g->position[me]);
            cr_assert_gt(mine->begin[mine->mine + 1], g->position[me]);
        }
    }
    cr_assert_eq(g->level[g->levels - 1].n, 1);
    cr_assert(g->own >= 1 && g->own <= g->levels);
}

/* Every PE but the root reads exactly one slot, that of the representative of its group,
 * which has it as a member at that level; all paths lead to the root. */
static void check_tree(int n, int root)
{
    int readers = 0;

    for (int me = 0; me < n; me++) {
        const struct groups *g = &view[me];
        int level = groups_own_level(g, me, root), pe = me;
        cr_assert_eq(level == g->levels, me == root);
        for (int l = 0; l < level; l++)
            for (int i = 0; i < g->level[l].members; i++) {
                int member = groups_member(g, l, i, root);
                readers += member != me;
                cr_assert(member == me ||
                          (groups_own_level(&view[member], member, root) == l &&
                           groups_head(&view[member], l, root) == me));
            }
        for (int steps = 0; pe != root; steps++) {
            cr_assert_lt(steps, GROUPS_LEVELS);
            pe = groups_head(&view[pe], groups_own_level(&view[pe], pe, root), root);
        }
    }
    cr_assert_eq(readers, n - 1);
}

static void check(int n, int per_cache, bool scattered, int size)
{
    make(n, per_cache, scattered, size);
    check_levels(n);
    for (int root = 0; root < n; root += 1 + n / 7)
        check_tree(n, root);
    for (int me = 0; me < n; me++)
        groups_free(&view[me]);
}

Test(groups, trees_of_all_kinds)
{
    static const int numbers[] = {1, 2, 3, 5, 8, 9, 16, 17, 24, 64, 65, 128, MOST};
    static const int sizes[] = {AUTO, NONE, 2, 3, 8};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
            for (int per_cache = 0; per_cache <= 40; per_cache += 5)
                check(numbers[i], per_cache,
                      per_cache > 0 && numbers[i] / per_cache > 1 && k % 2 != 0,
                      sizes[k]);
    check(128, 8, true, AUTO);
    check(64, 16, true, AUTO);
}

Test(groups, follow_the_caches)
{
    make(64, 8, false, AUTO);
    cr_assert(view[0].caches);
    cr_assert_eq(view[0].own, 1);
    cr_assert_eq(view[0].level[0].n, 8);
    cr_assert_eq(view[0].n_numa, 2);
    make(128, 64, false, AUTO); /* 8 groups of 8 in each of two caches */
    cr_assert_eq(view[0].own, 2);
    cr_assert_eq(view[0].level[0].n, 16);
    cr_assert_eq(view[0].level[1].n, 2);
    make(64, 1, false, AUTO); /* a cache for each PE */
    cr_assert_not(view[0].caches);
    make(64, 64, false, AUTO);
    cr_assert_not(view[0].caches);
    make(64, 8, false, NONE);
    cr_assert_eq(view[0].levels, 1);
    cr_assert_eq(view[0].level[0].members, 64);
}

Test(groups, values_of_the_variable)
{
    int size;

    cr_assert(groups_parse("auto", &size) && size == AUTO);
    cr_assert(groups_parse("none", &size) && size == NONE);
    cr_assert(groups_parse("2", &size) && size == 2);
    cr_assert(groups_parse("65536", &size) && size == 65536);
    cr_assert_not(groups_parse("", &size));
    cr_assert_not(groups_parse("1", &size));
    cr_assert_not(groups_parse("65537", &size));
    cr_assert_not(groups_parse("-8", &size));
    cr_assert_not(groups_parse("8x", &size));
    cr_assert_not(groups_parse("99999999999999999999", &size));
}

/* ---- caches from the kernel ---------------------------------------------------------
 */

static void put(const char *directory, const char *name, const char *text)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out);
    fputs(text, out);
    fclose(out);
}

static void make_directory(const char *directory, const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    cr_assert_eq(mkdir(path, 0700), 0);
}

static struct locality of(const char *directory, size_t first, size_t second)
{
    cpu_set_t set;
    struct place_cpus cpus = {.set = &set, .bytes = sizeof set};

    CPU_ZERO(&set);
    CPU_SET(first, &set);
    CPU_SET(second, &set);
    return locality_of_cpus(directory, &cpus);
}

/* Processor 4 shares the first cache with 68, the third with 4-7 and 68-71. */
Test(locality, last_level_cache_and_numa_node)
{
    char directory[] = "/tmp/groups_test.XXXXXX", command[64];

    cr_assert_not_null(mkdtemp(directory));
    make_directory(directory, "cpu4");
    make_directory(directory, "cpu4/node3");
    make_directory(directory, "cpu4/cache");
    make_directory(directory, "cpu4/cache/index0");
    make_directory(directory, "cpu4/cache/index1");
    put(directory, "cpu4/cache/index0/level", "1\n");
    put(directory, "cpu4/cache/index0/shared_cpu_list", "4,68\n");
    put(directory, "cpu4/cache/index1/level", "3\n");
    put(directory, "cpu4/cache/index1/shared_cpu_list", "4-7,68-71\n");
    struct locality l = of(directory, 4, 70);
    cr_assert_eq(l.cache, 5);
    cr_assert_eq(l.numa, 4);
    cr_assert_eq(of(directory, 4, 8).cache, 0); /* not of one cache */
    cr_assert_eq(of(directory, 5, 5).cache, 0); /* no such processor */
    snprintf(command, sizeof command, "rm -r %s", directory);
    cr_assert_eq(system(command), 0);
}
