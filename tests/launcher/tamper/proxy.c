/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proxy.c - executes a command in a network of its own, in which all TCP connections pass
 * through this process, and changes one frame of one of them.
 *
 *     proxy RESULT COMMAND [ARGUMENT..]
 *     proxy -c STREAM NUMBER ACTION RESULT COMMAND [ARGUMENT..]
 *
 * STREAM: as in `frames` below: PROTOCOL-SIDE-1 and -2 are messages of the handshake, and
 * PROTOCOL-SIDE is what follows.  The frames of all connections are counted together.
 *   ACTION: see `names`.  The file RESULT gets lines
 * `frames STREAM COUNT`, and `did STREAM NUMBER ACTION BYTES HOW`: what was done.  Exits
 * with the status of the command (128 + signal), or 77 if there can be no such network.
 *
 * nftables redirects the connections to our port, except our own, which have a mark.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/launcher/tamper/proxy.h"

enum {
    PORT = 999,
    MARK = 7,
    ORIGINAL_DST = 80, /* SO_ORIGINAL_DST and IP6T_SO_ORIGINAL_DST */
    CONNECTIONS = 512,
    READ_BYTES = 64 << 10,
    OUT_BYTES = 1 << 20, /* a side is not read while so much is not written */
    HOLD_MS = 300,       /* for the next frame */
    POLL_MS = 20,
    SKIP = 77,
    LISTENERS = 2,
};

enum action { NONE, FLIP_HEADER, FLIP_BODY, FLIP_TAG, DROP, REPEAT, SWAP, CUT, ACTIONS };

static const char *const names[ACTIONS] = {"none", "flip-header", "flip-body", "flip-tag",
                                           "drop", "repeat",      "swap",      "cut"};
static const char *const streams[PROTOCOLS][SIDES][STAGES] = {
    [LINK] = {{"link-connector-1", NULL, "link-connector"},
              {"link-listener-1", "link-listener-2", "link-listener"}},
    [MESH] = {{"mesh-connector-1", NULL, "mesh-connector"},
              {"mesh-listener-1", "mesh-listener-2", "mesh-listener"}},
    [TCP] = {{"tcp-connector-1", "tcp-connector-2", NULL},
             {"tcp-listener-1", "tcp-listener-2", NULL}}};

struct bytes {
    unsigned char *at;
    size_t have, space;
};

/* One direction of a connection. */
struct flow {
    int from, to;
    struct stream stream;
    struct bytes in, out, held;
    uint64_t held_ms; /* since when */
    bool ended, shut; /* no more input; the output was ended, too */
};

struct connection {
    struct flow flow[SIDES];
    bool cut; /* closed when its output is written */
};

static struct {
    struct connection *list[CONNECTIONS];
    unsigned count;
    int listener[LISTENERS], children;
    unsigned frames[PROTOCOLS][SIDES][STAGES];
    const char *stream;
    unsigned number;
    enum action action;
    size_t did_bytes;
    const char *did; /* NULL: the frame has not come */
} proxy;

__attribute__((format(printf, 2, 3))) _Noreturn static void
proxy_end(int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("proxy: ", stderr);
    vfprintf(stderr, format, args);
    fprintf(stderr, ": %s\n", strerror(errno));
    va_end(args);
    exit(status);
}

static uint64_t proxy_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- bytes ------------------------------------------------------------------------- */

static void bytes_reserve(struct bytes *b, size_t n)
{
    if (b->have + n <= b->space)
        return;
    b->space = 2 * b->space + n;
    b->at = realloc(b->at, b->space);
    if (b->at == NULL)
        proxy_end(1, "no memory for %zu bytes", b->space);
}

static void bytes_add(struct bytes *b, const unsigned char *from, size_t n)
{
    bytes_reserve(b, n);
    memcpy(b->at + b->have, from, n);
    b->have += n;
}

static void bytes_drop(struct bytes *b, size_t n)
{
    b->have -= n;
    memmove(b->at, b->at + n, b->have);
}

static void bytes_move(struct bytes *to, struct bytes *from)
{
    if (from->have > 0)
        bytes_add(to, from->at, from->have);
    from->have = 0;
}

/* ---- frames ------------------------------------------------------------------------ */

static void flow_flip(unsigned char *frame, size_t n, enum action action)
{
    size_t at = action == FLIP_HEADER ? 0 : action == FLIP_BODY ? n / 2 : n - 1;

    frame[at] ^= (unsigned char)(1U << proxy.number % 8);
}

/* Does to the frame what was asked for. */
static void flow_change(struct connection *c, struct flow *f, size_t n)
{
    proxy.did = names[proxy.action];
    proxy.did_bytes = n;
    switch (proxy.action) {
    case FLIP_HEADER:
    case FLIP_BODY:
    case FLIP_TAG:
        flow_flip(f->in.at, n, proxy.action);
        bytes_add(&f->out, f->in.at, n);
        break;
    case REPEAT:
        bytes_add(&f->out, f->in.at, n);
        bytes_add(&f->out, f->in.at, n);
        break;
    case SWAP:
        bytes_add(&f->held, f->in.at, n);
        f->held_ms = proxy_now_ms();
        proxy.did = "alone"; /* until another frame overtakes it */
        break;
    case CUT:
        bytes_add(&f->out, f->in.at, n / 2);
        c->cut = true;
        break;
    default: /* it is dropped */
        break;
    }
}

static void flow_take(struct connection *c, struct flow *f, size_t n)
{
    struct stream *s = &f->stream;
    unsigned *count = &proxy.frames[s->protocol][s->side][s->stage];
    const char *name = streams[s->protocol][s->side][s->stage];

    frame_end(s);
    if (proxy.stream != NULL && strcmp(proxy.stream, name) == 0 &&
        proxy.number == *count) {
        flow_change(c, f, n);
    } else {
        bytes_add(&f->out, f->in.at, n);
        if (f->held.have > 0)
            proxy.did = names[SWAP];
        bytes_move(&f->out, &f->held);
    }
    (*count)++;
    bytes_drop(&f->in, n);
}

/* Forwards the bytes that have arrived. */
static void flow_process(struct connection *c, struct flow *f)
{
    enum protocol found = UNKNOWN;

    if (f->stream.protocol == UNKNOWN)
        found = frame_protocol(f->in.at, f->in.have);
    if (found != UNKNOWN)
        c->flow[CONNECTOR].stream.protocol = c->flow[LISTENER].stream.protocol = found;
    while (f->stream.protocol != UNKNOWN && !c->cut) {
        size_t n = frame_length(&f->stream, f->in.at, f->in.have);
        if (n == SIZE_MAX) {
            bytes_move(&f->out, &f->held);
            bytes_move(&f->out, &f->in);
            return;
        }
        if (n == 0 || f->in.have < n)
            break;
        flow_take(c, f, n);
    }
}

/* ---- connections ------------------------------------------------------------------- */

static void flow_read(struct connection *c, struct flow *f)
{
    bytes_reserve(&f->in, READ_BYTES);
    ssize_t n = recv(f->from, f->in.at + f->in.have, READ_BYTES, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        f->in.have += (size_t)n;
        flow_process(c, f);
        return;
    }
    f->ended = true;
    bytes_move(&f->out, &f->held);
    bytes_move(&f->out, &f->in); /* half a frame */
    if (n < 0)
        c->cut = true;
}

static void flow_write(struct connection *c, struct flow *f)
{
    while (f->out.have > 0) {
        ssize_t n = send(f->to, f->out.at, f->out.have, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            f->out.have = 0;
            c->cut = true;
            return;
        }
        bytes_drop(&f->out, (size_t)n);
    }
    if (f->ended && !f->shut)
        shutdown(f->to, SHUT_WR);
    f->shut = f->ended;
}

static void connection_close(struct connection *c)
{
    for (int i = 0; i < SIDES; i++) {
        struct flow *f = &c->flow[i];
        close(f->from);
        free(f->in.at);
        free(f->out.at);
        free(f->held.at);
    }
    free(c);
}

/* True while the connection is needed. */
static bool connection_step(struct connection *c, uint64_t now)
{
    for (int i = 0; i < SIDES; i++) {
        struct flow *f = &c->flow[i];
        if (f->held.have > 0 && now - f->held_ms > HOLD_MS)
            bytes_move(&f->out, &f->held);
        flow_write(c, f);
    }
    if (c->cut && c->flow[0].out.have + c->flow[1].out.have == 0)
        return false;
    return !(c->flow[0].shut && c->flow[1].shut);
}

/* Connects to where the connection was going.  -1: nobody listens there. */
static int connection_onward(int from)
{
    struct sockaddr_storage to, me;
    socklen_t len = sizeof to, me_len = sizeof me;
    int on = 1, mark = MARK;

    if (getsockname(from, (struct sockaddr *)&me, &me_len) != 0)
        return -1;
    int level = me.ss_family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
    if (getsockopt(from, level, ORIGINAL_DST, &to, &len) != 0)
        return -1;
    int fd = socket(me.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof mark);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, (struct sockaddr *)&to, len) == 0)
        return fd;
    close(fd);
    return -1;
}

static void proxy_accept(int listener)
{
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    int on = 1, from = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

    if (from < 0)
        return;
    setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int to = proxy.count < CONNECTIONS ? connection_onward(from) : -1;
    struct connection *c = calloc(1, sizeof *c);
    if (to < 0 || c == NULL) {
        setsockopt(from, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        close(from);
        free(c);
        return;
    }
    c->flow[CONNECTOR] = (struct flow){.from = from, .to = to, .stream.side = CONNECTOR};
    c->flow[LISTENER] = (struct flow){.from = to, .to = from, .stream.side = LISTENER};
    proxy.list[proxy.count++] = c;
}

/* ---- the loop ---------------------------------------------------------------------- */

static short flow_events(const struct connection *c, int side)
{
    const struct flow *in = &c->flow[side], *out = &c->flow[1 - side];
    bool reads = !in->ended && !c->cut && in->out.have < OUT_BYTES;

    return (short)((reads ? POLLIN : 0) | (out->out.have > 0 ? POLLOUT : 0));
}

static void proxy_step(void)
{
    static struct pollfd p[LISTENERS + 1 + CONNECTIONS * SIDES];
    unsigned n = 0, count = proxy.count, kept = 0;

    p[n++] = (struct pollfd){.fd = proxy.children, .events = POLLIN};
    for (int i = 0; i < LISTENERS; i++)
        p[n++] = (struct pollfd){.fd = proxy.listener[i], .events = POLLIN};
    for (unsigned i = 0; i < count * SIDES; i++) {
        struct connection *c = proxy.list[i / SIDES];
        short events = flow_events(c, i % SIDES);
        p[n++] = (struct pollfd){.fd = events != 0 ? c->flow[i % SIDES].from : -1,
                                 .events = events};
    }
    poll(p, n, POLL_MS);
    for (int i = 0; i < LISTENERS; i++)
        if (p[1 + i].revents != 0)
            proxy_accept(proxy.listener[i]);
    for (unsigned i = 0; i < count * SIDES; i++)
        if ((p[1 + LISTENERS + i].revents & (POLLIN | POLLHUP | POLLERR)) != 0 &&
            (p[1 + LISTENERS + i].events & POLLIN) != 0)
            flow_read(proxy.list[i / SIDES], &proxy.list[i / SIDES]->flow[i % SIDES]);
    uint64_t now = proxy_now_ms();
    for (unsigned i = 0; i < proxy.count; i++) {
        if (connection_step(proxy.list[i], now))
            proxy.list[kept++] = proxy.list[i];
        else
            connection_close(proxy.list[i]);
    }
    proxy.count = kept;
}

/* ---- the network, the command ------------------------------------------------------ */

static int proxy_listen(int family)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    const void *at = family == AF_INET6 ? (void *)&six : (void *)&four;
    socklen_t len = family == AF_INET6 ? sizeof six : sizeof four;
    int on = 1, fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (fd >= 0 && (bind(fd, at, len) != 0 || listen(fd, CONNECTIONS) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void proxy_make_network(void)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

    if (unshare(CLONE_NEWNET) != 0)
        proxy_end(SKIP, "cannot make a network");
    proxy.listener[0] = proxy_listen(AF_INET);
    proxy.listener[1] = proxy_listen(AF_INET6); /* -1 where there is none */
    if (ioctl(proxy.listener[0], SIOCSIFFLAGS, &lo) != 0)
        proxy_end(SKIP, "cannot set lo up");
    FILE *rules = popen("nft -f -", "w");
    if (rules == NULL)
        proxy_end(SKIP, "cannot execute nft");
    fprintf(rules,
            "table inet tamper {\n"
            "chain out {\n"
            "type nat hook output priority -100\n"
            "policy accept\n"
            "meta mark %d accept\n"
            "meta l4proto tcp redirect to :%d\n"
            "}\n}\n",
            MARK, PORT);
    if (pclose(rules) != 0)
        proxy_end(SKIP, "nft does not redirect connections");
}

static pid_t proxy_execute(char **command)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    proxy.children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    pid_t child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    execvp(command[0], command);
    proxy_end(127, "cannot execute %s", command[0]);
}

static void proxy_report(const char *path)
{
    FILE *f = fopen(path, "w");

    if (f == NULL)
        proxy_end(1, "cannot write %s", path);
    for (int i = LINK; i <= TCP; i++)
        for (int k = 0; k < SIDES * STAGES; k++)
            if (streams[i][k / STAGES][k % STAGES] != NULL)
                fprintf(f, "frames %s %u\n", streams[i][k / STAGES][k % STAGES],
                        proxy.frames[i][k / STAGES][k % STAGES]);
    if (proxy.did != NULL)
        fprintf(f, "did %s %u %s %zu %s\n", proxy.stream, proxy.number,
                names[proxy.action], proxy.did_bytes, proxy.did);
    if (fclose(f) != 0)
        proxy_end(1, "cannot write %s", path);
}

int main(int argc, char **argv)
{
    int status = 0;
    char **arg = argv + 1;

    if (argc >= 7 && strcmp(arg[0], "-c") == 0) {
        proxy.stream = arg[1];
        proxy.number = (unsigned)strtoul(arg[2], NULL, 10);
        while (proxy.action < ACTIONS && strcmp(names[proxy.action], arg[3]) != 0)
            proxy.action++;
        arg += 4;
    }
    if (argc < 3 || proxy.action == ACTIONS) {
        fprintf(stderr, "proxy: see the beginning of proxy.c\n");
        return 1;
    }
    proxy_make_network();
    pid_t child = proxy_execute(arg + 1);
    while (waitpid(child, &status, WNOHANG) == 0)
        proxy_step();
    proxy_report(arg[0]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
