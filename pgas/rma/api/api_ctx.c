/* SPDX-License-Identifier: BSD-3-Clause */
/* api_ctx.c - rows of contexts (9.5), sessions (9.9) and shmem_pe_quiet (9.12.3).
 * Uses: core/ctx, order. */
#include "config.h"

#include "pgas/rma/api.h"
#include "pgas/rma/order.h"

/* clang-format off */

ROUTINE(int, shmem_ctx_create, 0, ALONE, (long, options, CTX_OPTIONS),
        (shmem_ctx_t *, ctx, POINTER))
{ return ctx_create(SHMEM_TEAM_WORLD, options, ctx, fn); }

ROUTINE(int, shmem_team_create_ctx, 0, ALONE, (shmem_team_t, team, TEAM_OR_NONE),
        (long, options, CTX_OPTIONS), (shmem_ctx_t *, ctx, POINTER))
{ return ctx_create(team, options, ctx, fn); }

ROUTINE(void, shmem_ctx_destroy, 0, ALONE, (shmem_ctx_t, ctx, CTX_OR_NONE))
{ ctx_destroy(ctx, fn); }

ROUTINE(int, shmem_ctx_get_team, 0, ALONE, (shmem_ctx_t, ctx, CTX_OR_NONE),
        (shmem_team_t *, team, POINTER))
{
    (void)fn;
    *team = ctx != SHMEM_CTX_INVALID ? ctx_handle(ctx) : SHMEM_TEAM_INVALID;
    return ctx != SHMEM_CTX_INVALID ? 0 : -1;
}

/* ---- sessions ---------------------------------------------------------------------- */

/* Sessions are hints that allow a library to defer or combine operations.  Operations on
 * a node are copies that are complete on return, and the transports combine nothing. */

ROUTINE(void, shmem_ctx_session_start, 0, ALONE, (shmem_ctx_t, ctx, CTX_OR_NONE),
        (long, options, SESSION_OPTIONS),
        (const shmem_ctx_session_config_t *, config, OPTIONAL),
        (long, config_mask, SESSION_MASK))
{ (void)fn, (void)ctx, (void)options, (void)config, (void)config_mask; }

ROUTINE(void, shmem_ctx_session_stop, 0, ALONE, (shmem_ctx_t, ctx, CTX_OR_NONE))
{ (void)fn, (void)ctx; }

/* ---- quiet for some PEs ------------------------------------------------------------ */

/* Stores become visible in program order, and a transport's quiet completes operations to
 * all PEs of a context: a quiet of some PEs is a quiet of all. */
ROUTINE(void, shmem_pe_quiet, sizeof(int), ALONE, (const int *, target_pes, PE_LIST),
        (size_t, npes, COUNT))
{
    (void)target_pes;
    if (npes > 0)
        order_quiet(SHMEM_CTX_DEFAULT, fn);
}

ROUTINE(void, shmem_ctx_pe_quiet, sizeof(int), ALONE, (shmem_ctx_t, ctx, CTX_OR_NONE),
        (const int *, target_pes, PE_LIST), (size_t, npes, COUNT))
{
    (void)target_pes;
    if (ctx != SHMEM_CTX_INVALID && npes > 0)
        order_quiet(ctx, fn);
}

/* clang-format on */
