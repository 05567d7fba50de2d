/* SPDX-License-Identifier: BSD-3-Clause */
/* board.c - see board.h. */
#include "tests/ft/board.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct board *board_open(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);

    if (fd < 0 || ftruncate(fd, sizeof(struct board)) != 0) {
        perror(path);
        exit(1);
    }
    void *map =
        mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    return map;
}

uint64_t board_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void board_says(struct board_pe *pe, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(pe->doing, sizeof pe->doing, format, args);
    va_end(args);
}
