/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_life.c - API entry points of set-up, exit and query (9.1), threads (9.2), memory
 * (9.3) and profiling control (9.14).  Uses: life, symheap, core/peer.
 */
#include "config.h"

#include <string.h>

#include "pgas/coll/api/life.h"
#include "pgas/coll/api/symheap.h"
#include "pgas/core/base/log.h"
#include "pgas/core/memory/peer.h"
#include "pgas/rma/api.h"

/* clang-format off */

/* ---- set-up, exit and query ---------------------------------------------------- */

ROUTINE_0(void, shmem_init, ANYTIME)
{ (void)fn; life_start(SHMEM_THREAD_SINGLE); }

ROUTINE(int, shmem_init_thread, 0, ANYTIME,
        (int, requested, ANY), (int *, provided, POINTER))
{
    if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE) {
        log_warn("%s: argument 1 'requested' = %d, but it must be one of "
                 "SHMEM_THREAD_SINGLE..SHMEM_THREAD_MULTIPLE (%d..%d)",
                 fn, requested, SHMEM_THREAD_SINGLE, SHMEM_THREAD_MULTIPLE);
        return -1;
    }
    *provided = life_start(requested);
    return 0;
}

ROUTINE_0(void, shmem_finalize, ALONE)
{ life_finalize(fn); }

ROUTINE(void, shmem_query_initialized, 0, ANYTIME, (int *, initialized, POINTER))
{ (void)fn; *initialized = pgas_self.life == LIFE_UP; }

ROUTINE(void, shmem_query_thread, 0, ANYTIME, (int *, provided, POINTER))
{ (void)fn; *provided = pgas_self.thread_level; }

/* Defined without ROUTINE because it never returns; it accepts any status at any time. */
API(void, shmem_global_exit, (int status))
{ life_abort(status); }

ROUTINE_0(int, shmem_my_pe, ALONE)
{ (void)fn; return pgas_self.me; }

ROUTINE_0(int, shmem_n_pes, ALONE)
{ (void)fn; return (int)pgas_self.npes; }

/* Any PE number is a valid argument. */
ROUTINE(int, shmem_pe_accessible, 0, ALONE, (int, pe, ANY))
{ (void)fn; return (uint32_t)pe < pgas_self.npes; }

ROUTINE(int, shmem_addr_accessible, 0, ALONE, (const void *, addr, ANY), (int, pe, ANY))
{ (void)fn; return peer_accessible(addr, pe); }

ROUTINE(void *, shmem_ptr, 0, ALONE, (const void *, dest, ANY), (int, pe, PE))
{ (void)fn; return peer_find(dest, 1, pe); }

ROUTINE(void, shmem_info_get_version, 0, ANYTIME,
        (int *, major, POINTER), (int *, minor, POINTER))
{ (void)fn; *major = SHMEM_MAJOR_VERSION, *minor = SHMEM_MINOR_VERSION; }

ROUTINE(void, shmem_info_get_name, 0, ANYTIME, (char *, name, POINTER))
{ (void)fn; memcpy(name, SHMEM_VENDOR_STRING, sizeof SHMEM_VENDOR_STRING); }

/* ---- memory; sizes in bytes ---------------------------------------------------- */

ROUTINE(void *, shmem_malloc, 1, BY_WORLD, (size_t, size, SAME_SIZE))
{ return symheap_malloc(size, sizeof(void *), fn); }

ROUTINE(void *, shmem_malloc_with_hints, 1, BY_WORLD,
        (size_t, size, SAME_SIZE), (long, hints, HINTS))
{ return symheap_malloc_with_hints(size, hints, fn); }

ROUTINE(void *, shmem_calloc, 1, BY_WORLD,
        (size_t, count, SAME_SIZE), (size_t, size, SAME_SIZE))
{ return symheap_calloc(count, size, fn); }

ROUTINE(void *, shmem_align, 1, BY_WORLD,
        (size_t, alignment, ALIGNMENT), (size_t, size, SAME_SIZE))
{ return symheap_malloc(size, alignment, fn); }

ROUTINE(void *, shmem_realloc, 1, BY_WORLD,
        (void *, ptr, BLOCK), (size_t, size, SAME_SIZE))
{ return symheap_realloc(ptr, size, fn); }

ROUTINE(void, shmem_free, 1, BY_WORLD, (void *, ptr, BLOCK))
{ symheap_free(ptr, fn); }

/* clang-format on */

/* A profiling tool may override this function; this default has no effect. */
API(void, shmem_pcontrol, (int level, ...))
{
    (void)level;
}
