/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_domain.c - see ft_domain.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "pgas/core/base/hash.h"
#include "pgas/ft/agent/ft_domain.h"

#define OF_NAME                                                                          \
    (UINT32_C(1) << 31) /* set in numbers from names, clear in those of lists */

uint32_t ft_domain_of_name(const char *name)
{
    uint64_t hash = hash_add(HASH_START, name, strlen(name));

    return (uint32_t)(hash ^ hash >> 32) | OF_NAME;
}

bool ft_domain_find(const char *lists, const char *name, uint32_t *domain, char *why,
                    size_t size)
{
    size_t len = strlen(name);
    uint32_t list = 0;
    bool found = false;

    *domain = ft_domain_of_name(name);
    if (*lists == '\0')
        return true;
    for (const char *at = lists;; at++) {
        size_t n = strcspn(at, ",;");
        if (n == 0 || strcspn(at, " \t") < n) {
            snprintf(why, size, "a name of a node is missing or has a space at \"%.20s\"",
                     at);
            return false;
        }
        if (n == len && memcmp(at, name, n) == 0) {
            if (found && *domain != list) {
                snprintf(why, size, "%s is in two domains", name);
                return false;
            }
            found = true;
            *domain = list;
        }
        at += n;
        if (*at == '\0')
            return true;
        list += *at == ';';
    }
}
