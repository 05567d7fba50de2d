/* SPDX-License-Identifier: BSD-3-Clause */
/* list.c - the transports between nodes.  A simulated job has its own (tests/sim/boot.c).
 */
#include "config.h"

#include "pgas/transport/transport.h"

const struct transport *const transport_list[TRANSPORTS] = {
    &transport_ofi, &transport_ucx, &transport_tcp};
