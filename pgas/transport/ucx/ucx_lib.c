/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx_lib.c - loads UCX (see ucx.h). */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/environ.h"
#include "pgas/transport/ucx/ucx.h"

enum { OLDEST_MAJOR = 1, OLDEST_MINOR = 12 };

struct ucx_function {
    const char *name;
    size_t at; /* offset in struct ucx_lib */
};

static const struct ucx_function functions[] = {
#define X(name) {"ucp_" #name, offsetof(struct ucx_lib, name)},
    UCX_FUNCTIONS(X)
#undef X
    /* In libucs, which libucp is linked with. */
    {"ucs_status_string", offsetof(struct ucx_lib, status_string)},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* UCX reads the settings once, when it is loaded; they are in the environment only while
 * it loads, unless the user has set them.  They disable:
 * - handlers for fatal signals (a program must die by its own signal, with its own core)
 *   and the handler that attaches a debugger at SIGHUP;
 * - hooks in mmap and similar functions: they patch the C library's code, which crashes
 *   with the hooks of another runtime or a sanitizer.  On RDMA devices registrations are
 *   then not cached; UCX_MEM_EVENTS=y enables the cache and the hooks;
 * - log messages about dead peers: this transport reports them, once. */
struct ucx_lib ucx_lib = {
    .setting =
        {
            {.text = "UCX_ERROR_SIGNALS="},
            {.text = "UCX_DEBUG_SIGNO=0"},
            {.text = "UCX_MEM_EVENTS=n"},
            {.text = "UCX_LOG_LEVEL=fatal"},
        },
};

static __attribute__((constructor)) void ucx_lib_enter_settings(void)
{
    environ_enter(ucx_lib.setting, UCX_SETTINGS);
}

static void *ucx_lib_dlopen(void)
{
    environ_show(ucx_lib.setting, UCX_SETTINGS);
    void *lib = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    environ_hide(ucx_lib.setting, UCX_SETTINGS);
    return lib;
}

static int ucx_lib_error(char *why, size_t space, const char *what, const char *detail)
{
    snprintf(why, space, "%s%s", what, detail);
    return -ELIBACC;
}

static int ucx_lib_resolve(void *lib, char *why, size_t space)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        void *function = dlsym(lib, functions[i].name);
        if (function == NULL)
            return ucx_lib_error(why, space, "libucp.so.0 has no ", functions[i].name);
        memcpy((char *)&ucx_lib + functions[i].at, &function, sizeof function);
    }
    return 0;
}

int ucx_load(char *why, size_t space)
{
    unsigned major = 0, minor = 0, release = 0;
    void *lib;
    int err;

    if (ucx_lib.status_string != NULL)
        return 0;
    lib = ucx_lib_dlopen();
    if (lib == NULL)
        return ucx_lib_error(why, space, "UCX cannot be loaded: ", dlerror());
    err = ucx_lib_resolve(lib, why, space);
    if (err != 0)
        return err;
    ucx_lib.get_version(&major, &minor, &release);
    if (major != OLDEST_MAJOR || minor < OLDEST_MINOR) {
        snprintf(why, space, "UCX %u.%u is installed; 1.%d or newer (1.x) is needed",
                 major, minor, OLDEST_MINOR);
        ucx_lib.status_string = NULL; /* not loaded */
        return -ELIBACC;
    }
    return 0;
}

int ucx_errno(ucs_status_t status)
{
    static const struct {
        ucs_status_t status;
        int errno_value;
    } table[] = {
        {UCS_ERR_NO_RESOURCE, EAGAIN},         {UCS_ERR_NO_MEMORY, ENOMEM},
        {UCS_ERR_INVALID_PARAM, EINVAL},       {UCS_ERR_UNREACHABLE, EHOSTUNREACH},
        {UCS_ERR_NO_DEVICE, ENODEV},           {UCS_ERR_BUSY, EAGAIN},
        {UCS_ERR_CANCELED, ECANCELED},         {UCS_ERR_TIMED_OUT, ETIMEDOUT},
        {UCS_ERR_EXCEEDS_LIMIT, EMFILE},       {UCS_ERR_UNSUPPORTED, ENOTSUP},
        {UCS_ERR_NOT_IMPLEMENTED, ENOTSUP},    {UCS_ERR_REJECTED, ECONNREFUSED},
        {UCS_ERR_NOT_CONNECTED, ENOTCONN},     {UCS_ERR_CONNECTION_RESET, ECONNRESET},
        {UCS_ERR_ENDPOINT_TIMEOUT, ETIMEDOUT},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].status == status)
            return -table[i].errno_value;
    return -EIO;
}
