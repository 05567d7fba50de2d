/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx_absent.c - the UCX transport of a build without UCX: open fails. */
#include "config.h"

#include <errno.h>
#include <stdio.h>

#include "pgas/transport/transport.h"

static int ucx_absent_open(const struct transport_world *world,
                           struct transport_net **net, char why[TRANSPORT_TEXT_MAX])
{
    (void)world;
    (void)net;
    snprintf(why, TRANSPORT_TEXT_MAX,
             "pgas was built without UCX (configure --without-ucx)");
    return -ENOTSUP;
}

/* The other functions are never called, because no net can be opened. */
const struct transport transport_ucx = {
    .name = "ucx",
    .text = "UCX (not in this build)",
    .open = ucx_absent_open,
};
