/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * avoid.h - parses world->avoid (SHMEM_NET_DISABLE): capabilities that a transport must
 * not use although the device has them, so that its fallbacks can be tested. A leaf. Used
 * by: net, the transports.
 */
#ifndef PGAS_TRANSPORT_AVOID_H
#define PGAS_TRANSPORT_AVOID_H

#include <stdbool.h>
#include <string.h>

/* X(name, word). ucx supports only the last one. */
#define TRANSPORT_CAPABILITY_TABLE(X)                                                    \
    X(ORDER, "order")         /* every put completes at delivery */                      \
    X(ATOMICS, "atomics")     /* amos by messages */                                     \
    X(INJECT, "inject")       /* every operation has a completion */                     \
    X(WAITFD, "waitfd")       /* no descriptor to sleep on */                            \
    X(LOCAL, "local")         /* private memory is copied through registered memory */   \
    X(SIZE, "size")           /* long operations are split into small fragments */       \
    X(IMMEDIATE, "immediate") /* fragments of blocks are messages, not writes */         \
    X(CONTEXTS, "contexts")   /* no context other than 0 */
#define X(name, word) CAPABILITY_##name,
enum transport_capability { TRANSPORT_CAPABILITY_TABLE(X) CAPABILITIES };
#undef X

/* Set avoid[i] if the comma-separated list (may be NULL) contains word i. Returns NULL;
 * or the first unknown word of the list, *len bytes long. */
static inline const char *capability_read(const char *list, bool avoid[CAPABILITIES],
                                          size_t *len)
{
#define X(name, word) word,
    static const char *const words[CAPABILITIES] = {TRANSPORT_CAPABILITY_TABLE(X)};
#undef X
    const char *unknown = NULL;

    memset(avoid, 0, CAPABILITIES * sizeof *avoid);
    for (size_t n; list != NULL && *list != '\0'; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        int i = 0;
        while (i < CAPABILITIES &&
               (strlen(words[i]) != n || strncmp(list, words[i], n) != 0))
            i++;
        if (i < CAPABILITIES) {
            avoid[i] = true;
        } else if (unknown == NULL) {
            unknown = list;
            *len = n;
        }
    }
    return unknown;
}

#endif
