/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_peer.c - the table of peers, filled at first use (see ofi.h). */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/transport/ofi/ofi.h"

/* A context of a peer, other than 0, that has sent us a request. */
struct ofi_requester {
    struct ofi_requester *next;
    fi_addr_t addr;
    uint16_t context;
    uint8_t name_len;
    uint8_t name[OFI_NAME_MAX];
};

/* ---- the table ------------------------------------------------------------------- */

/* Called with net->lock held. NULL: no memory. */
static struct ofi_peer *ofi_peer_entry(struct transport_net *net, int pe)
{
    struct ofi_peer **chunk = &net->chunks[pe / OFI_CHUNK_PEERS];

    if (*chunk == NULL) {
        struct ofi_peer *made = calloc(OFI_CHUNK_PEERS, sizeof *made);
        __atomic_store_n(chunk, made, __ATOMIC_RELEASE);
    }
    return *chunk == NULL ? NULL : &(*chunk)[pe % OFI_CHUNK_PEERS];
}

static void ofi_peer_report(struct transport_net *net, int pe, const char *text)
{
    net->world->failed(net->world, pe, text);
}

/* Called with net->lock held. 0; or -errno and a message. */
static int ofi_peer_insert(struct transport_net *net, int pe, const void *address,
                           ssize_t len, struct ofi_peer **peer,
                           char why[TRANSPORT_TEXT_MAX])
{
    int rc;

    *peer = ofi_peer_entry(net, pe);
    if (*peer != NULL && load_relaxed_u32(&(*peer)->state) != OFI_PEER_UNKNOWN)
        return 0; /* another thread has inserted or lost it */
    if (*peer == NULL || len < 0) {
        snprintf(why, TRANSPORT_TEXT_MAX, "libfabric: %s PE %d",
                 len < 0 ? "no endpoint descriptor of" : "no memory to connect to", pe);
        rc = len < 0 ? -EADDRNOTAVAIL : -ENOMEM;
    } else {
        rc = ofi_address_use(net, pe, address, (size_t)len, *peer, why);
    }
    if (*peer != NULL)
        store_release_u32(&(*peer)->state, rc == 0 ? OFI_PEER_KNOWN : OFI_PEER_FAILED);
    return rc;
}

static int ofi_peer_status(const struct ofi_peer *peer)
{
    uint32_t state = peer == NULL ? OFI_PEER_FAILED : load_acquire_u32(&peer->state);

    if (state == OFI_PEER_KNOWN)
        return 0;
    return state == OFI_PEER_LOST ? -EHOSTDOWN : -EHOSTUNREACH;
}

/* Calls world->address_of without the lock: it may call this transport. */
int ofi_peer_connect(struct transport_net *net, int pe, struct ofi_peer **peer)
{
    unsigned char address[TRANSPORT_ADDRESS_MAX];
    char why[TRANSPORT_TEXT_MAX];

    pthread_mutex_lock(&net->lock);
    *peer = ofi_peer_entry(net, pe);
    uint32_t state = *peer == NULL ? OFI_PEER_UNKNOWN : load_relaxed_u32(&(*peer)->state);
    pthread_mutex_unlock(&net->lock);
    if (state != OFI_PEER_UNKNOWN)
        return ofi_peer_status(*peer);

    ssize_t len = net->world->address_of(net->world, pe, address, sizeof address);
    if (len == -EAGAIN)
        return -EAGAIN;
    pthread_mutex_lock(&net->lock);
    int rc = ofi_peer_insert(net, pe, address, len, peer, why);
    pthread_mutex_unlock(&net->lock);
    if (rc != 0)
        ofi_peer_report(net, pe, why);
    return ofi_peer_status(*peer);
}

static void ofi_peer_free_requesters(struct ofi_peer *peer)
{
    while (peer->requesters != NULL) {
        struct ofi_requester *requester = peer->requesters;
        peer->requesters = requester->next;
        free(requester);
    }
}

void ofi_peers_free(struct transport_net *net)
{
    int nchunks = (net->world->npes + OFI_CHUNK_PEERS - 1) / OFI_CHUNK_PEERS;

    for (int c = 0; net->chunks != NULL && c < nchunks; c++) {
        for (int i = 0; net->chunks[c] != NULL && i < OFI_CHUNK_PEERS; i++)
            ofi_peer_free_requesters(&net->chunks[c][i]);
        free(net->chunks[c]);
    }
    free(net->chunks);
}

/* ---- failure --------------------------------------------------------------------- */

void ofi_peer_failed(struct transport_ctx *ctx, int pe, const char *what, int error,
                     const char *reason)
{
    struct transport_net *net = ctx->net;
    char text[TRANSPORT_TEXT_MAX];

    pthread_mutex_lock(&net->lock);
    struct ofi_peer *peer = ofi_peer_entry(net, pe);
    bool reported = peer != NULL && load_relaxed_u32(&peer->state) >= OFI_PEER_FAILED;
    if (peer != NULL && !reported)
        store_release_u32(&peer->state, OFI_PEER_FAILED);
    pthread_mutex_unlock(&net->lock);
    if (!reported) {
        bool more = reason != NULL && *reason != '\0';
        snprintf(text, sizeof text,
                 "%s to PE %d failed in libfabric provider %s: %s%s%s%s", what, pe,
                 net->info->fabric_attr->prov_name, ofi_lib.strerror(error),
                 more ? " (" : "", more ? reason : "", more ? ")" : "");
        ofi_peer_report(net, pe, text);
    }
    ofi_peer_abandon_ops(ctx, pe,
                         ofi_peer_is_lost(net, pe) ? -EHOSTDOWN : -ofi_errno(error));
}

static uint32_t ofi_peer_state(struct transport_net *net, int pe)
{
    struct ofi_peer *chunk =
        __atomic_load_n(&net->chunks[pe / OFI_CHUNK_PEERS], __ATOMIC_ACQUIRE);

    return chunk != NULL ? load_acquire_u32(&chunk[pe % OFI_CHUNK_PEERS].state)
                         : OFI_PEER_UNKNOWN;
}

bool ofi_peer_has_failed(struct transport_net *net, int pe)
{
    return ofi_peer_state(net, pe) >= OFI_PEER_FAILED;
}

bool ofi_peer_is_lost(struct transport_net *net, int pe)
{
    return ofi_peer_state(net, pe) == OFI_PEER_LOST;
}

void ofi_peer_lose(struct transport_net *net, int pe)
{
    pthread_mutex_lock(&net->lock);
    struct ofi_peer *peer = ofi_peer_entry(net, pe);
    if (peer != NULL)
        store_release_u32(&peer->state, OFI_PEER_LOST);
    pthread_mutex_unlock(&net->lock);
}

size_t ofi_peer_name(struct transport_net *net, int pe, void *name, size_t space)
{
    size_t len = space;

    pthread_mutex_lock(&net->lock);
    struct ofi_peer *chunk = net->chunks[pe / OFI_CHUNK_PEERS],
                    *peer = chunk == NULL ? NULL : &chunk[pe % OFI_CHUNK_PEERS];
    if (peer == NULL || !peer->inserted ||
        fi_av_lookup(net->av, peer->addr, name, &len) != 0 || len > space)
        len = 0;
    pthread_mutex_unlock(&net->lock);
    return len;
}

/* ---- requesters: destinations of replies ----------------------------------------- */

/* Update the address of a requester's context, which may have been closed and its number
 * reused. False: the address is not valid. */
static bool ofi_requester_update(struct transport_net *net,
                                 struct ofi_requester *requester,
                                 const struct ofi_message *message)
{
    if (requester->name_len == message->name_len &&
        memcmp(requester->name, message->name, message->name_len) == 0)
        return true;
    pthread_mutex_lock(&net->lock);
    if (requester->name_len > 0)
        fi_av_remove(net->av, &requester->addr, 1, 0);
    bool inserted =
        fi_av_insert(net->av, message->name, 1, &requester->addr, 0, NULL) == 1;
    pthread_mutex_unlock(&net->lock);
    requester->name_len = inserted ? message->name_len : 0;
    memcpy(requester->name, message->name, message->name_len);
    return inserted;
}

static struct ofi_requester *ofi_requester_get(struct ofi_peer *peer, uint16_t context)
{
    struct ofi_requester *requester = peer->requesters;

    while (requester != NULL && requester->context != context)
        requester = requester->next;
    if (requester != NULL)
        return requester;
    requester = calloc(1, sizeof *requester);
    if (requester == NULL)
        return NULL;
    requester->context = context;
    requester->next = peer->requesters;
    peer->requesters = requester;
    return requester;
}

int ofi_peer_reply_addr(struct transport_net *net, const struct ofi_message *message,
                        fi_addr_t *addr)
{
    const struct transport_symaddr symaddr = {.pe = message->pe};
    struct ofi_target target;
    struct ofi_peer *peer;

    if (message->pe < 0 || message->pe >= net->world->npes ||
        message->name_len > OFI_NAME_MAX)
        return -EPROTO;
    int rc = ofi_target(net->ctx_0, &symaddr, &target);
    if (rc != 0)
        return rc;
    *addr = target.addr;
    if (message->name_len == 0)
        return 0;
    peer = &net->chunks[message->pe / OFI_CHUNK_PEERS][message->pe % OFI_CHUNK_PEERS];
    struct ofi_requester *requester = ofi_requester_get(peer, message->context);
    if (requester == NULL || !ofi_requester_update(net, requester, message)) {
        ofi_peer_report(net, message->pe,
                        "no memory for the address of one of its contexts, or it is not "
                        "valid");
        return -EHOSTUNREACH;
    }
    *addr = requester->addr;
    return 0;
}
