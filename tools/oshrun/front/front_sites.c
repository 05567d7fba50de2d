/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front_sites.c - see front_int.h: call sites in error messages of the library.
 *
 * Uses tool.c, loop.c, call_site.h.
 *
 * The library names a call site by file and address, since the PE is ending.  A tool
 * finds function and line, once for each call site: at most RUNS_MAX tools run at once,
 * each for at most RUN_MS.  After the first one that is too slow no other is started.
 * The file must exist on this host, too.
 */
#include "config.h"

#include "tools/oshrun/front/front_int.h"
#include "pgas/core/base/call_site.h"
#include "tools/oshrun/daemon/tool.h"
#include "tools/oshrun/util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITES_MAX   64 /* further ones keep their addresses */
#define RUNS_MAX    4
#define RUN_MS      5000
#define OUTPUT_MAX  4096
#define NUMBER_MAX  20 /* "0x" and 16 digits */
#define COMMAND_MAX 48

enum site_state { SITE_WAITS, SITE_RUNS, SITE_DONE };

struct front_site {
    struct front_site *next;
    struct front *f;
    enum site_state state;
    char *text; /* "function (file:line)"; NULL: not known */
    char module[PATH_MAX], address[NUMBER_MAX];
    struct tool tool;
};

static void front_sites_start(struct front *f);

/* ---- output of the tools ---------------------------------------------------------- */

/* Removes what marks a copy that the compiler made ("f.constprop.0", "f(int) [clone
 * ...]"), and the arguments of a C++ function. */
static void front_site_trim_function(char *name)
{
    static const char method[] = ") const";
    int depth = 0;
    char *clone = strstr(name, " [clone ");
    if (clone == NULL && strchr(name, '(') == NULL)
        clone = strchr(name, '.');
    if (clone != NULL)
        *clone = '\0';
    size_t len = strlen(name);
    if (len > strlen(method) && strcmp(name + len - strlen(method), method) == 0)
        len -= strlen(method) - 1;
    if (len == 0 || name[len - 1] != ')')
        return;
    do {
        len--;
        depth += (name[len] == ')') - (name[len] == '(');
    } while (len > 0 && depth > 0);
    if (len > 0)
        name[len] = '\0';
}

/* "file:line" of "/path/file:line:column" or "/path/file:line (discriminator 2)". */
static const char *front_site_trim_source(char *source)
{
    char *slash = strrchr(source, '/');
    char *base = slash != NULL ? slash + 1 : source;
    char *number = strchr(base, ':');
    if (number == NULL)
        return "";
    number++;
    number[strspn(number, "0123456789")] = '\0';
    return number[0] == '\0' || strcmp(number, "0") == 0 ? "" : base;
}

static char *front_site_join(char *function, char *source)
{
    front_site_trim_function(function);
    const char *place = front_site_trim_source(source);
    if (function[0] == '\0' || function[0] == '?')
        return NULL;
    return place[0] != '\0' ? mem_print("%s (%s)", function, place)
                            : mem_strdup(function);
}

/* addr2line prints the function and "file:line" in two lines. */
static char *front_site_parse_addr2line(char *output)
{
    char *source = output;
    strsep(&source, "\n");
    if (source == NULL)
        return NULL;
    source[strcspn(source, "\n")] = '\0';
    return front_site_join(output, source);
}

/* gdb prints "Line 29 of "bad.c" starts at address 0x<address> <main+4> and ends ...", or
 * "No line number information available for address 0x<address> <main+4>". */
static char *front_site_parse_gdb(char *output)
{
    unsigned line = 0;
    char source[OUTPUT_MAX] = "", full[OUTPUT_MAX + NUMBER_MAX];
    char *function = strchr(output, '<');
    if (function == NULL)
        return NULL;
    function++;
    function[strcspn(function, "+")] = '\0';
    if (sscanf(output, "Line %u of \"%4000[^\"]\"", &line, source) != 2)
        line = 0;
    snprintf(full, sizeof full, "%s:%u", source, line);
    return front_site_join(function, full);
}

/* ---- running ---------------------------------------------------------------------- */

static void front_site_on_end(void *arg, bool in_time)
{
    struct front_site *s = arg;
    struct front_sites *all = &s->f->sites;
    s->state = SITE_DONE;
    all->running--;
    if (!in_time)
        all->tool = NULL;
    else
        s->text = all->gdb ? front_site_parse_gdb(s->tool.text)
                           : front_site_parse_addr2line(s->tool.text);
    front_sites_start(s->f);
    front_merge_continue(s->f);
}

static void front_site_start_run(struct front_site *s)
{
    struct front *f = s->f;
    char command[COMMAND_MAX];
    snprintf(command, sizeof command, "info line *%s", s->address);
    const char *gdb[] = {"gdb", "-nx", "-batch", "-ex", command, "--", s->module, NULL};
    const char *addr2line[] = {f->sites.tool, "-f",       "-C", "-e",
                               s->module,     s->address, NULL};
    s->tool = (struct tool){.loop = &f->loop,
                            .max = OUTPUT_MAX - 1,
                            .ms = RUN_MS,
                            .reaper_fd = f->reaper_fd,
                            .files = f->files,
                            .ended = front_site_on_end,
                            .arg = s};
    s->state = SITE_DONE;
    if (tool_start(&s->tool, f->sites.path, f->sites.gdb ? gdb : addr2line) != 0)
        return;
    s->state = SITE_RUNS;
    f->sites.running++;
}

/* Starts tools for waiting sites.  Then a site waits only while a tool runs. */
static void front_sites_start(struct front *f)
{
    for (struct front_site *s = f->sites.first; s != NULL; s = s->next)
        if (s->state == SITE_WAITS && f->sites.tool == NULL)
            s->state = SITE_DONE;
        else if (s->state == SITE_WAITS && f->sites.running < RUNS_MAX)
            front_site_start_run(s);
}

/* ---- interface -------------------------------------------------------------------- */

/* The end of a message: "FROM name TOOL module address END". */
static bool front_site_parse(const char *text, size_t *len, char module[PATH_MAX],
                             char address[NUMBER_MAX])
{
    const char *from = strstr(text, CALL_SITE_FROM);
    const char *tool = from != NULL ? strstr(from, CALL_SITE_TOOL) : NULL;
    const char *number = strrchr(text, ' ');
    if (tool == NULL)
        return false;
    tool += strlen(CALL_SITE_TOOL);
    if (number <= tool || number - tool >= PATH_MAX)
        return false;
    size_t digits = strspn(number + 1, "0123456789abcdefx");
    if (digits >= NUMBER_MAX || strcmp(number + 1 + digits, CALL_SITE_END) != 0)
        return false;
    *len = (size_t)(from - text);
    snprintf(module, PATH_MAX, "%.*s", (int)(number - tool), tool);
    snprintf(address, NUMBER_MAX, "%.*s", (int)digits, number + 1);
    return true;
}

static struct front_site *front_site_add(struct front *f, const char *module,
                                         const char *address)
{
    static const char *const names[] = {"addr2line", "eu-addr2line", "gdb", NULL};
    if (f->sites.count >= SITES_MAX)
        return NULL;
    struct front_site *s = mem_calloc(1, sizeof *s);
    if (f->sites.count++ == 0) {
        f->sites.tool = tool_find(names, f->sites.path);
        f->sites.gdb = f->sites.tool != NULL && strcmp(f->sites.tool, "gdb") == 0;
    }
    s->f = f;
    snprintf(s->module, sizeof s->module, "%s", module);
    snprintf(s->address, sizeof s->address, "%s", address);
    s->next = f->sites.first;
    f->sites.first = s;
    front_sites_start(f);
    return s;
}

struct front_site *front_site_find(struct front *f, const char *text, size_t *len)
{
    char module[PATH_MAX], address[NUMBER_MAX];
    if (!front_site_parse(text, len, module, address))
        return NULL;
    for (struct front_site *s = f->sites.first; s != NULL; s = s->next)
        if (strcmp(s->module, module) == 0 && strcmp(s->address, address) == 0)
            return s;
    return front_site_add(f, module, address);
}

const char *front_site_text(const struct front_site *s)
{
    return s != NULL ? s->text : NULL;
}

bool front_site_pending(const struct front_site *s)
{
    return s != NULL && s->state != SITE_DONE;
}

void front_site_wait(struct front_site *s, uint64_t end_ns)
{
    while (front_site_pending(s) && loop_now_ns() < end_ns) {
        struct front_site *run = s;
        if (s->state == SITE_WAITS)
            for (run = s->f->sites.first; run->state != SITE_RUNS;)
                run = run->next;
        tool_wait(&run->tool, end_ns);
    }
}

void front_sites_free(struct front *f)
{
    struct front_site *s;
    while ((s = f->sites.first) != NULL) {
        f->sites.first = s->next;
        tool_free(&s->tool);
        free(s->text);
        free(s);
    }
}
