/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay.c - PE 0 records all bytes that its library sends on a new tcp connection to
 * PE 1, a put included, and sends them once more on a connection of its own.  PE 1 must
 * close it and not perform the put again, neither if the bytes arrive at once nor as
 * they were sent.  Prints "rows N, outcomes M".  Run by replay.sh.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FDS = 1024, BYTES = 4096, PIECES = 16, WAIT_MS = 100, WAITS = 200 };
enum { PUT = 42, CLEARED = 7 };

static long word;

/* ---- recording: these functions precede those of the C library --------------------- */

static bool recording;
static struct {
    bool fresh; /* the socket was made while recording */
    char bytes[BYTES];
    size_t have, end[PIECES], pieces;
} sent[FDS];

static void record(int fd, const struct iovec *iov, size_t n, ssize_t done)
{
    if (!recording || fd >= FDS || !sent[fd].fresh || done <= 0 ||
        sent[fd].pieces == PIECES)
        return;
    for (size_t i = 0, left = (size_t)done; i < n && left > 0; i++) {
        size_t len = iov[i].iov_len < left ? iov[i].iov_len : left;
        if (len > BYTES - sent[fd].have)
            return;
        memcpy(sent[fd].bytes + sent[fd].have, iov[i].iov_base, len);
        sent[fd].have += len;
        left -= len;
    }
    sent[fd].end[sent[fd].pieces++] = sent[fd].have;
}

/* The function of the C library. */
union next {
    void *object;
    int (*socket)(int, int, int);
    ssize_t (*send)(int, const void *, size_t, int);
    ssize_t (*sendmsg)(int, const struct msghdr *, int);
};

static union next next_of(const char *name)
{
    return (union next){.object = dlsym(RTLD_NEXT, name)};
}

int socket(int domain, int type, int protocol)
{
    int fd = next_of("socket").socket(domain, type, protocol);

    if (recording && fd >= 0 && fd < FDS) {
        memset(&sent[fd], 0, sizeof sent[fd]);
        sent[fd].fresh = true;
    }
    return fd;
}

ssize_t send(int fd, const void *from, size_t len, int flags)
{
    const struct iovec iov = {(void *)from, len};
    ssize_t n = next_of("send").send(fd, from, len, flags);

    record(fd, &iov, 1, n);
    return n;
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    struct iovec iov[PIECES];
    size_t n = m->msg_iovlen < PIECES ? m->msg_iovlen : PIECES;

    memcpy(iov, m->msg_iov, n * sizeof iov[0]);
    ssize_t done = next_of("sendmsg").sendmsg(fd, m, flags);
    record(fd, iov, n, done);
    return done;
}

/* ---- the replay -------------------------------------------------------------------- */

static struct sockaddr_in6 to; /* where PE 1 listens; an IPv4 address is shorter */

/* A put to PE 1 on a connection of its own; returns the socket, or -1. */
static int record_put(void)
{
    socklen_t to_len = sizeof to;
    shmem_ctx_t ctx;
    int fd;

    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0)
        return -1;
    recording = true;
    shmem_ctx_long_p(ctx, &word, PUT, 1);
    shmem_ctx_quiet(ctx);
    recording = false;
    for (fd = 0; fd < FDS && (!sent[fd].fresh || sent[fd].pieces < 2); fd++)
        ;
    if (fd == FDS || getpeername(fd, (struct sockaddr *)&to, &to_len) != 0)
        fd = -1;
    shmem_ctx_destroy(ctx);
    return fd;
}

/* Read until the end of the connection.  False: it is still open after WAIT_MS without a
 * byte. */
static bool is_closed(int fd)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    char bytes[BYTES];

    while (poll(&waiting, 1, WAIT_MS) == 1) {
        ssize_t n = recv(fd, bytes, sizeof bytes, 0);
        if (n <= 0)
            return true;
    }
    return false;
}

/* "refused"; "performed": PE 1 has stored the word once more; or "open". */
static const char *replay(int fd, bool in_pieces)
{
    int s = socket(to.sin6_family, SOCK_STREAM, 0), on = 1;
    const char *what = "open";

    shmem_long_p(&word, CLEARED, 1);
    shmem_quiet();
    if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) != 0)
        return "not connected";
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (size_t i = 0, at = 0; i < sent[fd].pieces; at = sent[fd].end[i++]) {
        size_t end = sent[fd].end[in_pieces ? i : sent[fd].pieces - 1];
        if (at < end && send(s, sent[fd].bytes + at, end - at, MSG_NOSIGNAL) < 0)
            break;
        if (!in_pieces || is_closed(s))
            break;
    }
    for (int i = 0; i < WAITS && strcmp(what, "open") == 0; i++) {
        if (is_closed(s))
            what = "refused";
        if (shmem_long_g(&word, 1) == PUT)
            what = "performed";
    }
    close(s);
    return what;
}

int main(void)
{
    static const char *const name[] = {"at once", "in pieces"};
    int failures = 0;

    shmem_init();
    if (shmem_my_pe() == 0) {
        int fd = record_put();
        for (int i = 0; i < 2; i++) {
            const char *what = fd < 0 ? "not recorded" : replay(fd, i == 1);
            failures += strcmp(what, "refused") != 0;
            printf("replayed %s: %s\n", name[i], what);
        }
        printf("rows 2, outcomes %d\n", 2 - failures);
        fflush(stdout);
    }
    shmem_barrier_all();
    if (failures > 0)
        shmem_global_exit(1);
    shmem_finalize();
    return 0;
}
