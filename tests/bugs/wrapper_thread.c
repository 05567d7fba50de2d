/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrapper_thread.c - oshrun starts a wrapper process whose second thread forks the
 * program and exits as soon as the program has joined the job.  The program must survive
 * the exit of the thread that forked it.  Program and wrapper are the same executable.
 */
#include "config.h"

#include <pthread.h>
#include <sys/wait.h>

#include "tests/api/multi/check.h"

enum { NAP_US = 200000, FD_TEXT = 12 };
static pid_t program;

/* The program: writes a byte to ready_fd when it has joined the job. */
static int run_program(int ready_fd)
{
    shmem_init();
    CHECK(write(ready_fd, "", 1) == 1);
    check_sleep_us(NAP_US);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

static void *start(void *arg)
{
    int ready[2];
    char byte, text[FD_TEXT];
    if (pipe(ready) != 0)
        return NULL;
    snprintf(text, sizeof(text), "%d", ready[1]);
    program = fork();
    if (program == 0) {
        execl("/proc/self/exe", "program", text, (char *)NULL);
        _exit(CHECK_SKIP + 1);
    }
    close(ready[1]);
    /* End of file: the program has died, and waitpid in main returns its status. */
    return read(ready[0], &byte, 1) == 1 ? arg : NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int status = 0;
    if (argc > 1)
        return run_program(atoi(argv[1]));
    if (pthread_create(&thread, NULL, start, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    if (program <= 0 || waitpid(program, &status, 0) != program)
        return 1;
    if (status != 0)
        fprintf(stderr, "wrapper_thread: the program ended with wait status %#x\n",
                (unsigned)status);
    return status == 0 ? 0 : 1;
}
