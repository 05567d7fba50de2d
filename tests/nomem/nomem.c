/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nomem.c - a library to be preloaded into all processes of a job: the NOMEM_N-th
 * allocation that our own code makes in one of them fails, once.
 *
 * An allocation is ours if its caller is in libshmem or in oshrun; those that other
 * libraries make succeed.  A process is known by its role: `front` is oshrun, `daemonI`
 * the I-th daemon of the job that has started, `peR` the PE with rank R; a process that
 * one of them forks without exec, such as its reaper, has the role with "-fork".
 *
 *   NOMEM_DIR   directory for a file ROLE of each process, whose size is the number of
 *               its allocations, and the file `failed`, which names the caller of the
 *               one that has failed as an offset in its object
 *   NOMEM_ROLE  the process
 *   NOMEM_N     number of the allocation, from 1; 0: none fails
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

enum { OBJECTS_MAX = 16, PATH_LEN = 512, DAEMONS_MAX = 64 };

/* The mappings of our objects. */
static struct {
    uintptr_t begin, end, base;
} object[OBJECTS_MAX];
static int nobjects;
static atomic_int ready; /* 1: being initialised; 2: initialised */
static const char *dir;
static char role[64];
static atomic_long count;
static long fails; /* number of the allocation of this process that fails; 0: none */
static int counter = -1;

static bool nomem_is_ours(const char *name, bool is_program)
{
    if (is_program)
        return strcmp(program_invocation_short_name, "oshrun") == 0 ||
               strcmp(program_invocation_short_name, "lt-oshrun") == 0;
    return strstr(name, "/libshmem.so") != NULL;
}

static int nomem_add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    bool *first = arg;

    (void)size;
    bool ours = nomem_is_ours(info->dlpi_name, *first);
    *first = false;
    for (int i = 0; ours && i < info->dlpi_phnum && nobjects < OBJECTS_MAX; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            object[nobjects].begin = at;
            object[nobjects].end = at + info->dlpi_phdr[i].p_memsz;
            object[nobjects++].base = info->dlpi_addr;
        }
    return 0;
}

/* A daemon takes the lowest number that none has taken. */
static void nomem_name_daemon(void)
{
    char path[PATH_LEN];

    for (int i = 0; i < DAEMONS_MAX; i++) {
        snprintf(role, sizeof role, "daemon%d", i);
        snprintf(path, sizeof path, "%s/%s", dir, role);
        counter = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (counter >= 0)
            return;
    }
}

static void nomem_open_counter(void)
{
    char path[PATH_LEN];
    const char *wanted = getenv("NOMEM_ROLE"), *n = getenv("NOMEM_N");

    if (counter < 0) {
        snprintf(path, sizeof path, "%s/%s", dir, role);
        counter = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    }
    fails = wanted != NULL && n != NULL && strcmp(wanted, role) == 0 ? atol(n) : 0;
}

static void nomem_name_process(void)
{
    const char *rank = getenv("PMIX_RANK");
    char line[PATH_LEN] = "";
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t len = read(fd, line, sizeof line - 1);
    const char *second = len > 0 ? line + strlen(line) + 1 : line;

    close(fd);
    if (!nomem_is_ours("", true))
        snprintf(role, sizeof role, "pe%s", rank != NULL ? rank : "");
    else if (strcmp(second, "--node-daemon") == 0)
        nomem_name_daemon();
    else
        strcpy(role, "front");
}

/* The child of a fork is another process. */
static void nomem_forked(void)
{
    if (strlen(role) + 6 < sizeof role)
        strcat(role, "-fork");
    counter = -1;
    atomic_store(&count, 0);
    nomem_open_counter();
}

/* 2 when this thread may count; the thread that initialises must not. */
static int nomem_state(void)
{
    int zero = 0;
    bool first = true;

    if (!atomic_compare_exchange_strong(&ready, &zero, 1))
        return zero;
    dir = getenv("NOMEM_DIR");
    if (dir != NULL) {
        dl_iterate_phdr(nomem_add_object, &first);
        if (nobjects > 0) {
            nomem_name_process();
            nomem_open_counter();
            pthread_atfork(NULL, NULL, nomem_forked);
        }
    }
    atomic_store(&ready, 2);
    return 2;
}

static void nomem_report(uintptr_t base, uintptr_t caller)
{
    char path[PATH_LEN], text[128];

    snprintf(path, sizeof path, "%s/failed", dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int len = snprintf(text, sizeof text, "%s %#lx\n", role,
                       (unsigned long)(caller - base - 1));
    if (write(fd, text, (size_t)len) != len)
        abort();
    close(fd);
}

/* True if the allocation whose caller this is must fail. */
static bool nomem_fails(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;

    if (nomem_state() != 2 || dir == NULL)
        return false;
    for (int i = 0; i < nobjects; i++) {
        if (at < object[i].begin || at >= object[i].end)
            continue;
        long n = atomic_fetch_add(&count, 1) + 1;
        if (ftruncate(counter, n) != 0)
            abort();
        if (n != fails)
            return false;
        nomem_report(object[i].base, at);
        errno = ENOMEM;
        return true;
    }
    return false;
}

#define FAILS nomem_fails(__builtin_return_address(0))

void *malloc(size_t n)
{
    return FAILS ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return FAILS ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return FAILS ? NULL : __libc_realloc(p, n);
}

void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return FAILS ? NULL : __libc_realloc(p, bytes);
}

void *aligned_alloc(size_t align, size_t n)
{
    return FAILS ? NULL : __libc_memalign(align, n);
}

int posix_memalign(void **to, size_t align, size_t n)
{
    void *p = FAILS ? NULL : __libc_memalign(align, n);

    if (p != NULL)
        *to = p;
    return p != NULL ? 0 : ENOMEM;
}

static char *nomem_copy(const char *text, size_t len)
{
    char *copy = __libc_malloc(len + 1);

    if (copy != NULL) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

char *strdup(const char *text)
{
    return FAILS ? NULL : nomem_copy(text, strlen(text));
}

char *strndup(const char *text, size_t n)
{
    return FAILS ? NULL : nomem_copy(text, strnlen(text, n));
}

static int nomem_print(char **to, const char *format, va_list ap)
{
    va_list again;

    va_copy(again, ap);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = len >= 0 ? __libc_malloc((size_t)len + 1) : NULL;
    if (text == NULL)
        return -1;
    *to = text;
    return vsnprintf(text, (size_t)len + 1, format, ap);
}

int asprintf(char **to, const char *format, ...)
{
    va_list ap;

    if (FAILS)
        return -1;
    va_start(ap, format);
    int n = nomem_print(to, format, ap);
    va_end(ap);
    return n;
}

/* What asprintf is with _FORTIFY_SOURCE. */
int __asprintf_chk(char **to, int flag, const char *format, ...)
{
    va_list ap;

    (void)flag;
    if (FAILS)
        return -1;
    va_start(ap, format);
    int n = nomem_print(to, format, ap);
    va_end(ap);
    return n;
}

int __vasprintf_chk(char **to, int flag, const char *format, va_list ap)
{
    (void)flag;
    return FAILS ? -1 : nomem_print(to, format, ap);
}
