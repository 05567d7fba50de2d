/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link.c - see link.h.
 *
 * `down` is called from the loop only.  If sending fails, the socket is shut down, so
 * that the loop reads what the other side has sent (its last message may tell why it
 * exits) and then gets end of file.
 */
#include "config.h"

#include "tools/oshrun/net/link.h"

#include "tools/oshrun/net/address.h"
#include "tools/oshrun/net/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADER_BYTES     20
#define PAYLOAD_MAX      ((uint64_t)1 << 40) /* larger: a corrupt header */
#define FIRST_CAPACITY   ((size_t)64 * 1024) /* of a queue; if larger, freed when empty */
#define READ_SCRATCH     ((size_t)32 * 1024) /* free space before a read */
#define TURN_BYTES       ((size_t)256 * 1024) /* per link and iteration of the loop */
#define WHY_BYTES        128
#define TICKS            8 /* checks of the clock per host time-out */
#define PINGS            4 /* pings per host time-out */
#define KEEPALIVE_S      1
#define KEEPALIVES_MAX   127 /* the kernel's limit */
#define UNANSWERED_PROBE 2   /* a single one may be lost or in flight */
#define FLUSH_STEP_MS    5
#define MS_PER_S         1000

struct queue {
    unsigned char *data;
    size_t head, tail, capacity;
};

struct link {
    struct loop *loop;
    struct loop_watch watch;
    struct loop_timer flush, tick;
    const struct link_events *events;
    void *arg, *user;
    enum link_life life;
    struct queue in, out;
    uint64_t timeout_ns; /* silence of the process */
    uint64_t host_ns;    /* silence of its host's kernel */
    uint64_t last_recv_ns, sent_ns, ticked_ns;
    uint64_t silent_ns; /* silence of the other side, while this process was running */
    bool mute;          /* sending is disabled */
    bool busy, freed;   /* in frame(); link_free was called */
    char why[WHY_BYTES];
    char peer[LINK_PEER_TEXT];
};

_Static_assert(ADDRESS_TEXT <= LINK_PEER_TEXT, "an address is the name of a link");

/* ---- queues ----------------------------------------------------------------------- */

/* Reserves len bytes.  Data is moved only after at least as many bytes were consumed or
 * when the buffer doubles: O(1) amortized per byte. */
static bool link_reserve(struct queue *q, size_t len)
{
    if (q->capacity - q->tail >= len)
        return true;
    size_t used = q->tail - q->head;
    bool grow = q->head < used || q->capacity - used < len;
    if (q->head > 0)
        memmove(q->data, q->data + q->head, used);
    q->head = 0;
    q->tail = used;
    if (!grow)
        return true;
    size_t capacity = q->capacity != 0 ? 2 * q->capacity : FIRST_CAPACITY;
    while (capacity - used < len)
        capacity *= 2;
    unsigned char *more = realloc(q->data, capacity);
    if (more == NULL)
        return false;
    q->data = more;
    q->capacity = capacity;
    return true;
}

static void link_empty(struct queue *q)
{
    free(q->data);
    *q = (struct queue){0};
}

static void link_consume(struct queue *q, size_t len)
{
    q->head += len;
    if (q->head < q->tail)
        return;
    q->head = q->tail = 0;
    if (q->capacity > FIRST_CAPACITY)
        link_empty(q);
}

static size_t link_pending(const struct queue *q)
{
    return q->tail - q->head;
}

/* ---- closing ---------------------------------------------------------------------- */

static void link_release(struct link *l)
{
    link_empty(&l->in);
    link_empty(&l->out);
    free(l);
}

static void link_disable_events(struct link *l)
{
    l->mute = true;
    loop_want(l->loop, &l->watch, 0);
    loop_cancel(l->loop, &l->flush);
    loop_cancel(l->loop, &l->tick);
}

/* Must be the last use of l: the callback may free it. */
static void link_go_down(struct link *l, const char *why)
{
    char first[WHY_BYTES]; /* the first error is the reason */
    snprintf(first, sizeof first, "%s", l->why[0] != '\0' ? l->why : why);
    link_disable_events(l);
    l->events->down(l->arg, l, first);
}

static const char *link_unanswered(uint64_t ns, char text[WHY_BYTES])
{
    snprintf(text, WHY_BYTES,
             "has not answered for %.1f s (SHMEM_LAUNCH_TIMEOUT sets the time)",
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

/* Disables sending; the loop reads up to end of file and then calls `down`. */
static void link_fail_to_send(struct link *l, const char *why)
{
    l->mute = true;
    snprintf(l->why, sizeof l->why, "%s", why);
    link_empty(&l->out);
    shutdown(l->watch.fd, SHUT_RDWR);
}

/* ---- sending ---------------------------------------------------------------------- */

static void link_write_some(struct link *l)
{
    char text[WHY_BYTES];
    size_t left = TURN_BYTES;
    while (left > 0 && link_pending(&l->out) > 0) {
        size_t len = link_pending(&l->out) < left ? link_pending(&l->out) : left;
        ssize_t n = send(l->watch.fd, l->out.data + l->out.head, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            link_fail_to_send(l, link_error_text(l, errno, text));
            break;
        }
        l->sent_ns = loop_now_ns();
        left -= (size_t)n;
        link_consume(&l->out, (size_t)n);
    }
    loop_want(l->loop, &l->watch,
              link_pending(&l->out) > 0 ? LOOP_IN | LOOP_OUT : LOOP_IN);
}

/* One send for all frames that were queued in an iteration of the loop. */
static void link_on_flush(void *arg)
{
    struct link *l = arg;
    link_write_some(l);
}

static void link_put_number(unsigned char **at, uint64_t v, size_t len)
{
    for (size_t i = 0; i < len; i++)
        *(*at)++ = (unsigned char)(v >> (8 * i));
}

void link_send(struct link *l, const struct frame *f)
{
    if (l->mute)
        return;
    if (f->len > PAYLOAD_MAX || !link_reserve(&l->out, HEADER_BYTES + f->len)) {
        link_fail_to_send(l, "cannot be sent a message (no memory)");
        return;
    }
    bool first = link_pending(&l->out) == 0;
    unsigned char *at = l->out.data + l->out.tail;
    link_put_number(&at, f->type, sizeof(uint32_t));
    link_put_number(&at, f->from, sizeof(uint32_t));
    link_put_number(&at, f->to, sizeof(uint32_t));
    link_put_number(&at, f->len, sizeof(uint64_t));
    if (f->len > 0)
        memcpy(at, f->data, f->len);
    l->out.tail += HEADER_BYTES + f->len;
    if (first)
        loop_after(l->loop, &l->flush, 0);
}

size_t link_queued(const struct link *l)
{
    return link_pending(&l->out);
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
    if (l->mute)
        return;
    link_write_some(l);
    while (!l->mute && link_pending(&l->out) > 0 && loop_now_ns() < end) {
        link_wait_a_little(l, POLLOUT);
        link_write_some(l);
    }
    if (l->mute)
        return;
    l->mute = true;
    link_empty(&l->out);
    loop_cancel(l->loop, &l->flush);
    loop_want(l->loop, &l->watch, LOOP_IN);
    shutdown(l->watch.fd, SHUT_WR);
    while (link_has_unacked(l) && loop_now_ns() < end)
        link_wait_a_little(l, 0);
}

/* ---- receiving -------------------------------------------------------------------- */

/* False: the callback has freed the link. */
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
static bool link_take_frames(struct link *l)
{
    char text[WHY_BYTES];
    while (link_pending(&l->in) >= HEADER_BYTES) {
        const unsigned char *at = l->in.data + l->in.head;
        struct unpack u = unpack_of(at, HEADER_BYTES);
        struct frame f = {.data = at + HEADER_BYTES};
        uint32_t type = unpack_u32(&u);
        f.from = unpack_u32(&u);
        f.to = unpack_u32(&u);
        uint64_t len = unpack_u64(&u);
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
        if (link_pending(&l->in) - HEADER_BYTES < len)
            return true;
        f.type = type;
        f.len = len;
        if (!link_deliver(l, &f))
            return false;
        link_consume(&l->in, HEADER_BYTES + f.len);
    }
    return true;
}

/* End of file (err = 0), or an error of the socket. */
static void link_found_end(struct link *l, int err)
{
    char text[WHY_BYTES];
    if (err != 0)
        link_go_down(l, link_error_text(l, err, text));
    else if (link_pending(&l->in) > 0)
        link_go_down(l, "closed the connection in the middle of a message");
    else
        link_go_down(l, "closed the connection");
}

/* Reads a bounded amount, so that other descriptors of the loop are served. */
static void link_read_some(struct link *l)
{
    for (size_t left = TURN_BYTES; left > 0;) {
        if (!link_reserve(&l->in, READ_SCRATCH)) {
            link_go_down(l, "sent more data than there is memory for");
            return;
        }
        size_t capacity = l->in.capacity - l->in.tail,
               len = capacity < left ? capacity : left;
        ssize_t n = recv(l->watch.fd, l->in.data + l->in.tail, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            link_found_end(l, n < 0 ? errno : 0);
            return;
        }
        l->in.tail += (size_t)n;
        l->last_recv_ns = loop_now_ns();
        l->silent_ns = 0;
        left -= (size_t)n;
        if (!link_take_frames(l) || (size_t)n < len)
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

/* No PING to a process that is silent because it is stopped: it does not read, and pings
 * would fill its receive window. */
static bool link_ping_due(const struct link *l, uint64_t now)
{
    if (l->mute || link_pending(&l->out) > 0 || now - l->sent_ns < l->host_ns / PINGS)
        return false;
    return l->life == LINK_AWAKE || l->silent_ns < l->timeout_ns;
}

static void link_on_tick(void *arg)
{
    static const struct frame ping = {
        .type = WIRE_PING, .from = WIRE_NONE, .to = WIRE_NONE};
    struct link *l = arg;
    char text[WHY_BYTES];
    uint64_t now = loop_now_ns();
    link_measure_silence(l, now);
    bool silent = l->life == LINK_AWAKE && l->silent_ns >= l->timeout_ns;
    if (silent || link_host_gone(l)) {
        link_go_down(l, link_unanswered(silent ? l->timeout_ns : l->host_ns, text));
        return;
    }
    if (link_ping_due(l, now))
        link_send(l, &ping);
    loop_after(l->loop, &l->tick, l->host_ns / NS_PER_MS / TICKS + 1);
}

/* ---- open and close --------------------------------------------------------------- */

static void link_set_option(int fd, int level, int name, int value)
{
    setsockopt(fd, level, name, &value, sizeof value); /* fails if it is not TCP */
}

/* Keep-alive probes detect an unreachable host while nothing is sent. */
static void link_tune(int fd, uint32_t timeout_ms, enum link_life life)
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
    if (life == LINK_AWAKE)
        link_set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)timeout_ms);
}

struct link *link_open(struct loop *loop, int fd, uint32_t timeout_ms,
                       enum link_life peer, const struct link_events *events, void *arg)
{
    struct link *l = malloc(sizeof *l);
    if (l == NULL) {
        close(fd);
        return NULL;
    }
    struct address other;
    uint64_t now = loop_now_ns();
    *l = (struct link){.loop = loop, .events = events, .arg = arg, .life = peer};
    l->timeout_ns = (uint64_t)timeout_ms * NS_PER_MS;
    l->host_ns = (uint64_t)link_host_ms(timeout_ms) * NS_PER_MS;
    l->last_recv_ns = l->sent_ns = l->ticked_ns = now;
    l->watch = (struct loop_watch){.fd = fd, .fn = link_on_ready, .arg = l};
    l->flush = (struct loop_timer){.fn = link_on_flush, .arg = l};
    l->tick = (struct loop_timer){.fn = link_on_tick, .arg = l};
    address_of_peer(&other, fd);
    address_text(&other, l->peer);
    link_tune(fd, timeout_ms, peer);
    loop_want(loop, &l->watch, LOOP_IN);
    loop_after(loop, &l->tick, link_host_ms(timeout_ms) / TICKS + 1);
    return l;
}

const char *link_peer(const struct link *l)
{
    return l->peer;
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
