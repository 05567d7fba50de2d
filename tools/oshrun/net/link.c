/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link.c - see link.h.
 *
 * The heartbeat thread only sends.  `down` is called from the loop only.  If sending
 * fails, the socket is shut down, so that the loop reads what the other side has sent
 * (its last message may tell why it exits) and then gets end of file.
 *
 * Output is sealed when it is written, a few records at a time: what is queued is shared
 * with other links, and the heartbeat thread may add to it.
 */
#include "config.h"

#include "tools/oshrun/net/link.h"

#include "pgas/core/base/address.h"
#include "tools/oshrun/net/heartbeat.h"
#include "tools/oshrun/net/record.h"
#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/iobuf.h"
#include "tools/oshrun/util/mem.h"

#include <endian.h>
#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAYLOAD_MAX      ((uint64_t)1 << 40)  /* larger: a corrupt header */
#define READ_SPACE       ((size_t)32 * 1024)  /* free space before a read */
#define TURN_BYTES       ((size_t)256 * 1024) /* per link and iteration of the loop */
#define WIRE_BYTES       ((size_t)64 * 1024)  /* sealed before a write */
#define WHY_BYTES        192
#define TICKS            8 /* checks of the clock per host time-out */
#define PINGS            4 /* pings per host time-out */
#define KEEPALIVE_S      1
#define KEEPALIVES_MAX   127 /* the kernel's limit */
#define UNANSWERED_PROBE 2   /* a single one may be lost or in flight */
#define FLUSH_STEP_MS    5
#define MS_PER_S         1000

/* Little-endian. */
struct header {
    uint32_t type, from, to;
    uint64_t len;
} __attribute__((packed));

struct link {
    struct loop *loop;
    struct loop_watch watch;
    struct loop_timer flush, tick;
    const struct link_events *events;
    void *arg, *user;
    enum link_life life;
    struct seal *seal;            /* it sends under the lock, and receives without it */
    struct evbuffer *sealed, *in; /* what was received: records, frames */
    uint32_t body;                /* of the record at the start of `sealed` (record.h) */
    uint64_t timeout_ns;          /* silence of the process */
    uint64_t host_ns;             /* silence of its host's kernel */
    uint64_t last_recv_ns, ticked_ns;
    /* While this process was running: silence of the other side; time in which bytes
     * arrived that completed no record. */
    uint64_t silent_ns, partial_ns;
    bool moved; /* bytes have arrived since the last tick */
    bool not_authentic;
    bool busy, freed; /* in frame(); link_free was called */
    char peer[LINK_PEER_TEXT];

    struct heartbeat heartbeat;
    pthread_mutex_t lock;        /* of what follows, while the heartbeat is active */
    struct evbuffer *out, *wire; /* frames; records, which are written next */
    uint64_t sent_ns;
    bool no_pings; /* the other side does not read them */
    bool mute;     /* sending is disabled */
    char why[WHY_BYTES];
};

_Static_assert(ADDRESS_TEXT <= LINK_PEER_TEXT, "an address is the name of a link");

/* ---- closing ---------------------------------------------------------------------- */

static void link_discard_output(struct link *l)
{
    evbuffer_drain(l->out, evbuffer_get_length(l->out));
    evbuffer_drain(l->wire, evbuffer_get_length(l->wire));
}

static void link_release(struct link *l)
{
    evbuffer_free(l->sealed);
    evbuffer_free(l->in);
    evbuffer_free(l->out);
    evbuffer_free(l->wire);
    seal_free(l->seal);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static void link_disable_events(struct link *l)
{
    heartbeat_remove(&l->heartbeat);
    l->mute = true;
    loop_want(l->loop, &l->watch, 0);
    loop_cancel(l->loop, &l->flush);
    loop_cancel(l->loop, &l->tick);
}

/* Must be the last use of l: the callback may free it. */
static void link_go_down(struct link *l, const char *why)
{
    char first[WHY_BYTES];  /* the first error is the reason */
    link_disable_events(l); /* before `why` is read, which the heartbeat may write */
    snprintf(first, sizeof first, "%s", l->why[0] != '\0' ? l->why : why);
    l->events->down(l->arg, l, first);
}

static const char *link_unanswered(uint64_t ns, char text[WHY_BYTES])
{
    snprintf(text, WHY_BYTES,
             "has not answered for %.1f s (SHMEM_LAUNCH_TIMEOUT sets the time)",
             (double)ns / NS_PER_MS / MS_PER_S);
    return text;
}

static const char *link_incomplete(uint64_t ns, char text[WHY_BYTES])
{
    snprintf(text, WHY_BYTES,
             "has sent a message of which only a part has arrived in %.1f s "
             "(SHMEM_LAUNCH_TIMEOUT sets the time): its connection may have been changed",
             (double)ns / NS_PER_MS / MS_PER_S);
    return text;
}

static const char *link_error_text(const struct link *l, int err, char text[WHY_BYTES])
{
    if (err == ETIMEDOUT)
        return link_unanswered(l->host_ns, text);
    snprintf(text, WHY_BYTES, "has lost its connection (%s)", strerror(err));
    return text;
}

/* Disables sending; the loop reads up to end of file and then calls `down`.  The lock is
 * held. */
static void link_fail_to_send(struct link *l, const char *why)
{
    l->mute = true;
    snprintf(l->why, sizeof l->why, "%s", why);
    link_discard_output(l);
    shutdown(l->watch.fd, SHUT_RDWR);
}

/* ---- sending ---------------------------------------------------------------------- */

/* Bytes that are to be written.  The lock is held. */
static size_t link_pending(const struct link *l)
{
    return evbuffer_get_length(l->out) + evbuffer_get_length(l->wire);
}

size_t link_queued(struct link *l)
{
    pthread_mutex_lock(&l->lock);
    size_t len = link_pending(l);
    pthread_mutex_unlock(&l->lock);
    return len;
}

static void link_seal(struct link *l)
{
    while (evbuffer_get_length(l->out) > 0 && evbuffer_get_length(l->wire) < WIRE_BYTES)
        record_seal(l->seal, l->out, l->wire);
}

/* Writes what the socket accepts.  The lock is held: the heartbeat thread writes, too. */
static void link_write(struct link *l)
{
    char text[WHY_BYTES];
    size_t left = TURN_BYTES;
    while (left > 0 && link_pending(l) > 0) {
        link_seal(l);
        int n = evbuffer_write_atmost(l->wire, l->watch.fd, (ev_ssize_t)left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) {
            link_fail_to_send(l, link_error_text(l, errno, text));
            return;
        }
        l->sent_ns = loop_now_ns();
        left -= (size_t)n;
    }
}

/* True if data remains. */
static bool link_write_some(struct link *l)
{
    pthread_mutex_lock(&l->lock);
    link_write(l);
    bool more = link_pending(l) > 0;
    pthread_mutex_unlock(&l->lock);
    loop_want(l->loop, &l->watch, more ? LOOP_IN | LOOP_OUT : LOOP_IN);
    return more;
}

void link_push(struct link *l)
{
    link_write_some(l);
}

/* One send for all frames that were queued in an iteration of the loop. */
static void link_on_flush(void *arg)
{
    link_push(arg);
}

void link_encode(struct evbuffer **to, const struct frame *f)
{
    struct header h = {htole32(f->type), htole32(f->from), htole32(f->to),
                       htole64(f->len + f->rest_len)};
    iobuf_add(to, &h, sizeof h);
    iobuf_add(to, f->data, f->len);
    iobuf_add(to, f->rest, f->rest_len);
}

/* Adds a frame or, if f is NULL, encoded frames. */
static void link_queue(struct link *l, const struct frame *f, struct evbuffer *frames)
{
    pthread_mutex_lock(&l->lock);
    if (!l->mute && link_pending(l) == 0)
        loop_after(l->loop, &l->flush, 0);
    if (!l->mute && f != NULL)
        link_encode(&l->out, f);
    else if (!l->mute)
        evbuffer_add_buffer(l->out, frames);
    pthread_mutex_unlock(&l->lock);
}

void link_send(struct link *l, const struct frame *f)
{
    link_queue(l, f, NULL);
}

void link_send_encoded(struct link *l, struct evbuffer *frames)
{
    link_queue(l, NULL, frames);
}

/* Bounded by FLUSH_STEP_MS: an acknowledgement does not wake poll. */
static void link_wait_a_little(const struct link *l, short events)
{
    struct pollfd p = {.fd = l->watch.fd, .events = events};
    poll(&p, 1, FLUSH_STEP_MS);
}

/* True while sent data is not acknowledged: closing a socket that has unread input
 * resets the connection, which discards that data. */
static bool link_has_unacked(const struct link *l)
{
    int bytes = 0;
    return ioctl(l->watch.fd, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

void link_flush(struct link *l, uint32_t ms)
{
    uint64_t end = loop_now_ns() + (uint64_t)ms * NS_PER_MS;
    heartbeat_remove(&l->heartbeat);
    if (l->mute)
        return;
    while (link_write_some(l) && loop_now_ns() < end)
        link_wait_a_little(l, POLLOUT);
    if (l->mute)
        return;
    l->mute = true;
    link_discard_output(l);
    loop_cancel(l->loop, &l->flush);
    loop_want(l->loop, &l->watch, LOOP_IN);
    shutdown(l->watch.fd, SHUT_WR);
    while (link_has_unacked(l) && loop_now_ns() < end)
        link_wait_a_little(l, 0);
}

/* ---- receiving -------------------------------------------------------------------- */

#define CHANGED                                                                          \
    " a message that is not authentic: its connection was changed in transit, or a "     \
    "foreign message was injected"

/* What was received is not what the other side has sent; it is told, as far as it still
 * receives. */
static void link_reject(struct link *l, const char *why)
{
    pthread_mutex_lock(&l->lock);
    if (!l->mute) {
        evbuffer_drain(l->out, evbuffer_get_length(l->out));
        record_seal_alert(l->seal, l->wire);
        link_write(l);
    }
    l->mute = true;
    snprintf(l->why, sizeof l->why, "%s", why);
    pthread_mutex_unlock(&l->lock);
    l->not_authentic = true;
    link_go_down(l, why);
}

/* False: the link is down, or the callback has freed it. */
static bool link_deliver(struct link *l, const struct frame *f)
{
    if (f->type == WIRE_PING)
        return true;
    l->busy = true;
    l->events->frame(l->arg, l, f);
    l->busy = false;
    if (!l->freed)
        return true;
    link_release(l);
    return false;
}

/* Delivers the complete frames.  False: the link is down or freed. */
static bool link_recv_frames(struct link *l)
{
    char text[WHY_BYTES];
    struct header h;
    while (evbuffer_copyout(l->in, &h, sizeof h) == (ev_ssize_t)sizeof h) {
        uint32_t type = le32toh(h.type);
        uint64_t len = le64toh(h.len);
        text[0] = '\0';
        if (type >= WIRE_TYPES)
            snprintf(text, sizeof text, "sent an invalid message (type %u)", type);
        else if (len > PAYLOAD_MAX)
            snprintf(text, sizeof text,
                     "sent an invalid message (%s of %" PRIu64 " bytes)", wire_name(type),
                     len);
        if (text[0] != '\0') {
            link_go_down(l, text);
            return false;
        }
        if (evbuffer_get_length(l->in) - sizeof h < len)
            return true;
        const unsigned char *at =
            evbuffer_pullup(l->in, (ev_ssize_t)(sizeof h + (size_t)len));
        if (at == NULL)
            error_no_memory();
        struct frame f = {.type = type,
                          .from = le32toh(h.from),
                          .to = le32toh(h.to),
                          .data = at + sizeof h,
                          .len = (size_t)len};
        if (!link_deliver(l, &f))
            return false;
        evbuffer_drain(l->in, sizeof h + f.len);
    }
    return true;
}

/* Opens the complete records.  False: the link is down or freed. */
static bool link_recv_records(struct link *l)
{
    enum record_status s;
    while ((s = record_open(l->seal, &l->body, l->sealed, l->in)) == RECORD_DONE) {
        l->partial_ns = 0;
        if (!link_recv_frames(l))
            return false;
    }
    if (s == RECORD_MORE)
        return true;
    if (s == RECORD_NOT_AUTHENTIC) {
        link_reject(l, "sent" CHANGED);
        return false;
    }
    l->not_authentic = true;
    link_go_down(l, "received" CHANGED);
    return false;
}

/* End of file (err = 0), or an error of the socket. */
static void link_found_end(struct link *l, int err)
{
    char text[WHY_BYTES];
    if (err != 0)
        link_go_down(l, link_error_text(l, err, text));
    else if (evbuffer_get_length(l->in) > 0 || evbuffer_get_length(l->sealed) > 0 ||
             l->body > 0)
        link_go_down(l, "closed the connection in the middle of a message");
    else
        link_go_down(l, "closed the connection");
}

/* Reads a bounded amount, so that other descriptors of the loop are served. */
static void link_read_some(struct link *l)
{
    for (size_t left = TURN_BYTES; left > 0;) {
        struct evbuffer_iovec v;
        if (evbuffer_reserve_space(l->sealed, READ_SPACE, &v, 1) != 1)
            error_no_memory();
        size_t len = v.iov_len < left ? v.iov_len : left;
        ssize_t n = recv(l->watch.fd, v.iov_base, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            link_found_end(l, n < 0 ? errno : 0);
            return;
        }
        v.iov_len = (size_t)n;
        evbuffer_commit_space(l->sealed, &v, 1);
        l->last_recv_ns = loop_now_ns();
        l->moved = true;
        l->silent_ns = 0;
        left -= (size_t)n;
        if (!link_recv_records(l) || (size_t)n < len)
            return;
    }
}

static void link_on_ready(void *arg, unsigned ready)
{
    struct link *l = arg;
    if (ready & LOOP_OUT)
        link_write_some(l);
    if (ready & LOOP_IN)
        link_read_some(l);
}

/* ---- liveness --------------------------------------------------------------------- */

/* Adds the time since the last tick to the silence of the other side, but at most two
 * tick periods: for the rest we were stopped or busy, and its frames may not be read
 * yet.  After more than host_ns of that the silence starts again from 0. */
static void link_measure_silence(struct link *l, uint64_t now)
{
    uint64_t from = l->last_recv_ns > l->ticked_ns ? l->last_recv_ns : l->ticked_ns;
    uint64_t most = 2 * (l->host_ns / TICKS);
    if (now - l->ticked_ns > l->host_ns)
        l->silent_ns = 0;
    else
        l->silent_ns += now - from < most ? now - from : most;
    if (l->moved && (l->body > 0 || evbuffer_get_length(l->sealed) > 0))
        l->partial_ns += now - l->ticked_ns < most ? now - l->ticked_ns : most;
    l->moved = false;
    l->ticked_ns = now;
}

/*
 * True if the host of the other side has stopped acknowledging: the kernel answers even
 * while the process is stopped, starved of the processor or in a long callback.
 * TCP_USER_TIMEOUT cannot detect this: it also ends a connection whose other side merely
 * does not read.
 */
static bool link_host_gone(const struct link *l)
{
    struct tcp_info t;
    socklen_t len = sizeof t;
    memset(&t, 0, sizeof t);
    if (getsockopt(l->watch.fd, IPPROTO_TCP, TCP_INFO, &t, &len) != 0)
        return false;
    return (uint64_t)t.tcpi_last_ack_recv * NS_PER_MS >= l->host_ns &&
           (t.tcpi_probes >= UNANSWERED_PROBE || t.tcpi_retransmits >= UNANSWERED_PROBE);
}

static void link_on_tick(void *arg)
{
    struct link *l = arg;
    char text[WHY_BYTES];
    link_measure_silence(l, loop_now_ns());
    bool silent = l->silent_ns >= l->timeout_ns, gone = l->life == LINK_AWAKE && silent;
    if (gone || link_host_gone(l)) {
        link_go_down(l, link_unanswered(gone ? l->timeout_ns : l->host_ns, text));
        return;
    }
    if (l->partial_ns >= l->timeout_ns) {
        link_reject(l, link_incomplete(l->partial_ns, text));
        return;
    }
    /* A process that is silent because it is stopped does not read, and pings would fill
     * its receive window. */
    pthread_mutex_lock(&l->lock);
    l->no_pings = silent;
    pthread_mutex_unlock(&l->lock);
    link_write_some(l); /* what the heartbeat thread could not write */
    loop_after(l->loop, &l->tick, l->host_ns / NS_PER_MS / TICKS + 1);
}

/*
 * Runs in the heartbeat thread.  It writes from the queue only, to which it adds a PING
 * only if it is empty, so that no byte gets into the middle of a frame.  It does not wait
 * for the lock: its owner is sending, or waits for the processor and would delay the
 * other links.
 */
static void link_on_beat(void *arg)
{
    static const struct frame ping = {
        .type = WIRE_PING, .from = WIRE_NONE, .to = WIRE_NONE};
    struct link *l = arg;
    if (pthread_mutex_trylock(&l->lock) != 0)
        return;
    bool due = !l->mute && loop_now_ns() - l->sent_ns >= l->host_ns / PINGS;
    if (due && link_pending(l) == 0 && !l->no_pings)
        link_encode(&l->out, &ping);
    if (due)
        link_write(l);
    pthread_mutex_unlock(&l->lock);
}

/* ---- open and close --------------------------------------------------------------- */

static void link_set_option(int fd, int level, int name, int value)
{
    setsockopt(fd, level, name, &value, sizeof value); /* fails if it is not TCP */
}

/* Keep-alive probes detect an unreachable host while nothing is sent. */
static void link_tune(int fd, uint32_t timeout_ms)
{
    uint32_t probes =
        link_host_ms(timeout_ms) / MS_PER_S / KEEPALIVE_S + UNANSWERED_PROBE;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    link_set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    link_set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    link_set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_S);
    link_set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_S);
    link_set_option(fd, IPPROTO_TCP, TCP_KEEPCNT,
                    (int)(probes < KEEPALIVES_MAX ? probes : KEEPALIVES_MAX));
}

struct link *link_open(struct loop *loop, int fd, struct seal *seal, uint32_t timeout_ms,
                       enum link_life peer, const struct link_events *events, void *arg)
{
    struct link *l = mem_alloc(sizeof *l);
    struct address other;
    uint64_t now = loop_now_ns();
    *l = (struct link){.loop = loop, .events = events, .arg = arg, .life = peer};
    l->seal = seal;
    l->sealed = evbuffer_new();
    l->in = evbuffer_new();
    l->out = evbuffer_new();
    l->wire = evbuffer_new();
    if (l->sealed == NULL || l->in == NULL || l->out == NULL || l->wire == NULL)
        error_no_memory();
    pthread_mutex_init(&l->lock, NULL);
    l->timeout_ns = (uint64_t)timeout_ms * NS_PER_MS;
    l->host_ns = (uint64_t)link_host_ms(timeout_ms) * NS_PER_MS;
    l->last_recv_ns = l->sent_ns = l->ticked_ns = now;
    l->watch = (struct loop_watch){.fd = fd, .fn = link_on_ready, .arg = l};
    l->flush = (struct loop_timer){.fn = link_on_flush, .arg = l};
    l->tick = (struct loop_timer){.fn = link_on_tick, .arg = l};
    l->heartbeat = (struct heartbeat){
        .period_ns = l->host_ns / TICKS, .beat = link_on_beat, .arg = l};
    address_of_peer(&other, fd);
    address_text(&other, l->peer);
    link_tune(fd, timeout_ms);
    if (heartbeat_add(&l->heartbeat) != 0) {
        close(fd);
        link_release(l);
        return NULL;
    }
    loop_want(loop, &l->watch, LOOP_IN);
    loop_after(loop, &l->tick, link_host_ms(timeout_ms) / TICKS + 1);
    return l;
}

const char *link_peer(const struct link *l)
{
    return l->peer;
}

bool link_not_authentic(const struct link *l)
{
    return l->not_authentic;
}

void *link_user(const struct link *l)
{
    return l->user;
}

void link_set_user(struct link *l, void *user)
{
    l->user = user;
}

void link_free(struct link *l)
{
    if (l == NULL || l->freed)
        return;
    link_disable_events(l);
    close(l->watch.fd);
    l->freed = true;
    if (!l->busy)
        link_release(l);
}
