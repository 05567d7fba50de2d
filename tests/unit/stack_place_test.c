/* SPDX-License-Identifier: BSD-3-Clause */
/* stack_place_test.c - the position of a PE in the output of a debugger. */
#include "config.h"

#include <criterion/criterion.h>

#include "tools/oshrun/daemon/daemon_int.h"

enum { PID = 42 };

static const struct {
    const char *text, *routine, *user, *caller;
} row[] = {
    {"0x1000  0x2000  Yes  /usr/lib/libshmem.so.1\n"
     "#0  0x0000000000001234 in checked_pshmem_barrier_all () at barrier.c:3\n"
     "#1  0x0000000000401000 in work (n=1) at /src/bad.c:29\n"
     "#2  0x0000000000402000 in main () at bad.c:50\n",
     "shmem_barrier_all", "work (bad.c:29)", "main (bad.c:50)"},
    {"TID 42:\n"
     "#0  0x1234 pshmem_quiet - /opt/libshmem.so.1\n"
     "#1  0x4010 main - /home/u/prog\n"
     "    /src/a.c:12:3\n"
     "#2  0x7f10 __libc_start_main - /lib/libc.so.6\n",
     "shmem_quiet", "main (a.c:12)", ""},
    /* The thread in the library is preferred to the main thread. */
    {"Thread 1 (LWP 42):\n"
     "#0  0x401000 in main () at a.c:1\n"
     "Thread 2 (LWP 43):\n"
     "#0  0x401000 in shmem_quiet () from /opt/libshmem.so.1\n"
     "#1  0x401000 in helper () at a.c:9\n",
     "shmem_quiet", "helper (a.c:9)", ""},
    {"#0  0x4010 worker\n", "", "worker", ""}, /* no file */
    {"#0  0x4010 in \n#1  0x4010 in ?? ()\n#2  0x4010 in _start ()\n", "", "", ""},
    {"", "", "", ""},
};

Test(stack_place, of_each_output)
{
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct stack_place at;
        stack_place_find(row[i].text, PID, &at);
        cr_assert_str_eq(at.routine, row[i].routine, "%zu: %s", i, at.routine);
        cr_assert_str_eq(at.user, row[i].user, "%zu: %s", i, at.user);
        cr_assert_str_eq(at.caller, row[i].caller, "%zu: %s", i, at.caller);
    }
}
