/* SPDX-License-Identifier: BSD-3-Clause */
/* wordtable.c - a distributed hash table with one-sided access only: the PE that owns a
 * slot does nothing.  The hash of a word selects the PE and the slot where the search
 * begins; a slot is claimed with compare-swap, then its letters are stored, then it is
 * published. Used by wordcount.c. */
#include "wordtable.h"

#include <sched.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Life of a slot: tag 0 = free; tag set = claimed for a word with this hash, letters in
 * flight; text set = published, text and length never change again. */
struct slot {
    uint64_t tag;
    uint64_t text; /* offset of the letters in the owner's pool, plus 1 */
    uint64_t length;
    uint64_t count;
};

enum { PUBLISH_SECONDS = 60, PIECE = 256 };

/* All three lie in the symmetric heap. */
static struct slot *slots;
static char *pool; /* the letters of the words in my slots */
static uint64_t *pool_used;
static uint64_t slots_max, pool_max;

void wordtable_open(uint64_t slot_count, uint64_t bytes)
{
    slots_max = slot_count;
    pool_max = bytes;
    slots = shmem_calloc(slot_count, sizeof(*slots));
    pool = shmem_malloc(bytes);
    pool_used = shmem_calloc(1, sizeof(*pool_used));
    if (slots == NULL || pool == NULL || pool_used == NULL) {
        fprintf(
            stderr,
            "wordcount: no space for %llu slots and %llu bytes in the symmetric heap; "
            "set SHMEM_SYMMETRIC_SIZE higher\n",
            (unsigned long long)slot_count, (unsigned long long)bytes);
        shmem_global_exit(1);
    }
}

static void give_up_full(const char *what, uint64_t max, int pe)
{
    fprintf(stderr, "wordcount: table full: the %llu %s of PE %d are used up; use %s\n",
            (unsigned long long)max, what, pe, "-s with a higher number or more PEs");
    shmem_global_exit(1);
}

/* FNV-1a, with the high bits mixed down; never 0, which means a free slot. */
static uint64_t hash_of(const char *word, size_t len)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)word[i]) * 0x100000001b3u;
    h ^= h >> 32;
    return h != 0 ? h : 1;
}

/* The slot is claimed: store the letters, then publish them. */
static void publish(struct slot *slot, const char *word, size_t len, int pe)
{
    uint64_t at = shmem_atomic_fetch_add(pool_used, len, pe);
    if (at + len > pool_max)
        give_up_full("bytes of letters", pool_max, pe);
    shmem_putmem(pool + at, word, len, pe);
    shmem_uint64_p(&slot->length, len, pe);
    shmem_quiet(); /* letters and length are visible before text is */
    shmem_atomic_set(&slot->text, at + 1, pe);
}

/* Another PE claimed the slot: wait until it has published the letters. */
static uint64_t wait_published(struct slot *slot, int pe)
{
    time_t deadline = 0;
    uint64_t text;
    while ((text = shmem_atomic_fetch(&slot->text, pe)) == 0) {
        sched_yield();
        if (deadline == 0)
            deadline = time(NULL) + PUBLISH_SECONDS;
        if (time(NULL) > deadline) {
            fprintf(stderr, "wordcount: a slot of PE %d stays claimed\n", pe);
            shmem_global_exit(1);
        }
    }
    return text - 1;
}

/* True if the slot, whose tag is this word's hash, holds this word. */
static int holds(struct slot *slot, const char *word, size_t len, int pe)
{
    char piece[PIECE];
    uint64_t at = wait_published(slot, pe);
    if (shmem_uint64_g(&slot->length, pe) != len)
        return 0;
    for (size_t done = 0, n; done < len; done += n) {
        n = len - done < PIECE ? len - done : PIECE;
        shmem_getmem(piece, pool + at + done, n, pe);
        if (memcmp(piece, word + done, n) != 0)
            return 0;
    }
    return 1;
}

/* True if the slot holds this word or has been claimed for it. */
static int claim(struct slot *slot, uint64_t hash, const char *word, size_t len, int pe)
{
    uint64_t tag = shmem_atomic_fetch(&slot->tag, pe);
    if (tag == 0)
        tag = shmem_atomic_compare_swap(&slot->tag, 0, hash, pe);
    if (tag == 0)
        publish(slot, word, len, pe);
    return tag == 0 || (tag == hash && holds(slot, word, len, pe));
}

void wordtable_count(const char *word, size_t len)
{
    uint64_t hash = hash_of(word, len);
    uint64_t npes = (uint64_t)shmem_n_pes();
    int pe = (int)(hash % npes);

    for (uint64_t i = 0; i < slots_max; i++) {
        struct slot *slot = &slots[(hash / npes + i) % slots_max];
        if (claim(slot, hash, word, len, pe)) {
            shmem_atomic_inc(&slot->count, pe);
            return;
        }
    }
    give_up_full("slots", slots_max, pe);
}

static char *fetch_word(const struct slot *slot, int pe)
{
    char *word = malloc(slot->length + 1);
    if (word == NULL)
        shmem_global_exit(1);
    shmem_getmem(word, pool + slot->text - 1, slot->length, pe);
    word[slot->length] = '\0';
    return word;
}

size_t wordtable_collect(struct wordcount **list)
{
    struct slot *copy = malloc(slots_max * sizeof(*copy));
    size_t n = 0, space = 0;
    *list = NULL;
    if (copy == NULL)
        shmem_global_exit(1);
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        shmem_getmem(copy, slots, slots_max * sizeof(*copy), pe);
        for (uint64_t i = 0; i < slots_max; i++) {
            if (copy[i].tag == 0)
                continue;
            if (n == space) {
                space = space == 0 ? PIECE : 2 * space;
                *list = realloc(*list, space * sizeof(**list));
                if (*list == NULL)
                    shmem_global_exit(1);
            }
            (*list)[n].word = fetch_word(&copy[i], pe);
            (*list)[n++].count = copy[i].count;
        }
    }
    free(copy);
    return n;
}
