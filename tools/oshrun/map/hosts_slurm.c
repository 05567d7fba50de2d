/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts_slurm.c - the hosts of a Slurm allocation; see hosts.h.  Uses names.h. */
#include "config.h"

#include "tools/oshrun/map/names.h"

#include <stdio.h>
#include <string.h>

/* "2(x3)": 2 for the next 3 hosts.  0, or -1. */
static int hosts_slurm_read_group(const char *text, size_t len, uint32_t *slots,
                                  uint32_t *times)
{
    char end = '\0', copy[NAMES_SHOWN];
    int used = 0;
    if (len >= sizeof copy || strspn(text, "0123456789(x)") < len)
        return -1;
    memcpy(copy, text, len);
    copy[len] = '\0';
    *times = 1;
    if (sscanf(copy, "%7u(x%7u%c%n", slots, times, &end, &used) != 3 &&
        sscanf(copy, "%7u%n", slots, &used) != 1)
        return -1;
    if ((size_t)used != len || (end != '\0' && end != ')'))
        return -1;
    return *slots > 0 && *slots <= HOSTS_SLOTS_MAX && *times > 0 ? 0 : -1;
}

/* Reads the slots of all hosts, such as "2(x3),1". */
static int hosts_slurm_read_slots(struct hosts *h, const char *text, char why[HOSTS_WHY])
{
    char shown[NAMES_SHOWN];
    size_t len = strlen(text);
    uint32_t filled = 0;
    for (size_t at = 0; at <= len; at++) {
        size_t n = strcspn(text + at, ",");
        uint32_t slots, times;
        if (hosts_slurm_read_group(text + at, n, &slots, &times) != 0)
            return names_error(why, "'%s' is not a list of numbers such as 2(x3),1",
                               names_show(shown, text, len));
        for (; times > 0 && filled < h->count; times--)
            h->host[filled++].slots = slots;
        if (times > 0)
            filled = HOSTS_NONE; /* more numbers than hosts */
        at += n;
    }
    if (filled == h->count)
        return 0;
    return names_error(why, "'%s' does not match the %u hosts of the allocation",
                       names_show(shown, text, len), h->count);
}

static int hosts_slurm_read_names(struct hosts *h, const char *text, char why[HOSTS_WHY])
{
    static const struct host like = {0};
    char shown[NAMES_SHOWN];
    size_t len = strlen(text);
    int rc = 0;
    for (size_t at = 0; rc == 0 && at <= len; at++) {
        size_t n = names_span(text + at, len - at, ",");
        if (n == 0)
            return names_error(why, "a name is missing in '%s'",
                               names_show(shown, text, len));
        rc = names_expand(h, text + at, n, &like, why);
        at += n;
    }
    return rc;
}

int hosts_from_slurm(struct hosts *h, const char *nodelist, const char *tasks,
                     const char *cpus, char why[HOSTS_WHY])
{
    *h = (struct hosts){0};
    const char *slots = tasks != NULL ? tasks : cpus;
    int rc = hosts_slurm_read_names(h, nodelist, why);
    if (rc == 0 && slots != NULL)
        rc = hosts_slurm_read_slots(h, slots, why);
    if (rc != 0)
        hosts_free(h);
    return rc;
}
