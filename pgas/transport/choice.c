/* SPDX-License-Identifier: BSD-3-Clause */
/* choice.c - see choice.h. */
#include "config.h"

#include <string.h>

#include "pgas/transport/choice.h"

static bool choice_word_is(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && strncmp(word, name, len) == 0;
}

/* Set wanted[i] to `value` where name[i] is the word.  False: no name matches. */
static bool choice_mark(const char *word, size_t len, const char *const *name,
                        size_t names, bool *wanted, bool value)
{
    for (size_t i = 0; i < names; i++)
        if (choice_word_is(word, len, name[i])) {
            wanted[i] = value;
            return true;
        }
    return false;
}

static void choice_fill(bool *wanted, size_t names, bool value)
{
    for (size_t i = 0; i < names; i++)
        wanted[i] = value;
}

const char *choice_read(const char *list, const char *const *name, size_t names,
                        bool *wanted, size_t *len)
{
    bool without = list[0] == '^', all = list[0] == '\0' || strcmp(list, "auto") == 0;

    choice_fill(wanted, names, without || all);
    for (const char *at = list; !all && *at != '\0'; at += *len + (at[*len] == ',')) {
        *len = strcspn(at, ",");
        size_t head = *at == '^';
        if ((head != 0) == without &&
            choice_mark(at + head, *len - head, name, names, wanted, !without))
            continue;
        choice_fill(wanted, names, false);
        return at;
    }
    return NULL;
}

bool choice_read_order(const char *text, enum transport_order *order)
{
    static const char *const words[] = {[TRANSPORT_ORDER_AUTO] = "auto",
                                        [TRANSPORT_ORDER_YES] = "yes",
                                        [TRANSPORT_ORDER_NO] = "no"};

    *order = TRANSPORT_ORDER_AUTO;
    if (text == NULL || *text == '\0')
        return true;
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0) {
            *order = (enum transport_order)i;
            return true;
        }
    return false;
}
