/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlclose.c - a program that is not linked with libshmem opens it, runs a job, and closes
 * it, as a plug-in does.  What the process has of the library must still be valid then:
 * strings of its environment, handlers of fork and of exit, threads.
 *   dlclose LIBRARY [running]    running: it does not call shmem_finalize
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static struct {
    void (*shmem_init)(void);
    int (*shmem_my_pe)(void);
    int (*shmem_n_pes)(void);
    void *(*shmem_malloc)(size_t size);
    void (*shmem_long_p)(long *dest, long value, int pe);
    void (*shmem_barrier_all)(void);
    void (*shmem_finalize)(void);
} lib;

static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "dlclose: %s: %s\n", what, why);
    _exit(1);
}

/* A pointer to an object cannot be converted to one to a function in ISO C. */
static void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);

    if (found == NULL)
        give_up(name, "not found");
    memcpy(function, &found, sizeof found);
}

static void run_job(void *library, int finalizes)
{
    find(library, "shmem_init", &lib.shmem_init);
    find(library, "shmem_my_pe", &lib.shmem_my_pe);
    find(library, "shmem_n_pes", &lib.shmem_n_pes);
    find(library, "shmem_malloc", &lib.shmem_malloc);
    find(library, "shmem_long_p", &lib.shmem_long_p);
    find(library, "shmem_barrier_all", &lib.shmem_barrier_all);
    find(library, "shmem_finalize", &lib.shmem_finalize);
    lib.shmem_init();
    int me = lib.shmem_my_pe(), npes = lib.shmem_n_pes();
    long *number = lib.shmem_malloc(sizeof *number);
    if (number == NULL)
        give_up("shmem_malloc", "no memory");
    lib.shmem_long_p(number, me, (me + 1) % npes);
    lib.shmem_barrier_all();
    if (*number != (me + npes - 1) % npes)
        give_up("shmem_long_p", "wrong number");
    if (finalizes)
        lib.shmem_finalize();
}

/* Reads each variable.  The name before "=" is searched for, too. */
static size_t read_environment(void)
{
    size_t bytes = 0;

    for (char **entry = environ; *entry != NULL; entry++) {
        char name[256];
        size_t length = strcspn(*entry, "=");
        snprintf(name, sizeof name, "%.*s", (int)length, *entry);
        if (length > 0 && length < sizeof name && getenv(name) == NULL)
            give_up(name, "is in the environment, but getenv does not find it");
        bytes += strlen(*entry);
    }
    return bytes;
}

/* Passes the environment to a program, after the handlers of fork. */
static void run_child(void)
{
    char program[] = "/bin/true", *arguments[] = {program, NULL};
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        execve(program, arguments, environ);
        _exit(99);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        give_up(program, "did not end with status 0");
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        give_up("dlopen", dlerror());
    run_job(library, argc == 2);
    if (dlclose(library) != 0)
        give_up("dlclose", dlerror());
    size_t bytes = read_environment();
    run_child();
    printf("%s environment, exit\n", bytes > 0 ? "an" : "no");
    return 0;
}
