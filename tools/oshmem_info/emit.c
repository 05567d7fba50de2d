/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * emit.c - one report in three forms: a page for people, JSON, and lines of
 * section:key:value.  Uses: nothing of ours.  Used by: report, check, main.
 */
#include "config.h"

#include "tools/oshmem_info/info.h"

#define LABEL_COLUMNS 22
#define JSON_INDENT   2
#define UTF8_REST_MAX 3

/* Number of continuation bytes after the lead byte of a UTF-8 character; -1 if invalid.
 */
static int emit_utf8_rest(unsigned char c)
{
    if (c < 0x80)
        return 0;
    if (c >= 0xc2 && c < 0xe0)
        return 1;
    if (c >= 0xe0 && c < 0xf0)
        return 2;
    return c >= 0xf0 && c < 0xf5 ? UTF8_REST_MAX : -1;
}

/* Overlong forms, surrogates and values above U+10FFFF are detected in the second byte.
 */
static bool emit_utf8_second(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0;
    case 0xed:
        return second < 0xa0;
    case 0xf0:
        return second >= 0x90;
    case 0xf4:
        return second < 0x90;
    default:
        return true;
    }
}

/* Length of the UTF-8 character at text, 0 if it is invalid. */
static int emit_utf8_length(const unsigned char *text)
{
    int rest = emit_utf8_rest(text[0]);

    for (int i = 1; i <= rest; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if (rest > 0 && !emit_utf8_second(text[0], text[1]))
        return 0;
    return rest + 1;
}

static void emit_json_char(FILE *out, unsigned char c)
{
    if (c == '"' || c == '\\')
        fprintf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
        fprintf(out, "\\u%04x", c);
    else
        fputc(c, out);
}

void emit_json_string(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    fputc('"', out);
    while (*at != '\0') {
        int len = emit_utf8_length(at);
        if (len == 0)
            fputs("\\ufffd", out);
        else if (len == 1)
            emit_json_char(out, *at);
        else
            fwrite(at, 1, (size_t)len, out);
        at += len > 0 ? len : 1;
    }
    fputc('"', out);
}

static void emit_json_newline(struct emit *e)
{
    if (e->comma[e->depth])
        fputc(',', e->out);
    e->comma[e->depth] = true;
    fprintf(e->out, "\n%*s", (e->depth + 1) * JSON_INDENT, "");
}

static void emit_begin(struct emit *e, const char *name, bool list)
{
    if (e->form == FORM_JSON) {
        emit_json_newline(e);
        if (!e->list[e->depth]) {
            emit_json_string(e->out, name);
            fputs(": ", e->out);
        }
        fputc(list ? '[' : '{', e->out);
    }
    e->depth++;
    e->name[e->depth] = name;
    e->list[e->depth] = list;
    e->comma[e->depth] = false;
}

void emit_open(struct emit *e, FILE *out, enum form form)
{
    *e = (struct emit){.out = out, .form = form};
    if (form == FORM_JSON)
        fputc('{', out);
}

void emit_close(struct emit *e)
{
    if (e->form == FORM_JSON)
        fputs("\n}\n", e->out);
}

void emit_section(struct emit *e, const char *name)
{
    emit_begin(e, name, false);
}

void emit_list(struct emit *e, const char *name)
{
    emit_begin(e, name, true);
}

void emit_item(struct emit *e, const char *name)
{
    emit_begin(e, name, false);
}

void emit_end(struct emit *e)
{
    bool list = e->list[e->depth];

    e->depth--;
    if (e->form == FORM_JSON)
        fprintf(e->out, "\n%*s%c", (e->depth + 1) * JSON_INDENT, "", list ? ']' : '}');
}

/* A line of section:item:key:value; the value is the rest of the line. */
static void emit_parsable_line(struct emit *e, const char *key, const char *value)
{
    for (int i = 1; i <= e->depth; i++)
        fprintf(e->out, "%s:", e->name[i]);
    fprintf(e->out, "%s:", key);
    for (; *value != '\0'; value++)
        fputc(*value == '\n' || *value == '\r' ? ' ' : *value, e->out);
    fputc('\n', e->out);
}

void emit_text(struct emit *e, const char *key, const char *label, const char *value)
{
    const char *shown = value != NULL ? value : "";

    switch (e->form) {
    case FORM_PAGE:
        fprintf(e->out, "%-*s %s\n", LABEL_COLUMNS, label, shown);
        break;
    case FORM_PARSABLE:
        emit_parsable_line(e, key, shown);
        break;
    case FORM_JSON:
        emit_json_newline(e);
        emit_json_string(e->out, key);
        fputs(": ", e->out);
        if (value != NULL)
            emit_json_string(e->out, value);
        else
            fputs("null", e->out);
        break;
    }
}

void emit_bool(struct emit *e, const char *key, const char *label, bool value)
{
    if (e->form == FORM_JSON) {
        emit_json_newline(e);
        emit_json_string(e->out, key);
        fprintf(e->out, ": %s", value ? "true" : "false");
    } else {
        emit_text(e, key, label, value ? "yes" : "no");
    }
}
