/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listen.c - at which addresses of its host a PE listens: those that begin so, and the
 * loopback; a connection to another address is refused.
 *   listen 10.77. ..     run over tcp
 * PE 0 prints "listen: rows N, outcomes N": the addresses of its host, and those which
 * are right.  A wrong one of any PE gets a line of its own.  Run by listen.sh.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LISTENERS_MAX = 64, FDS = 4096 };

union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

static union address listener[LISTENERS_MAX];
static int nlisteners;
static long word;

static bool is_six(const union address *a)
{
    return a->any.sa_family == AF_INET6;
}

static in_port_t port_of(const union address *a)
{
    return is_six(a) ? a->in6.sin6_port : a->in.sin_port;
}

static bool same_host(const union address *a, const union address *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    return is_six(a) ? memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr,
                              sizeof a->in6.sin6_addr) == 0
                     : a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
}

/* The listening sockets of this process. */
static void find_listeners(void)
{
    for (int fd = 0; fd < FDS && nlisteners < LISTENERS_MAX; fd++) {
        int on = 0;
        socklen_t len = sizeof on;
        union address *a = &listener[nlisteners];
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) != 0 || !on)
            continue;
        len = sizeof *a;
        if (getsockname(fd, &a->any, &len) == 0 &&
            (a->any.sa_family == AF_INET || is_six(a)))
            nlisteners++;
    }
}

static const char *text_of(const union address *a, char text[INET6_ADDRSTRLEN])
{
    const void *bytes = is_six(a) ? (const void *)&a->in6.sin6_addr : &a->in.sin_addr;

    return inet_ntop(a->any.sa_family, bytes, text, INET6_ADDRSTRLEN);
}

/* A connection to that address of the host, at the port of the PE, is accepted. */
static bool is_open(union address a)
{
    if (is_six(&a))
        a.in6.sin6_port = port_of(&listener[0]);
    else
        a.in.sin_port = port_of(&listener[0]);
    int fd = socket(a.any.sa_family, SOCK_STREAM, 0);
    bool open = connect(fd, &a.any, is_six(&a) ? sizeof a.in6 : sizeof a.in) == 0;
    if (!open && errno != ECONNREFUSED)
        printf("listen: connect: %s\n", strerror(errno));
    close(fd);
    return open;
}

static bool is_chosen(const char *text, char **starts)
{
    for (; *starts != NULL; starts++)
        if (strncmp(text, *starts, strlen(*starts)) == 0)
            return true;
    return false;
}

/* True: the PE listens there or not, as it should. */
static bool check_address(const struct ifaddrs *i, const union address *a, char **starts)
{
    bool loop = (i->ifa_flags & IFF_LOOPBACK) != 0, found = false;
    bool local = is_six(a) && IN6_IS_ADDR_LINKLOCAL(&a->in6.sin6_addr);
    char text[INET6_ADDRSTRLEN];

    text_of(a, text);
    bool expected = !local && (loop || is_chosen(text, starts));
    for (int k = 0; k < nlisteners; k++)
        found |= same_host(&listener[k], a);
    bool open = is_open(*a);
    if (found != expected || open != expected)
        printf("listen: %s: %s, %s, expected %s\n", text,
               found ? "a socket" : "no socket", open ? "accepted" : "refused",
               expected ? "both" : "neither");
    return found == expected && open == expected;
}

/* Each listener has an address of the host, not that of all interfaces. */
static int check_listeners(const struct ifaddrs *all)
{
    int wrong = nlisteners == 0;
    char text[INET6_ADDRSTRLEN];

    for (int k = 0; k < nlisteners; k++) {
        bool found = false;
        for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next)
            if (i->ifa_addr != NULL)
                found |= same_host(&listener[k], (const void *)i->ifa_addr);
        if (!found)
            printf("listen: at %s\n", text_of(&listener[k], text));
        wrong += !found || port_of(&listener[k]) != port_of(&listener[0]);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    struct ifaddrs *all;
    int addresses = 0, right = 0;

    (void)argc;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int pe = 0; pe < npes; pe++)
        shmem_long_atomic_inc(&word, pe);
    shmem_barrier_all();
    if (word != npes || getifaddrs(&all) != 0)
        shmem_global_exit(1);
    find_listeners();
    int wrong = check_listeners(all);
    for (const struct ifaddrs *i = all; i != NULL && nlisteners > 0; i = i->ifa_next) {
        union address a = {.any.sa_family = AF_UNSPEC};
        if (i->ifa_addr == NULL ||
            (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
            continue;
        memcpy(&a, i->ifa_addr,
               i->ifa_addr->sa_family == AF_INET6 ? sizeof a.in6 : sizeof a.in);
        addresses++;
        right += check_address(i, &a, argv + 1);
    }
    freeifaddrs(all);
    if (me == 0)
        printf("listen: rows %d, outcomes %d\n", addresses, right);
    fflush(stdout);
    shmem_barrier_all();
    if (right != addresses || wrong > 0)
        shmem_global_exit(1);
    shmem_finalize();
    return 0;
}
