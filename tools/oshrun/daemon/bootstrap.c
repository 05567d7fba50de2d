/* SPDX-License-Identifier: BSD-3-Clause */
/* bootstrap.c - see bootstrap.h.  Uses auth.c (nonces). */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/loop.h"
#include "tools/oshrun/net/wire.h"
#include "tools/oshrun/daemon/bootstrap.h"
#include "pgas/core/base/number.h"
#include "tools/oshrun/util/mem.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_MAX_MS 3600000u

/* Handles one "name=value"; unknown names are ignored. */
static int bootstrap_take_word(struct bootstrap *b, const char *name, const char *value)
{
    int rc = 0;
    if (strcmp(name, "nonce") == 0) {
        rc = nonce_from_hex(&b->nonce, value);
    } else if (strcmp(name, "at") == 0) {
        rc = snprintf(b->at, sizeof b->at, "%s", value) < ADDRESSES_MAX ? 0 : -1;
    } else if (strcmp(name, "if") == 0) {
        value = strcmp(value, "-") == 0 ? "" : value;
        rc = snprintf(b->which, sizeof b->which, "%s", value) < ADDRESSES_MAX ? 0 : -1;
    } else if (strcmp(name, "timeout") == 0) {
        rc = number_parse_u32(value, 1, TIMEOUT_MAX_MS, &b->timeout_ms) ? 0 : -1;
    } else if (strcmp(name, "start") == 0) {
        rc = number_parse_u32(value, 1, TIMEOUT_MAX_MS, &b->start_ms) ? 0 : -1;
    } else if (strcmp(name, "window") == 0) {
        rc = number_parse(value, strlen(value), 1, UINT64_MAX, &b->window) ? 0 : -1;
    } else if (strcmp(name, "node") == 0) {
        rc = number_parse_u32(value, 0, WIRE_NONE - 1, &b->node) ? 0 : -1;
    }
    return rc;
}

static int bootstrap_check_version(char **rest)
{
    const char *program = strsep(rest, " "), *wire = strsep(rest, " ");
    const char *version = strsep(rest, " ");
    uint32_t n;
    if (version == NULL || strcmp(program, "oshrun") != 0 ||
        !number_parse_u32(wire, 0, UINT32_MAX, &n)) {
        error_report(
            "--node-daemon is internal to oshrun, which writes a bootstrap line to the "
            "standard input of the daemon");
        return -1;
    }
    if (n == WIRE_VERSION && strcmp(version, PACKAGE_VERSION) == 0)
        return 0;
    error_report(
        "this oshrun has version %s (messages %u), but the one that started it has %s "
        "(messages %s); install the same on all hosts, or set SHMEM_LAUNCH_DAEMON",
        PACKAGE_VERSION, WIRE_VERSION, version, wire);
    return -1;
}

int bootstrap_parse(struct bootstrap *b, char *line)
{
    char *word;
    bool nonce = false;
    *b = (struct bootstrap){.node = WIRE_NONE};
    if (bootstrap_check_version(&line) != 0)
        return -1;
    while ((word = strsep(&line, " ")) != NULL) {
        char *value = strchr(word, '=');
        if (*word == '\0')
            continue;
        if (value != NULL)
            *value++ = '\0';
        if (value == NULL || bootstrap_take_word(b, word, value) != 0) {
            error_report("the bootstrap line of this node daemon is malformed at '%s'",
                         word);
            return -1;
        }
        nonce = nonce || strcmp(word, "nonce") == 0;
    }
    if (nonce && b->at[0] != '\0' && b->start_ms > 0 && b->timeout_ms > 0 &&
        b->window > 0)
        return 0;
    error_report("the bootstrap line of this node daemon is incomplete");
    return -1;
}

/* Reads one byte at a time, so that data after the line is not consumed. */
static int bootstrap_read_line(struct bootstrap *b, int fd, int wait_ms, char *line)
{
    size_t len = 0;
    uint64_t end_ns = loop_now_ns() + (uint64_t)wait_ms * NS_PER_MS;
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        uint64_t now = loop_now_ns();
        int ms = now < end_ns ? (int)((end_ns - now) / NS_PER_MS) : 0;
        ssize_t n = poll(&p, 1, ms) > 0 ? read(fd, line + len, 1) : 0;
        if (n <= 0 || len + 1 == BOOTSTRAP_LINE)
            break;
        if (line[len] == '\n') {
            line[len] = '\0';
            return bootstrap_parse(b, line);
        }
        len++;
    }
    error_report("this node daemon got no bootstrap line on standard input");
    return -1;
}

int bootstrap_read(struct bootstrap *b, int fd, int wait_ms)
{
    char *line = mem_secret(BOOTSTRAP_LINE); /* it contains the nonce */
    int rc = bootstrap_read_line(b, fd, wait_ms, line);
    seal_memory_free(line, BOOTSTRAP_LINE);
    return rc;
}
