/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environ.c - libshmem does not modify `environ` after main() has started, because other
 * threads of the program may read it.  The return address distinguishes calls by libshmem
 * from calls by libraries that it uses (PMIx), which are allowed.
 */
#include "config.h"

#include <dlfcn.h>

#include "tests/api/multi/check.h"

static bool begun;

/* Exits if the caller is libshmem; otherwise returns the C library's function. */
static void *real(const char *name, const void *caller)
{
    Dl_info info;

    if (begun && dladdr(caller, &info) != 0 &&
        strstr(info.dli_fname, "libshmem") != NULL) {
        fprintf(stderr, "libshmem calls %s\n", name);
        _exit(1);
    }
    return dlsym(RTLD_NEXT, name);
}

int setenv(const char *name, const char *value, int overwrite)
{
    int (*next)(const char *, const char *, int);
    *(void **)&next = real("setenv", __builtin_return_address(0));
    return next(name, value, overwrite);
}

int unsetenv(const char *name)
{
    int (*next)(const char *);
    *(void **)&next = real("unsetenv", __builtin_return_address(0));
    return next(name);
}

int putenv(char *text)
{
    int (*next)(char *);
    *(void **)&next = real("putenv", __builtin_return_address(0));
    return next(text);
}

int main(void)
{
    begun = true;
    shmem_init();
    shmem_barrier_all();
    /* Child processes inherit PGAS_JOINED, but not the settings made for the
     * libraries. */
    if (shmem_n_pes() > 1) {
        const char *joined = getenv("PGAS_JOINED"), *job = getenv("PMIX_NAMESPACE");
        CHECK(joined != NULL && job != NULL && strcmp(joined, job) == 0);
    }
    CHECK(getenv("FI_OFI_RXM_BUFFER_SIZE") == NULL);
    CHECK(getenv("UCX_MEM_EVENTS") == NULL);
    shmem_finalize();
    return 0;
}
