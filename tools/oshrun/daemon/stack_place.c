/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stack_place.c - where a PE is, from the stacks of its threads as a debugger prints
 * them.
 *
 * Uses daemon_int.h.  Used by stacks.c.
 *
 * Each frame belongs to the OpenSHMEM library, to the system or to the program.  gdb
 * names no file for a frame with debugging information, so its frames are assigned by
 * address (stacks.c has it print all addresses, and the list of libraries); eu-stack
 * names files.
 */
#include "config.h"

#include "tools/oshrun/daemon/daemon_int.h"
#include "tools/oshrun/util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARIES_MAX 512

enum owner { OWNER_PROGRAM, OWNER_SYSTEM, OWNER_LIBRARY };

struct library {
    unsigned long long from, to;
    enum owner owner;
};

struct libraries {
    uint32_t count;
    struct library list[LIBRARIES_MAX];
};

struct frame_text {
    unsigned long long address;
    const char *function, *source, *file; /* NULL: the debugger prints none */
};

/* The last part of a path. */
static const char *stack_place_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool stack_place_begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum owner stack_place_owner(const char *file)
{
    if (stack_place_begins(stack_place_base(file), "libshmem.so"))
        return OWNER_LIBRARY;
    if (stack_place_begins(file, "/lib") || stack_place_begins(file, "/usr/lib"))
        return OWNER_SYSTEM;
    return OWNER_PROGRAM;
}

/* A line of gdb's list, which it prints before the stacks: "0x<from>  0x<to>  Yes (*)
 * /path". */
static void stack_place_read_library(const char *line, struct libraries *l)
{
    struct library *one = &l->list[l->count];
    const char *path = strchr(line, '/');
    if (path == NULL || l->count == LIBRARIES_MAX ||
        sscanf(line, "0x%llx 0x%llx ", &one->from, &one->to) != 2)
        return;
    one->owner = stack_place_owner(path);
    l->count++;
}

static enum owner stack_place_owner_of(const struct frame_text *f,
                                       const struct libraries *l)
{
    if (f->file != NULL)
        return stack_place_owner(f->file);
    for (uint32_t i = 0; i < l->count; i++)
        if (f->address >= l->list[i].from && f->address < l->list[i].to)
            return l->list[i].owner;
    return OWNER_PROGRAM;
}

/* Ends the line before the last occurrence of `mark`.  Returns what follows it, or NULL.
 */
static char *stack_place_cut_last(char *line, const char *mark)
{
    char *last = NULL;
    for (char *at = line; (at = strstr(at, mark)) != NULL; at++)
        last = at;
    if (last == NULL)
        return NULL;
    *last = '\0';
    return last + strlen(mark);
}

/* gdb: "#8  0x<address> in function (arguments) at file:line", or "from library". */
static void stack_place_parse_gdb(char *function, struct frame_text *f)
{
    f->function = function;
    f->source = stack_place_cut_last(function, ") at ");
    f->file = stack_place_cut_last(function, ") from ");
    char *arguments = *function != '\0' ? strstr(function + 1, " (") : NULL;
    if (arguments != NULL)
        *arguments = '\0';
}

/* eu-stack: "#8  0x<address> function - file", and "    file:line:column" in the next
 * line, which *rest then skips. */
static void stack_place_parse_eu(char *line, size_t function, char **rest,
                                 struct frame_text *f)
{
    f->file = stack_place_cut_last(line, " - ");
    f->function = strlen(line) > function ? line + function : "";
    if (f->file == NULL)
        f->file = "";
    if (*rest == NULL || !stack_place_begins(*rest, "    "))
        return;
    char *source = strsep(rest, "\n") + strlen("    "), *column = strrchr(source, ':');
    f->source = source;
    if (column != NULL && column != strchr(source, ':'))
        *column = '\0';
}

/* False if the line is no frame.  *rest follows the line. */
static bool stack_place_parse(char *line, char **rest, struct frame_text *f)
{
    int used = 0;
    *f = (struct frame_text){0};
    if (sscanf(line, "#%*u 0x%llx %n", &f->address, &used) != 1 || used == 0 ||
        line[used] == '\0')
        return false;
    if (stack_place_begins(line + used, "in "))
        stack_place_parse_gdb(line + used + strlen("in "), f);
    else
        stack_place_parse_eu(line, (size_t)used, rest, f);
    return true;
}

/* "function (file:line)". */
static void stack_place_describe(const struct frame_text *f, char *to, size_t size)
{
    const char *source = f->source != NULL ? stack_place_base(f->source) : "";
    snprintf(to, size, *source != '\0' ? "%s (%s)" : "%s", f->function, source);
}

/* Call from the innermost frame outwards.  A frame of the library makes those before it
 * irrelevant.  Code without symbols and the start of the program have no name. */
static void stack_place_add(struct stack_place *at, const struct frame_text *f,
                            enum owner owner)
{
    const char *name = f->function;
    if (owner == OWNER_SYSTEM || *name == '\0' || *name == '?' ||
        strcmp(name, "_start") == 0)
        return;
    if (owner == OWNER_LIBRARY) { /* the public name of its function */
        if (stack_place_begins(name, "checked_") && name[strlen("checked_")] != '\0')
            name += strlen("checked_");
        name += stack_place_begins(name, "pshmem");
        at->user[0] = at->caller[0] = '\0';
        snprintf(at->routine, sizeof at->routine, "%s", name);
    } else if (at->user[0] == '\0') {
        stack_place_describe(f, at->user, sizeof at->user);
    } else if (at->caller[0] == '\0') {
        stack_place_describe(f, at->caller, sizeof at->caller);
    }
}

/* A thread that the program has in the library is preferred, then the main thread. */
static int stack_place_rank(const struct stack_place *p, bool is_main)
{
    if (p->user[0] == '\0')
        return 0;
    return 1 + is_main + 2 * (p->routine[0] != '\0');
}

static bool stack_place_is_main(const char *line, pid_t pid)
{
    const char *lwp = strstr(line, "(LWP ");
    long tid = 0;
    if (lwp != NULL)
        tid = strtol(lwp + strlen("(LWP "), NULL, 10);
    else if (stack_place_begins(line, "TID "))
        tid = strtol(line + strlen("TID "), NULL, 10);
    return tid == pid;
}

void stack_place_find(const char *text, pid_t pid, struct stack_place *place)
{
    static struct libraries libraries;
    struct stack_place here = {0};
    struct frame_text f;
    bool is_main = true; /* gdb prints no header for the only thread of some programs */
    int best = 0;
    char *copy = mem_strdup(text), *rest = copy, *line;
    *place = (struct stack_place){0};
    libraries.count = 0;
    do {
        line = strsep(&rest, "\n");
        if (line == NULL || stack_place_begins(line, "Thread ") ||
            stack_place_begins(line, "TID ")) {
            if (stack_place_rank(&here, is_main) > best) {
                best = stack_place_rank(&here, is_main);
                *place = here;
            }
            here = (struct stack_place){0};
            is_main = line != NULL && stack_place_is_main(line, pid);
        } else if (stack_place_parse(line, &rest, &f)) {
            stack_place_add(&here, &f, stack_place_owner_of(&f, &libraries));
        } else {
            stack_place_read_library(line, &libraries);
        }
    } while (line != NULL);
    free(copy);
}
