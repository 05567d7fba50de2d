/* SPDX-License-Identifier: BSD-3-Clause */
/* raw.c - framework of fi_raw and ucp_raw; see raw.h.  Uses: net.h. */
#include "raw.h"

#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    POLLS = 1024,        /* empty polls between reads of the clock or the socket */
    STALL_S = 20,        /* time-out without progress */
    CONNECT_TRIES = 400, /* the target may start later */
    CONNECT_PAUSE_MS = 50,
    PAGE = 4096,
    ITERATIONS_MAX = 1 << 26,
};
#define DEFAULT_PORT    "13338"
#define DEFAULT_SECONDS 0.05

struct raw raw;
static int other; /* TCP connection */
static double seconds = DEFAULT_SECONDS;
static bool verbose;
static uint64_t turn;

void raw_fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", raw_name, what, why);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void raw_wait(void)
{
    static long empty;
    static double since;
    if (raw_progress() > 0) {
        empty = 0;
        return;
    }
    if (++empty % POLLS != 0)
        return;
    double t = now();
    if (empty == POLLS)
        since = t;
    if (t - since > STALL_S)
        raw_fail("the other side", "no progress for 20 s");
}

/* ---- TCP connection -------------------------------------------------------------- */

static struct addrinfo *resolve(const char *host, const char *port)
{
    struct addrinfo hint = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    hint.ai_flags = host == NULL ? AI_PASSIVE : 0;
    int rc = getaddrinfo(host, port, &hint, &found);
    if (rc != 0)
        raw_fail(host == NULL ? port : host, gai_strerror(rc));
    return found;
}

static int accept_one(const char *port)
{
    struct addrinfo *at = resolve(NULL, port);
    int yes = 1, fd = socket(at->ai_family, at->ai_socktype, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (fd < 0 || bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, 1) != 0)
        raw_fail("cannot listen on the port", port);
    freeaddrinfo(at);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, CONNECT_TRIES * CONNECT_PAUSE_MS) != 1)
        raw_fail(port, "no connection to this port");
    int connection = accept(fd, NULL, NULL);
    close(fd);
    return connection;
}

static int connect_to(const char *host, const char *port)
{
    struct addrinfo *at = resolve(host, port);
    int fd = -1;
    for (int i = 0; fd < 0 && i < CONNECT_TRIES; i++) {
        fd = socket(at->ai_family, at->ai_socktype, 0);
        if (connect(fd, at->ai_addr, at->ai_addrlen) == 0)
            break;
        close(fd);
        fd = -1;
        poll(NULL, 0, CONNECT_PAUSE_MS);
    }
    freeaddrinfo(at);
    if (fd < 0)
        raw_fail(host, "cannot connect");
    return fd;
}

void raw_send(const void *data, size_t len)
{
    if (send(other, data, len, MSG_NOSIGNAL) != (ssize_t)len)
        raw_fail("the other side", "connection lost");
}

void raw_recv(void *data, size_t len)
{
    if (recv(other, data, len, MSG_WAITALL) != (ssize_t)len)
        raw_fail("the other side", "connection lost");
}

void raw_own_address(char *to, size_t space)
{
    struct sockaddr_storage here;
    socklen_t len = sizeof(here);
    if (getsockname(other, (void *)&here, &len) != 0 ||
        getnameinfo((void *)&here, len, to, (socklen_t)space, NULL, 0, NI_NUMERICHOST) !=
            0)
        raw_fail("local address", "cannot be determined");
}

static bool hung_up(void)
{
    struct pollfd p = {.fd = other, .events = POLLIN};
    return poll(&p, 1, 0) != 0;
}

/* ---- measuring ------------------------------------------------------------------- */

static void pingpong(long n)
{
    volatile uint64_t *pong = (volatile uint64_t *)(void *)(raw.memory + RAW_PONG);
    for (long i = 0; i < n; i++) {
        turn++;
        raw_put_word(RAW_PING, &turn);
        while (*pong != turn)
            raw_wait();
    }
    raw_flush();
}

static double batch(raw_body body, long n)
{
    double start = now();
    body(n);
    return now() - start;
}

/* The number of iterations that takes at least half of a batch's share of the time. */
static long calibrate(raw_body body)
{
    double share = seconds / NET_BATCHES;
    long n = 1;
    while (batch(body, n) < share / 2 && n < ITERATIONS_MAX)
        n *= 2;
    return n;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double convert(const struct raw_row *row, double took, size_t size)
{
    if (strcmp(row->unit, "MB/s") == 0)
        return (double)size / took * 1e-6;
    return strcmp(row->unit, "M/s") == 0 ? 1e-6 / took : took * 1e6;
}

/* Batches of the ways alternate; the best median is the result. */
static void measure(const struct raw_row *row, size_t size)
{
    double took[RAW_WAYS][NET_BATCHES], best = 0;
    long n[RAW_WAYS] = {0};
    raw.size = size;
    for (int w = 0; w < RAW_WAYS && row->way[w] != NULL; w++)
        n[w] = calibrate(row->way[w]);
    for (int i = 0; i < NET_BATCHES; i++)
        for (int w = 0; w < RAW_WAYS && n[w] > 0; w++)
            took[w][i] = batch(row->way[w], n[w]) / (double)(n[w] * row->per);
    for (int w = 0; w < RAW_WAYS && n[w] > 0; w++) {
        qsort(took[w], NET_BATCHES, sizeof(took[w][0]), compare);
        double median = took[w][NET_BATCHES / 2];
        best = w == 0 || median < best ? median : best;
        if (verbose)
            printf("# %s %zu way %d: %.3f %s\n", row->name, size, w + 1,
                   convert(row, median, size), row->unit);
    }
    printf("%s %zu %.3f %s\n", row->name, size, convert(row, best, size), row->unit);
    fflush(stdout);
}

static void measure_all(const char *with)
{
    static const struct raw_row ping = {"pingpong", "us", {pingpong}, 2};
    printf("# name size value unit; %s, median of %d batches\n", with, (int)NET_BATCHES);
    measure(&ping, sizeof(uint64_t));
    for (const struct raw_row *row = raw_words; row->name != NULL; row++)
        measure(row, sizeof(uint64_t));
    for (const struct raw_row *row = raw_sizes; row->name != NULL; row++)
        for (size_t s = 0; s < NET_SIZES; s++)
            measure(row, net_size[s]);
}

/* The target: makes progress and answers pings until the connection is closed. */
static void serve(void)
{
    volatile uint64_t *ping = (volatile uint64_t *)(void *)(raw.memory + RAW_PING);
    for (long i = 1; i % POLLS != 0 || !hung_up(); i++) {
        raw_progress();
        if (*ping != turn) {
            turn = *ping;
            raw_put_word(RAW_PONG, &turn);
        }
    }
}

static void usage(int status)
{
    fprintf(status == 0 ? stdout : stderr,
            "usage: %s [-f provider] [-p port] [-t seconds per point] [-v] [HOST]\n"
            "  without HOST: the target; -v prints the result of every way\n",
            raw_name);
    exit(status);
}

int main(int argc, char **argv)
{
    const char *port = DEFAULT_PORT;
    int option;
    while ((option = getopt(argc, argv, "f:hp:t:v")) != -1) {
        if (option == 'f')
            raw.provider = optarg;
        else if (option == 'p')
            port = optarg;
        else if (option == 't')
            seconds = atof(optarg);
        else if (option == 'v')
            verbose = true;
        else
            usage(option == 'h' ? 0 : 2);
    }
    const char *host = argv[optind];
    raw.memory = aligned_alloc(PAGE, RAW_MEMORY);
    raw.local = aligned_alloc(PAGE, RAW_MEMORY);
    if (raw.memory == NULL || raw.local == NULL)
        raw_fail("memory", "allocation failed");
    memset(raw.memory, 0, RAW_MEMORY);
    memset(raw.local, 1, RAW_MEMORY);
    other = host == NULL ? accept_one(port) : connect_to(host, port);
    const char *with = raw_open();
    if (host == NULL)
        serve();
    else
        measure_all(with);
    raw_close();
    close(other);
    free(raw.local);
    free(raw.memory);
    return 0;
}
