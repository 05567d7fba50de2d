/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_lib.h - UCX's library, loaded when it is needed.
 *
 * UCX is not linked: a job of one node would pay for its start and would get its signal
 * handlers and memory hooks.  Once loaded it stays, because it leaves threads and exit
 * handlers behind.
 * Uses: nothing of ours.  Used by: the ucx files.
 */
#ifndef PGAS_TRANSPORT_UCX_LIB_H
#define PGAS_TRANSPORT_UCX_LIB_H

#include <stddef.h>
#include <ucp/api/ucp.h>

/* The functions of libucp that are used: X(name without ucp_). */
/* clang-format off */
#define UCX_OF_CONTEXT(X)                                                                \
    X(get_version) X(config_read) X(config_modify) X(config_release)                     \
    X(init_version) X(cleanup) X(context_print_info)                                     \
    X(mem_map) X(mem_unmap) X(rkey_pack) X(rkey_buffer_release)
#define UCX_OF_WORKER(X)                                                                 \
    X(worker_create) X(worker_destroy) X(worker_query) X(worker_release_address)         \
    X(worker_progress) X(worker_get_efd) X(worker_arm) X(worker_set_am_recv_handler)
#define UCX_OF_ENDPOINT(X)                                                               \
    X(ep_create) X(ep_close_nbx) X(ep_flush_nbx) X(ep_rkey_unpack) X(rkey_destroy)       \
    X(put_nbx) X(get_nbx) X(atomic_op_nbx) X(am_send_nbx) X(request_free)
#define UCX_FUNCTIONS(X) UCX_OF_CONTEXT(X) UCX_OF_WORKER(X) UCX_OF_ENDPOINT(X)
/* clang-format on */

/* Valid once ucx_load has returned 0. */
extern struct ucx_lib {
#define X(name) __typeof__(ucp_##name) *name;
    UCX_FUNCTIONS(X)
#undef X
    __typeof__(ucs_status_string) *status_string;
} ucx_lib;

/* Load it.  0; or -ELIBACC and a sentence in why.  Signal dispositions are the caller's
 * to restore (ucx_signals_save, ucx_signals_restore), for what UCX does later, too.  One
 * thread at a time. */
int ucx_load(char *why, size_t room);

/* A negative errno value for a status that is not UCS_OK. */
int ucx_errno(ucs_status_t status);

#endif
