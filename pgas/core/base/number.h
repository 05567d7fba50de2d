/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * number.h - parses decimal numbers from untrusted text: digits only, without sign or
 * space; overflow is an error.
 */
#ifndef PGAS_NUMBER_H
#define PGAS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Parses the number at the beginning of the text.  Returns the number of bytes parsed; 0
 * if there is no number or it is at least 2^64. */
static inline size_t number_scan(const char *text, size_t len, uint64_t *out)
{
    uint64_t number = 0;
    size_t n = 0;

    for (; n < len && text[n] >= '0' && text[n] <= '9'; n++)
        if (__builtin_mul_overflow(number, (uint64_t)10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text[n] - '0'), &number))
            return 0;
    if (n > 0)
        *out = number;
    return n;
}

/* True if the whole text is a number in [least, most]; otherwise *out is unchanged. */
static inline bool number_parse(const char *text, size_t len, uint64_t least,
                                uint64_t most, uint64_t *out)
{
    uint64_t number = 0;

    if (number_scan(text, len, &number) != len || len == 0 || number < least ||
        number > most)
        return false;
    *out = number;
    return true;
}

static inline bool number_parse_u32(const char *text, uint32_t least, uint32_t most,
                                    uint32_t *out)
{
    uint64_t number;

    if (!number_parse(text, strlen(text), least, most, &number))
        return false;
    *out = (uint32_t)number;
    return true;
}

#endif
