/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_ofi.c - a wrapper of the installed libfabric that reports another version.
 *
 * Built as a shared library; copy it to libfabric.so.1 in a directory on LD_LIBRARY_PATH.
 * FAKE_OFI_LIBRARY is the path of the real library, FAKE_OFI_MINOR the minor version that
 * fi_version returns (major version 1).
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <rdma/fabric.h>

static void *real(const char *name)
{
    static void *library;

    if (library == NULL)
        library = dlopen(getenv("FAKE_OFI_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    void *function = library != NULL ? dlsym(library, name) : NULL;
    if (function == NULL) {
        fprintf(stderr, "fake_ofi: no %s: %s\n", name, dlerror());
        abort();
    }
    return function;
}

/* ISO C has no conversion between the two kinds of pointer. */
#define REAL(name)                                                                       \
    __typeof__(&(name)) real_function;                                                   \
    *(void **)&real_function = real(#name)

uint32_t fi_version(void)
{
    return FI_VERSION(1, (uint32_t)atoi(getenv("FAKE_OFI_MINOR")));
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **info)
{
    REAL(fi_getinfo);
    return real_function(version, node, service, flags, hints, info);
}

void fi_freeinfo(struct fi_info *info)
{
    REAL(fi_freeinfo);
    real_function(info);
}

struct fi_info *fi_dupinfo(const struct fi_info *info)
{
    REAL(fi_dupinfo);
    return real_function(info);
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    REAL(fi_fabric);
    return real_function(attr, fabric, context);
}

const char *fi_strerror(int error)
{
    REAL(fi_strerror);
    return real_function(error);
}
