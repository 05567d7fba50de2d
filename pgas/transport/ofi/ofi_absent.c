/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_absent.c - the libfabric transport of a build without libfabric: open fails. */
#include "config.h"

#include <errno.h>
#include <stdio.h>

#include "pgas/transport/transport.h"

static int ofi_absent_open(const struct transport_world *world,
                           struct transport_net **net, char why[TRANSPORT_TEXT_MAX])
{
    (void)world;
    (void)net;
    snprintf(why, TRANSPORT_TEXT_MAX,
             "pgas was built without libfabric (configure --without-ofi)");
    return -ENOSYS;
}

/* The other functions are never called, because no net can be opened. */
const struct transport transport_ofi = {
    .name = "ofi",
    .text = "libfabric: not in this build",
    .open = ofi_absent_open,
};
