/* SPDX-License-Identifier: BSD-3-Clause */
/* call_site.c - see call_site.h. */
#include "config.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include "pgas/core/base/call_site.h"

enum { MODULE_MAX = 448 }; /* twice in a text */

/* The search for the first frame of the program. */
struct call_site_walk {
    const struct link_map *library;
    const void *found; /* return address */
};

/* The mapped file that contains an address, and the name of its exported function; either
 * may be NULL. */
static const struct link_map *call_site_module(const void *address, const char **function)
{
    struct link_map *map = NULL;
    Dl_info info;

    bool known = dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) != 0;
    *function = known ? info.dli_sname : NULL;
    return known ? map : NULL;
}

static const char *call_site_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static void call_site_copy_path_end(char *to, size_t size, const char *path)
{
    size_t len = strlen(path), cut = len >= size ? len - size + 1 : 0;

    snprintf(to, size, "%s", path + cut);
}

/* The call instruction precedes its return address. */
uint64_t call_site_locate(const void *return_address, char *module, size_t size)
{
    const char *call = (const char *)return_address - 1, *function;
    const struct link_map *map = call_site_module(call, &function);
    char program[PATH_MAX] = "";

    module[0] = '\0';
    if (map == NULL)
        return (uintptr_t)call;
    if (map->l_name[0] == '\0') { /* the executable has an empty name */
        ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
        program[len > 0 ? len : 0] = '\0';
    }
    call_site_copy_path_end(module, size, map->l_name[0] != '\0' ? map->l_name : program);
    return (uintptr_t)call - map->l_addr;
}

static bool call_site_is_wrapper(const char *function)
{
    return function != NULL && (strncmp(function, "shmem", strlen("shmem")) == 0 ||
                                strncmp(function, "pshmem", strlen("pshmem")) == 0);
}

/* The C library calls this one at exit and at the start of a progress thread. */
static bool call_site_is_system(const struct link_map *map)
{
    const char *name = call_site_base_name(map->l_name);

    return strncmp(name, "libc.", strlen("libc.")) == 0 ||
           strncmp(name, "libpthread", strlen("libpthread")) == 0 ||
           strncmp(name, "ld-", strlen("ld-")) == 0;
}

static _Unwind_Reason_Code call_site_visit(struct _Unwind_Context *frame, void *arg)
{
    struct call_site_walk *walk = arg;
    const char *function, *address = (const char *)_Unwind_GetIP(frame);
    const struct link_map *map = call_site_module(address - 1, &function);

    if (map == walk->library || (map != NULL && call_site_is_wrapper(function)))
        return _URC_NO_REASON;
    if (map != NULL && !call_site_is_system(map))
        walk->found = address;
    return _URC_END_OF_STACK;
}

/* A program that contains the library in its own file has no frame outside of it. */
const void *call_site_find(void)
{
    const char *function;
    struct call_site_walk walk = {
        .library = call_site_module((const void *)(uintptr_t)call_site_find, &function)};

    if (walk.library != NULL && walk.library->l_name[0] != '\0')
        _Unwind_Backtrace(call_site_visit, &walk);
    return walk.found;
}

const char *call_site_text(char text[CALL_SITE_TEXT_MAX])
{
    const void *site = call_site_find();
    char module[MODULE_MAX] = "";
    unsigned long long address =
        site != NULL ? call_site_locate(site, module, sizeof module) : 0;

    text[0] = '\0';
    if (module[0] != '\0')
        snprintf(text, CALL_SITE_TEXT_MAX,
                 CALL_SITE_FROM "%s+0x%llx" CALL_SITE_TOOL "%s 0x%llx" CALL_SITE_END,
                 call_site_base_name(module), address, module, address);
    return text;
}
