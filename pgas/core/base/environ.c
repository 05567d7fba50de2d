/* SPDX-License-Identifier: BSD-3-Clause */
/* environ.c - see environ.h. */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/environ.h"
#include "pgas/core/base/pgas_assert.h"

void environ_enter(struct environ_setting *settings, int n)
{
    for (int i = 0; i < n; i++) {
        struct environ_setting *s = &settings[i];
        PGAS_ASSERT(s->first == 0 && strchr(s->text, '=') != NULL);
        s->first = s->text[0];
        s->text[0] = ENVIRON_HIDDEN;
        if (putenv(s->text) != 0)
            s->first = 0; /* out of memory: the setting keeps its default */
    }
}

static bool environ_is_set(const struct environ_setting *s)
{
    char name[ENVIRON_TEXT_MAX];

    memcpy(name, s->text, sizeof name);
    name[0] = s->first;
    *strchr(name, '=') = '\0';
    return getenv(name) != NULL;
}

void environ_show(struct environ_setting *settings, int n)
{
    for (int i = 0; i < n; i++)
        if (settings[i].first != 0 && !environ_is_set(&settings[i]))
            __atomic_store_n(&settings[i].text[0], settings[i].first, __ATOMIC_RELAXED);
}

void environ_hide(struct environ_setting *settings, int n)
{
    for (int i = 0; i < n; i++)
        __atomic_store_n(&settings[i].text[0], ENVIRON_HIDDEN, __ATOMIC_RELAXED);
}
