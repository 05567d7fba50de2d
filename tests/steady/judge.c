/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * judge.c - for steady_test.sh: runs a command, judges that it took MS milliseconds,
 * which is too long, and exits with the status of that judgement. usage: judge MS COMMAND
 */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/steady/steady.h"

enum { NS_PER_MS = 1000000 };

int main(int argc, char **argv)
{
    struct steady s;

    if (argc != 3)
        return 2;
    steady_begin(&s, getpid());
    if (system(argv[2]) != 0)
        return 2;
    return steady_status(&s, strtoull(argv[1], NULL, 10) * NS_PER_MS, "judge");
}
