/* SPDX-License-Identifier: BSD-3-Clause */
/* wordcount.c - count the words of files: each PE reads an equal part of the bytes and
 * counts into a table that is distributed over all PEs (wordtable.c); PE 0 prints the
 * most frequent words.  A word is a sequence of letters a-z, converted to lower case.
 *   oshcc wordcount.c wordtable.c -o wordcount
 *   oshrun -n 4 ./wordcount [-a] [-s slots of each PE] file... */
#include "wordtable.h"

#include <errno.h>
#include <fcntl.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOP = 10, SLOTS = 1 << 16, POOL_MIN = 1 << 20, POOL_MAX = 1 << 26 };

static uint64_t counted, counted_in_all; /* words; symmetric */

static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "wordcount: %s: %s\n", what, why);
    shmem_global_exit(2);
}

static uint64_t size_of(const char *file)
{
    struct stat info;
    if (stat(file, &info) != 0)
        give_up(file, strerror(errno));
    if (!S_ISREG(info.st_mode))
        give_up(file, "is not a regular file");
    return (uint64_t)info.st_size;
}

static const char *map_file(const char *file, uint64_t size)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        give_up(file, strerror(errno));
    void *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED)
        give_up(file, strerror(errno));
    close(fd);
    return text;
}

/* The lower-case letter, or 0.  Not by <ctype.h>: the locale must not matter. */
static char letter(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c >= 'a' && c <= 'z' ? c : '\0';
}

static void count_word(const char *text, uint64_t len)
{
    static char *word;
    static uint64_t space;
    if (len > space) {
        space = 2 * len;
        word = realloc(word, space);
        if (word == NULL)
            give_up("a word", strerror(errno));
    }
    for (uint64_t i = 0; i < len; i++)
        word[i] = letter(text[i]);
    wordtable_count(word, len);
    counted++;
}

/* Count the words that begin in bytes [from, to) of the text; they may end later. */
static void count_range(const char *text, uint64_t size, uint64_t from, uint64_t to)
{
    uint64_t at = from;
    if (at > 0 && letter(text[at - 1]))
        while (at < to && letter(text[at]))
            at++; /* the tail of a word that begins before */
    while (at < to) {
        uint64_t end = at;
        while (end < size && letter(text[end]))
            end++;
        if (end > at)
            count_word(text + at, end - at);
        at = end + 1;
    }
}

/* The files are one row of `total` bytes; PE p of n has the p-th of n equal parts. */
static void count_files(char **file, uint64_t total)
{
    uint64_t me = (uint64_t)shmem_my_pe(), npes = (uint64_t)shmem_n_pes();
    uint64_t mine = total / npes * me + total % npes * me / npes;
    uint64_t next = total / npes * (me + 1) + total % npes * (me + 1) / npes;
    uint64_t start = 0;
    for (; *file != NULL; file++) {
        uint64_t size = size_of(*file), end = start + size;
        uint64_t from = mine > start ? mine : start, to = next < end ? next : end;
        if (from < to) {
            const char *text = map_file(*file, size);
            count_range(text, size, from - start, to - start);
            munmap((void *)(uintptr_t)text, size);
        }
        start = end;
    }
}

/* Frequent words first, equally frequent ones in alphabetical order. */
static int compare(const void *a, const void *b)
{
    const struct wordcount *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->word, y->word);
}

static void print_words(int all)
{
    struct wordcount *list;
    size_t n = wordtable_collect(&list);
    if (n > 0)
        qsort(list, n, sizeof(*list), compare);
    for (size_t i = 0; i < n && (all || i < TOP); i++)
        printf("%7llu %s\n", (unsigned long long)list[i].count, list[i].word);
    fprintf(stderr, "wordcount: %zu distinct words, %llu in total, %d PEs\n", n,
            (unsigned long long)counted_in_all, shmem_n_pes());
}

int main(int argc, char **argv)
{
    int all = 0, option;
    uint64_t slots = SLOTS, total = 0;

    shmem_init();
    while ((option = getopt(argc, argv, "as:")) != -1) {
        all |= option == 'a';
        if (option == 's')
            slots = strtoull(optarg, NULL, 10);
        if (option == '?')
            shmem_global_exit(2);
    }
    if (optind == argc || slots == 0)
        give_up("usage", "wordcount [-a] [-s slots] file...");
    for (char **file = argv + optind; *file != NULL; file++)
        total += size_of(*file);

    wordtable_open(slots, POOL_MIN + (total < POOL_MAX ? total : POOL_MAX));
    shmem_barrier_all();
    count_files(argv + optind, total);
    shmem_atomic_add(&counted_in_all, counted, 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        print_words(all);
    shmem_finalize();
    return 0;
}
