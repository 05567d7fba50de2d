/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch-fence.c - the PMIx client with which bench/launch measures a launcher.
 *   launch-fence                 PMIx_Init, a fence that collects data, PMIx_Finalize
 *   launch-fence FENCES BYTES    in each round every PE puts BYTES and fences.  PE 0
 *                                prints "fence US", the median time of a round; the last
 *                                PE prints "memory RSS PSS", the KiB of its parent, the
 *                                daemon.
 */
#include "config.h"

#include <pmix.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP    3
#define FENCES_MAX 100000
#define BYTES_MAX  (1 << 20)
#define NS_PER_S   1000000000ull
#define NS_PER_US  1e3
#define KEY        "bench.launch"
#define LINE_BYTES 256

static pmix_proc_t me, all;
static uint32_t npes;

static _Noreturn void fail(const char *what, pmix_status_t rc)
{
    fprintf(stderr, "launch-fence: %s: %s (%d)\n", what, PMIx_Error_string(rc), rc);
    exit(1);
}

static void check_status(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS)
        fail(what, rc);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void begin(void)
{
    pmix_value_t *size;
    check_status(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    PMIX_PROC_LOAD(&all, me.nspace, PMIX_RANK_WILDCARD);
    check_status(PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &size), "the size of the job");
    npes = size->data.uint32;
    PMIX_VALUE_RELEASE(size);
}

static void fence(void)
{
    pmix_info_t info;
    bool yes = true;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    check_status(PMIx_Fence(&all, 1, &info, 1), "PMIx_Fence");
}

/* The data begin with the number of the round. */
static void exchange(uint32_t round, char *data, size_t len)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT,
                          .data.bo = {.bytes = data, .size = len}};
    memcpy(data, &round, sizeof round);
    check_status(PMIx_Put(PMIX_GLOBAL, KEY, &value), "PMIx_Put");
    check_status(PMIx_Commit(), "PMIx_Commit");
    fence();
}

/* Verifies that the fence has collected the data of this round. */
static void check_neighbour(uint32_t round, size_t len)
{
    pmix_proc_t next;
    pmix_value_t *value;
    uint32_t got = 0;
    PMIX_PROC_LOAD(&next, me.nspace, (me.rank + 1) % npes);
    check_status(PMIx_Get(&next, KEY, NULL, 0, &value), "the neighbour's data");
    if (value->type == PMIX_BYTE_OBJECT && value->data.bo.size == len)
        memcpy(&got, value->data.bo.bytes, sizeof got);
    PMIX_VALUE_RELEASE(value);
    if (got == round)
        return;
    fprintf(stderr, "launch-fence: PE %u got data of round %u, expected %u\n", me.rank,
            got, round);
    exit(1);
}

/* Memory of the parent process in KiB. */
static void print_memory(void)
{
    char line[LINE_BYTES];
    unsigned long rss = 0, pss = 0;
    snprintf(line, sizeof line, "/proc/%d/smaps_rollup", (int)getppid());
    FILE *f = fopen(line, "r");
    if (f == NULL) {
        fprintf(stderr, "launch-fence: cannot read %s\n", line);
        exit(1);
    }
    while (fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "Rss: %lu", &rss) == 0)
            sscanf(line, "Pss: %lu", &pss);
    fclose(f);
    printf("memory %lu %lu\n", rss, pss);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void print_fence(uint64_t *took, uint32_t fences)
{
    qsort(took, fences, sizeof *took, by_value);
    printf("fence %.2f\n", (double)took[fences / 2] / NS_PER_US);
}

static void measure(uint32_t fences, size_t len)
{
    char *data = calloc(1, len);
    uint64_t *took = calloc(fences, sizeof *took);
    uint32_t round = 1;
    if (data == NULL || took == NULL)
        fail("memory", PMIX_ERR_NOMEM);
    exchange(round, data, len);
    if (me.rank == npes - 1)
        print_memory();
    while (round < WARM_UP)
        exchange(++round, data, len);
    for (uint32_t i = 0; i < fences; i++) {
        uint64_t start = now_ns();
        exchange(++round, data, len);
        took[i] = now_ns() - start;
    }
    check_neighbour(round, len);
    if (me.rank == 0)
        print_fence(took, fences);
    free(took);
    free(data);
}

static uint32_t number(const char *text, uint32_t min, uint32_t max)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && v >= min && v <= max)
        return (uint32_t)v;
    fprintf(stderr, "launch-fence: '%s': expected a number from %u to %u\n", text, min,
            max);
    exit(2);
}

int main(int argc, char **argv)
{
    uint32_t fences = 0, len = 0;
    if (argc != 1 && argc != 3) {
        fputs("usage: launch-fence [FENCES BYTES]\n", stderr);
        return 2;
    }
    if (argc == 3) {
        fences = number(argv[1], 1, FENCES_MAX);
        len = number(argv[2], sizeof(uint32_t), BYTES_MAX);
    }
    begin();
    if (fences > 0)
        measure(fences, len);
    else
        fence();
    fflush(stdout);
    check_status(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
