/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_temp.h - temporary private memory of a collective, which is freed if a failure ends
 * the collective (ft_unwind).
 *
 * Memory that is allocated in a guard (ft.h) belongs to the innermost guard of the
 * thread, and must be freed before that is closed.  Without a guard it is ordinary
 * memory.  If a PE of another node has failed and continues later, it may still write to
 * the destination of a get that was dropped (transport/ofi/ofi_lost.c): so a failure in a
 * job with remote PEs frees the memory only when the network is closed. Memory is aligned
 * to cache lines. Uses: core/base.  Used by: coll, ft_guard.
 */
#ifndef PGAS_FT_TEMP_H
#define PGAS_FT_TEMP_H

#include <stddef.h>

struct ft_guard;

/* NULL: out of memory. */
void *ft_temp_alloc(size_t bytes);
/* NULL: does nothing. */
void ft_temp_free(void *memory);
/* Frees all memory of the guard, at once or, if the network may still access it, in
 * ft_temp_fini. */
void ft_temp_free_all(struct ft_guard *g);
/* Frees what was kept; after net_close. */
void ft_temp_fini(void);

#endif
