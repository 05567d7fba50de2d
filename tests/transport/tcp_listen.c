/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_listen.c - at which addresses the tcp transport listens, and that it says so if it
 * cannot: on hosts without IPv6 or loopback, with addresses that are not usable yet, with
 * others that have its port.  Each row is a host, a network namespace.
 * Needs ip-link(8) and the permission to make namespaces, else exits with 77.
 * Uses: pair, tcp.h.
 */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "pgas/transport/tcp/tcp.h"
#include "tests/transport/pair.h"

enum { SKIPPED = 77, LIST = 512, PORT_FIRST = 40000, PORT_LAST = 40007 };

#define BOTH "127.0.0.1 ::1"

static const struct row {
    const char *name;
    const char *setup;
    const char *interface; /* SHMEM_TCP_IF */
    const char *expected;  /* the addresses; NULL: it cannot be opened, */
    const char *message;   /* with this */
    int port;              /* not 0: the only one that is free at 10.9.0.1; -1: none is */
} rows[] = {
    {"chosen", "ip link set lo up", "10.9.0.0/16", BOTH " 10.9.0.1", NULL, 0},
    {"default", "ip link set lo up", NULL, BOTH " 10.9.0.1 fd09::1", NULL, 0},
    {"loopback", "ip link set lo up", "lo", BOTH, NULL, 0},
    {"loopback network", "ip link set lo up", "127.0.0.0/8", BOTH, NULL, 0},
    {"tentative", "ip link set lo up", "fd09::/64", BOTH " fd09::1", NULL, 0},
    {"lo is down", "true", "10.9.0.0/16", "10.9.0.1", NULL, 0},
    {"no IPv6", "ip link set lo up; echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6",
     "d9", "127.0.0.1 10.9.0.1", NULL, 0},
    {"d9 is down", "ip link set lo up; ip link set d9 down", "d9", NULL,
     "no address that is up", 0},
    {"one odd port", "ip link set lo up", "10.9.0.0/16", BOTH " 10.9.0.1", NULL, 40003},
    {"one even port", "ip link set lo up", "10.9.0.0/16", BOTH " 10.9.0.1", NULL, 40006},
    {"no port", "ip link set lo up", "10.9.0.0/16", NULL, "no port is free", -1},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- the host ---------------------------------------------------------------------- */

static bool run(const char *command)
{
    return system(command) == 0;
}

/* Sockets at 10.9.0.1 have all ports that the kernel may choose, but this one. */
static void occupy(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a090001)};
    FILE *range = fopen("/proc/sys/net/ipv4/ip_local_port_range", "w");

    CHECK(range != NULL && fprintf(range, "%d %d\n", PORT_FIRST, PORT_LAST) > 0 &&
              fclose(range) == 0,
          "cannot set the range of ports");
    for (int i = PORT_FIRST; i <= PORT_LAST; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        at.sin_port = htons((uint16_t)i);
        if (i != port)
            CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0,
                  "cannot occupy port %d: %s", i, strerror(errno));
    }
}

static void host_open(const struct row *row)
{
    CHECK(unshare(CLONE_NEWNET) == 0, "unshare: %s", strerror(errno));
    CHECK(run("ip link add d9 type veth peer name d8 && "
              "ip link set d9 up && ip link set d8 up && "
              "ip addr add 10.9.0.1/16 dev d9 && ip addr add fd09::1/64 dev d9") &&
              run(row->setup),
          "%s: cannot set up the host", row->name);
    if (row->port != 0)
        occupy(row->port);
}

/* ---- the check --------------------------------------------------------------------- */

/* The addresses of the listening sockets, in the order in which they were opened. */
static void list_listeners(const struct transport_net *net, char list[LIST])
{
    char text[ADDRESS_TEXT];
    struct address a;

    list[0] = '\0';
    for (size_t i = 0; i < TCP_LISTENERS; i++) {
        if (net->listener[i].fd < 0)
            continue;
        address_of_socket(&a, net->listener[i].fd);
        unsigned port =
            ntohs(a.as.any.sa_family == AF_INET6 ? a.as.in6.sin6_port : a.as.in.sin_port);
        CHECK(port == net->endpoint.port, "two ports: %u and %u", port,
              net->endpoint.port);
        address_text(&a, text);
        *strrchr(text, ':') = '\0';
        bool six = text[0] == '[';
        if (six)
            *strrchr(text, ']') = '\0';
        size_t have = strlen(list);
        snprintf(list + have, LIST - have, "%s%s", have > 0 ? " " : "", text + six);
    }
}

static void failed(const struct transport_world *world, int pe, const char *message)
{
    (void)world;
    CHECK(false, "PE %d: %s", pe, message);
}

/* True: the row ends as it should. */
static bool run_row(const struct row *row)
{
    char why[TRANSPORT_TEXT_MAX] = "", list[LIST] = "";
    const struct transport_world world = {
        .npes = 1, .interface = row->interface, .failed = failed, .timeout_ns = 1};
    struct transport_net *net = NULL;

    host_open(row);
    int error = transport_tcp.open(&world, &net, why);
    if (error == 0)
        list_listeners(net, list);
    bool ok = row->expected != NULL ? error == 0 && strcmp(list, row->expected) == 0
                                    : error < 0 && strstr(why, row->message) != NULL;
    if (row->port > 0)
        ok &= error == 0 && net->endpoint.port == (uint32_t)row->port;
    if (!ok)
        printf("%s: error %d, '%s', listens at %s\n", row->name, error, why, list);
    if (error == 0)
        transport_tcp.close(net);
    return ok;
}

int main(void)
{
    unsigned right = 0;

    if (!run("ip -V >/dev/null 2>&1") ||
        (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)) {
        puts("skipped: needs ip(8) and network namespaces");
        return SKIPPED;
    }
    if (!run("ip link add d9 type veth peer name d8 2>/dev/null")) {
        puts("skipped: this kernel has no veth interfaces");
        return SKIPPED;
    }
    for (size_t i = 0; i < ROWS; i++)
        right += run_row(&rows[i]);
    printf("rows %u, outcomes %u\n", (unsigned)ROWS, right);
    return right == ROWS ? EXIT_SUCCESS : EXIT_FAILURE;
}
