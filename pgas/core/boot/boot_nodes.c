/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot_nodes.c - the number of PEs and the map of PEs to nodes.
 * Uses: boot_pmix, log.
 *
 * The launcher is the only source: that a PE's memory can be mapped does not show that it
 * is on the same node, since several virtual nodes may share a host.  No launcher
 * provides all PMIx keys (docs/LAUNCHERS.md).  A job on one node needs only the local
 * PEs; otherwise the map comes from the node list or else from the PEs' host names, and
 * it is used only if it is consistent with the launcher's other keys.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/core/boot/boot_pmix.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/number.h"

#define NOWHERE    UINT32_MAX
#define NAME_SHOWN 65     /* bytes of a host name in a message, with its NUL */
#define CUT        ", .." /* marks a truncated list of nodes */

/* ---- the PEs of this node --------------------------------------------------------- */

/* Parses n ranks < size from a list such as "0,1,5" or "0-3,7". */
static void boot_nodes_parse_ranks(const char *list, uint32_t *out, uint32_t n,
                                   uint32_t size)
{
    const char *text = list;
    uint32_t k = 0;

    for (bool more = true; more && k < n; text++) {
        uint64_t first = UINT64_MAX, last;
        text += number_scan(text, strlen(text), &first);
        last = first;
        if (*text == '-')
            text += 1 + number_scan(text + 1, strlen(text + 1), &last);
        for (uint64_t r = first; r <= last && r < size && k < n; r++)
            out[k++] = (uint32_t)r;
        more = *text == ',';
    }
    if (k != n)
        log_die(
            "the launcher says that %u of the %u PEs are on this node, but names these: "
            "%s",
            n, size, list);
}

static uint32_t boot_nodes_number_or_die(const char *key)
{
    uint32_t number;

    if (!boot_number(PMIX_RANK_WILDCARD, key, &number))
        log_die("the launcher's PMIx server does not provide '%s': %s; is it older than "
                "PMIx 3?",
                key, boot_error());
    return number;
}

static void boot_nodes_find_local(struct boot *b)
{
    pmix_value_t *peers = boot_value(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);

    b->local_size = boot_nodes_number_or_die(PMIX_LOCAL_SIZE);
    b->local_pes = calloc(b->local_size, sizeof *b->local_pes);
    if (b->local_pes == NULL)
        log_die("no memory for a list of %u PEs", b->local_size);
    if (peers == NULL || peers->type != PMIX_STRING)
        log_die("the launcher's PMIx server does not say which PEs share this node");
    boot_nodes_parse_ranks(peers->data.string, b->local_pes, b->local_size, b->size);
    PMIX_VALUE_RELEASE(peers);
    for (b->local_rank = 0; b->local_rank < b->local_size; b->local_rank++)
        if (b->local_pes[b->local_rank] == b->rank)
            return;
    log_die(
        "the launcher's PMIx server does not name PE %u among the PEs of its own node; "
        "give each node a host name of its own",
        b->rank);
}

/* ---- two sources of the map: each sets node_of to an arbitrary number per node ---- */

/* Sets node_of for the PEs of one host.  False if a PE is invalid or also listed for
 * another host. */
static bool boot_nodes_enter_host(struct boot *b, const char *host, uint32_t node,
                                  uint32_t *found)
{
    pmix_proc_t *pe = NULL;
    size_t n = 0;
    bool good = PMIx_Resolve_peers(host, boot_nspace(), &pe, &n) == PMIX_SUCCESS;

    for (size_t i = 0; good && i < n; i++) {
        good = pe[i].rank < b->size && b->node_of[pe[i].rank] == NOWHERE;
        if (good)
            b->node_of[pe[i].rank] = node;
    }
    if (pe != NULL)
        PMIX_PROC_FREE(pe, n);
    *found += (uint32_t)n;
    return good;
}

/* From the list of hosts: one PMIx_Resolve_peers call per node, which libpmix answers
 * locally. */
static bool boot_nodes_from_host_list(struct boot *b)
{
    pmix_value_t *list = boot_value(PMIX_RANK_WILDCARD, PMIX_NODE_LIST);
    bool good = list != NULL && list->type == PMIX_STRING;
    uint32_t node = 0, found = 0;
    char *rest = NULL;

    for (uint32_t pe = 0; pe < b->size; pe++)
        b->node_of[pe] = NOWHERE;
    for (char *host = good ? strtok_r(list->data.string, ",", &rest) : NULL;
         good && host != NULL; host = strtok_r(NULL, ",", &rest))
        good = boot_nodes_enter_host(b, host, node++, &found);
    if (list != NULL)
        PMIX_VALUE_RELEASE(list);
    return good && found == b->size;
}

/* Sets node_of[pe] to the lowest PE with the same host name. */
static void boot_nodes_join_host(struct boot *b, char **host, uint32_t pe)
{
    uint32_t before = pe > 0 ? b->node_of[pe - 1] : 0;

    if (strcmp(host[before], host[pe]) != 0)
        for (before = 0; strcmp(host[before], host[pe]) != 0;)
            before++;
    b->node_of[pe] = before;
}

/* From the host name of each PE. */
static bool boot_nodes_from_host_names(struct boot *b)
{
    char **host = calloc(b->size, sizeof *host);
    bool good = host != NULL;

    for (uint32_t pe = 0; good && pe < b->size; pe++) {
        pmix_value_t *name = boot_value(pe, PMIX_HOSTNAME);
        if (name != NULL && name->type == PMIX_STRING)
            host[pe] = strdup(name->data.string);
        if (name != NULL)
            PMIX_VALUE_RELEASE(name);
        good = host[pe] != NULL;
        if (good)
            boot_nodes_join_host(b, host, pe);
    }
    for (uint32_t pe = 0; host != NULL && pe < b->size; pe++)
        free(host[pe]);
    free(host);
    return good;
}

/* ---- validation ------------------------------------------------------------------- */

/* Renumbers the nodes in the order of their lowest PEs.  `source` is scratch space for
 * one word per node. */
static void boot_nodes_renumber(struct boot *b, uint32_t *source)
{
    uint32_t node = 0;

    b->nnodes = 0;
    for (uint32_t pe = 0; pe < b->size; pe++) {
        uint32_t number = b->node_of[pe];
        if (b->nnodes == 0 || source[node] != number)
            for (node = 0; node < b->nnodes && source[node] != number;)
                node++;
        if (node == b->nnodes)
            source[b->nnodes++] = number;
        b->node_of[pe] = node;
    }
    b->node = b->node_of[b->rank];
}

/* True if the map agrees with the launcher's list of this node's PEs and, if provided,
 * its number of nodes. */
static bool boot_nodes_plausible(const struct boot *b)
{
    uint32_t nnodes, here = 0;

    for (uint32_t pe = 0; pe < b->size; pe++)
        here += b->node_of[pe] == b->node;
    for (uint32_t i = 0; i < b->local_size; i++)
        if (b->node_of[b->local_pes[i]] != b->node)
            return false;
    return here == b->local_size &&
           (!boot_number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES, &nnodes) ||
            nnodes == b->nnodes);
}

static void boot_nodes_find_map(struct boot *b)
{
    static bool (*const find[])(struct boot *) = {boot_nodes_from_host_list,
                                                  boot_nodes_from_host_names};
    uint32_t *source = calloc(b->size, sizeof *source);

    if (source == NULL)
        log_die("no memory for a list of %u nodes", b->size);
    for (size_t i = 0; i < sizeof find / sizeof find[0]; i++) {
        if (!find[i](b))
            continue;
        boot_nodes_renumber(b, source);
        if (!boot_nodes_plausible(b))
            continue;
        free(source);
        return;
    }
    log_die("the launcher says that %u of the %u PEs are on the node of PE %u, but not "
            "which of the others share a node; give each node a host name of its own",
            b->local_size, b->size, b->rank);
}

/* A counting sort of the PEs by node. */
bool boot_nodes_index(struct boot *b)
{
    uint32_t *begin = calloc((size_t)b->nnodes + 1, sizeof *begin),
             *pes = calloc(b->size, sizeof *pes);

    b->node_begin = begin;
    b->node_pes = pes;
    if (begin == NULL || pes == NULL)
        return false;
    for (uint32_t pe = 0; pe < b->size; pe++)
        begin[b->node_of[pe]]++;
    for (uint32_t node = 0, sum = 0; node <= b->nnodes; node++) {
        sum += begin[node];
        begin[node] = sum;
    }
    for (uint32_t pe = b->size; pe-- > 0;) /* moves begin[node] back to its first PE */
        pes[--begin[b->node_of[pe]]] = pe;
    return true;
}

void boot_find_nodes(struct boot *b)
{
    b->size = boot_nodes_number_or_die(PMIX_JOB_SIZE);
    boot_nodes_find_local(b);
    b->node_of = calloc(b->size, sizeof *b->node_of);
    if (b->node_of == NULL)
        log_die("no memory for a list of %u PEs", b->size);
    b->node = 0;
    b->nnodes = 1;
    if (b->local_size < b->size)
        boot_nodes_find_map(b);
    if (!boot_nodes_index(b))
        log_die("no memory for a list of %u PEs", b->size);
}

void boot_node_name(const struct boot *b, uint32_t node, bool ask, char *name,
                    size_t size)
{
    uint32_t first = boot_node_pes(b, node)[0];
    pmix_value_t *host = NULL;

    if (b->launched)
        host = ask ? boot_value(first, PMIX_HOSTNAME)
                   : boot_value_here(first, PMIX_HOSTNAME);
    if (host != NULL && host->type == PMIX_STRING)
        snprintf(name, size, "%s", host->data.string);
    else if (b->launched || gethostname(name, size) != 0)
        snprintf(name, size, "node %u", node);
    if (host != NULL)
        PMIX_VALUE_RELEASE(host);
}

void boot_nodes_text(const struct boot *b, char *text, size_t size)
{
    char name[NAME_SHOWN];
    size_t used = 0;

    for (uint32_t node = 0; node < b->nnodes; node++) {
        boot_node_name(b, node, true, name, sizeof name);
        int len = snprintf(text + used, size - used, "%s%s: %u", used > 0 ? ", " : "",
                           name, boot_node_size(b, node));
        if (len < 0 || (size_t)len >= size - used - sizeof CUT) {
            snprintf(text + used, size - used, "%s", CUT);
            return;
        }
        used += (size_t)len;
    }
}
