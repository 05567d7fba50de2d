/* SPDX-License-Identifier: BSD-3-Clause */
/* address.c - see address.h. */
#include "config.h"

#include "pgas/core/base/address.h"
#include "pgas/core/base/number.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECEIVE_BYTES (256 * 1024) /* for what arrives while we are stopped */
#define ITEM_BYTES    128          /* of one interface or network in a list */
#define BITS_PER_BYTE 8

/* ---- texts ------------------------------------------------------------------------ */

/* The bytes of the address without port; *len: their number. */
static const unsigned char *address_bytes_of(const struct sockaddr *a, size_t *len)
{
    if (a->sa_family == AF_INET6) {
        *len = sizeof(struct in6_addr);
        return ((const struct sockaddr_in6 *)(const void *)a)->sin6_addr.s6_addr;
    }
    *len = sizeof(struct in_addr);
    return (const unsigned char *)&((const struct sockaddr_in *)(const void *)a)
        ->sin_addr;
}

static bool address_internet(const struct sockaddr *a)
{
    return a != NULL && (a->sa_family == AF_INET || a->sa_family == AF_INET6);
}

static void address_host_text(const struct sockaddr *a, char text[ADDRESS_TEXT])
{
    size_t len;
    const unsigned char *b = address_bytes_of(a, &len);
    if (inet_ntop(a->sa_family, b, text, ADDRESS_TEXT) == NULL)
        snprintf(text, ADDRESS_TEXT, "?");
}

void address_text(const struct address *a, char text[ADDRESS_TEXT])
{
    char host[ADDRESS_TEXT];
    bool six = a->as.any.sa_family == AF_INET6;
    snprintf(text, ADDRESS_TEXT, "?");
    if (!address_internet(&a->as.any))
        return;
    address_host_text(&a->as.any, host);
    unsigned port = ntohs(six ? a->as.in6.sin6_port : a->as.in.sin_port);
    snprintf(text, ADDRESS_TEXT, six ? "[%.45s]:%u" : "%.45s:%u", host, port);
}

/* An address without port.  0, or -1. */
static int address_parse_host(struct address *a, const char *text)
{
    bool six = strchr(text, ':') != NULL;
    *a = (struct address){.len = six ? sizeof a->as.in6 : sizeof a->as.in};
    a->as.any.sa_family = six ? AF_INET6 : AF_INET;
    void *to = six ? (void *)&a->as.in6.sin6_addr : &a->as.in.sin_addr;
    return inet_pton(a->as.any.sa_family, text, to) == 1 ? 0 : -1;
}

int address_parse(struct address *a, const char *text, size_t len)
{
    char copy[ADDRESS_TEXT];
    uint32_t port;
    snprintf(copy, sizeof copy, "%.*s", (int)(len < sizeof copy ? len : 0), text);
    char *host = copy, *colon = strrchr(copy, ':');
    if (strlen(copy) != len || colon == NULL ||
        !number_parse_u32(colon + 1, 1, UINT16_MAX, &port))
        return -1;
    *colon = '\0';
    bool six = *host == '[';
    if (six) {
        if (colon[-1] != ']')
            return -1;
        colon[-1] = '\0';
        host++;
    }
    if (address_parse_host(a, host) != 0 || six != (a->as.any.sa_family == AF_INET6))
        return -1;
    *(six ? &a->as.in6.sin6_port : &a->as.in.sin_port) = htons((uint16_t)port);
    return 0;
}

/* ---- sockets ---------------------------------------------------------------------- */

void address_of_socket(struct address *a, int fd)
{
    *a = (struct address){.len = sizeof a->as};
    if (getsockname(fd, &a->as.any, &a->len) != 0)
        a->as.any.sa_family = AF_UNSPEC;
}

void address_of_peer(struct address *a, int fd)
{
    *a = (struct address){.len = sizeof a->as};
    if (getpeername(fd, &a->as.any, &a->len) != 0)
        a->as.any.sa_family = AF_UNSPEC;
}

int address_socket(const struct address *a)
{
    int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd = socket(a->as.any.sa_family, type, 0), on = 1, capacity = RECEIVE_BYTES;
    if (fd < 0)
        return -1;
    /* Before the connection is made: TCP negotiates the window scale in the SYN. */
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &capacity, sizeof capacity);
    if (a->as.any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    return fd;
}

/* ---- addresses of this host ------------------------------------------------------- */

struct choice {
    struct ifaddrs *all;
    struct address *list;
    size_t n, max;
    char *why;
    size_t why_len;
};

/* True if other hosts can use the address: a link-local one (fe80::) needs a scope ID,
 * which differs between hosts. */
static bool address_usable(const struct ifaddrs *i)
{
    if (!address_internet(i->ifa_addr) || (i->ifa_flags & IFF_UP) == 0)
        return false;
    const struct sockaddr_in6 *six = (const void *)i->ifa_addr;
    return i->ifa_addr->sa_family == AF_INET || !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
}

static bool address_same(const struct sockaddr *a, const struct sockaddr *b)
{
    size_t na, nb;
    const unsigned char *xa = address_bytes_of(a, &na), *xb = address_bytes_of(b, &nb);
    return a->sa_family == b->sa_family && memcmp(xa, xb, na) == 0;
}

static void address_add(struct choice *c, const struct ifaddrs *i)
{
    for (size_t k = 0; k < c->n; k++)
        if (address_same(&c->list[k].as.any, i->ifa_addr))
            return;
    if (c->n == c->max)
        return;
    struct address *a = &c->list[c->n++];
    bool six = i->ifa_addr->sa_family == AF_INET6;
    *a = (struct address){.len = six ? sizeof a->as.in6 : sizeof a->as.in};
    memcpy(&a->as, i->ifa_addr, a->len);
}

/* Adds the addresses of all running interfaces: of the loopback if `loop`, else of all
 * others. */
static void address_choose_all(struct choice *c, bool loop)
{
    unsigned up = IFF_UP | IFF_RUNNING;
    for (const struct ifaddrs *i = c->all; i != NULL; i = i->ifa_next)
        if (address_usable(i) && (i->ifa_flags & up) == up &&
            ((i->ifa_flags & IFF_LOOPBACK) != 0) == loop)
            address_add(c, i);
}

/* Appends to the error message. */
__attribute__((format(printf, 2, 3))) static void address_append(struct choice *c,
                                                                 const char *format, ...)
{
    size_t have = strlen(c->why);
    va_list args;
    va_start(args, format);
    vsnprintf(c->why + have, c->why_len - have, format, args);
    va_end(args);
}

/* "; this host has eth0 (10.77.0.1), lo" */
static void address_append_interfaces(struct choice *c)
{
    const char *before = "; this host has ";
    for (const struct ifaddrs *i = c->all; i != NULL; i = i->ifa_next) {
        char text[ADDRESS_TEXT];
        const struct ifaddrs *first = NULL, *usable = NULL;
        for (const struct ifaddrs *k = c->all; k != NULL; k = k->ifa_next)
            if (strcmp(k->ifa_name, i->ifa_name) == 0) {
                first = first != NULL ? first : k;
                usable = usable == NULL && address_usable(k) ? k : usable;
            }
        if (first != i)
            continue;
        address_append(c, "%s%s", before, i->ifa_name);
        before = ", ";
        if (usable != NULL && (i->ifa_flags & IFF_LOOPBACK) == 0) {
            address_host_text(usable->ifa_addr, text);
            address_append(c, " (%s)", text);
        }
    }
}

/* "10.0.0.0/8", "fd00::/8", or one address.  0, or -1. */
static int address_parse_network(const char *item, struct address *net, uint32_t *bits)
{
    char copy[ITEM_BYTES];
    size_t len;
    snprintf(copy, sizeof copy, "%s", item);
    char *slash = strchrnul(copy, '/');
    bool all = *slash == '\0';
    *slash = '\0';
    if (address_parse_host(net, copy) != 0)
        return -1;
    address_bytes_of(&net->as.any, &len);
    *bits = (uint32_t)len * BITS_PER_BYTE;
    return all || number_parse_u32(slash + 1, 0, *bits, bits) ? 0 : -1;
}

static bool address_in_network(const struct sockaddr *a, const struct address *net,
                               uint32_t bits)
{
    size_t len;
    const unsigned char *x = address_bytes_of(a, &len),
                        *y = address_bytes_of(&net->as.any, &len);
    if (a->sa_family != net->as.any.sa_family)
        return false;
    uint32_t whole = bits / BITS_PER_BYTE, rest = bits % BITS_PER_BYTE;
    return memcmp(x, y, whole) == 0 &&
           (rest == 0 || ((x[whole] ^ y[whole]) >> (BITS_PER_BYTE - rest)) == 0);
}

/* Adds the addresses of an interface or a network.  False: there are none. */
static bool address_choose_item(struct choice *c, const char *item)
{
    struct address net;
    uint32_t bits = 0;
    bool known = false, found = false;
    bool network = strchr(item, '/') != NULL || address_parse_host(&net, item) == 0;
    if (network && address_parse_network(item, &net, &bits) != 0) {
        address_append(c, "%s: that is not a network such as 10.0.0.0/8 or fd00::/8",
                       item);
        return false;
    }
    for (const struct ifaddrs *i = c->all; i != NULL; i = i->ifa_next) {
        bool named = !network && strcmp(i->ifa_name, item) == 0;
        known = known || named;
        if (!address_usable(i) ||
            !(network ? address_in_network(i->ifa_addr, &net, bits) : named))
            continue;
        address_add(c, i);
        found = true;
    }
    if (!found) {
        address_append(c, "%s: %s", item,
                       network
                           ? "no interface of this host that is up has an address there"
                       : known ? "this interface has no address that is up"
                               : "there is no such interface");
        address_append_interfaces(c);
    }
    return found;
}

/* Adds the addresses of each item; an item without one is an error. */
static bool address_choose_listed(struct choice *c, const char *which)
{
    char item[ITEM_BYTES];
    for (const char *at = which;; at++) {
        size_t len = strcspn(at, ",");
        if (len == 0 || len >= sizeof item) {
            address_append(c, "%s: the name of an interface or a network is %s", which,
                           len == 0 ? "missing" : "too long");
            return false;
        }
        snprintf(item, sizeof item, "%.*s", (int)len, at);
        if (!address_choose_item(c, item))
            return false;
        at += len;
        if (*at == '\0')
            return true;
    }
}

size_t address_choose(const char *which, struct address *list, size_t max, char *why,
                      size_t len)
{
    struct choice c = {.list = list, .max = max, .why = why, .why_len = len};
    why[0] = '\0';
    if (getifaddrs(&c.all) != 0) {
        snprintf(why, len, "cannot find out the network addresses of this host (%s)",
                 strerror(errno));
        return 0;
    }
    if (which != NULL && !address_choose_listed(&c, which))
        c.n = 0;
    if (which == NULL)
        address_choose_all(&c, false);
    if (which == NULL && c.n == 0)
        address_choose_all(&c, true);
    if (c.n == 0 && why[0] == '\0') {
        address_append(&c, "no network interface of this host is up and has an address");
        address_append_interfaces(&c);
    }
    freeifaddrs(c.all);
    return c.n;
}
