/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listener.c - see listener.h.
 *
 * Unauthenticated connections are connections that have proven nothing yet.  There is
 * space for a fixed number of them and a fixed time for each; when one more comes the
 * oldest is shut out. That cannot keep out a daemon of the job: it answers the greeting
 * at once, so it needs its place for one round trip, in which all the others would have
 * to come after it. Should that happen, it is told to come again and does (connector.c).
 * With the youngest shut out, or none accepted, a few silent connections would hold the
 * listener shut.
 */
#include "config.h"

#include "tools/oshrun/net/listener.h"

#include "tools/oshrun/net/address.h"
#include "tools/oshrun/net/auth.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKETS_MAX    16   /* addresses at which one listener listens */
#define PENDING_MAX    64   /* at a time */
#define PENDING_MS     2000 /* that an unauthenticated connection may take */
#define PERIODS        4    /* that make it up */
#define ACCEPTS        16   /* in one turn of the loop */
#define PAUSE_MS       100  /* when there is no descriptor or memory for one more */
#define TOLD_MAX       8    /* refusals that are told */
#define SENTENCE_BYTES 256
#define MS_PER_S       1000

struct listen_socket {
    struct listener *listener;
    struct loop_watch watch;
};

struct pending {
    struct listener *listener;
    struct loop_watch watch;
    struct loop_timer patience;
    int periods; /* of its time that are over */
    struct auth auth;
    struct address from;
    uint64_t number; /* in the order of arrival; 0: this place is free */
};

struct listener {
    struct loop *loop;
    struct nonce nonce;
    const struct listener_events *events;
    void *arg;
    struct listen_socket socket[SOCKETS_MAX];
    size_t nsockets;
    struct pending pending[PENDING_MAX];
    uint64_t came;
    unsigned told;
    struct loop_timer pause;
    bool accepting, closed; /* listener_close was called in an event of that */
};

/* ---- unauthenticated connections
 * -------------------------------------------------------------------- */

/* Its place is free; the descriptor is the caller's. */
static int pending_detach(struct pending *s)
{
    loop_want(s->listener->loop, &s->watch, 0);
    loop_cancel(s->listener->loop, &s->patience);
    s->number = 0;
    return s->watch.fd;
}

/* The receiver of the event may close the listener. */
static void refuse(struct pending *s, const char *why)
{
    struct listener *d = s->listener;
    char from[ADDRESS_TEXT], sentence[SENTENCE_BYTES];
    close(pending_detach(s));
    if (d->told == TOLD_MAX)
        return;
    d->told++;
    address_text(&s->from, from);
    snprintf(sentence, sizeof sentence, "refused a connection from %s: %s%s", from, why,
             d->told < TOLD_MAX ? "" : " (further ones are not told)");
    d->events->refused(d->arg, sentence);
}

static void refuse_for(struct pending *s, enum auth_news news)
{
    static const char *const why[] = {
        [AUTH_ALIEN] = "it sent what is not the greeting of a daemon",
        [AUTH_WRONG] = "it does not know the nonce of this job",
        [AUTH_CLOSED] = "it closed the connection before it had proven itself",
    };
    char error[SENTENCE_BYTES / 2];
    if (news == AUTH_BROKEN)
        snprintf(error, sizeof error, "it broke off before it had proven itself (%s)",
                 strerror(errno));
    refuse(s, news == AUTH_BROKEN ? error : why[news]);
}

static void on_pending_readable(void *arg, unsigned ready)
{
    struct pending *s = arg;
    struct listener *d = s->listener;
    (void)ready;
    enum auth_news news = auth_read(&s->auth);
    if (news == AUTH_WAITS)
        return;
    if (news == AUTH_PROVEN)
        d->events->came(d->arg, pending_detach(s));
    else if (news == AUTH_LEFT)
        close(pending_detach(s));
    else
        refuse_for(s, news);
}

static void on_pending_timeout(void *arg)
{
    struct pending *s = arg;
    char why[SENTENCE_BYTES / 2];
    if (++s->periods < PERIODS) { /* in parts: what we are stopped for counts once */
        loop_after(s->listener->loop, &s->patience, PENDING_MS / PERIODS);
        return;
    }
    snprintf(why, sizeof why, "it %s for %d s",
             s->auth.have > 0 ? "sent half a greeting and then nothing" : "said nothing",
             PENDING_MS / MS_PER_S);
    auth_leave(&s->auth); /* in case it is one of us, and slow */
    refuse(s, why);
}

/* A free place: the oldest leaves if there is none. */
static struct pending *evict_oldest(struct listener *d)
{
    struct pending *oldest = &d->pending[0];
    for (struct pending *s = d->pending; s < d->pending + PENDING_MAX; s++)
        if (s->number < oldest->number)
            oldest = s;
    if (oldest->number == 0)
        return oldest;
    auth_leave(&oldest->auth);
    refuse(oldest, "it had not proven itself when too many others came");
    return oldest;
}

static void accept_pending(struct listener *d, int fd, const struct address *from)
{
    struct pending *s = evict_oldest(d);
    if (d->closed || auth_start(&s->auth, fd, AUTH_LISTENER, &d->nonce) != 0) {
        close(fd);
        return;
    }
    s->listener = d;
    s->from = *from;
    s->number = ++d->came;
    s->watch = (struct loop_watch){.fd = fd, .fn = on_pending_readable, .arg = s};
    s->patience = (struct loop_timer){.fn = on_pending_timeout, .arg = s};
    loop_want(d->loop, &s->watch, LOOP_IN);
    s->periods = 0;
    loop_after(d->loop, &s->patience, PENDING_MS / PERIODS);
}

/* ---- the listener ---------------------------------------------------------------------
 */

static void listen_at_all(struct listener *d, bool on)
{
    for (size_t i = 0; i < d->nsockets; i++)
        loop_want(d->loop, &d->socket[i].watch, on ? LOOP_IN : 0);
}

static void on_pause_over(void *arg)
{
    listen_at_all(arg, true);
}

/* What accept can say that is not about one connection only: trying again at once would
 * only spin. */
static bool exhausted(int err)
{
    return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;
}

static void accept_some(struct listener *d, int listener)
{
    for (int i = 0; i < ACCEPTS && !d->closed; i++) {
        struct address from = {.len = sizeof from.as};
        int fd = accept4(listener, &from.as.any, &from.len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            accept_pending(d, fd, &from);
        } else if (exhausted(errno)) {
            listen_at_all(d, false);
            loop_after(d->loop, &d->pause, PAUSE_MS);
            return;
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

static void on_acceptable(void *arg, unsigned ready)
{
    struct listen_socket *e = arg;
    struct listener *d = e->listener;
    (void)ready;
    d->accepting = true;
    accept_some(d, e->watch.fd);
    d->accepting = false;
    if (d->closed)
        free(d);
}

/* Adds a socket that listens at this address.  0, or -1 with errno. */
static int add_socket(struct listener *d, struct address *at)
{
    int fd = address_socket(at);
    if (fd < 0)
        return -1;
    if (bind(fd, &at->as.any, at->len) != 0 || listen(fd, SOMAXCONN) != 0) {
        int err = errno;
        close(fd);
        errno = err;
        return -1;
    }
    address_of_socket(at, fd);
    struct listen_socket *e = &d->socket[d->nsockets++];
    *e = (struct listen_socket){.listener = d};
    e->watch = (struct loop_watch){.fd = fd, .fn = on_acceptable, .arg = e};
    return 0;
}

/* At one address at least, of those that were chosen: one may have just gone. */
static int listen_where(struct listener *d, struct address *at, size_t n, char *addresses,
                        char *why, size_t len)
{
    char text[ADDRESS_TEXT];
    size_t have = 0;
    for (size_t i = 0; i < n; i++) {
        if (add_socket(d, &at[i]) != 0) {
            address_text(&at[i], text);
            snprintf(why, len, "cannot listen at %s (%s)", text, strerror(errno));
            continue;
        }
        address_text(&at[i], text);
        have += (size_t)snprintf(addresses + have, ADDRESSES_MAX - have, "%s%s",
                                 have > 0 ? "," : "", text);
    }
    return d->nsockets > 0 ? 0 : -1;
}

_Static_assert(SOCKETS_MAX *ADDRESS_TEXT <= ADDRESSES_MAX, "all addresses are told");

struct listener *listener_open(struct loop *loop, const struct nonce *nonce,
                               const char *which, char addresses[ADDRESSES_MAX],
                               const struct listener_events *events, void *arg, char *why,
                               size_t len)
{
    struct address at[SOCKETS_MAX];
    size_t n = address_choose(which, at, SOCKETS_MAX, why, len);
    if (n == 0)
        return NULL;
    struct listener *d = calloc(1, sizeof *d);
    if (d == NULL) {
        snprintf(why, len, "there is no memory to listen for connections");
        return NULL;
    }
    *d = (struct listener){.loop = loop, .nonce = *nonce, .events = events, .arg = arg};
    d->pause = (struct loop_timer){.fn = on_pause_over, .arg = d};
    if (listen_where(d, at, n, addresses, why, len) != 0) {
        listener_close(d);
        return NULL;
    }
    listen_at_all(d, true);
    return d;
}

void listener_close(struct listener *d)
{
    if (d == NULL || d->closed)
        return;
    d->closed = true;
    loop_cancel(d->loop, &d->pause);
    listen_at_all(d, false);
    for (size_t i = 0; i < d->nsockets; i++)
        close(d->socket[i].watch.fd);
    for (struct pending *s = d->pending; s < d->pending + PENDING_MAX; s++)
        if (s->number != 0)
            close(pending_detach(s));
    explicit_bzero(&d->nonce, sizeof d->nonce);
    if (!d->accepting)
        free(d);
}
