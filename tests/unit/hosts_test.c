/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts_test.c - the hosts of a job: lists, host files, Slurm's variables. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/oshrun/map/hosts.h"

enum { TEXT_MAX = 1 << 16, FUZZ_ROUNDS = 20000, FUZZ_LEN = 48 };

/* "a:4 b n0:2/8": names with slots, and after a slash the limit. */
static const char *show(const struct hosts *h)
{
    static char text[TEXT_MAX];
    size_t at = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < h->count && at < sizeof text - 512; i++) {
        const struct host *host = &h->host[i];
        at += (size_t)sprintf(text + at, "%s%s", i > 0 ? " " : "", host->name);
        if (host->slots > 0)
            at += (size_t)sprintf(text + at, ":%u", host->slots);
        if (host->max > 0)
            at += (size_t)sprintf(text + at, "/%u", host->max);
    }
    return text;
}

static const struct {
    const char *list, *hosts;
} good[] = {
    {"a", "a"},
    {"a:4,b:4", "a:4 b:4"},
    {"a:4,b,n[0-3,7]:2", "a:4 b n0:2 n1:2 n2:2 n3:2 n7:2"},
    {"[fe80::1]:4", "fe80::1:4"},
    {"[fe80::1%eth0],[::1]", "fe80::1%eth0 ::1"},
    {"joe@[::1]:2,joe@n[1-2]", "joe@::1:2 joe@n1 joe@n2"},
    {"n[08-11]", "n08 n09 n10 n11"},
    {"n[8-11]", "n8 n9 n10 n11"},
    {"n[003]", "n003"},
    {"r[1-2]n[1-2].dom.org:3", "r1n1.dom.org:3 r1n2.dom.org:3 r2n1.dom.org:3 "
                               "r2n2.dom.org:3"},
    {"10.0.0.1:1000000", "10.0.0.1:1000000"},
    {"a_b-c.d", "a_b-c.d"},
    {"a,a", "a:2"}, /* once per PE */
    {"a,b,a,a", "a:3 b"},
    {"a:4,b,a:2", "a:6 b"},
    {"n[1-3],n2:5", "n1 n2:6 n3"},
    {"[1-3]", "1 2 3"},
};

Test(hosts, lists)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct hosts h;
        char why[HOSTS_WHY] = "";
        cr_assert_eq(hosts_from_list(&h, good[i].list, why), 0, "%s: %s", good[i].list,
                     why);
        cr_assert_str_eq(show(&h), good[i].hosts);
        hosts_free(&h);
    }
}

static const struct {
    const char *list, *why; /* a part of it */
} bad[] = {
    {"", "no host is named"},
    {",a", "a name is missing before ',a'"},
    {"a:4,,b", "a name is missing after 'a:4,'"},
    {"a,", "a name is missing after 'a,'"},
    {"a:", "'a:': expected a number of slots from 1 to 1000000"},
    {"a:0", "'a:0': a host with zero slots"},
    {"a:-1", "expected a number of slots"},
    {"a:many", "expected a number of slots"},
    {"a:4x", "expected a number of slots"},
    {"a:1000001", "expected a number of slots"},
    {"a:99999999999999999999", "expected a number of slots"},
    {":4", "a name is missing before ':'"},
    {"a:1000000,a", "host 'a' has more than 1000000 slots"},
    {"fe80::1", "write an IPv6 address in brackets"},
    {"n[0-3", "'n[0-3': the bracket is not closed"},
    {"n]", "the character ']'"},
    {"n[]", "'' is not a range"},
    {"n[3-1]", "'3-1' is not a range"},
    {"n[1,]", "'' is not a range"},
    {"n[a]", "'a' is not a range"},
    {"n[1-2-3]", "'1-2-3' is not a range"},
    {"n[0-9999999999]", "is not a range"},
    {"n[[1]]", "'[1' is not a range"},
    {"n[0-99999]", "there are more than 65536 hosts"},
    {"n[0-99999999][0-99999999]", "there are more than 65536 hosts"},
    {"[fe80::zz]", "not an IPv6 address"},
    {"[::1%]", "not an IPv6 address"},
    {"[::1%a;b]", "not an IPv6 address"},
    {"a[::1]", "not an IPv6 address"},
    {"[::1]a", "not an IPv6 address"},
    {"a;b", "the character ';'"},
    {"a b", "the character ' '"},
    {"$(x)", "the character '$'"},
    {"a`", "the character '`'"},
    {"a|b", "the character '|'"},
    {"a/b", "the character '/'"},
    {"a'", "the character '''"},
    {"a\\", "the character '\\'"},
    {"a\n", "the byte 0x0a"},
    {"a\x7f", "the byte 0x7f"},
    {"\xc3\xa4", "the byte 0xc3"},
    {"-oProxyCommand=x", "the character '='"},
    {"-v", "cannot begin with '-'"},
    {"joe@-v", "cannot begin with '-'"},
    {"joe@", "a part of the name is missing"},
    {"@a", "a part of the name is missing"},
    {"a@b@c", "two '@'"},
};

Test(hosts, invalid_lists_are_rejected)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hosts h;
        char why[HOSTS_WHY] = "";
        cr_assert_neq(hosts_from_list(&h, bad[i].list, why), 0, "%s", bad[i].list);
        cr_assert_not_null(strstr(why, bad[i].why), "%s: '%s', expected '%s'",
                           bad[i].list, why, bad[i].why);
        cr_assert_eq(h.count, 0);
        cr_assert_null(h.host);
    }
}

Test(hosts, long_names_and_lists)
{
    enum { NAME = 255, MANY = 65536 };
    static char list[MANY * 8];
    struct hosts h;
    char why[HOSTS_WHY];

    memset(list, 'a', NAME);
    cr_assert_eq(hosts_from_list(&h, list, why), 0, "%s", why);
    hosts_free(&h);
    list[NAME] = 'a';
    cr_assert_neq(hosts_from_list(&h, list, why), 0);
    cr_assert(strstr(why, "longer than 255"), "%s", why);
    cr_assert(strstr(why, "aaa...'"), "%s", why);

    size_t at = 0;
    for (unsigned i = 0; i < MANY; i++)
        at += (size_t)sprintf(list + at, "%sn%u", i > 0 ? "," : "", i);
    cr_assert_eq(hosts_from_list(&h, list, why), 0, "%s", why);
    cr_assert_eq(h.count, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        char name[16];
        sprintf(name, "n%u", i);
        cr_assert_str_eq(h.host[i].name, name);
        cr_assert_eq(hosts_find(&h, name), i);
    }
    cr_assert_eq(hosts_find(&h, "n65536"), HOSTS_NONE);
    hosts_free(&h);
    cr_assert_eq(hosts_find(&h, "n0"), HOSTS_NONE);
    /* The repetitions of a name are limited. */
    at = 0;
    for (unsigned i = 0; i < 1000; i++)
        at += (size_t)sprintf(list + at, "%sn[0-65535]", i > 0 ? "," : "");
    cr_assert_neq(hosts_from_list(&h, list, why), 0);
    cr_assert(strstr(why, "named more than"), "%s", why);
}

/* ---- host files ------------------------------------------------------------------- */

static char path[64];

static void make_path(void)
{
    strcpy(path, "/tmp/pgas-hosts.XXXXXX");
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    close(fd);
}

static void remove_path(void)
{
    unlink(path);
}

static void write_file(const char *text, size_t len)
{
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    cr_assert_eq(fwrite(text, 1, len, f), len);
    cr_assert_eq(fclose(f), 0);
}

static const struct {
    const char *text, *hosts;
} good_files[] = {
    {"a", "a"},
    {"a\nb\n", "a b"},
    {"# hosts\n\n  \t\na slots=4 # four\n#b\nc:2\r\n", "a:4 c:2"},
    {"a slots=2 max-slots=8\nb max_slots=3 slots=3\n", "a:2/8 b:3/3"},
    {"\tn[0-1] slots=2\njoe@b\n[::1]:3\n", "n0:2 n1:2 joe@b ::1:3"},
    {"a\na\nb\na\n", "a:3 b"},
    {"a slots=1 max-slots=2\na slots=1 max-slots=2", "a:2/4"},
    {"a slots=1 max-slots=2\na slots=1", "a:2"},
};

Test(hosts, files, .init = make_path, .fini = remove_path)
{
    for (size_t i = 0; i < sizeof good_files / sizeof *good_files; i++) {
        struct hosts h;
        char why[HOSTS_WHY] = "";
        write_file(good_files[i].text, strlen(good_files[i].text));
        cr_assert_eq(hosts_from_file(&h, path, why), 0, "%s: %s", good_files[i].text,
                     why);
        cr_assert_str_eq(show(&h), good_files[i].hosts);
        hosts_free(&h);
    }
}

static const struct {
    const char *text, *why; /* after "hostfile PATH" */
} bad_files[] = {
    {"", " names no host"},
    {"# nothing\n\n", " names no host"},
    {"a\nb:0\n", ", line 2: 'b:0': a host with zero slots"},
    {"a\n\n\nb slots=many\n", ", line 4: 'slots=many': expected a number of slots"},
    {"a slots=0\n", ", line 1: 'slots=0': a host with zero slots"},
    {"a slots=-4\n", ", line 1: 'slots=-4': expected a number of slots"},
    {"a slots=\n", ", line 1: 'slots=': expected a number of slots"},
    {"a slots\n", ", line 1: 'slots': expected slots=NUMBER"},
    {"a =4\n", ", line 1: '=4': expected slots=NUMBER"},
    {"a slot=4\n", ", line 1: 'slot=4': expected slots=NUMBER"},
    {"a slots=4 b\n", ", line 1: 'b': expected slots=NUMBER"},
    {"a slots=4 slots=4\n", ", line 1: 'slots=4': the line sets it twice"},
    {"a:4 slots=4\n", ", line 1: 'slots=4': the line sets it twice"},
    {"a max-slots=4\n", ", line 1: max-slots needs slots"},
    {"a slots=8 max-slots=4\n", ", line 1: max-slots=4 is less than the 8 slots"},
    {"a,b\n", ", line 1: 'a,b': the character ','"},
    {"a;reboot\n", ", line 1: 'a;reboot': the character ';'"},
    {"-v\n", ", line 1: '-v': a name cannot begin with '-'"},
    {"n[0-\n", ", line 1: 'n[0-': the bracket is not closed"},
    {"a\n\x7f"
     "ELF\x02\n",
     ", line 2: '?ELF?': the byte 0x7f"},
};

Test(hosts, invalid_files_are_rejected_with_the_line, .init = make_path,
     .fini = remove_path)
{
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        struct hosts h;
        char why[HOSTS_WHY] = "", expected[HOSTS_WHY];
        write_file(bad_files[i].text, strlen(bad_files[i].text));
        cr_assert_neq(hosts_from_file(&h, path, why), 0, "%s", bad_files[i].text);
        snprintf(expected, sizeof expected, "hostfile %s%s", path, bad_files[i].why);
        cr_assert_eq(strncmp(why, expected, strlen(expected)), 0, "'%s', expected '%s'",
                     why, expected);
        cr_assert_null(h.host);
    }
}

Test(hosts, empty_and_missing_files, .init = make_path, .fini = remove_path)
{
    struct hosts h;
    char why[HOSTS_WHY], text[5000];

    write_file("a\nb\0c\n", 6);
    cr_assert_neq(hosts_from_file(&h, path, why), 0);
    cr_assert(strstr(why, "line 2: a zero byte"), "%s", why);
    memset(text, ' ', sizeof text);
    text[0] = 'a';
    text[4095] = '\n';
    write_file(text, 4096);
    cr_assert_eq(hosts_from_file(&h, path, why), 0, "%s", why);
    hosts_free(&h);
    write_file(text + 1, sizeof text - 1);
    cr_assert_neq(hosts_from_file(&h, path, why), 0);
    cr_assert(strstr(why, "names no host"), "%s", why);
    text[4095] = ' ';
    for (size_t len = 4096; len <= sizeof text; len += sizeof text - 4096) {
        write_file(text, len);
        cr_assert_neq(hosts_from_file(&h, path, why), 0);
        cr_assert(strstr(why, "line 1: the line is longer than 4095 bytes"), "%s", why);
    }
    cr_assert_neq(hosts_from_file(&h, "/tmp", why), 0);
    cr_assert(strstr(why, "hostfile /tmp cannot be read: Is a directory"), "%s", why);
    cr_assert_neq(hosts_from_file(&h, "/no/such", why), 0);
    cr_assert(strstr(why, "hostfile /no/such cannot be read: No such file"), "%s", why);
}

/* ---- Slurm ------------------------------------------------------------------------ */

static const struct {
    const char *nodes, *tasks, *cpus, *hosts; /* hosts = NULL: rejected */
} slurm[] = {
    {"n0", "4", NULL, "n0:4"},
    {"n[0-2,5],x", "2(x3),1,7", "8(x5)", "n0:2 n1:2 n2:2 n5:1 x:7"},
    {"n[0-2]", NULL, "8(x3)", "n0:8 n1:8 n2:8"},
    {"n[0-2]", NULL, NULL, "n0 n1 n2"},
    {"n[0-1]", "2(x3)", NULL, NULL},
    {"n[0-2]", "2(x2)", NULL, NULL},
    {"n[0-2]", "2,2", NULL, NULL},
    {"n0", "", NULL, NULL},
    {"n0", "2(x1", NULL, NULL},
    {"n0", "2(x)", NULL, NULL},
    {"n0", "(x1)", NULL, NULL},
    {"n0", "2)", NULL, NULL},
    {"n0", "0", NULL, NULL},
    {"n0", "2(x0)", NULL, NULL},
    {"n0", "2,", NULL, NULL},
    {"n0", "-2", NULL, NULL},
    {"n0", "99999999999", NULL, NULL},
    {"n0", "2(x99999999999)", NULL, NULL},
    {"", NULL, NULL, NULL},
    {"n0,", NULL, NULL, NULL},
    {"n0:4", NULL, NULL, NULL},
    {"n[0", NULL, NULL, NULL},
};

Test(hosts, slurm)
{
    for (size_t i = 0; i < sizeof slurm / sizeof *slurm; i++) {
        struct hosts h;
        char why[HOSTS_WHY] = "";
        int rc = hosts_from_slurm(&h, slurm[i].nodes, slurm[i].tasks, slurm[i].cpus, why);
        cr_assert_eq(rc == 0, slurm[i].hosts != NULL, "%s %s: %s", slurm[i].nodes,
                     slurm[i].tasks, why);
        cr_assert_eq(rc == 0, why[0] == '\0');
        if (rc == 0)
            cr_assert_str_eq(show(&h), slurm[i].hosts);
        hosts_free(&h);
    }
}

/* ---- random text ------------------------------------------------------------------ */

/* Text that is often almost valid. */
static void make_text(unsigned *seed, char *text)
{
    static const char *const pieces[] = {
        "a",    "n0",    "[",    "]", "-",  ",",  ":",      "4",          "0-3",
        "::1",  "%",     "@",    " ", "\n", "#",  "slots=", "max-slots=", "08",
        "(x2)", "99999", "rank", "=", "3",  "\r", "\xff"};
    int n = rand_r(seed) % FUZZ_LEN;

    *text = '\0';
    for (int i = 0; i < n; i++)
        strcat(text, pieces[(size_t)rand_r(seed) % (sizeof pieces / sizeof *pieces)]);
}

static void check_result(int rc, const struct hosts *h, const char *why, const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-:@%";

    if (rc != 0) {
        cr_assert(why[0] != '\0' && strchr(why, '\n') == NULL, "'%s': '%s'", text, why);
        cr_assert_null(h->host);
        return;
    }
    cr_assert_gt(h->count, 0, "'%s'", text);
    for (uint32_t i = 0; i < h->count; i++) {
        const char *name = h->host[i].name;
        cr_assert(name[0] != '\0' && name[0] != '-', "'%s': '%s'", text, name);
        cr_assert_eq(name[strspn(name, allowed)], '\0', "'%s': '%s'", text, name);
        cr_assert_leq(h->host[i].slots, HOSTS_SLOTS_MAX);
        cr_assert_eq(hosts_find(h, name), i);
    }
}

Test(hosts, any_text_is_accepted_or_rejected, .init = make_path, .fini = remove_path)
{
    unsigned seed = 4;
    char text[FUZZ_LEN * 16], more[FUZZ_LEN * 16];

    for (int i = 0; i < FUZZ_ROUNDS; i++) {
        struct hosts h;
        char why[HOSTS_WHY] = "";
        make_text(&seed, text);
        make_text(&seed, more);
        check_result(hosts_from_list(&h, text, why), &h, why, text);
        hosts_free(&h);
        check_result(hosts_from_slurm(&h, text, i % 2 ? more : NULL, more, why), &h, why,
                     text);
        hosts_free(&h);
        if (i % 16 != 0)
            continue;
        write_file(text, strlen(text));
        check_result(hosts_from_file(&h, path, why), &h, why, text);
        hosts_free(&h);
    }
}
