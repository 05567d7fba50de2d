/* SPDX-License-Identifier: BSD-3-Clause */
/* sve_match.c - runs the matching kernels that this processor supports: see sve.sh. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "pgas/core/base/pgas_assert.h"
#include "tests/unit/kernels/check_match.h"

_Noreturn void pgas_assert_failed(const char *condition, const char *file, int line,
                                  const char *function)
{
    printf("FAIL: %s:%d: %s: %s\n", file, line, function, condition);
    abort();
}

int main(int argc, char **argv)
{
    uint64_t operations = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
    struct match_options options[CHECK_MATCH_ENGINES];
    unsigned engines = check_match_engines(options);
    struct check_match_result r;

    for (enum isa isa = 0; isa < ISAS; isa++)
        if (isa_here(isa))
            printf("%s\n", isa_name(isa));
    check_match(options, engines, false, 1, operations, &r);
    if (r.text[0] != '\0')
        printf("FAIL: %s\n", r.text);
    return r.text[0] != '\0';
}
