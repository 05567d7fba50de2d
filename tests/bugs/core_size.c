/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * core_size.c - a small program for core_size.sh.
 *   core_size dump: print how many KiB of PE 0's symmetric mappings a core file contains
 *   core_size crash: PE 0 dies of SIGSEGV, with one text in its heap and one in its
 *       globals
 */
#include "config.h"

#include <signal.h>

#include "tests/api/multi/check.h"

static char global[64] = "a text of the globals: ";

/* Total size of the segment mappings without the VmFlag "dd" (MADV_DONTDUMP). */
static long dumped_kib(void)
{
    FILE *smaps = fopen("/proc/self/smaps", "r");
    char line[512], name[256];
    long all = 0, size = 0;
    bool ours = false;

    CHECK(smaps != NULL);
    while (fgets(line, sizeof line, smaps) != NULL) {
        if (strstr(line, "memfd:") != NULL)
            ours = strstr(line, "memfd:pgas-") != NULL;
        else if (sscanf(line, "%*x-%*x %255s", name) == 1)
            ours = false;
        if (sscanf(line, "Size: %ld kB", &size) == 1 && ours)
            all += size;
        if (strncmp(line, "VmFlags:", 8) == 0 && ours && strstr(line, " dd") != NULL)
            all -= size;
    }
    fclose(smaps);
    return all;
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    char *block = shmem_calloc(1, 4096);

    CHECK(argc == 2 && block != NULL);
    strcat(global, "0815");
    snprintf(block, 4096, "a text of the heap: %d", 4711);
    shmem_putmem(block + 1000, block, 100, (me + 1) % npes); /* maps a peer */
    shmem_barrier_all();
    if (me == 0 && strcmp(argv[1], "dump") == 0)
        printf("%ld\n", dumped_kib());
    if (me == 0 && strcmp(argv[1], "crash") == 0) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
