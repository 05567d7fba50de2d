/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts_file.c - host files; see hosts.h.  Uses lines.h, names.h. */
#include "config.h"

#include "tools/oshrun/map/lines.h"
#include "tools/oshrun/map/names.h"

#include <string.h>

/* Reads "slots=4" or "max-slots=8" into host. */
static int hosts_file_read_setting(const char *word, struct host *host,
                                   char why[HOSTS_WHY])
{
    char shown[NAMES_SHOWN];
    const char *value = strchr(word, '=');
    size_t name = strcspn(word, "="), len = strlen(word);
    bool slots = name == strlen("slots") && strncmp(word, "slots", name) == 0;
    bool max = name == strlen("max-slots") && (strncmp(word, "max-slots", name) == 0 ||
                                               strncmp(word, "max_slots", name) == 0);
    uint32_t *to = slots ? &host->slots : &host->max;
    names_show(shown, word, len);
    if ((!slots && !max) || value == NULL)
        return names_error(why, "'%s': expected slots=NUMBER or max-slots=NUMBER", shown);
    if (*to != 0)
        return names_error(why, "'%s': the line sets it twice", shown);
    return names_slots(to, value + 1, strlen(value + 1), word, len, why);
}

static int hosts_file_read_settings(struct lines *l, struct host *host,
                                    char why[HOSTS_WHY])
{
    const char *word;
    while ((word = lines_word(l)) != NULL)
        if (hosts_file_read_setting(word, host, why) != 0)
            return -1;
    if (host->max > 0 && host->slots == 0)
        return names_error(why, "max-slots needs slots too");
    if (host->max > 0 && host->max < host->slots)
        return names_error(why, "max-slots=%u is less than the %u slots", host->max,
                           host->slots);
    return 0;
}

static int hosts_file_read_host(struct hosts *h, struct lines *l, char why[HOSTS_WHY])
{
    struct host host = {0};
    const char *name = lines_word(l);
    size_t len;
    if (names_split(name, strlen(name), &len, &host, why) != 0 ||
        hosts_file_read_settings(l, &host, why) != 0)
        return -1;
    return names_expand(h, name, len, &host, why);
}

static int hosts_file_read_file(struct hosts *h, struct lines *l, char why[HOSTS_WHY])
{
    char reason[HOSTS_WHY];
    int rc;
    while ((rc = lines_next(l, why)) > 0) {
        if (hosts_file_read_host(h, l, reason) != 0)
            return lines_error(l, why, "%s", reason);
    }
    if (rc == 0 && h->count == 0)
        return names_error(why, "hostfile %.*s names no host", NAMES_SHOWN, l->path);
    return rc;
}

int hosts_from_file(struct hosts *h, const char *path, char why[HOSTS_WHY])
{
    struct lines l;
    *h = (struct hosts){0};
    int rc = lines_open(&l, "hostfile", path, why);
    if (rc == 0)
        rc = hosts_file_read_file(h, &l, why);
    lines_close(&l);
    if (rc != 0)
        hosts_free(h);
    return rc;
}
