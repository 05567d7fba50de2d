/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c - see names.h.  Uses hosts.h. */
#include "config.h"

#include "tools/oshrun/map/names.h"
#include "pgas/core/base/number.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LETTERS       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS        "0123456789"
#define NAME_CHARS    LETTERS DIGITS "._-@"
#define ZONE_CHARS    LETTERS DIGITS "._-"
#define NUMBER_DIGITS 9    /* of a number in a range */
#define PRINTABLE     0x20 /* the first of them */
#define DELETE        0x7f

int names_error(char why[HOSTS_WHY], const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(why, HOSTS_WHY, format, ap);
    va_end(ap);
    return -1;
}

const char *names_show(char shown[NAMES_SHOWN], const char *text, size_t len)
{
    static const char more[] = "...";
    size_t n = 0;
    for (; n < len && n < NAMES_SHOWN - sizeof more; n++) {
        unsigned char c = (unsigned char)text[n];
        shown[n] = c < PRINTABLE || c >= DELETE ? '?' : text[n];
    }
    strcpy(shown + n, n < len ? more : "");
    return shown;
}

/* At most NUMBER_DIGITS digits and nothing else. */
static bool names_parse_number(const char *text, size_t len, uint64_t *out)
{
    return len <= NUMBER_DIGITS && number_parse(text, len, 0, UINT32_MAX, out);
}

int names_slots(uint32_t *slots, const char *text, size_t len, const char *whole,
                size_t whole_len, char why[HOSTS_WHY])
{
    char shown[NAMES_SHOWN];
    names_show(shown, whole, whole_len);
    uint64_t number;
    if (!names_parse_number(text, len, &number) || number > HOSTS_SLOTS_MAX)
        return names_error(why, "'%s': expected a number of slots from 1 to %d", shown,
                           HOSTS_SLOTS_MAX);
    *slots = (uint32_t)number;
    if (number == 0)
        return names_error(why, "'%s': a host with zero slots runs nothing; leave it out",
                           shown);
    return 0;
}

size_t names_span(const char *text, size_t len, const char *stops)
{
    bool inside = false;
    for (size_t i = 0; i < len; i++) {
        if (!inside && strchr(stops, text[i]) != NULL)
            return i;
        if (text[i] == '[' || text[i] == ']')
            inside = text[i] == '[';
    }
    return len;
}

/* ---- one name with brackets ------------------------------------------------------- */

/* State of the expansion of a name. */
struct expansion {
    struct hosts *h;
    const struct host *like;
    char *why;
    char name[NAMES_BYTES];
    const char *text; /* all of the user's text, for error messages */
    size_t len;
};

__attribute__((format(printf, 2, 3))) static int names_error_in(struct expansion *m,
                                                                const char *format, ...)
{
    char shown[NAMES_SHOWN], rest[HOSTS_WHY];
    va_list ap;
    va_start(ap, format);
    vsnprintf(rest, sizeof rest, format, ap);
    va_end(ap);
    return names_error(m->why, "'%s': %.*s", names_show(shown, m->text, m->len),
                       HOSTS_WHY - NAMES_SHOWN, rest);
}

static int names_put(struct expansion *m, size_t at, const char *text, size_t len)
{
    if (at + len >= sizeof m->name)
        return names_error_in(m, "the name is longer than %zu characters",
                              sizeof m->name - 1);
    memcpy(m->name + at, text, len);
    return 0;
}

/* Adds the complete name m->name[0, at). */
static int names_add(struct expansion *m, size_t at)
{
    struct host host = *m->like;
    m->name[at] = '\0';
    char *host_part = strchr(m->name, '@');
    host_part = host_part != NULL ? host_part + 1 : m->name;
    if (*host_part == '\0' || m->name[0] == '@')
        return names_error_in(m, "a part of the name is missing");
    if (strchr(host_part, '@') != NULL)
        return names_error_in(m, "the name has two '@'");
    if (m->name[0] == '-' || *host_part == '-') /* an option of the agent */
        return names_error_in(m, "a name cannot begin with '-'");
    host.name = m->name;
    return hosts_add(m->h, &host, m->why);
}

static int names_expand_at(struct expansion *m, size_t at, const char *text,
                           const char *end);

/* Expands lo to hi with as many digits as lo has ("08-10"), each followed by the text
 * after the bracket. */
static int names_expand_range(struct expansion *m, size_t at, const char *range,
                              size_t len, const char *after, const char *end)
{
    char number[NUMBER_DIGITS + 2], shown[NAMES_SHOWN];
    const char *dash = memchr(range, '-', len);
    size_t lo_len = dash != NULL ? (size_t)(dash - range) : len;
    uint64_t lo = 0, hi = 0;
    bool good = names_parse_number(range, lo_len, &lo);
    if (good && dash != NULL)
        good = names_parse_number(dash + 1, len - lo_len - 1, &hi) && lo <= hi;
    else
        hi = lo;
    if (!good)
        return names_error_in(m, "'%s' is not a range of numbers such as 0-3",
                              names_show(shown, range, len));
    int rc = 0;
    for (uint64_t v = lo; rc == 0 && v <= hi; v++) {
        int n = snprintf(number, sizeof number, "%0*u", (int)lo_len, (unsigned)v);
        rc = names_put(m, at, number, (size_t)n);
        if (rc == 0)
            rc = names_expand_at(m, at + (size_t)n, after, end);
    }
    return rc;
}

/* [fe80::1%eth0]: stored without brackets. */
static int names_expand_address(struct expansion *m, size_t at, const char *text,
                                size_t len, bool alone)
{
    char address[NAMES_BYTES];
    struct in6_addr parsed;
    const char *zone = memchr(text, '%', len);
    size_t n = zone != NULL ? (size_t)(zone - text) : len;
    if (n < sizeof address) {
        memcpy(address, text, n);
        address[n] = '\0';
    }
    if (!alone || n >= sizeof address || inet_pton(AF_INET6, address, &parsed) != 1 ||
        (zone != NULL && (n + 1 == len || strspn(zone + 1, ZONE_CHARS) < len - n - 1)))
        return names_error_in(m, "this is not an IPv6 address such as [fe80::1]");
    if (names_put(m, at, text, len) != 0)
        return -1;
    return names_add(m, at + len);
}

static int names_expand_bracket(struct expansion *m, size_t at, const char *text,
                                const char *end)
{
    const char *inner = text + 1;
    const char *close = memchr(inner, ']', (size_t)(end - inner));
    if (close == NULL)
        return names_error_in(m, "the bracket is not closed");
    if (memchr(inner, ':', (size_t)(close - inner)) != NULL)
        return names_expand_address(m, at, inner, (size_t)(close - inner),
                                    close + 1 == end &&
                                        (at == 0 || m->name[at - 1] == '@'));
    int rc = 0;
    for (const char *p = inner; rc == 0 && p <= close; p++) {
        const char *comma = memchr(p, ',', (size_t)(close - p));
        const char *stop = comma != NULL ? comma : close;
        rc = names_expand_range(m, at, p, (size_t)(stop - p), close + 1, end);
        p = stop;
    }
    return rc;
}

static int names_expand_at(struct expansion *m, size_t at, const char *text,
                           const char *end)
{
    size_t n = 0, len = (size_t)(end - text);
    while (n < len && text[n] != '\0' && strchr(NAME_CHARS, text[n]) != NULL)
        n++;
    if (names_put(m, at, text, n) != 0)
        return -1;
    if (n == len)
        return names_add(m, at + n);
    unsigned char c = (unsigned char)text[n];
    if (c == '[')
        return names_expand_bracket(m, at + n, text + n, end);
    if (c < PRINTABLE || c >= DELETE)
        return names_error_in(m, "the byte 0x%02x cannot stand in the name of a host", c);
    return names_error_in(m, "the character '%c' cannot stand in the name of a host", c);
}

int names_expand(struct hosts *h, const char *text, size_t len, const struct host *like,
                 char why[HOSTS_WHY])
{
    struct expansion m = {.h = h, .like = like, .why = why, .text = text, .len = len};
    return names_expand_at(&m, 0, text, text + len);
}

int names_split(const char *text, size_t len, size_t *name_len, struct host *host,
                char why[HOSTS_WHY])
{
    char shown[NAMES_SHOWN];
    size_t colon = names_span(text, len, ":");
    *name_len = colon;
    if (colon == len)
        return 0;
    const char *slots = text + colon + 1;
    size_t slots_len = len - colon - 1;
    if (memchr(slots, ':', slots_len) != NULL)
        return names_error(why, "'%s': write an IPv6 address in brackets, as [fe80::1]",
                           names_show(shown, text, len));
    if (colon == 0)
        return names_error(why, "'%s': a name is missing before ':'",
                           names_show(shown, text, len));
    return names_slots(&host->slots, slots, slots_len, text, len, why);
}
