/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_peer.c - the table of peers, filled as they are talked to.  Uses: ofi.h. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/transport/ofi/ofi.h"

/* Another context of a peer, which has asked us for an amo. */
struct ofi_asker {
    struct ofi_asker *next;
    fi_addr_t addr;
    uint16_t context;
    uint8_t name_len;
    uint8_t name[OFI_NAME_MAX];
};

/* ---- the table ------------------------------------------------------------------- */

/* Under the lock.  NULL: no memory. */
static struct ofi_peer *entry_of(struct transport_net *net, int pe)
{
    struct ofi_peer **chunk = &net->chunks[pe / OFI_CHUNK_PEERS];

    if (*chunk == NULL) {
        struct ofi_peer *made = calloc(OFI_CHUNK_PEERS, sizeof *made);
        __atomic_store_n(chunk, made, __ATOMIC_RELEASE);
    }
    return *chunk == NULL ? NULL : &(*chunk)[pe % OFI_CHUNK_PEERS];
}

static void tell(struct transport_net *net, int pe, const char *sentence)
{
    net->world->failed(net->world, pe, sentence);
}

/* Under the lock.  0; or -errno and a sentence. */
static int meet(struct transport_net *net, int pe, const void *address, ssize_t len,
                struct ofi_peer **peer, char why[TRANSPORT_TEXT_MAX])
{
    int rc;

    *peer = entry_of(net, pe);
    if (*peer == NULL || len < 0) {
        snprintf(why, TRANSPORT_TEXT_MAX, "libfabric: %s PE %d",
                 len < 0 ? "nobody knows the address of" : "no memory to talk to", pe);
        rc = len < 0 ? -EADDRNOTAVAIL : -ENOMEM;
    } else if (load_relaxed_u32(&(*peer)->state) != OFI_PEER_UNKNOWN) {
        return 0; /* another thread was faster */
    } else {
        rc = ofi_address_use(net, pe, address, (size_t)len, *peer, why);
    }
    if (*peer != NULL)
        store_release_u32(&(*peer)->state, rc == 0 ? OFI_PEER_KNOWN : OFI_PEER_FAILED);
    return rc;
}

/* The address is asked for without the lock: that may take a while, and call us. */
struct ofi_peer *ofi_peer_first(struct transport_net *net, int pe)
{
    unsigned char address[TRANSPORT_ADDRESS_MAX];
    char why[TRANSPORT_TEXT_MAX];
    struct ofi_peer *peer;

    pthread_mutex_lock(&net->lock);
    peer = entry_of(net, pe);
    uint32_t state = peer == NULL ? OFI_PEER_UNKNOWN : load_relaxed_u32(&peer->state);
    pthread_mutex_unlock(&net->lock);
    if (state != OFI_PEER_UNKNOWN)
        return state == OFI_PEER_KNOWN ? peer : NULL;

    ssize_t len = net->world->address_of(net->world, pe, address, sizeof address);
    pthread_mutex_lock(&net->lock);
    int rc = meet(net, pe, address, len, &peer, why);
    pthread_mutex_unlock(&net->lock);
    if (rc != 0)
        tell(net, pe, why);
    return peer != NULL && load_acquire_u32(&peer->state) == OFI_PEER_KNOWN ? peer : NULL;
}

static void free_askers(struct ofi_peer *peer)
{
    while (peer->askers != NULL) {
        struct ofi_asker *asker = peer->askers;
        peer->askers = asker->next;
        free(asker);
    }
}

void ofi_peers_free(struct transport_net *net)
{
    int nchunks = (net->world->npes + OFI_CHUNK_PEERS - 1) / OFI_CHUNK_PEERS;

    for (int c = 0; net->chunks != NULL && c < nchunks; c++) {
        for (int i = 0; net->chunks[c] != NULL && i < OFI_CHUNK_PEERS; i++)
            free_askers(&net->chunks[c][i]);
        free(net->chunks[c]);
    }
    free(net->chunks);
}

/* ---- failure --------------------------------------------------------------------- */

void ofi_peer_failed(struct transport_ctx *ctx, int pe, const char *what, int error,
                     const char *reason)
{
    struct transport_net *net = ctx->net;
    char sentence[TRANSPORT_TEXT_MAX];

    pthread_mutex_lock(&net->lock);
    struct ofi_peer *peer = entry_of(net, pe);
    bool known = peer != NULL && load_relaxed_u32(&peer->state) == OFI_PEER_FAILED;
    if (peer != NULL)
        store_release_u32(&peer->state, OFI_PEER_FAILED);
    pthread_mutex_unlock(&net->lock);
    if (!known) {
        bool more = reason != NULL && *reason != '\0';
        snprintf(sentence, sizeof sentence,
                 "%s to PE %d failed in libfabric's %s: %s%s%s%s", what, pe,
                 net->info->fabric_attr->prov_name, ofi_lib.strerror(error),
                 more ? " (" : "", more ? reason : "", more ? ")" : "");
        tell(net, pe, sentence);
    }
    ofi_abandon(ctx, pe, -ofi_errno(error));
}

bool ofi_peer_is_lost(struct transport_net *net, int pe)
{
    struct ofi_peer *chunk =
        __atomic_load_n(&net->chunks[pe / OFI_CHUNK_PEERS], __ATOMIC_ACQUIRE);

    return chunk != NULL &&
           load_acquire_u32(&chunk[pe % OFI_CHUNK_PEERS].state) == OFI_PEER_FAILED;
}

/* ---- who asks for amos ----------------------------------------------------------- */

/* Put what a message says in place of what we knew of that context, which may have been
 * closed, and its number given to another one. */
static bool learn(struct transport_net *net, struct ofi_asker *asker,
                  const struct ofi_message *message)
{
    if (asker->name_len == message->name_len &&
        memcmp(asker->name, message->name, message->name_len) == 0)
        return true;
    pthread_mutex_lock(&net->lock);
    if (asker->name_len > 0)
        fi_av_remove(net->av, &asker->addr, 1, 0);
    bool known = fi_av_insert(net->av, message->name, 1, &asker->addr, 0, NULL) == 1;
    pthread_mutex_unlock(&net->lock);
    asker->name_len = known ? message->name_len : 0;
    memcpy(asker->name, message->name, message->name_len);
    return known;
}

static struct ofi_asker *asker_of(struct ofi_peer *peer, uint16_t context)
{
    struct ofi_asker *asker = peer->askers;

    while (asker != NULL && asker->context != context)
        asker = asker->next;
    if (asker != NULL)
        return asker;
    asker = calloc(1, sizeof *asker);
    if (asker == NULL)
        return NULL;
    asker->context = context;
    asker->next = peer->askers;
    peer->askers = asker;
    return asker;
}

fi_addr_t ofi_peer_asker(struct transport_net *net, const struct ofi_message *message)
{
    const struct transport_place place = {.pe = message->pe};
    struct ofi_target target;
    struct ofi_peer *peer;

    if (message->pe < 0 || message->pe >= net->world->npes ||
        message->name_len > OFI_NAME_MAX || ofi_target(net->ctx_0, &place, &target) != 0)
        return FI_ADDR_UNSPEC;
    if (message->name_len == 0)
        return target.addr;
    peer = &net->chunks[message->pe / OFI_CHUNK_PEERS][message->pe % OFI_CHUNK_PEERS];
    struct ofi_asker *asker = asker_of(peer, message->context);
    if (asker == NULL || !learn(net, asker, message))
        return FI_ADDR_UNSPEC;
    return asker->addr;
}
