/* SPDX-License-Identifier: BSD-3-Clause */
/* self.c - the root structure of this process. */
#include "config.h"

#include "pgas/core/base/pgas.h"

PGAS_PE_LOCAL struct pgas pgas_self = {
    .checks = 1, /* before shmem_init almost every routine is an error */
    .checked = 1,
    .node_fd = -1,
    .heap_fd = -1,
    .data_fd = -1,
    .heap_lock = PTHREAD_MUTEX_INITIALIZER,
    .peer_lock = PTHREAD_MUTEX_INITIALIZER,
};
