/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * buffers.c - buffering of stdout.  "full" and "none" check that shmem_init keeps the
 * buffering that the program chose.  "error" prints text without a newline, then makes
 * the library end the job; buffers.sh checks that the text was flushed.
 */
#include "config.h"

#include <stdio_ext.h>

#include "tests/api/multi/check.h"

enum { BUFFER_LEN = 1 << 15, NO_PE = 99 };
static char buffer[BUFFER_LEN];
static long word;

static void choose(const char *way)
{
    if (strcmp(way, "full") == 0)
        CHECK(setvbuf(stdout, buffer, _IOFBF, sizeof(buffer)) == 0);
    if (strcmp(way, "none") == 0)
        CHECK(setvbuf(stdout, NULL, _IONBF, 0) == 0);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    choose(way);
    size_t size = __fbufsize(stdout);
    shmem_init();
    if (strcmp(way, "error") == 0) {
        printf("before the error, without a newline");
        shmem_long_p(&word, 1, NO_PE);
    }
    CHECK_NAMED(!__flbf(stdout), "%s: shmem_init made stdout line-buffered", way);
    CHECK_NAMED(__fbufsize(stdout) == size,
                "%s: shmem_init replaced the buffer of stdout", way);
    printf("kept\n");
    shmem_finalize();
    return 0;
}
