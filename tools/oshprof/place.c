/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place.c - names of call sites, by addr2line: the function, and the line if the module
 * has debug information.
 */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/oshprof/oshprof.h"

const char *place_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static _Noreturn void place_exec_addr2line(int out, const char *module,
                                           const char *address)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execlp("addr2line", "addr2line", "-f", "-e", module, address, (char *)NULL);
    _exit(1);
}

static void place_read_line(FILE *in, char *line, size_t size)
{
    if (fgets(line, (int)size, in) == NULL || line[0] == '?')
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

/* Two lines: function, and file:line.  Both stay empty without addr2line. */
static void place_run_addr2line(const struct profile_site *site, char *function,
                                char *line, size_t size)
{
    char address[sizeof "0x" + 2 * sizeof site->address];
    int fd[2];

    snprintf(address, sizeof address, "0x%llx", (unsigned long long)site->address);
    if (site->module[0] == '\0' || pipe2(fd, O_CLOEXEC) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0)
        place_exec_addr2line(fd[1], site->module, address);
    close(fd[1]);
    FILE *in = fdopen(fd[0], "r");
    if (in == NULL) {
        close(fd[0]);
    } else {
        place_read_line(in, function, size);
        place_read_line(in, line, size);
        fclose(in);
    }
    if (pid > 0)
        waitpid(pid, NULL, 0);
}

void place_find(const struct profile_site *site, struct profile_place *place)
{
    char line[PLACE_MAX] = "";

    *place = (struct profile_place){.text = ""};
    place_run_addr2line(site, place->function, line, sizeof line);
    char *remark = strstr(line, " (discriminator");
    if (remark != NULL)
        *remark = '\0';
    if (place->function[0] == '\0')
        snprintf(place->text, sizeof place->text, "%.200s 0x%llx",
                 place_base(site->module), (unsigned long long)site->address);
    else if (line[0] == '\0')
        snprintf(place->text, sizeof place->text, "%.200s", place->function);
    else
        snprintf(place->text, sizeof place->text, "%.120s at %.120s", place->function,
                 place_base(line));
}
