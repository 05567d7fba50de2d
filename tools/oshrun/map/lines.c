/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - see lines.h.  Uses names.h. */
#include "config.h"

#include "tools/oshrun/map/lines.h"
#include "tools/oshrun/map/names.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define SPACES " \t\r\v\f"

int lines_error(const struct lines *l, char why[HOSTS_WHY], const char *format, ...)
{
    char shown[NAMES_SHOWN], rest[HOSTS_WHY];
    va_list ap;
    va_start(ap, format);
    vsnprintf(rest, sizeof rest, format, ap);
    va_end(ap);
    names_show(shown, l->path, strlen(l->path));
    return names_error(why, "%s %s, line %u: %.*s", l->kind, shown, l->number,
                       HOSTS_WHY - NAMES_SHOWN, rest);
}

static int lines_unreadable(const struct lines *l, char why[HOSTS_WHY])
{
    char shown[NAMES_SHOWN];
    names_show(shown, l->path, strlen(l->path));
    return names_error(why, "%s %s cannot be read: %s", l->kind, shown, strerror(errno));
}

int lines_open(struct lines *l, const char *kind, const char *path, char why[HOSTS_WHY])
{
    *l = (struct lines){.kind = kind, .path = path};
    l->f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    return l->f != NULL ? 0 : lines_unreadable(l, why);
}

void lines_close(struct lines *l)
{
    if (l->f != NULL && l->f != stdin)
        fclose(l->f);
    l->f = NULL;
}

/* Reads one line without its newline.  1; 0 at end of file; -1 with an error message in
 * why. */
static int lines_read_line(struct lines *l, char why[HOSTS_WHY])
{
    size_t n = 0;
    int c;
    l->number++;
    while ((c = getc(l->f)) != EOF && c != '\n') {
        if (c == '\0')
            return lines_error(l, why, "a zero byte; this is not a text file");
        if (n == sizeof l->text - 1)
            return lines_error(l, why, "the line is longer than %zu bytes",
                               sizeof l->text - 1);
        l->text[n++] = (char)c;
    }
    if (ferror(l->f))
        return lines_unreadable(l, why);
    l->text[n] = '\0';
    return n > 0 || c != EOF ? 1 : 0;
}

int lines_next(struct lines *l, char why[HOSTS_WHY])
{
    int rc;
    while ((rc = lines_read_line(l, why)) > 0) {
        l->text[strcspn(l->text, "#")] = '\0';
        l->rest = l->text;
        if (l->text[strspn(l->text, SPACES)] != '\0')
            break;
    }
    return rc;
}

char *lines_word(struct lines *l)
{
    return strtok_r(NULL, SPACES, &l->rest);
}
