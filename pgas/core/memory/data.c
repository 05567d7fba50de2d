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

#include "pgas/core/core_state.h"
#include "pgas/core/memory/data.h"
#include "pgas/core/memory/guard.h"
#include "pgas/core/base/hash.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/memory/segment.h"

#define STATE core_self.data

#define PAGEMAP_IN_USE(e) (((e) >> 62) != 0) /* present or swapped out */
#define PAGEMAP_BATCH     512                /* entries per read */

static uintptr_t data_page_down(uintptr_t a)
{
    return a & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static uintptr_t data_page_up(uintptr_t a)
{
    return data_page_down(a + (uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static void data_add_span(struct data_layout *l, uintptr_t load, const ElfW(Phdr) * ph)
{
    uintptr_t at = load + ph->p_vaddr;

    l->span[l->spans++] = (struct data_span){.begin = data_page_down(at),
                                             .file_end = at + ph->p_filesz,
                                             .end = data_page_up(at + ph->p_memsz)};
}

static void data_add_header(struct data_layout *l, uintptr_t load, const ElfW(Phdr) * ph)
{
    uintptr_t at = load + ph->p_vaddr;

    l->tag = hash_add(l->tag, ph, sizeof *ph);
    if (ph->p_type == PT_NOTE)
        l->tag = hash_add(l->tag, (const void *)at, ph->p_memsz);
    if (ph->p_type == PT_GNU_RELRO)
        l->relro_end = data_page_down(at + ph->p_memsz);
    if (ph->p_type == PT_LOAD && (ph->p_flags & PF_W) != 0)
        data_add_span(l, load, ph);
}

/* Removes the RELRO part of each span, and spans that are entirely RELRO. */
static void data_cut_relro(struct data_layout *l)
{
    int kept = 0;

    for (int i = 0; i < l->spans; i++) {
        struct data_span s = l->span[i];
        if (s.begin < l->relro_end)
            s.begin = l->relro_end;
        if (s.begin < s.end)
            l->span[kept++] = s;
    }
    l->spans = kept;
}

/* dl_iterate_phdr callback: it is called for the executable first; returning 1 ends the
 * iteration. */
static int data_find_layout(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct data_layout *l = arg;

    (void)size;
    l->span = calloc((size_t)info->dlpi_phnum, sizeof *l->span);
    if (l->span == NULL)
        log_die("no memory for a list of the %d segments of the executable",
                (int)info->dlpi_phnum);
    for (int i = 0; i < info->dlpi_phnum; i++)
        data_add_header(l, info->dlpi_addr, &info->dlpi_phdr[i]);
    data_cut_relro(l);
    for (int i = 0; i < l->spans; i++) {
        PGAS_ASSERT(l->span[i].begin < l->span[i].end);
        PGAS_ASSERT(l->span[i].file_end <= l->span[i].end);
        PGAS_ASSERT(i == 0 || l->span[i - 1].end <= l->span[i].begin);
    }
    return 1;
}

static int data_write_page(int fd, uintptr_t page, off_t at)
{
    size_t len = (size_t)sysconf(_SC_PAGESIZE);

    /* The raw system call: AddressSanitizer's pwrite would report the red zones between
     * the program's variables. */
    return syscall(SYS_pwrite64, fd, page, len, at) == (long)len ? 0 : -1;
}

/* Copies all pages of .data and the touched pages of .bss to fd, beginning at offset
 * `to`. */
static int data_copy_pages(const struct data_span *s, int fd, off_t to, int pagemap)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t entry[PAGEMAP_BATCH];

    for (uintptr_t at = s->begin; at < s->end; at += page) {
        size_t k = (at - s->begin) / page % PAGEMAP_BATCH;
        if (k == 0 && pread(pagemap, entry, sizeof entry,
                            (off_t)(at / page * sizeof entry[0])) <= 0)
            memset(entry, 0xff, sizeof entry); /* unknown: copy all pages */
        if (at >= s->file_end && !PAGEMAP_IN_USE(entry[k]))
            continue;
        if (data_write_page(fd, at, to + (off_t)(at - s->begin)) != 0)
            return -1;
    }
    return 0;
}

/* Copies the span to fd and replaces it with a shared mapping of fd. */
static int data_move_span(const struct data_span *s, int fd, off_t to, int pagemap)
{
    size_t len = s->end - s->begin;

    PGAS_ASSERT(s->begin == data_page_down(s->begin) && s->end == data_page_down(s->end));
    if (guard_begin((void *)s->begin, len) != 0)
        return -1;
    int rc = data_copy_pages(s, fd, to, pagemap);
    if (rc == 0 && mmap((void *)s->begin, len, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED, fd, to) == MAP_FAILED)
        rc = -1;
    guard_end((void *)s->begin, len);
    return rc;
}

static uintptr_t data_first_byte(const struct data_layout *l)
{
    return l->span[0].begin;
}

static size_t data_bytes_of(const struct data_layout *l)
{
    return l->span[l->spans - 1].end - data_first_byte(l);
}

static int data_share_spans(const struct data_layout *l)
{
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    int fd = segment_create("pgas-data", data_bytes_of(l));
    int rc = fd < 0 ? -1 : 0;

    for (int i = 0; rc == 0 && i < l->spans; i++)
        rc = data_move_span(&l->span[i], fd,
                            (off_t)(l->span[i].begin - data_first_byte(l)), pagemap);
    int reason = errno;
    if (pagemap >= 0)
        close(pagemap);
    if (rc != 0 && fd >= 0)
        close(fd);
    errno = reason;
    return rc == 0 ? fd : -1;
}

void data_share(void)
{
    struct pgas *g = &pgas_self;
    struct data_layout found = {.tag = HASH_START};

    if (g->data_fd >= 0)
        return;
    dl_iterate_phdr(data_find_layout, &found);
    if (found.spans == 0) {
        free(found.span);
        return;
    }
    g->data_fd = data_share_spans(&found);
    if (g->data_fd < 0) {
        log_warn("global variables are not symmetric in this run: cannot share the data "
                 "segment: %s; memory from shmem_malloc is not affected",
                 strerror(errno));
        free(found.span);
        return;
    }
    STATE.layout = found;
    g->data_base = data_first_byte(&found);
    g->data_len = data_bytes_of(&found);
    g->data_tag = found.tag;
}

/* Reads len bytes at offset `at` of the data segment.  The raw system call, because the
 * data include AddressSanitizer's red zones. */
static int data_read_pages(char *to, off_t at, size_t len)
{
    while (len > 0) {
        long n = syscall(SYS_pread64, pgas_self.data_fd, to, len, at);
        if (n <= 0)
            return -1;
        to += n;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Copies the offsets [at, end) of the memfd, except holes, to memory. */
static int data_read_span(char *to, off_t at, off_t end)
{
    off_t begin, hole = at;

    while (hole < end && (begin = lseek(pgas_self.data_fd, hole, SEEK_DATA)) >= 0 &&
           begin < end) {
        hole = lseek(pgas_self.data_fd, begin, SEEK_HOLE);
        hole = hole > end ? end : hole;
        if (data_read_pages(to + (begin - at), begin, (size_t)(hole - begin)) != 0)
            return -1;
    }
    return 0;
}

static int data_unshare_span(const struct data_span *s)
{
    size_t len = s->end - s->begin;
    off_t at = (off_t)(s->begin - data_first_byte(&STATE.layout));
    char *copy = mmap(NULL, len, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (copy == MAP_FAILED || data_read_span(copy, at, at + (off_t)len) != 0)
        return -1;
    return mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)s->begin) ==
                   MAP_FAILED
               ? -1
               : 0;
}

int data_unshare(void)
{
    struct pgas *g = &pgas_self;

    for (int i = 0; i < STATE.layout.spans; i++)
        if (data_unshare_span(&STATE.layout.span[i]) != 0)
            return -1;
    if (g->data_fd >= 0)
        close(g->data_fd);
    g->data_fd = -1;
    g->data_len = 0;
    STATE.layout.spans = 0;
    return 0;
}
