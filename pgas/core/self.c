/* SPDX-License-Identifier: BSD-3-Clause */
/* self.c - the one global of the library: the PE that this process is. */
#include "config.h"

#include "pgas/core/pgas.h"

PGAS_PE_LOCAL struct pgas pgas_self = {
    .checks = 1, /* nothing may be called yet */
    .twins = 1,
    .node_fd = -1,
    .heap_fd = -1,
    .data_fd = -1,
    .heap_lock = PTHREAD_MUTEX_INITIALIZER,
    .peer_lock = PTHREAD_MUTEX_INITIALIZER,
};
