/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.c - the command line of the launch agent: what --launch-agent means.
 *
 * Uses child.c (to look for the agent), string_list.c.  Used by starter.c.
 *
 * Host and command are passed to the shell as $1 and $2 and are not part of the script,
 * so that the shell never interprets them.
 */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/start/starter_int.h"
#include "tools/oshrun/util/string_list.h"
#include "tools/oshrun/util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits that keep a host that becomes unreachable from delaying the start. */
#define AGENT_DEFAULT                                                                    \
    "ssh -x -o BatchMode=yes -o ConnectTimeout=4 -o ServerAliveInterval=1 "              \
    "-o ServerAliveCountMax=3"
#define BLANKS           " \t"
#define OPERATORS        ";&|()<>`\n" /* more than one plain command */
#define ERROR_TEXT_BYTES 256

/* Quoting state in the text of a shell command. */
enum quotes { QUOTES_NONE, QUOTES_SINGLE, QUOTES_DOUBLE };

static enum quotes command_after(enum quotes q, char c)
{
    if (c == '\'' && q != QUOTES_DOUBLE)
        return q == QUOTES_SINGLE ? QUOTES_NONE : QUOTES_SINGLE;
    if (c == '"' && q != QUOTES_SINGLE)
        return q == QUOTES_DOUBLE ? QUOTES_NONE : QUOTES_DOUBLE;
    return q;
}

/* Writes shell parameter n such that it expands to one word in quoting state q. */
static void command_put_parameter(FILE *f, enum quotes q, int n)
{
    static const char *const before[] = {"\"", "'\"", ""};
    static const char *const after[] = {"\"", "\"'", ""};
    fprintf(f, "%s${%d}%s", before[q], n, after[q]);
}

struct used {
    bool host, command;
};

/* Returns an invalid character after a percent sign, or -1. */
static int command_translate(FILE *f, const char *form, struct used *used)
{
    enum quotes q = QUOTES_NONE;
    for (const char *p = form; *p != '\0'; p++) {
        if (*p == '%') {
            p++;
            if (*p == '%')
                fputc('%', f);
            else if (*p == 'h' || *p == 'c')
                command_put_parameter(f, q, *p == 'h' ? 1 : 2);
            else
                return *p;
            used->host = used->host || *p == 'h';
            used->command = used->command || *p == 'c';
        } else if (*p == '\\' && q != QUOTES_SINGLE && p[1] != '\0') {
            fputc(*p++, f);
            fputc(*p, f);
        } else {
            q = command_after(q, *p);
            fputc(*p, f);
        }
    }
    return -1;
}

/* True for one command whose name is not quoted: it can be looked up and run by exec. */
static bool command_is_plain(const char *form)
{
    size_t n = strcspn(form, BLANKS);
    return strpbrk(form, OPERATORS) == NULL && strspn(form, SHELL_PLAIN_CHARS) >= n;
}

char *command_script(const char *form, char *why, size_t len)
{
    char *text = NULL;
    size_t bytes;
    struct used used = {false, false};
    why[0] = '\0';
    FILE *f = open_memstream(&text, &bytes);
    if (f == NULL)
        return NULL;
    if (command_is_plain(form))
        fputs("exec ", f);
    int wrong = command_translate(f, form, &used);
    if (!used.host && !used.command)
        fputs(" \"${1}\"", f);
    if (!used.command)
        fputs(" \"${2}\"", f);
    if (fclose(f) == 0 && wrong < 0)
        return text;
    if (wrong >= 0)
        snprintf(why, len,
                 "the launch agent '%s' has '%%%c': only %%h (the host), %%c (the "
                 "command) and %%%% (a percent sign) have a meaning",
                 form, wrong != 0 ? wrong : ' ');
    free(text);
    return NULL;
}

char *command_quote(const char *word)
{
    char *text = NULL;
    size_t bytes;
    FILE *f = mem_stream(&text, &bytes);
    shell_quote(f, word);
    mem_stream_close(f);
    return text;
}

char *command_host(const char *host)
{
    char *copy = mem_strdup(host), *open = strchr(copy, '[');
    size_t len = strlen(copy);
    if (open == NULL || copy[len - 1] != ']')
        return copy;
    copy[len - 1] = '\0';
    memmove(open, open + 1, strlen(open));
    return copy;
}

static void command_set_name(struct command *c, const char *form)
{
    size_t len = strcspn(form, BLANKS);
    const char *slash = memrchr(form, '/', len), *name = slash != NULL ? slash + 1 : form;
    if (command_is_plain(form))
        snprintf(c->name, sizeof c->name, "%.*s", (int)(form + len - name), name);
    else
        snprintf(c->name, sizeof c->name, "the launch agent");
}

/* 0, or -1 after an error message: the agent is not there. */
static int command_look_up(const char *form)
{
    char path[PATH_MAX];
    if (!command_is_plain(form))
        return 0;
    char *name = mem_strndup(form, strcspn(form, BLANKS));
    int rc = child_find(AT_FDCWD, getenv("PATH"), name, path, sizeof path);
    if (rc != 0)
        error_report("cannot run the launch agent '%s': %s", name, strerror(errno));
    free(name);
    return rc == 0 ? 0 : -1;
}

int command_make(struct command *c, const char *form, const char *daemon_path)
{
    char why[ERROR_TEXT_BYTES];
    if (form == NULL)
        form = AGENT_DEFAULT;
    form += strspn(form, BLANKS);
    if (*form == '\0') {
        error_report("the launch agent is empty: give a command such as 'ssh'");
        return -1;
    }
    if (command_look_up(form) != 0)
        return -1;
    command_set_name(c, form);
    c->script = command_script(form, why, sizeof why);
    if (c->script == NULL) {
        error_report("%s", why);
        return -1;
    }
    char *path = command_quote(daemon_path);
    c->remote = mem_print("exec %s " DAEMON_OPTION, path);
    free(path);
    return 0;
}

void command_free(struct command *c)
{
    free(c->script);
    free(c->remote);
    *c = (struct command){0};
}
