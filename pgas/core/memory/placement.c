/* SPDX-License-Identifier: BSD-3-Clause */
/* placement.c - see placement.h. */
#include "config.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/memory/placement.h"

static void placement_add(struct placement *p, unsigned node)
{
    p->nodes[node / 64] |= UINT64_C(1) << node % 64;
}

/* One number below PLACEMENT_NODES; *text is advanced behind it. */
static bool placement_number(const char **text, unsigned *node)
{
    const char *at = *text;

    for (*node = 0; *at >= '0' && *at <= '9' && *node < PLACEMENT_NODES; at++)
        *node = *node * 10 + (unsigned)(*at - '0');
    bool valid = at != *text && *node < PLACEMENT_NODES;
    *text = at;
    return valid;
}

/* A list of numbers and ranges, as in 0,2-3 */
static bool placement_list(struct placement *p, const char *text)
{
    unsigned first, last;

    for (;; text++) {
        if (!placement_number(&text, &first))
            return false;
        last = first;
        if (*text == '-') {
            text++;
            if (!placement_number(&text, &last) || last < first)
                return false;
        }
        for (unsigned node = first; node <= last; node++)
            placement_add(p, node);
        if (*text != ',')
            return *text == '\0';
    }
}

bool placement_parse(struct placement *p, const char *value)
{
    static const char bind[] = "bind:";
    unsigned cpu, node;

    *p = (struct placement){.mode = MPOL_DEFAULT};
    if (strcmp(value, "touch") == 0)
        return true;
    if (strcmp(value, "local") == 0) {
        if (syscall(SYS_getcpu, &cpu, &node, NULL) == 0 && node < PLACEMENT_NODES) {
            p->mode = MPOL_PREFERRED;
            placement_add(p, node);
        }
        return true;
    }
    if (strcmp(value, "interleave") == 0) {
        p->mode = MPOL_INTERLEAVE; /* the nodes: placement_set */
        return true;
    }
    p->mode = MPOL_BIND;
    return strncmp(value, bind, sizeof bind - 1) == 0 &&
           placement_list(p, value + sizeof bind - 1);
}

/* 0; or -1 with errno. */
static int placement_set(struct placement *p, void *base, size_t len)
{
    if (p->mode == MPOL_INTERLEAVE &&
        syscall(SYS_get_mempolicy, NULL, p->nodes, (unsigned long)PLACEMENT_NODES, NULL,
                MPOL_F_MEMS_ALLOWED) != 0)
        return -1;
    /* The kernel takes one bit less than the number it is given. */
    return (int)syscall(SYS_mbind, base, len, p->mode, p->nodes, PLACEMENT_NODES + 1UL,
                        0UL);
}

/* `local` on a node without memory, or whose memory this process may not use: as touch.
 */
static bool placement_has_no_memory(const struct placement *p)
{
    return p->mode == MPOL_PREFERRED && errno == EINVAL;
}

void placement_apply(void *base, size_t len)
{
    const char *value = pgas_self.env.heap_numa;
    struct placement p;

    if (value == NULL)
        value = "touch";
    if (!placement_parse(&p, value))
        log_die("SHMEM_HEAP_NUMA=\"%s\" is not valid: it takes touch, local, interleave "
                "or bind:LIST, such as bind:0,2-3",
                value);
    int error = p.mode == MPOL_DEFAULT ? 0 : placement_set(&p, base, len);
    if (error != 0 && (errno == EPERM || errno == ENOSYS))
        log_die(
            "SHMEM_HEAP_NUMA=\"%s\": the kernel or the container does not permit memory "
            "policies (%s). Use touch",
            value, strerror(errno));
    if (error != 0 && !placement_has_no_memory(&p))
        log_die("SHMEM_HEAP_NUMA=\"%s\": the memory policy cannot be set (%s). Use nodes "
                "that this process may use (Mems_allowed_list in /proc/self/status), or "
                "touch",
                value, strerror(errno));
    madvise(base, len, MADV_HUGEPAGE); /* may fail: not supported on most systems */
}
