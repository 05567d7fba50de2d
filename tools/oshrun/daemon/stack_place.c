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
    const char *function, *source, *file;
    size_t function_len, source_len, file_len;
};

/* The next line, without its newline; *len = its length.  NULL at the end. */
static const char *stack_place_line(const char **text, size_t *len)
{
    const char *line = *text;
    *len = strcspn(line, "\n");
    *text = line + *len + (line[*len] != '\0');
    return *line != '\0' ? line : NULL;
}

/* The last part of the path at `path`, which has *len bytes. */
static const char *stack_place_base(const char *path, size_t *len)
{
    const char *slash = memrchr(path, '/', *len);
    if (slash == NULL)
        return path;
    *len -= (size_t)(slash + 1 - path);
    return slash + 1;
}

static enum owner stack_place_owner(const char *file, size_t len)
{
    size_t base_len = len;
    const char *base = stack_place_base(file, &base_len);
    if (strncmp(base, "libshmem.so", strlen("libshmem.so")) == 0)
        return OWNER_LIBRARY;
    if (strncmp(file, "/lib", strlen("/lib")) == 0 ||
        strncmp(file, "/usr/lib", strlen("/usr/lib")) == 0)
        return OWNER_SYSTEM;
    return OWNER_PROGRAM;
}

/* gdb's list: "0x<from>  0x<to>  Yes (*)  /path". */
static void stack_place_read_libraries(const char *text, struct libraries *l)
{
    const char *line;
    size_t len;
    l->count = 0;
    while ((line = stack_place_line(&text, &len)) != NULL) {
        struct library *one = &l->list[l->count];
        const char *path = memchr(line, '/', len);
        if (path == NULL || l->count == LIBRARIES_MAX ||
            sscanf(line, "0x%llx 0x%llx ", &one->from, &one->to) != 2)
            continue;
        one->owner = stack_place_owner(path, len - (size_t)(path - line));
        l->count++;
    }
}

static enum owner stack_place_owner_of(const struct frame_text *f,
                                       const struct libraries *l)
{
    if (f->file != NULL)
        return stack_place_owner(f->file, f->file_len);
    for (uint32_t i = 0; i < l->count; i++)
        if (f->address >= l->list[i].from && f->address < l->list[i].to)
            return l->list[i].owner;
    return OWNER_PROGRAM;
}

/* The last occurrence of `mark` in the line, and what follows it. */
static const char *stack_place_after_last(const char *line, size_t len, const char *mark)
{
    size_t n = strlen(mark);
    for (const char *p = line + len; p-- > line;)
        if ((size_t)(line + len - p) >= n && memcmp(p, mark, n) == 0)
            return p + n;
    return NULL;
}

/* gdb: "#8  0x<address> in function (arguments) at file:line", or "from library". */
static void stack_place_parse_gdb(const char *line, size_t len, struct frame_text *f)
{
    const char *end = line + len;
    const char *arguments =
        memmem(f->function + 1, (size_t)(end - f->function) - 1, " (", 2);
    f->function_len = (size_t)((arguments != NULL ? arguments : end) - f->function);
    f->source = stack_place_after_last(line, len, ") at ");
    f->file = stack_place_after_last(line, len, ") from ");
    f->source_len = f->source != NULL ? (size_t)(end - f->source) : 0;
    f->file_len = f->file != NULL ? (size_t)(end - f->file) : 0;
}

/* eu-stack: "#8  0x<address> function - file", and "    file:line:column" in the next
 * line, which *text then skips. */
static void stack_place_parse_eu(const char *line, size_t len, const char **text,
                                 struct frame_text *f)
{
    const char *end = line + len;
    f->file = stack_place_after_last(line, len, " - ");
    if (f->file == NULL)
        f->file = end;
    f->file_len = (size_t)(end - f->file);
    const char *minus = f->file - strlen(" - ");
    f->function_len = minus > f->function ? (size_t)(minus - f->function) : 0;
    if (strncmp(*text, "    ", strlen("    ")) != 0)
        return;
    f->source = stack_place_line(text, &f->source_len) + strlen("    ");
    f->source_len -= strlen("    ");
    const char *first = memchr(f->source, ':', f->source_len);
    const char *last = memrchr(f->source, ':', f->source_len);
    if (first != last)
        f->source_len = (size_t)(last - f->source);
}

/* False if the line is no frame.  *text follows the line. */
static bool stack_place_parse(const char *line, size_t len, const char **text,
                              struct frame_text *f)
{
    int used = 0;
    *f = (struct frame_text){0};
    if (sscanf(line, "#%*u 0x%llx %n", &f->address, &used) != 1 || used == 0 ||
        (size_t)used >= len)
        return false;
    f->function = line + used;
    if (strncmp(f->function, "in ", strlen("in ")) == 0) {
        f->function += strlen("in ");
        stack_place_parse_gdb(line, len, f);
    } else {
        stack_place_parse_eu(line, len, text, f);
    }
    return true;
}

/* "function (file:line)". */
static void stack_place_describe(const struct frame_text *f, char *to, size_t size)
{
    size_t len = f->source_len;
    const char *source = f->source != NULL ? stack_place_base(f->source, &len) : "";
    snprintf(to, size, len > 0 ? "%.*s (%.*s)" : "%.*s", (int)f->function_len,
             f->function, (int)len, source);
}

/* The public name of a library's function. */
static void stack_place_name_routine(const struct frame_text *f, char *to, size_t size)
{
    static const char checked[] = "checked_";
    const char *name = f->function;
    size_t len = f->function_len;
    if (len > strlen(checked) && strncmp(name, checked, strlen(checked)) == 0) {
        name += strlen(checked);
        len -= strlen(checked);
    }
    if (strncmp(name, "pshmem", strlen("pshmem")) == 0) {
        name++;
        len--;
    }
    snprintf(to, size, "%.*s", (int)len, name);
}

/* False for code without symbols, and for the start of the program. */
static bool stack_place_has_name(const struct frame_text *f)
{
    static const char start[] = "_start";
    if (f->function_len == 0 || f->function[0] == '?')
        return false;
    return f->function_len != strlen(start) ||
           memcmp(f->function, start, strlen(start)) != 0;
}

/* Call from the innermost frame outwards.  A frame of the library makes those before it
 * irrelevant. */
static void stack_place_add(struct stack_place *at, const struct frame_text *f,
                            enum owner owner)
{
    if (owner == OWNER_SYSTEM || !stack_place_has_name(f))
        return;
    if (owner == OWNER_LIBRARY) {
        at->user[0] = at->caller[0] = '\0';
        stack_place_name_routine(f, at->routine, sizeof at->routine);
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

static bool stack_place_is_main(const char *line, size_t len, pid_t pid)
{
    const char *lwp = memmem(line, len, "(LWP ", strlen("(LWP "));
    long tid = 0;
    if (lwp != NULL)
        tid = strtol(lwp + strlen("(LWP "), NULL, 10);
    else if (strncmp(line, "TID ", strlen("TID ")) == 0)
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
    const char *line;
    size_t len;
    *place = (struct stack_place){0};
    stack_place_read_libraries(text, &libraries);
    do {
        line = stack_place_line(&text, &len);
        bool thread = line != NULL &&
                      (strncmp(line, "Thread ", 7) == 0 || strncmp(line, "TID ", 4) == 0);
        if (line == NULL || thread) {
            if (stack_place_rank(&here, is_main) > best) {
                best = stack_place_rank(&here, is_main);
                *place = here;
            }
            here = (struct stack_place){0};
            is_main = thread && stack_place_is_main(line, len, pid);
        } else if (stack_place_parse(line, len, &text, &f)) {
            stack_place_add(&here, &f, stack_place_owner_of(&f, &libraries));
        }
    } while (line != NULL);
}
