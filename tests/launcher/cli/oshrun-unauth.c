/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * oshrun-unauth.c - connects to the ports on which a process listens and sends what no
 * daemon of the job would send.
 *
 * Uses /proc/PID/fd and /proc/net, connector.c.  Used by oshrun-port.sh.
 *
 *   oshrun-unauth PID HOW SECONDS [SEED]: HOW = random (bytes, then close), half (the
 *   beginning of a valid greeting, then nothing), greet (a valid greeting, sent back),
 *   nonce (a daemon's handshake with the nonce of another job), many (100 connections
 *   that stay open), flood (connections that close at once), silent (one connection to
 *   each port that stays open and sends nothing).
 * Makes at least two connections, even beyond SECONDS, and prints their number; `silent`
 * prints it first.  Fails if it finds no port.
 */
#include "config.h"

#include "tools/oshrun/util/loop.h"
#include "tools/oshrun/net/listener.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORTS_MAX 8
#define OPEN_MAX  100
#define CHUNK     512
#define CALL_MS   20000
#define PATH_LEN  64
#define LISTENING 0x0A
#define GREETING  "oshrun-auth"

static unsigned seed = 1;

/* Inodes of the sockets of a process. */
static size_t find_sockets(const char *pid, unsigned long *inode, size_t capacity)
{
    char path[PATH_LEN], link[PATH_LEN];
    size_t n = 0;
    struct dirent *e;
    snprintf(path, sizeof path, "/proc/%s/fd", pid);
    DIR *dir = opendir(path);
    while (dir != NULL && n < capacity && (e = readdir(dir)) != NULL) {
        ssize_t len = readlinkat(dirfd(dir), e->d_name, link, sizeof link - 1);
        link[len > 0 ? len : 0] = '\0';
        n += sscanf(link, "socket:[%lu]", &inode[n]) == 1;
    }
    if (dir != NULL)
        closedir(dir);
    return n;
}

/* Ports on which one of the sockets listens (IPv4). */
static size_t find_ports(const char *pid, uint16_t *port, size_t capacity)
{
    unsigned long inode[256];
    size_t n = 0, sockets = find_sockets(pid, inode, 256);
    char line[CHUNK];
    FILE *f = fopen("/proc/net/tcp", "re");
    while (f != NULL && n < capacity && fgets(line, sizeof line, f) != NULL) {
        unsigned p, state;
        unsigned long ino;
        if (sscanf(line, " %*d: %*x:%x %*x:%*x %x %*s %*s %*s %*s %*s %lu", &p, &state,
                   &ino) != 3 ||
            state != LISTENING)
            continue;
        for (size_t i = 0; i < sockets; i++)
            if (inode[i] == ino)
                port[n++] = (uint16_t)p;
    }
    if (f != NULL)
        fclose(f);
    return n;
}

static int connect_to(uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {.tv_sec = 1};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return fd;
    close(fd);
    return -1;
}

static void say_random(int fd)
{
    unsigned char bytes[CHUNK];
    size_t len = (size_t)rand_r(&seed) % sizeof bytes + 1;
    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)rand_r(&seed);
    if (send(fd, bytes, len, MSG_NOSIGNAL) < 0)
        return;
}

/* Sends back the received bytes, and more: the proof cannot be valid. */
static void echo(int fd)
{
    unsigned char bytes[CHUNK];
    ssize_t n = recv(fd, bytes, sizeof bytes, 0);
    if (n > 0 && send(fd, bytes, (size_t)n, MSG_NOSIGNAL) > 0)
        say_random(fd);
}

static bool dialled;

static void on_made(void *arg, int fd, struct seal *seal)
{
    (void)arg, (void)seal;
    fprintf(stderr, "oshrun-unauth: was let in\n");
    close(fd);
    exit(1);
}

static void on_failed(void *arg, const char *why)
{
    struct loop *l = arg;
    dialled = strstr(why, "refused") == NULL;
    l->stop = true;
}

/* The handshake of a daemon of another job.  False if the port is closed. */
static bool call(uint16_t port)
{
    static const struct connector_events events = {.made = on_made, .failed = on_failed};
    char at[PATH_LEN];
    struct nonce nonce;
    struct loop l;
    snprintf(at, sizeof at, "127.0.0.1:%u", port);
    if (nonce_make(&nonce) != 0 || loop_open(&l) != 0)
        exit(1);
    struct connector *d = connector_start(
        &l, &nonce, at, (struct connector_limits){CALL_MS, CALL_MS}, &events, &l);
    if (d == NULL)
        exit(1);
    loop_run(&l);
    connector_free(d);
    loop_close(&l);
    return dialled;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void visit(int fd, const char *how)
{
    if (strcmp(how, "random") == 0)
        say_random(fd);
    else if (strcmp(how, "half") == 0 || strcmp(how, "many") == 0)
        (void)!send(fd, GREETING, 4, MSG_NOSIGNAL);
    else if (strcmp(how, "greet") == 0)
        echo(fd);
}

static void stay_silent(const uint16_t *port, size_t n, double seconds)
{
    for (size_t i = 0; i < n; i++)
        if (connect_to(port[i]) < 0)
            exit(1);
    printf("%zu\n", n);
    fflush(stdout);
    usleep((useconds_t)(seconds * 1e6));
}

int main(int argc, char **argv)
{
    uint16_t port[PORTS_MAX];
    int keep[OPEN_MAX] = {0};
    size_t n = argc >= 4 ? find_ports(argv[1], port, PORTS_MAX) : 0;
    if (n == 0) {
        fprintf(stderr, "oshrun-unauth: process %s listens on no port\n",
                argc > 1 ? argv[1] : "?");
        return 1;
    }
    if (strcmp(argv[2], "silent") == 0) {
        stay_silent(port, n, atof(argv[3]));
        return 0;
    }
    double end = now() + atof(argv[3]);
    seed = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
    unsigned long made = 0;
    bool stay = strcmp(argv[2], "many") == 0 || strcmp(argv[2], "half") == 0;
    for (; made < 2 || now() < end; made++) {
        if (strcmp(argv[2], "nonce") == 0) {
            if (!call(port[made % n]))
                break;
            continue;
        }
        int fd = connect_to(port[made % n]);
        if (fd < 0)
            break; /* the job has ended */
        visit(fd, argv[2]);
        if (stay && keep[made % OPEN_MAX] > 0)
            close(keep[made % OPEN_MAX]);
        if (stay)
            keep[made % OPEN_MAX] = fd;
        else
            close(fd);
        if (stay && made >= OPEN_MAX)
            usleep(CHUNK);
    }
    printf("%lu\n", made);
    return made > 0 ? 0 : 1;
}
