/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * prefer.h - the order in which the transports between nodes are tried.
 * Uses: transport.h.  Used by: core/progress/net, oshmem_info.
 */
#ifndef PGAS_TRANSPORT_PREFER_H
#define PGAS_TRANSPORT_PREFER_H

#include "pgas/transport/transport.h"

/* Store the indices of transport_list in the order of preference: as listed, except that
 * tcp comes first on a host without a network adapter that libfabric or UCX drive from
 * user space, unless the world names a libfabric provider, fabric or domain. */
void transport_prefer(const struct transport_world *world, int order[TRANSPORTS]);

#endif
