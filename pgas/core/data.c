/* SPDX-License-Identifier: BSD-3-Clause */
/* data.c - see data.h.  Uses: pgas.h, segment, log. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pgas/core/data.h"
#include "pgas/core/log.h"
#include "pgas/core/pgas.h"
#include "pgas/core/segment.h"

#define FNV_START         0xcbf29ce484222325u
#define FNV_PRIME         0x100000001b3u
#define PAGEMAP_IN_USE(e) (((e) >> 62) != 0) /* present or swapped out */
#define PAGEMAP_BATCH     512                /* entries read at a time */

/* The writable data of the executable. */
struct span {
    uintptr_t begin;    /* first page behind RELRO */
    uintptr_t file_end; /* end of what comes from the file: .data */
    uintptr_t end;      /* end of .bss, a page boundary */
    uint64_t tag;       /* hash of layout and build id */
};

static uintptr_t page_down(uintptr_t a)
{
    return a & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static uintptr_t page_up(uintptr_t a)
{
    return page_down(a + (uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static uint64_t hash(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * FNV_PRIME;
    return h;
}

static void add_header(struct span *s, uintptr_t load, const ElfW(Phdr) * ph)
{
    uintptr_t at = load + ph->p_vaddr;

    s->tag = hash(s->tag, ph, sizeof *ph);
    if (ph->p_type == PT_NOTE)
        s->tag = hash(s->tag, (const void *)at, ph->p_memsz);
    if (ph->p_type == PT_GNU_RELRO && page_down(at + ph->p_memsz) > s->begin)
        s->begin = page_down(at + ph->p_memsz);
    if (ph->p_type == PT_LOAD && (ph->p_flags & PF_W) != 0) {
        if (s->begin < page_down(at))
            s->begin = page_down(at);
        s->file_end = at + ph->p_filesz;
        s->end = page_up(at + ph->p_memsz);
    }
}

/* dl_iterate_phdr calls this for the executable first: that one is all we want. */
static int find_span(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct span *s = arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        add_header(s, info->dlpi_addr, &info->dlpi_phdr[i]);
    return 1;
}

static int write_page(int fd, uintptr_t page, off_t at)
{
    size_t len = (size_t)sysconf(_SC_PAGESIZE);

    /* The bare system call: AddressSanitizer's pwrite would find the red zones between
     * the program's variables, which a page full of them has. */
    return syscall(SYS_pwrite64, fd, page, len, at) == (long)len ? 0 : -1;
}

/* Copy the pages that differ from zero into fd: all of .data, of .bss those in use. */
static int copy_pages(const struct span *s, int fd, int pagemap)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t entry[PAGEMAP_BATCH];

    for (uintptr_t at = s->begin; at < s->end; at += page) {
        size_t k = (at - s->begin) / page % PAGEMAP_BATCH;
        if (k == 0 && pread(pagemap, entry, sizeof entry,
                            (off_t)(at / page * sizeof entry[0])) <= 0)
            memset(entry, 0xff, sizeof entry); /* unknown: copy them */
        if (at >= s->file_end && !PAGEMAP_IN_USE(entry[k]))
            continue;
        if (write_page(fd, at, (off_t)(at - s->begin)) != 0)
            return -1;
    }
    return 0;
}

static int share(const struct span *s)
{
    size_t len = s->end - s->begin;
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    int fd = segment_create("pgas-data", len);

    if (fd < 0 || copy_pages(s, fd, pagemap) != 0)
        goto close_both;
    if (mmap((void *)s->begin, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
             0) == MAP_FAILED)
        goto close_both;
    if (pagemap >= 0)
        close(pagemap);
    return fd;

close_both:;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (pagemap >= 0)
        close(pagemap);
    errno = reason;
    return -1;
}

void data_share(void)
{
    struct pgas *g = &pgas_self;
    struct span s = {.tag = FNV_START};

    if (g->data_fd >= 0)
        return;
    dl_iterate_phdr(find_span, &s);
    if (s.begin >= s.end)
        return;
    g->data_fd = share(&s);
    if (g->data_fd < 0) {
        log_warn("global variables are not symmetric in this run: can't share the data "
                 "segment: %s; memory from shmem_malloc is not affected",
                 strerror(errno));
        return;
    }
    g->data_base = s.begin;
    g->data_len = s.end - s.begin;
    g->data_tag = s.tag;
}
