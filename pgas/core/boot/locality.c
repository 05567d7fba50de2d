/* SPDX-License-Identifier: BSD-3-Clause */
/* locality.c - see locality.h. */
#include "config.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/boot/binding.h"
#include "pgas/core/boot/locality.h"

#define CPU_DIRECTORY "/sys/devices/system/cpu"

enum { CACHES = 8, LIST = 4096 /* bytes of a list of processors */ };

/* Reads the first line of a file of processor `cpu`, such as cache/index3/level. */
static bool locality_read_line(const char *directory, size_t cpu, const char *name,
                               char *line, int size)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/cpu%zu/%s", directory, cpu, name);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return false;
    bool read = fgets(line, size, in) != NULL;
    fclose(in);
    return read;
}

/* The list of the processors that share the cache of the highest level with processor
 * `cpu`, as in 0-7,64-71. */
static bool locality_cache_list(const char *directory, size_t cpu, char list[LIST])
{
    char name[64], line[32];
    int last = -1, highest = 0;

    for (int i = 0; i < CACHES; i++) {
        snprintf(name, sizeof name, "cache/index%d/level", i);
        if (!locality_read_line(directory, cpu, name, line, sizeof line))
            break;
        if (atoi(line) > highest) {
            highest = atoi(line);
            last = i;
        }
    }
    snprintf(name, sizeof name, "cache/index%d/shared_cpu_list", last);
    return last >= 0 && locality_read_line(directory, cpu, name, list, LIST);
}

static bool locality_in_list(const char *list, size_t cpu)
{
    for (char *end; *list >= '0' && *list <= '9'; list = end + (*end == ',')) {
        size_t first = strtoul(list, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (cpu >= first && cpu <= last)
            return true;
    }
    return false;
}

/* The number N of the entry nodeN in the directory of the processor; -1: there is none,
 * because the kernel does not know NUMA nodes. */
static int locality_numa_of(const char *directory, size_t cpu)
{
    char path[PATH_MAX];
    int numa = -1;

    snprintf(path, sizeof path, "%s/cpu%zu", directory, cpu);
    DIR *d = opendir(path);
    if (d == NULL)
        return -1;
    for (struct dirent *e = readdir(d); e != NULL && numa < 0; e = readdir(d))
        if (strncmp(e->d_name, "node", 4) == 0 && e->d_name[4] >= '0' &&
            e->d_name[4] <= '9')
            numa = atoi(e->d_name + 4);
    closedir(d);
    return numa;
}

struct locality locality_of_cpus(const char *directory, const struct place_cpus *cpus)
{
    struct locality none = {0, 0};
    char list[LIST];
    size_t first = 0, bits = cpus->bytes * CHAR_BIT;

    while (first < bits && !CPU_ISSET_S(first, cpus->bytes, cpus->set))
        first++;
    if (first == bits || !locality_cache_list(directory, first, list))
        return none;
    for (size_t cpu = first; cpu < bits; cpu++)
        if (CPU_ISSET_S(cpu, cpus->bytes, cpus->set) && !locality_in_list(list, cpu))
            return none;
    return (struct locality){1 + atoi(list), 1 + locality_numa_of(directory, first)};
}

struct locality locality_read(void)
{
    struct place_cpus mine;

    if (!place_read(0, &mine))
        return (struct locality){0, 0};
    struct locality l = locality_of_cpus(CPU_DIRECTORY, &mine);
    place_free(&mine);
    return l;
}
