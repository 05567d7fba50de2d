/* SPDX-License-Identifier: BSD-3-Clause */
/* bootstrap_test.c - parsing of the bootstrap line, and rejection of lines that are not
 * complete. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/net/wire.h"
#include "tools/oshrun/daemon/bootstrap.h"

#define HEX16 "00112233445566778899aabbccddeeff"
#define NONCE "nonce=" HEX16 "0123456789abcdef0123456789abcdef"
#define AT    "at=10.77.0.1:4000,[fe80::1]:4000"

TestSuite(bootstrap, .timeout = 30);

enum { FUZZ_ROUNDS = 50000, WAIT_MS = 50, LONG_MS = 20000 };

static char said[ERROR_BYTES];
static int errors;

static void on_error(const char *error_text)
{
    snprintf(said, sizeof said, "%s", error_text);
    errors++;
}

static void redirect_errors(void)
{
    error_redirect(on_error);
}

/* The words of a valid line. */
static const char *const good[] = {
    NONCE, AT, "if=10.77.0.0/16", "timeout=3000", "start=500", "window=262144", "node=7"};
enum { GOOD = sizeof good / sizeof *good };

/* The line of good[], with `instead` for word number `at` (NULL: without that word). */
static char *line_with(size_t at, const char *instead)
{
    static char line[BOOTSTRAP_LINE];
    int n = snprintf(line, sizeof line, "oshrun %u %s", WIRE_VERSION, PACKAGE_VERSION);
    for (size_t i = 0; i < GOOD; i++) {
        const char *word = i == at ? instead : good[i];
        if (word != NULL)
            n += snprintf(line + n, sizeof line - (size_t)n, " %s", word);
    }
    return line;
}

/* A copy of exactly its length, so that a read past the end is detected. */
static int parse(struct bootstrap *b, const char *text)
{
    char *line = strdup(text);
    errors = 0;
    int rc = bootstrap_parse(b, line);
    free(line);
    cr_assert_eq(errors, rc == 0 ? 0 : 1, "%s: %d error messages", text, errors);
    return rc;
}

static void expect_refused(const char *line, const char *about)
{
    struct bootstrap b;
    cr_expect_neq(parse(&b, line), 0, "accepted: %s", line);
    cr_expect_not_null(strstr(said, about), "'%s' lacks '%s'", said, about);
}

Test(bootstrap, a_valid_line, .init = redirect_errors)
{
    struct bootstrap b;
    char hex[NONCE_HEX_BYTES];
    cr_assert_eq(parse(&b, line_with(GOOD, NULL)), 0, "%s", said);
    nonce_to_hex(&b.nonce, hex);
    cr_assert_str_eq(hex, &NONCE[strlen("nonce=")]);
    cr_assert_str_eq(b.at, &AT[strlen("at=")]);
    cr_assert_str_eq(b.which, "10.77.0.0/16");
    cr_assert_eq(b.timeout_ms, 3000);
    cr_assert_eq(b.start_ms, 500);
    cr_assert_eq(b.window, 262144);
    cr_assert_eq(b.node, 7);
}

Test(bootstrap, permitted_variations, .init = redirect_errors)
{
    struct bootstrap b;
    cr_assert_eq(parse(&b, line_with(2, "if=-")), 0);
    cr_assert_str_eq(b.which, "", "- means all addresses");
    cr_assert_eq(parse(&b, line_with(2, "if=lo")), 0);
    cr_assert_str_eq(b.which, "lo");
    cr_assert_eq(parse(&b, line_with(6, NULL)), 0);
    cr_assert_eq(b.node, WIRE_NONE, "without a number the host name identifies the node");
    cr_assert_eq(parse(&b, line_with(6, "node=0")), 0);
    cr_assert_eq(b.node, 0);
    cr_assert_eq(parse(&b, line_with(GOOD - 2, "window=18446744073709551615")), 0);
    cr_assert_eq(b.window, UINT64_MAX);
    cr_assert_eq(parse(&b, line_with(2, "  if=-   later=words")), 0);
    cr_assert_eq(b.timeout_ms, 3000);
}

Test(bootstrap, no_word_may_be_missing, .init = redirect_errors)
{
    static const char *const must[] = {"nonce=", "at=", "timeout=", "start=", "window="};
    for (size_t i = 0; i < GOOD; i++)
        for (size_t k = 0; k < sizeof must / sizeof *must; k++)
            if (strncmp(good[i], must[k], strlen(must[k])) == 0)
                expect_refused(line_with(i, NULL), "is incomplete");
    expect_refused(line_with(1, "at="), "complete");
}

static const struct {
    size_t at;
    const char *word, *about;
} wrong[] = {
    {0, "nonce=", "nonce"},
    {0, "nonce", "nonce"},
    {0, "nonce=" HEX16, "nonce"},
    {0, NONCE "0", "nonce"},
    {0, "nonce=" HEX16 "0123456789abcdef0123456789abcdeg", "nonce"},
    {3, "timeout", "timeout"},
    {3, "timeout=", "timeout"},
    {3, "timeout=0", "timeout"},
    {3, "timeout=-1", "timeout"},
    {3, "timeout=+5", "timeout"},
    {3, "timeout=3s", "timeout"},
    {3, "timeout=0x10", "timeout"},
    {3, "timeout=3600001", "timeout"},
    {3, "timeout=99999999999999999999999", "timeout"},
    {4, "start=0", "start"},
    {4, "start=-1", "start"},
    {4, "start=3600001", "start"},
    {5, "window=0", "window"},
    {5, "window=1 2", "2"},
    {5, "window=18446744073709551616", "window"},
    {6, "node=4294967293", "node"},
    {6, "node=-1", "node"},
    {6, "node=", "node"},
    {6, "more", "more"},
};

Test(bootstrap, wrong_words_are_named, .init = redirect_errors)
{
    static char word[BOOTSTRAP_LINE];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_refused(line_with(wrong[i].at, wrong[i].word), wrong[i].about);
    memset(word, 'a', ADDRESSES_MAX + sizeof "at=");
    memcpy(word, "at=", strlen("at="));
    expect_refused(line_with(1, word), "at");
    memcpy(word, "if=", strlen("if="));
    expect_refused(line_with(2, word), "if");
}

Test(bootstrap, other_programs_and_versions, .init = redirect_errors)
{
    char line[BOOTSTRAP_LINE];
    expect_refused("", "internal to oshrun");
    expect_refused("oshrun", "internal to oshrun");
    expect_refused("not a bootstrap line", "internal to oshrun");
    snprintf(line, sizeof line, "oshrun one %s", PACKAGE_VERSION);
    expect_refused(line, "internal to oshrun");
    snprintf(line, sizeof line, "oshrun %u 0.0.0-other %s", WIRE_VERSION, NONCE);
    expect_refused(line, "0.0.0-other");
    snprintf(line, sizeof line, "oshrun %u %s " NONCE, WIRE_VERSION + 1, PACKAGE_VERSION);
    expect_refused(line, "SHMEM_LAUNCH_DAEMON");
}

/* ---- from a descriptor ------------------------------------------------------------ */

Test(bootstrap, bytes_after_the_line_are_not_read, .init = redirect_errors)
{
    struct bootstrap b;
    int fd[2];
    char rest[8] = "";
    cr_assert_eq(pipe(fd), 0);
    dprintf(fd[1], "%s\nrest", line_with(GOOD, NULL));
    cr_assert_eq(bootstrap_read(&b, fd[0], LONG_MS), 0, "%s", said);
    cr_assert_eq(b.node, 7);
    cr_assert_eq(read(fd[0], rest, sizeof rest - 1), 4);
    cr_assert_str_eq(rest, "rest");
    close(fd[0]);
    close(fd[1]);
}

/* A line that ends early, does not end, or does not fit. */
static void expect_unread(const char *text, bool closed, int wait_ms)
{
    struct bootstrap b;
    int fd[2];
    cr_assert_eq(pipe(fd), 0);
    dprintf(fd[1], "%s", text);
    if (closed)
        close(fd[1]);
    cr_expect_neq(bootstrap_read(&b, fd[0], wait_ms), 0);
    cr_expect_not_null(strstr(said, "no bootstrap line on standard input"), "%s", said);
    close(fd[0]);
    if (!closed)
        close(fd[1]);
}

Test(bootstrap, no_line, .init = redirect_errors)
{
    static char endless[BOOTSTRAP_LINE + 100];
    expect_unread("", true, LONG_MS);
    expect_unread("", false, WAIT_MS);
    expect_unread(line_with(GOOD, NULL), true, LONG_MS);
    expect_unread(line_with(GOOD, NULL), false, WAIT_MS);
    memset(endless, ' ', sizeof endless - 1);
    expect_unread(endless, false, LONG_MS);
}

/* ---- random lines ----------------------------------------------------------------- */

static uint32_t seed = 1;

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* Truncates, repeats, swaps or changes bytes. */
static void mutate(char *line, size_t capacity)
{
    size_t len = strlen(line), at = next_random() % (len + 1);
    static const char letters[] = "=  0-9afz,:x\xff\n";
    switch (next_random() % 4) {
    case 0:
        if (at < len)
            memmove(line + at, line + at + 1, len - at);
        break;
    case 1:
        if (len + 2 < capacity)
            memmove(line + at + 1, line + at, len - at + 1);
        break;
    case 2:
        line[at] = '\0';
        break;
    default:
        if (at < len)
            line[at] = letters[next_random() % (sizeof letters - 1)];
    }
}

/* An accepted line is complete. */
static void check_bootstrap(const struct bootstrap *b, const char *line)
{
    static const struct nonce zeros;
    cr_assert_neq(memcmp(&b->nonce, &zeros, sizeof zeros), 0, "a known key: %s", line);
    cr_assert(b->timeout_ms > 0 && b->start_ms > 0 && b->window > 0, "%s", line);
    cr_assert_gt(strlen(b->at), 0, "%s", line);
    cr_assert_not_null(memchr(b->at, '\0', sizeof b->at));
    cr_assert_not_null(memchr(b->which, '\0', sizeof b->which));
    cr_assert_leq(b->node, WIRE_NONE);
}

Test(bootstrap, mutated_lines, .init = redirect_errors)
{
    static char line[BOOTSTRAP_LINE];
    size_t accepted = 0;
    for (int round = 0; round < FUZZ_ROUNDS; round++) {
        struct bootstrap b;
        snprintf(line, sizeof line, "%s", line_with(GOOD, NULL));
        for (uint32_t n = next_random() % 4; n > 0; n--)
            mutate(line, sizeof line);
        if (parse(&b, line) != 0)
            continue;
        check_bootstrap(&b, line);
        accepted++;
    }
    cr_assert(accepted > FUZZ_ROUNDS / 8 && accepted < FUZZ_ROUNDS, "%zu", accepted);
}
