/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_collective.c - fences, groups and connections: each is a gather of its nodes.
 *
 * Uses gather.h.  Part of pmix_net.h; runs in the daemon's loop.
 *
 * libpmix makes one upcall per node, when all members on the node have called.  A
 * collective that timed out here stays open in the gather, so that all nodes count the
 * same rounds.
 */
#include "config.h"

#include "tools/oshrun/pmix/pmix_int.h"
#include "tools/oshrun/util/mem.h"

#include <stdlib.h>

#define GROUP_INFOS 2

static void pmix_collective_answer_group(struct pmix_request *r, uint64_t number,
                                         const void *data, size_t len)
{
    struct pmix_answer *a = pmix_answer_new(GROUP_INFOS);
    size_t context = number;
    pmix_byte_object_t endpoints = {.bytes = (char *)(uintptr_t)data, .size = len};
    if (a != NULL) {
        a->n = 0;
        if (r->wants_context_id)
            PMIX_INFO_LOAD(&a->info[a->n++], PMIX_GROUP_CONTEXT_ID, &context, PMIX_SIZE);
        if (len > 0)
            PMIX_INFO_LOAD(&a->info[a->n++], PMIX_GROUP_ENDPT_DATA, &endpoints,
                           PMIX_BYTE_OBJECT);
    }
    pmix_request_answer_info(r, PMIX_SUCCESS, a);
}

static void pmix_collective_on_done(void *arg, void *mine, int status, uint64_t number,
                                    const void *data, size_t len)
{
    struct pmix_net *n = arg;
    struct pmix_request *r = mine;
    if (status == 0 && !r->answered && r->modex != NULL)
        pmix_request_answer_data(r, PMIX_SUCCESS, pmix_copy(data, len), len);
    else if (status == 0 && !r->answered && r->info != NULL)
        pmix_collective_answer_group(r, number, data, len);
    pmix_request_finish(&n->collectives, r,
                        status == 0 ? PMIX_SUCCESS : PMIX_ERR_LOST_CONNECTION);
}

void pmix_collective_open(struct pmix_net *n, const struct tree *tree)
{
    n->gather = gather_new(tree, n->job->here, &n->out, pmix_collective_on_done, n);
}

/* The nodes of the members, ascending. */
static uint32_t *pmix_collective_nodes_of(const struct pmix_net *n,
                                          const struct pmix_request *r, uint32_t *count)
{
    bool *is_member = mem_calloc(n->job->nnodes, sizeof *is_member);
    uint32_t *node = mem_calloc(n->job->nnodes, sizeof *node);
    *count = 0;
    for (uint32_t i = 0; i < r->nranks; i++)
        is_member[n->node_of[r->rank[i]]] = true;
    for (uint32_t i = 0; i < n->job->nnodes; i++)
        if (is_member[i] || (r->nranks == 0 && n->job->node[i].npes > 0))
            node[(*count)++] = i;
    free(is_member);
    return node;
}

static void pmix_collective_join(struct pmix_net *n, struct pmix_request *r)
{
    uint32_t nnodes;
    uint32_t *node = pmix_collective_nodes_of(n, r, &nnodes);
    gather_join(n->gather, r->key.data, r->key.len, node, nnodes, r->data, r->len, r);
    free(node);
}

/* The key: pmix_upcalls_make_key. */
bool pmix_net_is_absent(const void *key, size_t len, const struct job_node *node,
                        const bool *failed)
{
    struct unpack u = unpack_of(key, len);
    bool all = true;
    uint32_t i = 0;
    unpack_u8(&u);
    unpack_string(&u);
    for (uint32_t k = 0; k < node->npes; k++)
        all = all && failed[node->rank[k]];
    if (all || unpack_done(&u)) /* no ranks: all PEs of the job */
        return all;
    while (u.at < u.end && !u.failed) { /* both lists ascend */
        uint32_t rank = unpack_u32(&u);
        while (i < node->npes && node->rank[i] < rank)
            i++;
        if (i < node->npes && node->rank[i] == rank && !failed[rank])
            return false;
    }
    return !u.failed;
}

/* r may be freed by this call, in pmix_collective_on_done. */
void pmix_collective_post(struct pmix_net *n, struct pmix_request *r)
{
    pmix_status_t status = r->status;
    pmix_request_wait(n, &n->collectives, r);
    if (status == PMIX_SUCCESS)
        pmix_collective_join(n, r);
    else
        pmix_request_finish(&n->collectives, r, status);
}
