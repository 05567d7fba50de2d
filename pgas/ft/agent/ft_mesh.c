/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_mesh.c - the nodes of the mesh and their queues; see ft_mesh.h.
 *
 * Which of two connections between the same agents survives.  A node opens a connection
 * if it has none, or if the one that it has is stuck (ft_peer_reconnect), and abandons
 * its own attempt when it admits a connection.  It admits every connection, except
 *   - while its own attempt has sent its proof, that of a higher node: that node will
 *     admit the attempt;
 *   - while a connection that it has opened is up, one whose proof does not name that
 *     connection as the previous one: the other node sent the proof before it admitted
 * the connection, and has abandoned that attempt. So both ends keep the same connection
 * whatever the order of the events.
 *
 * A proof tells how many messages its sender has received.  From then on a connection
 * that is to be replaced is not read (frozen): the receiver of the proof sends later
 * messages again.  It still sends, and is read again if the attempt fails.
 *
 * Uses: ft_mesh_int.h.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/ft/agent/ft_mesh_int.h"

enum {
    EVENTS = 64,        /* for each epoll_wait */
    EVENT_TURNS = 64,   /* batches of events for each step at most */
    RETRY_MS = 5,       /* pause after the first failed round of attempts, doubled .. */
    RETRY_MAX_MS = 320, /* .. up to this */
    OUT_BYTES = 1024,   /* first size of a queue */
};

void ft_mesh_set_timer(struct ft_mesh *mesh, uint64_t ns)
{
    if (ns < mesh->due_ns)
        mesh->due_ns = ns;
}

static bool ft_mesh_is_listener(const struct ft_mesh *mesh, const void *ptr)
{
    const int *p = ptr;
    return p >= mesh->listener && p < mesh->listener + mesh->listeners;
}

struct ft_mesh *ft_mesh_open(const char *which, struct ft_endpoint *own, char *why,
                             size_t size)
{
    struct ft_mesh *mesh = calloc(1, sizeof *mesh);

    if (mesh == NULL || (mesh->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0) {
        snprintf(why, size, "cannot wait for connections: %s", strerror(errno));
        free(mesh);
        return NULL;
    }
    mesh->due_ns = mesh->resume_ns = FT_NEVER;
    mesh->own.domain = own->domain;
    if (!ft_listen_open(mesh, which, why, size)) {
        ft_mesh_close(mesh);
        return NULL;
    }
    *own = mesh->own;
    return mesh;
}

static void ft_mesh_free_closed(struct ft_mesh *mesh)
{
    while (mesh->closed != NULL) {
        struct ft_link *link = mesh->closed;
        mesh->closed = link->next;
        free(link->proof);
        free(link->in);
        free(link->out);
        seal_free(link->seal);
        free(link);
    }
}

void ft_mesh_close(struct ft_mesh *mesh)
{
    if (mesh == NULL)
        return;
    while (mesh->pending != NULL)
        ft_link_close(mesh->pending);
    for (uint32_t i = 0; mesh->peer != NULL && i < mesh->job.nnodes; i++) {
        if (mesh->peer[i].up != NULL)
            ft_link_close(mesh->peer[i].up);
        free(mesh->peer[i].out);
    }
    ft_mesh_free_closed(mesh);
    for (int i = 0; i < mesh->listeners; i++)
        close(mesh->listener[i]);
    close(mesh->epoll);
    free(mesh->peer);
    free(mesh);
}

bool ft_mesh_join(struct ft_mesh *mesh, const struct ft_mesh_job *job)
{
    mesh->peer = calloc(job->nnodes, sizeof *mesh->peer);
    if (mesh->peer == NULL)
        return false;
    mesh->job = *job;
    if (job->queue == 0)
        mesh->job.queue = FT_MESH_QUEUE;
    for (uint32_t i = 0; i < job->nnodes; i++)
        mesh->peer[i].retry_ns = FT_NEVER;
    ft_listen_enable(mesh, true);
    return true;
}

/* ---- the nodes ----------------------------------------------------------------------
 */

static void ft_peer_drop_queue(struct ft_peer *peer)
{
    free(peer->out);
    peer->out = NULL;
    peer->sent = peer->have = peer->space = 0;
    peer->acked = peer->sent_count;
}

/* Plans an attempt if there is a reason for a connection. */
static void ft_peer_plan(struct ft_mesh *mesh, struct ft_peer *peer, uint64_t ns)
{
    if (peer->up != NULL || peer->attempt != NULL || peer->given_up ||
        peer->retry_ns != FT_NEVER || (peer->have == 0 && !peer->wanted))
        return;
    peer->retry_ns = ns;
    ft_mesh_set_timer(mesh, peer->retry_ns);
}

static void ft_peer_tell_closed(struct ft_mesh *mesh, struct ft_peer *peer)
{
    if (peer->close_reported || peer->given_up)
        return;
    peer->closed = mesh->any_closed = true;
    ft_mesh_set_timer(mesh, 0);
}

/* All addresses of the node have failed: pauses before the next round. */
static void ft_peer_round_failed(struct ft_mesh *mesh, struct ft_peer *peer, uint64_t now)
{
    ft_peer_tell_closed(mesh, peer);
    peer->tried = 0;
    ft_peer_plan(mesh, peer, now + (uint64_t)peer->retry_ms * FT_NS_PER_MS);
    peer->retry_ms =
        2 * peer->retry_ms < RETRY_MAX_MS ? 2 * peer->retry_ms : (uint32_t)RETRY_MAX_MS;
}

static void ft_peer_attempt(struct ft_mesh *mesh, uint32_t node, uint64_t now)
{
    struct ft_peer *peer = &mesh->peer[node];

    peer->retry_ns = FT_NEVER;
    if (peer->retry_ms == 0)
        peer->retry_ms = RETRY_MS;
    ft_link_attempt(mesh, node, now);
    if (peer->attempt == NULL)
        ft_peer_round_failed(mesh, peer, now);
}

void ft_peer_reconnect(struct ft_mesh *mesh, uint32_t node, uint64_t now)
{
    struct ft_peer *peer = &mesh->peer[node];

    if (peer->attempt != NULL || peer->given_up)
        return;
    peer->tried = 0;
    ft_link_attempt(mesh, node, now);
}

void ft_peer_link_closed(struct ft_link *link)
{
    struct ft_mesh *mesh = link->mesh;
    struct ft_peer *peer = &mesh->peer[link->node];
    uint64_t now = clock_ns();

    if (peer->attempt == link) {
        peer->attempt = NULL;
        peer->address++;
        peer->tried++;
        if (peer->up != NULL) { /* ft_peer_reconnect tries the next address, if at all */
            peer->tried = 0;
            ft_link_freeze(peer->up, false);
            return;
        }
        if (peer->tried < FT_ADDRESSES)
            ft_peer_plan(mesh, peer, now);
        else
            ft_peer_round_failed(mesh, peer, now);
    } else if (peer->up == link) {
        peer->up = NULL;
        peer->sent = 0;
        if (peer->given_up)
            ft_peer_drop_queue(peer);
        /* Otherwise when the attempt, or the next one, fails.  The close of a link that
         * was changed says nothing about the node. */
        if (peer->attempt == NULL && !link->forged)
            ft_peer_tell_closed(mesh, peer);
        ft_peer_plan(mesh, peer, now);
    }
}

/* What the former agent has not acknowledged goes to its successor; it may have processed
 * some of these messages. */
bool ft_peer_meet(struct ft_mesh *mesh, uint32_t node, uint32_t incarnation)
{
    struct ft_peer *peer = &mesh->peer[node];

    if (incarnation == peer->incarnation)
        return true;
    if ((int32_t)(incarnation - peer->incarnation) < 0)
        return false;
    peer->incarnation = incarnation;
    peer->sent_count -= peer->acked;
    peer->acked = peer->sent = 0;
    peer->received = peer->received_acked = peer->unacked_bytes = 0;
    if (peer->up != NULL)
        ft_link_close(peer->up);
    return true;
}

static bool ft_peer_endpoint_valid(const struct ft_endpoint *e)
{
    struct address at;
    bool any = false;

    for (int i = 0; i < FT_ADDRESSES; i++) {
        if (e->address[i].family == 0)
            continue;
        if (!ft_listen_sockaddr(&e->address[i], &at))
            return false;
        any = true;
    }
    return any;
}

static void ft_peer_tell_moved(struct ft_mesh *mesh, uint32_t to, uint32_t about)
{
    struct ft_moved m = {.node = about,
                         .incarnation = mesh->peer[about].known,
                         .endpoint = mesh->job.endpoint[about]};

    ft_mesh_send(mesh, to, FT_TAG_ENDPOINT, &m, sizeof m);
}

/* A node has a new agent. */
static void ft_peer_moved(struct ft_mesh *mesh, const struct ft_proof *proof)
{
    mesh->job.endpoint[proof->from] = proof->endpoint;
    mesh->peer[proof->from].known = proof->incarnation;
    for (uint32_t i = 0; i < mesh->job.nnodes; i++) {
        if (i == proof->from || mesh->peer[i].known == 0 || mesh->peer[i].given_up)
            continue;
        ft_peer_tell_moved(mesh, proof->from, i);
        ft_peer_tell_moved(mesh, i, proof->from);
    }
}

/* The node itself proves it when it is connected. */
bool ft_peer_take_moved(struct ft_mesh *mesh, const void *bytes, size_t n)
{
    struct ft_moved m;

    if (n != sizeof m)
        return false;
    memcpy(&m, bytes, sizeof m);
    if (m.node >= mesh->job.nnodes || !ft_peer_endpoint_valid(&m.endpoint))
        return false;
    struct ft_peer *peer = &mesh->peer[m.node];
    if (m.node == mesh->job.node || (int32_t)(m.incarnation - peer->known) <= 0)
        return true;
    peer->known = m.incarnation;
    mesh->job.endpoint[m.node] = m.endpoint;
    if (peer->retry_ns != FT_NEVER) {
        peer->retry_ns = 0;
        ft_mesh_set_timer(mesh, 0);
    }
    return true;
}

bool ft_peer_admit(struct ft_mesh *mesh, const struct ft_proof *proof)
{
    const struct ft_mesh_job *job = &mesh->job;

    if (proof->to != job->node || proof->from >= job->nnodes ||
        proof->from == job->node || !ft_peer_endpoint_valid(&proof->endpoint))
        return false;
    struct ft_peer *peer = &mesh->peer[proof->from];
    bool news = proof->incarnation != peer->incarnation;
    if (!ft_peer_meet(mesh, proof->from, proof->incarnation))
        return false;
    if (news)
        ft_peer_moved(mesh, proof);
    if (!news && peer->up != NULL && peer->up->initiated &&
        proof->previous != peer->up->id)
        return false;
    return news || peer->attempt == NULL || proof->from < job->node ||
           peer->attempt->state != FT_LINK_EXPECTS_REPLY;
}

bool ft_peer_is_up(struct ft_link *link, uint64_t received)
{
    struct ft_mesh *mesh = link->mesh;
    struct ft_peer *peer = &mesh->peer[link->node];
    struct ft_link *old = peer->up, *attempt = peer->attempt;

    peer->up = link;
    peer->attempt = NULL;
    if (attempt != NULL)
        ft_link_close(attempt);
    if (old != NULL)
        ft_link_close(old);
    peer->last_id = link->id;
    peer->retry_ns = FT_NEVER;
    peer->retry_ms = RETRY_MS;
    peer->tried = 0;
    peer->wanted = peer->closed = peer->close_reported = false;
    if (received > peer->sent_count)
        return false;
    if (received <
        peer->acked) { /* messages were dropped: the next ones get their numbers */
        peer->sent_count -= peer->acked - received;
        peer->acked = received;
    }
    ft_peer_acknowledged(peer, received);
    peer->sent = 0;
    peer->received_acked = peer->received; /* by the proof or the reply */
    peer->unacked_bytes = 0;
    return true; /* ft_link_ready flushes */
}

void ft_peer_acknowledged(struct ft_peer *peer, uint64_t received)
{
    struct ft_frame head;
    size_t at = 0;

    for (; peer->acked < received && at < peer->have; peer->acked++) {
        memcpy(&head, peer->out + at, sizeof head);
        at += sizeof head + head.len;
    }
    if (at == 0)
        return;
    PGAS_ASSERT(at <= peer->have);
    peer->have -= at;
    peer->sent = peer->sent > at ? peer->sent - at : 0;
    memmove(peer->out, peer->out + at, peer->have);
}

/* ---- public functions ---------------------------------------------------------------
 */

static bool ft_peer_make_space(struct ft_peer *peer, size_t n)
{
    size_t space = peer->space > 0 ? peer->space : OUT_BYTES;

    while (space < peer->have + n)
        space *= 2;
    if (space == peer->space)
        return true;
    uint8_t *out = realloc(peer->out, space);
    if (out == NULL)
        return false;
    peer->out = out;
    peer->space = space;
    return true;
}

/* The node fails (ft_mesh.h). */
static void ft_peer_overflow(struct ft_mesh *mesh, uint32_t node, size_t bytes)
{
    struct ft_peer *peer = &mesh->peer[node];

    if (!peer->given_up) {
        peer->overflow = bytes;
        mesh->any_overflow = true;
        ft_mesh_set_timer(mesh, 0);
    }
    ft_mesh_give_up(mesh, node);
    if (peer->up != NULL)
        ft_link_close(peer->up); /* which drops the queue */
}

void ft_mesh_send(struct ft_mesh *mesh, uint32_t node, uint32_t tag, const void *bytes,
                  size_t n)
{
    struct ft_peer *peer = &mesh->peer[node];
    struct ft_frame head = {.len = (uint32_t)n, .tag = tag};
    size_t len = sizeof head + n;

    PGAS_ASSERT(node < mesh->job.nnodes && node != mesh->job.node && n > 0 &&
                n <= FT_MESH_MESSAGE);
    if ((peer->given_up && peer->up == NULL) || peer->overflow > 0)
        return;
    if (peer->have + len > mesh->job.queue || !ft_peer_make_space(peer, len)) {
        ft_peer_overflow(mesh, node, peer->have + len);
        return;
    }
    memcpy(peer->out + peer->have, &head, sizeof head);
    memcpy(peer->out + peer->have + sizeof head, bytes, n);
    peer->have += len;
    peer->sent_count++;
    if (peer->up != NULL && !peer->up->writes)
        ft_link_flush(peer->up);
    ft_peer_plan(mesh, peer, 0);
}

void ft_mesh_connect(struct ft_mesh *mesh, uint32_t node)
{
    mesh->peer[node].wanted = true;
    ft_peer_plan(mesh, &mesh->peer[node], 0);
}

void ft_mesh_give_up(struct ft_mesh *mesh, uint32_t node)
{
    struct ft_peer *peer = &mesh->peer[node];

    peer->given_up = true;
    peer->retry_ns = FT_NEVER;
    if (peer->attempt != NULL)
        ft_link_close(peer->attempt);
    if (peer->up == NULL)
        ft_peer_drop_queue(peer);
}

int ft_mesh_fd(const struct ft_mesh *mesh)
{
    return mesh->epoll;
}

uint64_t ft_mesh_due(const struct ft_mesh *mesh)
{
    return mesh->due_ns;
}

bool ft_mesh_idle(const struct ft_mesh *mesh)
{
    for (uint32_t i = 0; i < mesh->job.nnodes; i++) {
        const struct ft_peer *peer = &mesh->peer[i];
        bool pending =
            peer->sent < peer->have || (peer->up != NULL && ft_link_has_output(peer->up));
        if (pending && !peer->given_up &&
            (peer->up != NULL || peer->attempt != NULL || peer->retry_ms <= RETRY_MS))
            return false;
    }
    return true;
}

/* ---- the step -----------------------------------------------------------------------
 */

static void ft_peer_run_timers(struct ft_mesh *mesh, uint32_t node, uint64_t now)
{
    struct ft_peer *peer = &mesh->peer[node];

    if (now >= peer->retry_ns)
        ft_peer_attempt(mesh, node, now);
    ft_mesh_set_timer(mesh, peer->retry_ns);
    if (peer->up == NULL)
        return;
    if (now >= peer->up->probe_ns)
        ft_link_probe(peer->up, now);
    if (peer->up != NULL && now >= peer->up->verify_ns)
        ft_link_verify(peer->up, now);
    if (peer->up == NULL)
        return;
    ft_mesh_set_timer(mesh, peer->up->probe_ns);
    ft_mesh_set_timer(mesh, peer->up->verify_ns);
}

static void ft_mesh_run_timers(struct ft_mesh *mesh, uint64_t now)
{
    struct ft_link *next;

    mesh->due_ns = mesh->any_closed || mesh->any_overflow ? 0 : FT_NEVER;
    if (now >= mesh->resume_ns) {
        mesh->resume_ns = FT_NEVER;
        ft_listen_enable(mesh, true);
    }
    for (struct ft_link *link = mesh->pending; link != NULL; link = next) {
        next = link->next;
        if (now >= link->deadline_ns)
            ft_link_close(link);
        else
            ft_mesh_set_timer(mesh, link->deadline_ns);
    }
    for (uint32_t i = 0; mesh->peer != NULL && i < mesh->job.nnodes; i++)
        ft_peer_run_timers(mesh, i, now);
    ft_mesh_set_timer(mesh, mesh->resume_ns);
}

static void ft_mesh_report_closed(struct ft_mesh *mesh)
{
    if (!mesh->any_closed)
        return;
    mesh->any_closed = false;
    for (uint32_t i = 0; i < mesh->job.nnodes; i++) {
        if (!mesh->peer[i].closed)
            continue;
        mesh->peer[i].closed = false;
        mesh->peer[i].close_reported = true;
        mesh->job.closed(mesh->job.arg, i);
    }
}

static void ft_mesh_report_failed(struct ft_mesh *mesh)
{
    if (!mesh->any_overflow)
        return;
    mesh->any_overflow = false;
    for (uint32_t i = 0; i < mesh->job.nnodes; i++) {
        size_t bytes = mesh->peer[i].overflow;
        mesh->peer[i].overflow = 0;
        if (bytes > 0)
            mesh->job.failed(mesh->job.arg, i, bytes, mesh->job.queue);
    }
}

/* Returns whether there may be more events. */
static bool ft_mesh_take_events(struct ft_mesh *mesh, uint64_t now)
{
    struct epoll_event event[EVENTS];
    int n = epoll_wait(mesh->epoll, event, EVENTS, 0);

    for (int i = 0; i < n; i++) {
        void *ptr = event[i].data.ptr;
        if (ft_mesh_is_listener(mesh, ptr))
            ft_listen_accept(mesh, *(int *)ptr, now);
        else
            ft_link_ready(ptr, event[i].events);
    }
    return n == EVENTS;
}

/* All that has been received is processed: the host calls ft_proto_tick next. The kernel
 * returns ready sockets in turn, so that no batch repeats before all have had theirs. */
void ft_mesh_step(struct ft_mesh *mesh, uint64_t now)
{
    int turn = 0;

    ft_mesh_report_failed(mesh);
    while (ft_mesh_take_events(mesh, now) && ++turn < EVENT_TURNS)
        continue;
    ft_mesh_report_closed(mesh);
    ft_mesh_report_failed(mesh);
    if (now >= mesh->due_ns)
        ft_mesh_run_timers(mesh, now);
    ft_mesh_free_closed(mesh);
}
