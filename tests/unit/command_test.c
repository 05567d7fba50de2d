/* SPDX-License-Identifier: BSD-3-Clause */
/* command_test.c - launch agent templates, as sh executes the resulting scripts. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/oshrun/start/starter_int.h"

#define HOST   "h o$t"
#define REMOTE "exec '/a b/it'\\''s \"x\"' --node-daemon"

TestSuite(command, .timeout = 30);

/* Output of sh for the script with host and command. */
static const char *output_of(const char *text)
{
    static char out[1024];
    char *line, *host = command_quote(HOST), *remote = command_quote(REMOTE),
                *script = command_quote(text);
    cr_assert(asprintf(&line, "/bin/sh -c %s sh %s %s 2>&1", script, host, remote) > 0);
    FILE *f = popen(line, "re");
    size_t n = fread(out, 1, sizeof out - 1, f);
    pclose(f);
    out[n] = '\0';
    free(line);
    free(host);
    free(remote);
    free(script);
    return out;
}

static const struct {
    const char *form, *prints;
} form_row[] = {
    {"printf '[%%s]' x", "[x][" HOST "][" REMOTE "]"},
    {"printf '[%%s]' -p %h", "[-p][" HOST "][" REMOTE "]"},
    {"printf '[%%s]' %c", "[" REMOTE "]"},
    {"printf '[%%s]' %c -p %h", "[" REMOTE "][-p][" HOST "]"},
    {"printf '[%%s]' u@%h:%%h", "[u@" HOST ":%h][" REMOTE "]"},
    {"printf '[%%s]' \"1 %h 2\" '3 %c 4'", "[1 " HOST " 2][3 " REMOTE " 4]"},
    {"printf '[%%s]' \"a'%h'\" 'b\"%c\"'", "[a'" HOST "'][b\"" REMOTE "\"]"},
    {"printf '[%%s]' \\'%h \\\"%c", "['" HOST "][\"" REMOTE "]"},
    {"printf '[%%s]' \"\\\"%h\" %c", "[\"" HOST "][" REMOTE "]"},
    {"  printf '[%%s]' '' a\\ b\t%c", "[][a b][" REMOTE "]"},
    {"true && printf '[%%s]'", "[" HOST "][" REMOTE "]"},
    {"A=1 sh -c 'printf \"$A[%%s]\" \"$@\"' x", "1[" HOST "]1[" REMOTE "]"},
    {"sh -c \"printf %%s '%h'\" %c", HOST},
};

Test(command, host_and_command_stay_single_words)
{
    for (size_t i = 0; i < sizeof form_row / sizeof *form_row; i++) {
        char why[256];
        char *script = command_script(form_row[i].form, why, sizeof why);
        cr_assert_not_null(script, "%s", why);
        const char *out = output_of(script);
        cr_expect_str_eq(out, form_row[i].prints, "%s: %s: %s, not %s", form_row[i].form,
                         script, out, form_row[i].prints);
        free(script);
    }
}

Test(command, a_plain_agent_has_no_shell_around_it)
{
    char why[256];
    char *script = command_script("ssh -x", why, sizeof why);
    cr_assert_str_eq(script, "exec ssh -x \"${1}\" \"${2}\"");
    free(script);
    script = command_script("cd / && ssh", why, sizeof why);
    cr_assert_str_eq(script, "cd / && ssh \"${1}\" \"${2}\"");
    free(script);
}

Test(command, other_percent_signs_are_rejected)
{
    static const char *const wrong[] = {"ssh %x", "ssh %", "ssh %%%", "ssh %h %c %n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char why[256] = "";
        cr_assert_null(command_script(wrong[i], why, sizeof why));
        cr_assert(strstr(why, "only %h (the host)") != NULL, "%s", why);
    }
}

Test(command, the_remote_shell_gets_the_path_as_one_word)
{
    static const struct {
        const char *path, *remote;
    } row[] = {
        {"/opt/oshrun", "exec /opt/oshrun --node-daemon"},
        {"/a b/it's", "exec '/a b/it'\\''s' --node-daemon"},
        {"/$(x)/`y`;&", "exec '/$(x)/`y`;&' --node-daemon"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct command c = {0};
        cr_assert_eq(command_make(&c, "/bin/sh -c x", row[i].path), 0);
        cr_expect_str_eq(c.remote, row[i].remote);
        cr_expect_str_eq(c.name, "sh");
        command_free(&c);
    }
}

Test(command, an_address_loses_its_brackets)
{
    static const struct {
        const char *host, *is;
    } row[] = {
        {"n1", "n1"},           {"[fe80::1%eth0]", "fe80::1%eth0"},
        {"me@[::1]", "me@::1"}, {"me@n1", "me@n1"},
        {"[x", "[x"},           {"", ""},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char *host = command_host(row[i].host);
        cr_expect_str_eq(host, row[i].is);
        free(host);
    }
}
