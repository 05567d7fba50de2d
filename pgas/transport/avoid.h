/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * avoid.h - the words of world->avoid (SHMEM_NET_AVOID): abilities that a transport shall
 * not use though it has them, so that code for devices without them can be tested.
 * A leaf.  Used by: net, the transports.
 */
#ifndef PGAS_TRANSPORT_AVOID_H
#define PGAS_TRANSPORT_AVOID_H

#include <stdbool.h>
#include <string.h>

/* X(name, word).  ucx knows the last one only. */
#define TRANSPORT_AVOID_TABLE(X)                                                         \
    X(ORDER, "order")       /* strict mode, whatever the provider guarantees */          \
    X(ATOMICS, "atomics")   /* amos by messages */                                       \
    X(INJECT, "inject")     /* every operation has a completion */                       \
    X(WAITFD, "waitfd")     /* no descriptor to sleep on */                              \
    X(LOCAL, "local")       /* private memory goes through registered memory */          \
    X(SIZE, "size")         /* long operations go in small pieces */                     \
    X(CONTEXTS, "contexts") /* there is context 0 only */
#define X(name, word) AVOID_##name,
enum transport_avoid { TRANSPORT_AVOID_TABLE(X) AVOIDS };
#undef X

/* Is the word in the comma list, which may be NULL? */
static inline bool avoid_lists(const char *list, enum transport_avoid which)
{
#define X(name, word) word,
    static const char *const words[AVOIDS] = {TRANSPORT_AVOID_TABLE(X)};
#undef X
    size_t len = strlen(words[which]);

    while (list != NULL && *list != '\0') {
        size_t n = strcspn(list, ",");
        if (n == len && strncmp(list, words[which], n) == 0)
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

#endif
