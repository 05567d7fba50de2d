/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options_env.c - the settings of oshrun that come from the environment.
 *
 * Uses options.h.  Used by options.c.
 */
#include "config.h"

#include "tools/oshrun/front/options.h"
#include "pgas/core/base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX       "SHMEM_LAUNCH_"
#define FANOUT_MAX   65535
#define SILENCE_MIN  500     /* ms */
#define SILENCE_MAX  3600000 /* ms */
#define DECIMAL      10
#define MS_PER_S     1000u
#define SECONDS_LONG 4 /* digits before the point */

/* A variable that is empty counts as not set. */
static const char *options_env_get(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

static int options_env_wrong(const char *name, const char *value, const char *expected)
{
    fprintf(stderr, "oshrun: %s=%s: expected %s\n", name, value, expected);
    return -1;
}

/* "2.5" as 2500; digits after the third decimal are ignored.  Not by strtod, whose
 * decimal point depends on the locale. */
static int options_env_read_ms(const char *text, uint32_t *ms)
{
    uint64_t s;
    uint32_t part = 0, unit = MS_PER_S;
    size_t digits = number_scan(text, strlen(text), &s);
    if (digits == 0 || digits > SECONDS_LONG)
        return -1;
    text += digits;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++) {
            unit /= DECIMAL;
            part += (uint32_t)(*text - '0') * unit;
        }
    *ms = (uint32_t)s * MS_PER_S + part;
    return *text == '\0' && *ms >= SILENCE_MIN && *ms <= SILENCE_MAX ? 0 : -1;
}

static int options_env_read_seconds(const char *name, uint32_t *ms)
{
    const char *value = options_env_get(name);
    if (value == NULL || options_env_read_ms(value, ms) == 0)
        return 0;
    return options_env_wrong(name, value, "seconds, a number from 0.5 to 3600");
}

static int options_env_read_fanout(uint32_t *fanout)
{
    const char *value = options_env_get(PREFIX "FANOUT");
    if (value == NULL || number_parse_u32(value, 1, FANOUT_MAX, fanout))
        return 0;
    return options_env_wrong(PREFIX "FANOUT", value, "a number from 1 to 65535");
}

static int options_env_read_vnodes(struct options *o)
{
    const char *value = options_env_get(PREFIX "VNODES");
    if (value == NULL)
        return 0;
    o->where = PREFIX "VNODES";
    if (number_parse_u32(value, 1, OPTIONS_VNODES_MAX, &o->vnodes))
        return 0;
    return options_env_wrong(PREFIX "VNODES", value,
                             "the number of virtual nodes, from 1 to 65536");
}

/* The order of precedence is VNODES, HOSTS, HOSTFILE. */
static int options_env_read_where(struct options *o)
{
    if (o->where != NULL)
        return 0;
    if (options_env_read_vnodes(o) != 0)
        return -1;
    if (o->where == NULL && (o->hosts = options_env_get(PREFIX "HOSTS")) != NULL)
        o->where = PREFIX "HOSTS";
    if (o->where == NULL && (o->host_file = options_env_get(PREFIX "HOSTFILE")) != NULL)
        o->where = PREFIX "HOSTFILE";
    return 0;
}

static int options_env_read_daemon_path(struct options *o)
{
    o->daemon_path = options_env_get(PREFIX "DAEMON");
    if (o->daemon_path == NULL || o->daemon_path[0] == '/')
        return 0;
    return options_env_wrong(PREFIX "DAEMON", o->daemon_path,
                             "the path of oshrun on the hosts, from the root");
}

int options_read_env(struct options *o)
{
    if (o->launcher != NULL) /* these apply to our own daemons */
        return 0;
    if (o->agent == NULL)
        o->agent = options_env_get(PREFIX "AGENT");
    if (o->interface == NULL)
        o->interface = options_env_get(PREFIX "IF");
    if (options_env_read_where(o) != 0 || options_env_read_daemon_path(o) != 0 ||
        options_env_read_fanout(&o->fanout) != 0 ||
        options_env_read_seconds(PREFIX "TIMEOUT", &o->timeout_ms) != 0 ||
        options_env_read_seconds(PREFIX "START_TIMEOUT", &o->start_timeout_ms) != 0)
        return -1;
    return 0;
}
