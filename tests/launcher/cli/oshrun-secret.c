/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * oshrun-secret.c - where the secrets of a job are: its nonce and the key of its failure
 * agents, as bytes and as hexadecimal digits.
 *
 * Uses /proc/PID/smaps and /proc/PID/mem, seal.c.  Used by oshrun-secret.sh.
 *
 *   oshrun-secret pe FILE           a PE: prints how many bytes other than addresses and
 *                                   domain the modex has of each failure agent, and how
 *                                   many bytes of a key the alive map has, then "ready";
 *                                   ends when FILE is gone
 *   oshrun-secret process HEX PID...  prints how often each secret is in the memory of a
 *                                   process: "PID: core dump N nonce, N key; hidden N
 *                                   nonce, N key": mappings that are in a core dump, or
 *                                   excluded
 *   oshrun-secret file HEX FILE...  the same for the contents of files: "N nonce, N key"
 */
#define _GNU_SOURCE /* memmem */
#include "config.h"

#include "pgas/core/base/seal.h"
#include "pgas/core/boot/node.h"
#include "pgas/ft/ft_map.h"

#include <fcntl.h>
#include <pmix.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEX = 2 * SEAL_SECRET, LINE = 512, POLL_US = 10000 };
enum {
    PAGE = 4096,
    PAGES = 512,
    SWAPPED = 62
}; /* in an entry of pagemap; the next bit: present */

struct secret {
    uint8_t byte[SEAL_SECRET];
    char hex[HEX + 1];
};

enum { NONCE, KEY, SECRETS };

struct count {
    unsigned found[SECRETS];
};

static struct secret secret[SECRETS];

static void die(const char *what, const char *name)
{
    fprintf(stderr, "oshrun-secret: %s %s\n", what, name);
    exit(1);
}

static void print_hex(char *to, const uint8_t *byte, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sprintf(to + 2 * i, "%02x", byte[i]);
}

/* The key is derived as by the daemons (daemon_ft.c). */
static void read_nonce(const char *hex)
{
    if (strlen(hex) != HEX)
        die("not a nonce:", hex);
    for (size_t i = 0; i < SEAL_SECRET; i++) {
        char pair[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        secret[NONCE].byte[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    seal_derive(secret[NONCE].byte, "pgas failure agents", secret[KEY].byte);
    for (int s = 0; s < SECRETS; s++)
        print_hex(secret[s].hex, secret[s].byte, SEAL_SECRET);
}

static unsigned count_one(const char *text, size_t n, const void *part, size_t len)
{
    unsigned found = 0;
    const char *at = text;
    while ((at = memmem(at, n - (size_t)(at - text), part, len)) != NULL) {
        found++;
        at++;
    }
    return found;
}

static void count_all(struct count *c, const char *text, size_t n)
{
    for (int s = 0; s < SECRETS; s++)
        c->found[s] += count_one(text, n, secret[s].byte, SEAL_SECRET) +
                       count_one(text, n, secret[s].hex, HEX);
}

/* ---- processes -------------------------------------------------------------------- */

/* Its memory, and which pages of it exist. */
struct process {
    int mem, pagemap;
};

/* Which of the pages from `first` on exist. */
static void read_present(const struct process *p, unsigned long first, size_t n,
                         bool present[PAGES])
{
    uint64_t entry[PAGES];
    off_t at = (off_t)(first * sizeof *entry);
    ssize_t got = pread(p->pagemap, entry, n * sizeof *entry, at);
    for (size_t i = 0; i < n; i++)
        present[i] = got == (ssize_t)(n * sizeof *entry) && entry[i] >> SWAPPED != 0;
}

static void scan_pages(const struct process *p, unsigned long from, unsigned long end,
                       struct count *c)
{
    size_t n = (end - from) * PAGE;
    char *text = malloc(n);
    if (text == NULL)
        die("no memory for", "a mapping");
    ssize_t got = pread(p->mem, text, n, (off_t)(from * PAGE));
    count_all(c, text, got > 0 ? (size_t)got : 0);
    free(text);
}

/* Reading a page that does not exist would make it, in a heap of gigabytes. */
static void scan_mapping(const struct process *p, unsigned long from, unsigned long end,
                         struct count *c)
{
    unsigned long last = end / PAGE, first = from / PAGE; /* of a run that exists */
    bool present[PAGES];
    for (unsigned long page = first; page < last; page++) {
        size_t at = (page - from / PAGE) % PAGES;
        if (at == 0)
            read_present(p, page, last - page < PAGES ? last - page : PAGES, present);
        if (present[at])
            continue;
        if (first < page)
            scan_pages(p, first, page, c);
        first = page + 1;
    }
    if (first < last)
        scan_pages(p, first, last, c);
}

/* A mapping without the flag dd (MADV_DONTDUMP) may be in a core dump: its filter is a
 * setting of the user. */
static void scan_process(const char *pid)
{
    char path[LINE], line[LINE];
    struct count dumped = {{0}}, hidden = {{0}};
    unsigned long from = 0, end = 0, f, e;
    snprintf(path, sizeof path, "/proc/%s/smaps", pid);
    FILE *maps = fopen(path, "re");
    snprintf(path, sizeof path, "/proc/%s/mem", pid);
    struct process p = {.mem = open(path, O_RDONLY | O_CLOEXEC)};
    snprintf(path, sizeof path, "/proc/%s/pagemap", pid);
    p.pagemap = open(path, O_RDONLY | O_CLOEXEC);
    if (maps == NULL || p.mem < 0 || p.pagemap < 0)
        die("cannot read the memory of", pid);
    bool readable = false, resident = false;
    while (fgets(line, sizeof line, maps) != NULL) {
        char mode[5];
        unsigned long kib;
        if (sscanf(line, "%lx-%lx %4s", &f, &e, mode) == 3) {
            from = f;
            end = e;
            readable = mode[0] == 'r';
            resident = false;
        } else if (sscanf(line, "Rss: %lu", &kib) == 1) {
            resident = kib > 0;
        } else if (strncmp(line, "VmFlags:", 8) == 0 && readable && resident) {
            scan_mapping(&p, from, end, strstr(line, " dd") ? &hidden : &dumped);
        }
    }
    fclose(maps);
    close(p.mem);
    close(p.pagemap);
    printf("%s: core dump %u nonce, %u key; hidden %u nonce, %u key\n", pid,
           dumped.found[NONCE], dumped.found[KEY], hidden.found[NONCE],
           hidden.found[KEY]);
}

/* ---- files ------------------------------------------------------------------------ */

static void scan_file(const char *path, struct count *c)
{
    FILE *f = fopen(path, "re");
    if (f == NULL || fseeko(f, 0, SEEK_END) != 0)
        die("cannot read", path);
    off_t n = ftello(f);
    rewind(f);
    char *text = malloc(n > 0 ? (size_t)n : 1);
    if (text == NULL || fread(text, 1, (size_t)n, f) != (size_t)n)
        die("cannot read", path);
    count_all(c, text, (size_t)n);
    free(text);
    fclose(f);
}

/* ---- the PE ----------------------------------------------------------------------- */

/* The card of the failure agent of rank's node, if rank has published one. */
static void print_card(const pmix_proc_t *self, uint32_t rank)
{
    pmix_proc_t proc = *self;
    pmix_value_t *v = NULL;
    int now = 1;
    pmix_info_t optional;
    proc.rank = rank;
    PMIX_INFO_LOAD(&optional, PMIX_TIMEOUT, &now, PMIX_INT);
    if (PMIx_Get(&proc, "pgas.ft.1", &optional, 1, &v) != PMIX_SUCCESS)
        return;
    if (v->type != PMIX_BYTE_OBJECT)
        die("no bytes are in", "the card");
    printf("modex: %zu bytes more\n", v->data.bo.size - sizeof(struct ft_endpoint));
    PMIX_VALUE_RELEASE(v);
}

static void print_map(void)
{
    struct stat s;
    const char *path = getenv(NODE_ENV);
    if (path == NULL) /* another launcher */
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s) != 0)
        die("cannot open", "the node segment");
    const struct node *node = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (node == MAP_FAILED)
        die("cannot map", "the node segment");
    unsigned n = 0;
    for (size_t i = 0; i < FT_SECRET; i++)
        n += node_ft(node)->secret[i] != 0;
    printf("map: %u bytes\n", n);
    munmap((void *)(uintptr_t)node, (size_t)s.st_size);
    close(fd);
}

static int be_pe(const char *file)
{
    pmix_proc_t self;
    shmem_init();
    if (PMIx_Init(&self, NULL, 0) != PMIX_SUCCESS)
        die("cannot use", "PMIx");
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        print_card(&self, (uint32_t)pe);
    PMIx_Finalize(NULL, 0);
    print_map();
    shmem_barrier_all();
    printf("ready\n");
    fflush(stdout);
    while (access(file, F_OK) == 0)
        usleep(POLL_US);
    shmem_finalize();
    return 0;
}

int main(int argc, char **argv)
{
    struct count c = {{0}};
    if (argc == 3 && strcmp(argv[1], "pe") == 0)
        return be_pe(argv[2]);
    if (argc < 4)
        die("wrong", "arguments");
    read_nonce(argv[2]);
    if (strcmp(argv[1], "process") == 0) {
        for (int i = 3; i < argc; i++)
            scan_process(argv[i]);
        return 0;
    }
    for (int i = 3; i < argc; i++)
        scan_file(argv[i], &c);
    printf("%u nonce, %u key\n", c.found[NONCE], c.found[KEY]);
    return 0;
}
