/* SPDX-License-Identifier: BSD-3-Clause */
/* prefer.c - see prefer.h. */
#include "config.h"

#include <dirent.h>
#include <string.h>

#include "pgas/transport/prefer.h"

/* Classes of devices: InfiniBand, RoCE, iWARP, EFA and Omni-Path; Slingshot. */
static const char *const fabric_classes[] = {"/sys/class/infiniband", "/sys/class/cxi"};

static bool prefer_has_entry(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    bool found = false;

    if (dir == NULL)
        return false;
    while (!found && (entry = readdir(dir)) != NULL)
        found = entry->d_name[0] != '.';
    closedir(dir);
    return found;
}

static bool prefer_is_set(const char *value)
{
    return value != NULL && value[0] != '\0';
}

static bool prefer_tcp(const struct transport_world *world)
{
    if (prefer_is_set(world->provider) || prefer_is_set(world->fabric) ||
        prefer_is_set(world->domain))
        return false;
    for (size_t i = 0; i < sizeof fabric_classes / sizeof fabric_classes[0]; i++)
        if (prefer_has_entry(fabric_classes[i]))
            return false;
    return true;
}

void transport_prefer(const struct transport_world *world, int order[TRANSPORTS])
{
    bool tcp_first = prefer_tcp(world);
    int n = 0;

    for (int i = 0; tcp_first && i < TRANSPORTS; i++)
        if (strcmp(transport_list[i]->name, "tcp") == 0)
            order[n++] = i;
    for (int i = 0; i < TRANSPORTS; i++)
        if (!tcp_first || strcmp(transport_list[i]->name, "tcp") != 0)
            order[n++] = i;
}
