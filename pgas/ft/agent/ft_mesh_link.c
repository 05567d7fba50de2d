/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_mesh_link.c - one TCP connection of the mesh: opening, authentication, frames.
 *
 * Data of other protocols is recognized by the first bytes; any authentication error
 * closes the connection without an answer.  TCP may take a part of a frame that has been
 * sealed; the rest stays in `out`, since its place in the stream cannot be used again.
 * Uses: ft_mesh_int.h.
 */
#include "config.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/ft/agent/ft_mesh_int.h"

enum {
    READ_BYTES = 4096,    /* smallest space for reading */
    READ_TURNS = 64,      /* for each event, so that no node starves the others */
    ACK_MESSAGES = 32,    /* received messages that are acknowledged at the latest */
    ACK_BYTES = 64 << 10, /* likewise */
    PROBE_FRAMES = 3,     /* later segments of which TCP concludes a loss (DupThresh) */
    PROBES_MAX = 16,      /* to a node that does not answer */
    PROBES_RECONNECT = 3, /* probes after which another connection is tried, too */
    OUT_BYTES = 64 << 10, /* sealed at a time, and at least one frame */
};

/* ---- opening and closing ------------------------------------------------------------
 */

static bool ft_link_pending(const struct ft_link *link)
{
    return link->state < FT_LINK_UP;
}

static void ft_link_watch(struct ft_link *link, int op)
{
    bool out = link->writes || link->state == FT_LINK_CONNECTING;
    struct epoll_event e = {.data.ptr = link};

    e.events = (link->frozen ? 0 : EPOLLIN) | (out ? EPOLLOUT : 0);

    epoll_ctl(link->mesh->epoll, op, link->fd, &e);
}

static void ft_link_want_write(struct ft_link *link, bool writes)
{
    if (link->writes == writes)
        return;
    link->writes = writes;
    ft_link_watch(link, EPOLL_CTL_MOD);
}

void ft_link_freeze(struct ft_link *link, bool frozen)
{
    if (link->frozen == frozen)
        return;
    link->frozen = frozen;
    ft_link_watch(link, EPOLL_CTL_MOD);
}

/* Takes the descriptor; closes it if there is no memory. */
struct ft_link *ft_link_new(struct ft_mesh *mesh, int fd, enum ft_link_state state,
                            uint64_t deadline_ns)
{
    struct ft_link *link = calloc(1, sizeof *link);
    int on = 1;

    if (link == NULL) {
        close(fd);
        return NULL;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    *link = (struct ft_link){.mesh = mesh,
                             .fd = fd,
                             .state = state,
                             .node = FT_NODE_NONE,
                             .deadline_ns = deadline_ns,
                             .probe_ns = FT_NEVER,
                             .verify_ns = FT_NEVER,
                             .next = mesh->pending};
    mesh->pending = link;
    mesh->npending += state == FT_LINK_ACCEPTED;
    ft_mesh_set_timer(mesh, deadline_ns);
    ft_link_watch(link, EPOLL_CTL_ADD);
    return link;
}

static void ft_link_leave_pending(struct ft_link *link)
{
    struct ft_link **at = &link->mesh->pending;

    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    link->next = NULL;
    link->mesh->npending -= link->state == FT_LINK_ACCEPTED;
}

void ft_link_close(struct ft_link *link)
{
    if (link->state == FT_LINK_CLOSED)
        return;
    if (ft_link_pending(link))
        ft_link_leave_pending(link);
    close(link->fd); /* which also removes it from the epoll set */
    link->fd = -1;
    link->state = FT_LINK_CLOSED;
    link->next = link->mesh->closed;
    link->mesh->closed = link;
    if (link->node != FT_NODE_NONE)
        ft_peer_link_closed(link);
}

/* Tries the next address of the node; those that are absent count as failed. */
void ft_link_attempt(struct ft_mesh *mesh, uint32_t node, uint64_t now)
{
    struct ft_peer *peer = &mesh->peer[node];
    const struct ft_endpoint *to = &mesh->job.endpoint[node];
    uint64_t limit = (uint64_t)mesh->job.attempt_ms * FT_NS_PER_MS;
    struct address at;

    PGAS_ASSERT(peer->attempt == NULL);
    for (; peer->tried < FT_ADDRESSES; peer->tried++, peer->address++) {
        if (!ft_listen_sockaddr(&to->address[peer->address % FT_ADDRESSES], &at))
            continue;
        int fd = address_socket(&at);
        if (fd < 0)
            continue;
        if (connect(fd, &at.as.any, at.len) != 0 && errno != EINPROGRESS) {
            close(fd);
            continue;
        }
        peer->attempt = ft_link_new(mesh, fd, FT_LINK_CONNECTING, now + limit);
        if (peer->attempt == NULL)
            continue;
        peer->attempt->node = node;
        peer->attempt->initiated = true;
        return;
    }
}

/* ---- sending ------------------------------------------------------------------------
 */

static bool ft_link_again(void)
{
    return errno == EAGAIN || errno == EINTR || errno == ENOBUFS;
}

/* Gives TCP what is sealed.  False: the socket buffer is full, or the link has been
 * closed. */
static bool ft_link_write(struct ft_link *link)
{
    while (ft_link_has_output(link)) {
        ssize_t n = send(link->fd, link->out + link->out_at,
                         link->out_have - link->out_at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && ft_link_again()) {
            ft_link_want_write(link, true);
            return false;
        }
        if (n < 0) {
            ft_link_close(link);
            return false;
        }
        link->written += (uint64_t)n;
        link->out_at += (size_t)n;
    }
    link->out_at = link->out_have = 0;
    ft_link_want_write(link, false);
    return true;
}

static bool ft_link_make_out(struct ft_link *link, size_t n)
{
    size_t space = link->out_have + n;

    if (space <= link->out_space)
        return true;
    space = space < OUT_BYTES ? OUT_BYTES : space;
    uint8_t *out = realloc(link->out, space);
    if (out == NULL)
        return false;
    link->out = out;
    link->out_space = space;
    return true;
}

static void ft_link_seal_part(struct ft_link *link, uint8_t part, const void *bytes,
                              size_t n)
{
    uint8_t *to = link->out + link->out_have;

    seal_encrypt(link->seal, &part, sizeof part, bytes, n, to, to + n);
    link->out_have += n + SEAL_TAG;
}

/* Appends a frame to what is sealed.  False: no memory; the link has been closed. */
static bool ft_link_seal(struct ft_link *link, struct ft_frame head, const uint8_t *bytes)
{
    struct ft_peer *peer = &link->mesh->peer[link->node];

    if (!ft_link_make_out(link, FT_HEAD_WIRE + head.len + SEAL_TAG)) {
        ft_link_close(link);
        return false;
    }
    head.received = peer->received;
    ft_link_seal_part(link, FT_PART_HEAD, &head, sizeof head);
    if (head.len > 0)
        ft_link_seal_part(link, FT_PART_BODY, bytes, head.len);
    peer->received_acked = peer->received;
    peer->unacked_bytes = 0;
    return true;
}

/* True if TCP has it. */
static bool ft_link_send_empty(struct ft_link *link, enum ft_empty what)
{
    return ft_link_seal(link, (struct ft_frame){.tag = what}, NULL) &&
           ft_link_write(link);
}

static void ft_link_acknowledge(struct ft_link *link, struct ft_peer *peer)
{
    if (peer->received - peer->received_acked < ACK_MESSAGES &&
        peer->unacked_bytes < ACK_BYTES)
        return;
    ft_link_send_empty(link, FT_EMPTY_ACK);
}

/* The bytes that the other end's TCP has not acknowledged. */
static int ft_link_outstanding(const struct ft_link *link)
{
    int bytes = 0;

    return ioctl(link->fd, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

/* An acknowledgement needs a round trip. */
static uint64_t ft_link_probe_interval(const struct ft_link *link)
{
    struct tcp_info t = {.tcpi_rtt = 0};
    socklen_t len = sizeof t;

    (void)getsockopt(link->fd, IPPROTO_TCP, TCP_INFO, &t, &len);
    uint64_t ns = 2 * (uint64_t)t.tcpi_rtt * FT_NS_PER_MS / 1000;
    return ns > link->mesh->job.probe_ns ? ns : link->mesh->job.probe_ns;
}

static void ft_link_set_probe(struct ft_link *link, uint64_t now)
{
    if (link->probe_interval_ns == 0)
        link->probe_interval_ns = ft_link_probe_interval(link);
    link->probe_ns = now + link->probe_interval_ns;
    ft_mesh_set_timer(link->mesh, link->probe_ns);
}

void ft_link_probe(struct ft_link *link, uint64_t now)
{
    const struct ft_peer *peer = &link->mesh->peer[link->node];
    uint64_t outstanding = (uint64_t)ft_link_outstanding(link),
             acked = link->written - outstanding;
    bool progress = acked > link->acked;

    link->acked = acked;
    link->probe_ns = FT_NEVER;
    if (outstanding == 0 || progress)
        link->probes = 0;
    if (outstanding == 0 || link->probes == PROBES_MAX)
        return;
    link->probe_interval_ns = ft_link_probe_interval(link);
    ft_link_set_probe(link, now);
    if (progress)
        return;
    link->probes++;
    if (link->probes % PROBES_RECONNECT == 0)
        ft_peer_reconnect(link->mesh, link->node, now);
    for (int i = 0; i < PROBE_FRAMES && peer->sent == peer->have; i++)
        if (ft_link_has_output(link) || !ft_link_send_empty(link, FT_EMPTY_ACK))
            return;
}

static void ft_link_set_verify(struct ft_link *link, uint64_t now)
{
    const struct ft_peer *peer = &link->mesh->peer[link->node];

    link->verify_acked = peer->acked;
    link->verify_ns = now + FT_MESH_VERIFY * link->mesh->job.probe_ns;
    ft_mesh_set_timer(link->mesh, link->verify_ns);
}

void ft_link_verify(struct ft_link *link, uint64_t now)
{
    const struct ft_peer *peer = &link->mesh->peer[link->node];

    link->verify_ns = FT_NEVER;
    if (peer->have == 0 || peer->acked != link->verify_acked)
        link->verifies = 0;
    if (peer->have == 0)
        return;
    ft_link_set_verify(link, now);
    if (link->verifies++ > 0 && link->verifies % PROBES_RECONNECT == 0)
        ft_peer_reconnect(link->mesh, link->node, now);
    if (!ft_link_has_output(link))
        ft_link_send_empty(link, FT_EMPTY_ASK);
}

/* Seals frames of the queue.  False: the link has been closed. */
static bool ft_link_seal_queue(struct ft_link *link, struct ft_peer *peer)
{
    struct ft_frame head;

    while (peer->sent < peer->have && link->out_have < OUT_BYTES) {
        memcpy(&head, peer->out + peer->sent, sizeof head);
        if (!ft_link_seal(link, head, peer->out + peer->sent + sizeof head))
            return false;
        peer->sent += sizeof head + head.len;
    }
    return true;
}

void ft_link_flush(struct ft_link *link)
{
    struct ft_peer *peer = &link->mesh->peer[link->node];

    PGAS_ASSERT(link->state == FT_LINK_UP && peer->up == link);
    if (peer->sent < peer->have && link->probe_ns == FT_NEVER)
        ft_link_set_probe(link, clock_ns());
    if (peer->have > 0 && link->verify_ns == FT_NEVER)
        ft_link_set_verify(link, clock_ns());
    while (ft_link_write(link) && peer->sent < peer->have)
        if (!ft_link_seal_queue(link, peer))
            return;
    if (link->state == FT_LINK_UP && !ft_link_has_output(link))
        ft_link_acknowledge(link, peer);
}

/* ---- receiving ----------------------------------------------------------------------
 */

/* A new connection has space for each of the three messages in its socket buffer. */
static bool ft_link_send_all(struct ft_link *link, const void *bytes, size_t n)
{
    link->written += n;
    return send(link->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;
}

static bool ft_link_take_hello(struct ft_link *link)
{
    struct ft_mesh *mesh = link->mesh;
    const struct ft_peer *peer = &mesh->peer[link->node];
    struct ft_proof *proof = calloc(1, sizeof *proof);

    memcpy(&link->hello, link->in, sizeof link->hello);
    link->proof = proof;
    if (proof == NULL || !ft_auth_check_hello(&link->hello))
        return false;
    proof->from = mesh->job.node;
    proof->to = link->node;
    proof->incarnation = mesh->job.incarnation;
    proof->known = peer->incarnation;
    proof->previous = peer->last_id;
    /* No more messages may be received over the former link. */
    if (peer->up != NULL)
        ft_link_freeze(peer->up, true);
    proof->received = peer->received;
    proof->endpoint = mesh->own;
    if (!ft_auth_make_proof(proof, &link->hello, mesh->job.secret))
        return false;
    link->id = proof->id;
    link->state = FT_LINK_EXPECTS_REPLY;
    return ft_link_send_all(link, proof, sizeof *proof);
}

static bool ft_link_take_proof(struct ft_link *link)
{
    struct ft_mesh *mesh = link->mesh;
    struct ft_proof proof;
    struct ft_reply reply;

    memcpy(&proof, link->in, sizeof proof);
    if (!ft_auth_check_proof(&proof, &link->hello, mesh->job.secret) ||
        !ft_peer_admit(mesh, &proof))
        return false;
    reply.from = mesh->job.node;
    reply.incarnation = mesh->job.incarnation;
    reply.received = mesh->peer[proof.from].received;
    ft_auth_make_reply(&reply, &proof, &link->hello, mesh->job.secret);
    if (!ft_link_send_all(link, &reply, sizeof reply))
        return false;
    ft_link_leave_pending(link);
    link->state = FT_LINK_UP;
    link->node = proof.from;
    link->id = proof.id;
    link->seal = ft_auth_seal(&link->hello, &proof, mesh->job.secret, true);
    if (link->seal == NULL)
        return false;
    /* A predecessor of this agent got the messages that the connector counts. */
    return ft_peer_is_up(link, proof.known == mesh->job.incarnation ? proof.received : 0);
}

/* Once for each node. */
static void ft_link_report_forged(struct ft_link *link)
{
    struct ft_mesh *mesh = link->mesh;
    struct ft_peer *peer = &mesh->peer[link->node];

    if (!peer->forged)
        mesh->job.forged(mesh->job.arg, link->node);
    peer->forged = link->forged = true;
}

static bool ft_link_take_reply(struct ft_link *link)
{
    struct ft_mesh *mesh = link->mesh;
    struct ft_reply reply;

    memcpy(&reply, link->in, sizeof reply);
    if (!ft_auth_check_reply(&reply, link->proof, &link->hello, mesh->job.secret)) {
        ft_link_report_forged(link);
        return false;
    }
    if (reply.from != link->node || !ft_peer_meet(mesh, reply.from, reply.incarnation))
        return false;
    link->seal = ft_auth_seal(&link->hello, link->proof, mesh->job.secret, false);
    if (link->seal == NULL)
        return false;
    free(link->proof);
    link->proof = NULL;
    ft_link_leave_pending(link);
    link->state = FT_LINK_UP;
    mesh->peer[link->node].attempt = NULL;
    return ft_peer_is_up(link, reply.received);
}

/* False: the part of a frame is not what the other end has sent next. */
static bool ft_link_unseal(struct ft_link *link, uint8_t part, size_t n)
{
    if (seal_decrypt(link->seal, &part, sizeof part, link->in, n, link->in, link->in + n))
        return true;
    ft_link_report_forged(link);
    return false;
}

static bool ft_link_take_head(struct ft_link *link)
{
    struct ft_peer *peer = &link->mesh->peer[link->node];
    struct ft_frame head;

    if (!ft_link_unseal(link, FT_PART_HEAD, sizeof head))
        return false;
    memcpy(&head, link->in, sizeof head);
    if (head.received > peer->sent_count || head.len > FT_MESH_MESSAGE)
        return false;
    ft_peer_acknowledged(peer, head.received);
    link->head = head;
    if (head.len == 0 && head.tag == FT_EMPTY_ASK)
        ft_link_send_empty(link, FT_EMPTY_ACK);
    return true;
}

static bool ft_link_take_body(struct ft_link *link)
{
    struct ft_mesh *mesh = link->mesh;
    struct ft_peer *peer = &mesh->peer[link->node];
    struct ft_frame head = link->head;

    if (!ft_link_unseal(link, FT_PART_BODY, head.len))
        return false;
    link->head.len = 0;
    peer->received++;
    peer->unacked_bytes += head.len;
    if (head.tag == FT_TAG_ENDPOINT)
        return ft_peer_take_moved(mesh, link->in, head.len);
    mesh->job.message(mesh->job.arg, link->node, head.tag, link->in, head.len);
    return true;
}

/* The length of what `in` begins with; 0: it cannot be valid. */
static size_t ft_link_needs(const struct ft_link *link)
{
    static const size_t needs[] = {[FT_LINK_ACCEPTED] = sizeof(struct ft_proof),
                                   [FT_LINK_EXPECTS_HELLO] = sizeof(struct ft_hello),
                                   [FT_LINK_EXPECTS_REPLY] = sizeof(struct ft_reply)};
    static const char magic[] = "pgasft";

    if (link->state != FT_LINK_UP) {
        size_t n = link->have < sizeof magic - 1 ? link->have : sizeof magic - 1;
        return memcmp(link->in, magic, n) == 0 ? needs[link->state] : 0;
    }
    return link->head.len > 0 ? link->head.len + SEAL_TAG : (size_t)FT_HEAD_WIRE;
}

static bool ft_link_take(struct ft_link *link)
{
    switch (link->state) {
    case FT_LINK_ACCEPTED:
        return ft_link_take_proof(link);
    case FT_LINK_EXPECTS_HELLO:
        return ft_link_take_hello(link);
    case FT_LINK_EXPECTS_REPLY:
        return ft_link_take_reply(link);
    default:
        return link->head.len > 0 ? ft_link_take_body(link) : ft_link_take_head(link);
    }
}

/* Processes all complete messages.  False: the link is closed, or must be. */
static bool ft_link_process(struct ft_link *link)
{
    size_t n;

    while ((n = ft_link_needs(link)) > 0 && link->have >= n) {
        if (!ft_link_take(link) || link->state == FT_LINK_CLOSED)
            return false;
        link->have -= n;
        memmove(link->in, link->in + n, link->have);
    }
    return n > 0;
}

/* Makes space for the rest of the message that has begun, and for at least READ_BYTES. */
static bool ft_link_make_space(struct ft_link *link)
{
    size_t n = link->have > 0 ? ft_link_needs(link) : 0;
    size_t space = (n > link->have ? n : link->have) + READ_BYTES;

    if (space <= link->space)
        return true;
    uint8_t *in = realloc(link->in, space);
    if (in == NULL)
        return false;
    link->in = in;
    link->space = space;
    return true;
}

/* TCP would delay its acknowledgement by up to 40 ms, in which the sender probes. */
static void ft_link_acknowledge_tcp(struct ft_link *link)
{
    int on = 1;

    setsockopt(link->fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

/* False: the link must be closed. */
static bool ft_link_read(struct ft_link *link)
{
    for (int turn = 0; turn < READ_TURNS; turn++) {
        if (!ft_link_make_space(link))
            return false;
        ssize_t n =
            recv(link->fd, link->in + link->have, link->space - link->have, MSG_DONTWAIT);
        if (n < 0 && ft_link_again())
            return true;
        if (n <= 0)
            return false;
        ft_link_acknowledge_tcp(link);
        link->have += (size_t)n;
        if (!ft_link_process(link))
            return false;
    }
    return true;
}

static bool ft_link_connected(struct ft_link *link)
{
    int err = 0;
    socklen_t len = sizeof err;

    if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &err, &len) != 0 || err != 0)
        return false;
    link->state = FT_LINK_EXPECTS_HELLO;
    /* Another address must be tried soon if the former link is frozen. */
    bool replaces = link->mesh->peer[link->node].up != NULL;
    uint32_t limit = replaces ? link->mesh->job.attempt_ms : (uint32_t)FT_MESH_PROVE_MS;
    link->deadline_ns = clock_ns() + (uint64_t)limit * FT_NS_PER_MS;
    ft_mesh_set_timer(link->mesh, link->deadline_ns);
    ft_link_watch(link, EPOLL_CTL_MOD);
    return true;
}

void ft_link_ready(struct ft_link *link, uint32_t events)
{
    if (link->state == FT_LINK_CLOSED)
        return;
    if (link->state == FT_LINK_CONNECTING) {
        if (!ft_link_connected(link))
            ft_link_close(link);
        return;
    }
    if (link->frozen && (events & (EPOLLERR | EPOLLHUP)) != 0)
        ft_link_close(link); /* what it has sent is sent again */
    else if (!link->frozen && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 &&
             !ft_link_read(link))
        ft_link_close(link);
    if (link->state == FT_LINK_UP)
        ft_link_flush(link);
}
