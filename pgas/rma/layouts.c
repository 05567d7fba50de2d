/* SPDX-License-Identifier: BSD-3-Clause */
/* layouts.c - see layouts.h. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/check/check.h"
#include "pgas/core/memory/peer.h"
#include "pgas/datatype/layout/layout_wire.h"
#include "pgas/datatype/pack/pack.h"
#include "pgas/datatype/pack/pack_choice.h"
#include "pgas/rma/blocks.h"
#include "pgas/rma/layouts.h"

static const struct layout *layouts_from(shmemx_layout_t handle)
{
    return (const struct layout *)handle;
}

const struct layout *layouts_of(shmemx_layout_t handle, const char *fn)
{
    if (handle == SHMEMX_LAYOUT_INVALID)
        log_misuse("%s: argument 'layout' is SHMEMX_LAYOUT_INVALID; use one from "
                   "shmemx_layout_vector or another constructor, and check what the "
                   "constructor returned",
                   fn);
    return layouts_from(handle);
}

/* ---- creation -------------------------------------------------------------------- */

/* Stores the result of a constructor, which has set errno if it is NULL. */
static int layouts_publish(struct layout *l, shmemx_layout_t *handle, const char *fn)
{
    *handle = (shmemx_layout_t)l;
    if (l != NULL)
        return 0;
    if (errno == EOVERFLOW)
        log_warn("%s: the packed stream or the range of offsets exceeds PTRDIFF_MAX "
                 "bytes, or there are more than %d blocks at irregular distances; use "
                 "smaller counts and offsets",
                 fn, LAYOUT_BLOCKS_MAX);
    else
        log_warn("%s: no memory for the layout (%s)", fn, strerror(errno));
    return -1;
}

/* An array of n elements, argument `number` of a constructor.  False if it is NULL: then
 * the handle is invalid, and a message says why. */
static bool layouts_has_array(const void *array, size_t n, int number, const char *name,
                              shmemx_layout_t *handle, const char *fn)
{
    if (array != NULL || n == 0)
        return true;
    *handle = SHMEMX_LAYOUT_INVALID;
    log_warn("%s: argument %d '%s' is NULL, but it must be an array of %zu elements", fn,
             number, name, n);
    return false;
}

int layouts_contiguous(size_t bytes, shmemx_layout_t *handle, const char *fn)
{
    return layouts_publish(layout_contiguous(bytes), handle, fn);
}

int layouts_vector(size_t block, ptrdiff_t stride, size_t count, shmemx_layout_t *handle,
                   const char *fn)
{
    return layouts_publish(layout_vector(block, stride, count), handle, fn);
}

int layouts_nested(size_t block, int levels, const size_t *count, const ptrdiff_t *stride,
                   shmemx_layout_t *handle, const char *fn)
{
    struct layout_level level[LAYOUT_LEVELS];

    _Static_assert((int)SHMEMX_LAYOUT_LEVELS == LAYOUT_LEVELS, "limit in shmemx.h");
    *handle = SHMEMX_LAYOUT_INVALID;
    if (levels < 0 || levels > LAYOUT_LEVELS) {
        log_warn("%s: argument 2 'levels' = %d, but it must be 0..%d "
                 "(SHMEMX_LAYOUT_LEVELS); use shmemx_layout_struct for more levels",
                 fn, levels, LAYOUT_LEVELS);
        return -1;
    }
    if (!layouts_has_array(count, (size_t)levels, 3, "count", handle, fn) ||
        !layouts_has_array(stride, (size_t)levels, 4, "stride", handle, fn))
        return -1;
    for (int i = 0; i < levels; i++)
        level[i] = (struct layout_level){count[i], stride[i]};
    return layouts_publish(layout_nested(block, level, (unsigned)levels), handle, fn);
}

int layouts_indexed_block(size_t block, const ptrdiff_t *offset, size_t n,
                          shmemx_layout_t *handle, const char *fn)
{
    if (!layouts_has_array(offset, n, 2, "offset", handle, fn))
        return -1;
    return layouts_publish(layout_indexed_block(block, offset, n), handle, fn);
}

int layouts_indexed(const size_t *bytes, const ptrdiff_t *offset, size_t n,
                    shmemx_layout_t *handle, const char *fn)
{
    struct layout_part *part = NULL;
    struct layout *l = NULL;

    if (!layouts_has_array(bytes, n, 1, "bytes", handle, fn) ||
        !layouts_has_array(offset, n, 2, "offset", handle, fn))
        return -1;
    if (n <= LAYOUT_BLOCKS_MAX)
        part = malloc((n + 1) * sizeof *part);
    errno = n > LAYOUT_BLOCKS_MAX ? EOVERFLOW : ENOMEM;
    if (part != NULL) {
        for (size_t i = 0; i < n; i++)
            part[i] = (struct layout_part){offset[i], bytes[i]};
        l = layout_indexed(part, n);
    }
    int error = errno;
    free(part);
    errno = error;
    return layouts_publish(l, handle, fn);
}

int layouts_struct(const shmemx_layout_t *member, const ptrdiff_t *offset, size_t n,
                   shmemx_layout_t *handle, const char *fn)
{
    if (!layouts_has_array(member, n, 1, "member", handle, fn) ||
        !layouts_has_array(offset, n, 2, "offset", handle, fn))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (member[i] == SHMEMX_LAYOUT_INVALID) {
            *handle = SHMEMX_LAYOUT_INVALID;
            log_warn("%s: argument 1 'member': its element %zu of %zu is "
                     "SHMEMX_LAYOUT_INVALID; pass layouts that exist",
                     fn, i, n);
            return -1;
        }
    return layouts_publish(layout_struct((const struct layout *const *)member, offset, n),
                           handle, fn);
}

void layouts_free(shmemx_layout_t *handle)
{
    layout_free((struct layout *)*handle);
    *handle = SHMEMX_LAYOUT_INVALID;
}

/* ---- serialisation ----------------------------------------------------------------- */

size_t layouts_write(shmemx_layout_t handle, void *buffer, size_t bytes, const char *fn)
{
    const struct layout *l = layouts_of(handle, fn);
    size_t needed = layout_wire_size(l);

    if (needed <= bytes)
        layout_wire_write(l, buffer);
    return needed;
}

/* The bytes may come from another process: to reject them is no error of this one. */
int layouts_read(const void *buffer, size_t bytes, shmemx_layout_t *handle,
                 const char *fn)
{
    struct layout *l = layout_wire_read(buffer, bytes);

    *handle = (shmemx_layout_t)l;
    if (l != NULL)
        return 0;
    log_debug(
        "%s: the %zu bytes at argument 1 'buffer' are not a layout (%s); pass those "
        "that shmemx_layout_write wrote, and their exact number",
        fn, bytes, strerror(errno));
    return -1;
}

/* ---- packing ----------------------------------------------------------------------- */

/* Before the first shmem_init, packing uses what the processor has.  shmem_init replaces
 * that by what the environment says. */
static void layouts_open_kernels(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, pack_choice_init_default);
}

static int layouts_check_stream(const struct layout *l, size_t offset, size_t n,
                                const char *fn)
{
    if (offset <= l->bytes && n <= l->bytes - offset)
        return 0;
    log_warn("%s: bytes %zu..%zu + %zu ('offset', 'n') are requested, but the packed "
             "stream of the layout has %zu bytes (shmemx_layout_size)",
             fn, offset, offset, n, l->bytes);
    return -1;
}

static int layouts_check_target(const struct layout *l, const char *argument,
                                const char *fn)
{
    if (!l->overlap)
        return 0;
    log_warn("%s: argument '%s' has blocks that overlap, or that may overlap "
             "(shmemx_layout_overlaps); the result would depend on the order of the "
             "copies.  Use a layout whose blocks are disjoint",
             fn, argument);
    return -1;
}

int layouts_pack(shmemx_layout_t handle, const void *memory, size_t offset, void *packed,
                 size_t n, const char *fn)
{
    const struct layout *l = layouts_of(handle, fn);

    if (layouts_check_stream(l, offset, n, fn) != 0)
        return -1;
    layouts_open_kernels();
    return pack_from(l, memory, offset, packed, n);
}

int layouts_unpack(shmemx_layout_t handle, void *memory, size_t offset,
                   const void *packed, size_t n, const char *fn)
{
    const struct layout *l = layouts_of(handle, fn);

    if (layouts_check_stream(l, offset, n, fn) != 0 ||
        layouts_check_target(l, "layout", fn) != 0)
        return -1;
    layouts_open_kernels();
    return pack_into(l, memory, offset, packed, n);
}

static int layouts_check_pair(const struct layout *to, const struct layout *from,
                              const char *fn)
{
    if (to->bytes == from->bytes)
        return layouts_check_target(to, "dest_layout", fn);
    log_warn("%s: the packed stream of 'dest_layout' has %zu bytes and that of "
             "'source_layout' %zu; they must have the same number",
             fn, to->bytes, from->bytes);
    return -1;
}

int layouts_copy(void *dest, shmemx_layout_t to, const void *source, shmemx_layout_t from,
                 const char *fn)
{
    const struct layout *t = layouts_of(to, fn), *f = layouts_of(from, fn);

    if (layouts_check_pair(t, f, fn) != 0)
        return -1;
    layouts_open_kernels();
    return pack_between(t, dest, f, source);
}

/* ---- puts and gets ----------------------------------------------------------------- */

/* Under SHMEM_DEBUG: the symmetric blocks lie in one heap block, or in the globals. */
static void layouts_check_symmetric(const void *at, const struct layout *l,
                                    const char *what, const char *fn)
{
    if (pgas_self.checks)
        check_inside((const char *)at + l->low, (size_t)(l->high - l->low), fn, what);
}

int layouts_put(shmem_ctx_t ctx, void *dest, shmemx_layout_t to, const void *source,
                shmemx_layout_t from, int pe, const char *fn)
{
    const struct layout *t = layouts_of(to, fn), *f = layouts_of(from, fn);

    if (layouts_check_pair(t, f, fn) != 0)
        return -1;
    peer_check(pe, fn);
    if (t->bytes == 0)
        return 0;
    layouts_check_symmetric(dest, t, "argument 'dest', the target of the put", fn);
    rma_put_layout(ctx, dest, t, source, f, pe, fn);
    return 0;
}

int layouts_get(shmem_ctx_t ctx, void *dest, shmemx_layout_t to, const void *source,
                shmemx_layout_t from, int pe, const char *fn)
{
    const struct layout *t = layouts_of(to, fn), *f = layouts_of(from, fn);

    if (layouts_check_pair(t, f, fn) != 0)
        return -1;
    peer_check(pe, fn);
    if (t->bytes == 0)
        return 0;
    layouts_check_symmetric(source, f, "argument 'source', the source of the get", fn);
    rma_get_layout(ctx, dest, t, source, f, pe, fn);
    return 0;
}
