/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_lib.c - loads libfabric (see ofi.h). */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "pgas/core/base/environ.h"
#include "pgas/transport/ofi/ofi.h"

#define LIBRARY "libfabric.so.1"

/* libfabric and its providers read the settings once, at start-up. */
struct ofi_lib ofi_lib = {
    .setting =
        {
            /* Size of a message buffer of ofi_rxm, which allocates thousands of them per
             * endpoint: 70 MB with its default of 16 KiB, 5.5 MB with this. They carry
             * atomics and our own messages, which are shorter (OFI_MESSAGE_MAX); a longer
             * message takes another round trip. */
            {.text = "FI_OFI_RXM_BUFFER_SIZE=256"},
            /* Microseconds between polls of pending connections: with the default of
             * 10000 the first operation to a PE takes up to 140 ms, with this 6 ms. */
            {.text = "FI_OFI_RXM_CM_PROGRESS_INTERVAL=100"},
            /* Disables handlers for SIGSEGV and others in libpsm2 and libinfinipath. */
            {.text = "HFI_NO_BACKTRACE=1"},
            {.text = "IPATH_NO_BACKTRACE=1"},
        },
};

static __attribute__((constructor)) void ofi_lib_enter_settings(void)
{
    environ_enter(ofi_lib.setting, OFI_SETTINGS);
}

void ofi_process_state_enter(struct ofi_process_state *now)
{
    environ_show(ofi_lib.setting, OFI_SETTINGS);
    for (int sig = 1; sig < NSIG; sig++)
        sigaction(sig, NULL, &now->action[sig]);
}

/* Set only the dispositions that differ. */
void ofi_process_state_restore(const struct ofi_process_state *before)
{
    struct sigaction now;

    for (int sig = 1; sig < NSIG; sig++)
        if (sigaction(sig, NULL, &now) == 0 &&
            now.sa_sigaction != before->action[sig].sa_sigaction)
            sigaction(sig, &before->action[sig], NULL);
    environ_hide(ofi_lib.setting, OFI_SETTINGS);
}

static int ofi_lib_error(char *why, size_t space, const char *reason)
{
    snprintf(why, space, "libfabric cannot be used: %s", reason);
    return -ELIBACC;
}

int ofi_load(char *why, size_t space)
{
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL)
        return ofi_lib_error(why, space, dlerror());
#define X(name)                                                                          \
    *(void **)&ofi_lib.name = dlsym(handle, "fi_" #name);                                \
    if (ofi_lib.name == NULL)                                                            \
        return ofi_lib_error(why, space, "no function fi_" #name);
    OFI_FUNCTIONS(X)
#undef X
    if (ofi_lib.version() < OFI_VERSION)
        return ofi_lib_error(why, space,
                             LIBRARY " is older than 1.14; install a newer one");
    return 0;
}

int ofi_errno(int error)
{
    return error > 0 && error < FI_ERRNO_OFFSET ? error : EIO;
}
