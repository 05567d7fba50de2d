/* SPDX-License-Identifier: BSD-3-Clause */
/* connector_test.c - a connector finds its listener among others; addresses of a
 * listener. */
#include "config.h"

#include "tests/unit/listener_help.h"

Test(connector, no_addresses, .init = set_up, .fini = tear_down)
{
    static const char *const bad[] = {"",
                                      "x",
                                      ":",
                                      "localhost:5",
                                      "127.0.0.1",
                                      "127.0.0.1:",
                                      "127.0.0.1:0",
                                      "127.0.0.1:65536",
                                      "127.0.0.1:4294967297",
                                      "127.0.0.1:+5",
                                      "127.0.0.1: 5",
                                      "127.0.0.1:5 ",
                                      "127.0.0.1:5,",
                                      ",127.0.0.1:5",
                                      "127.0.0.1:5,,127.0.0.1:6",
                                      "127.0.0:5",
                                      "[127.0.0.1]:5",
                                      "::1:5",
                                      "[::1]",
                                      "[::1:5",
                                      "[]:5",
                                      "[:5",
                                      "]:5",
                                      "[::1]5",
                                      "[fe80::1%lo]:5"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        start_connector(&nonce, bad[i], PATIENT_MS);
        expect_failed("which is not an address such as 10.0.0.1:40000");
    }
    char wide[300];
    snprintf(wide, sizeof wide, "%0200d.0.0.1:5", 1);
    start_connector(&nonce, wide, PATIENT_MS);
    expect_failed("which is not an address such as 10.0.0.1:40000");
    struct address a;
    cr_assert_eq(address_parse(&a, "127.0.0.1:5", 11), 0);
    cr_assert_eq(address_parse(&a, "127.0.0.1:5\0x", 13), -1);
}

Test(connector, no_listener, .init = set_up, .fini = tear_down)
{
    char at[ADDRESS_TEXT], two[3 * ADDRESS_TEXT], want[5 * ADDRESS_TEXT];
    close(listen_bare(at));
    snprintf(two, sizeof two, "%s,%s", at, at);
    start_connector(&nonce, two, PATIENT_MS);
    expect_failed("");
    snprintf(want, sizeof want,
             "cannot connect to %s (Connection refused), %s (Connection refused)", at,
             at);
    cr_assert_str_eq(connector.why, want);
}

Test(connector, a_silent_listener, .init = set_up, .fini = tear_down)
{
    char at[ADDRESS_TEXT];
    int silent = listen_bare(at);
    uint64_t start = now_ms();
    start_connector(&nonce, at, 300);
    expect_failed("no answer for 0.3 s");
    cr_assert_geq(now_ms() - start, 299);
    close(silent);
}

/* Unreachable, of another job, with another protocol, and then the valid one. */
Test(connector, the_valid_address_is_last, .init = set_up, .fini = tear_down)
{
    char at[3][ADDRESS_TEXT], all[ADDRESSES_MAX], other[ADDRESSES_MAX], why[256];
    int silent = listen_bare(at[0]), talker = listen_bare(at[1]);
    close(listen_bare(at[2]));
    struct listener *other_job = listener_open(&loop, &other_nonce, "127.0.0.1", other,
                                               &listener_events, &listener, why, 256);
    snprintf(all, sizeof all, "%.63s,%.63s,%.63s,%.63s,%.63s", at[0], at[1], at[2], other,
             listener.at);
    start_connector(&nonce, all, PATIENT_MS);
    int said = accept_bare(talker);
    cr_assert_eq(send(said, "SSH-2.0-OpenSSH\r\n", 17, 0), 17);
    expect_connected();
    expect_refused(1, ": it does not know the nonce of this job"); /* by the other job */
    run(50);
    cr_assert_eq(listener.refused, 1);
    listener_close(other_job);
    close(said);
    close(silent);
    close(talker);
}

/* Several addresses of one listener: one connection, and no error for the others. */
Test(connector, several_addresses_of_one_listener, .init = set_up, .fini = tear_down)
{
    char all[ADDRESSES_MAX];
    snprintf(all, sizeof all, "%.63s,%.63s,%.63s", listener.at, listener.at, listener.at);
    start_connector(&nonce, all, PATIENT_MS);
    for (int i = 0; i < 4; i++) {
        run(0); /* a slow machine: the next address is tried before the first has answered
                 */
        sleep_ms(250);
    }
    while (connector.made == 0 || listener.accepted == 0)
        cr_assert(run(PATIENT_MS));
    run(300);
    cr_assert_eq(listener.accepted, 1);
    cr_assert_eq(listener.refused, 0, "%s", listener.error_text[0]);
}

Test(connector, a_busy_listener_is_tried_again, .init = set_up, .fini = tear_down)
{
    char at[ADDRESS_TEXT];
    unsigned char again[HEADER];
    int listen_fd = listen_bare(at);
    header(again, KIND_AGAIN);
    start_connector(&nonce, at, PATIENT_MS);
    for (int i = 0; i < 3; i++) {
        int fd = accept_bare(listen_fd);
        cr_assert_eq(send(fd, again, sizeof again, 0), sizeof again);
        close(fd);
    }
    cr_assert_eq(connector.failed, 0);
    close(accept_bare(listen_fd));
    expect_failed("it closed the connection");
    close(listen_fd);
}

Test(connector, a_freed_connector, .init = set_up, .fini = tear_down)
{
    for (int i = 0; i < 30; i++) {
        start_connector(&nonce, listener.at, PATIENT_MS);
        for (int k = 0; k < i / 6; k++)
            run(0);
    }
    connector_free(connector.connector);
    connector.connector = NULL;
    run(50);
    expect_daemon_connects();
}

/* ---- addresses -------------------------------------------------------------------- */

static const struct {
    const char *which, *why;
} bad_choices[] = {
    {"eth999", "eth999: there is no such interface; this host has "},
    {"lo,eth999", "eth999: there is no such interface; this host has "},
    {"203.0.113.0/24",
     "203.0.113.0/24: no interface of this host that is up has an address there; "},
    {"203.0.113.1",
     "203.0.113.1: no interface of this host that is up has an address there; "},
    {"2001:db8::/32",
     "2001:db8::/32: no interface of this host that is up has an address there; "},
    {"10.0.0.0/33", "10.0.0.0/33: that is not a network such as 10.0.0.0/8"},
    {"fd00::/129", "fd00::/129: that is not a network"},
    {"10.0.0.0/", "10.0.0.0/: that is not a network"},
    {"10.0.0.0/-1", "10.0.0.0/-1: that is not a network"},
    {"10.0.0/8", "10.0.0/8: that is not a network"},
    {"eth0/8", "eth0/8: that is not a network"},
    {"/8", "/8: that is not a network"},
    {"", ": the name of an interface or a network is missing"},
    {"lo,", "lo,: the name of an interface or a network is missing"},
    {",lo", ",lo: the name of an interface or a network is missing"},
    {"lo,,lo", "lo,,lo: the name of an interface or a network is missing"},
};

Test(connector, addresses_that_do_not_exist)
{
    struct address list[4];
    char why[512];
    for (size_t i = 0; i < sizeof bad_choices / sizeof bad_choices[0]; i++) {
        size_t n = address_choose(bad_choices[i].which, list, 4, why, sizeof why);
        cr_assert_eq(n, 0, "'%s'", bad_choices[i].which);
        cr_assert_eq(strncmp(why, bad_choices[i].why, strlen(bad_choices[i].why)), 0,
                     "'%s': %s", bad_choices[i].which, why);
        bool lists = strstr(bad_choices[i].why, "; ") != NULL;
        cr_assert_eq(strstr(why, "; this host has ") != NULL, lists, "%s", why);
        if (lists)
            cr_assert_not_null(strstr(why, " lo"), "%s", why);
    }
    cr_assert_eq(address_choose("eth999", list, 4, why, 20), 0);
    cr_assert_str_eq(why, "eth999: there is no", "truncated at the end of the buffer");
}

/* The texts of the chosen addresses are valid. */
static void choose(const char *which, char *text)
{
    struct address list[8], again;
    char why[512], one[ADDRESS_TEXT];
    size_t n = address_choose(which, list, 8, why, sizeof why);
    cr_assert_gt(n, 0, "%s", why);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        cr_assert(list[i].as.any.sa_family == AF_INET ||
                  list[i].as.any.sa_family == AF_INET6);
        in_port_t port = htons(40000);
        if (list[i].as.any.sa_family == AF_INET)
            list[i].as.in.sin_port = port;
        else
            list[i].as.in6.sin6_port = port;
        address_text(&list[i], one);
        cr_assert_eq(address_parse(&again, one, strlen(one)), 0, "%s", one);
        cr_assert_eq(again.len, list[i].len);
        strcat(strcat(text, one), " ");
    }
}

Test(connector, addresses_of_this_host)
{
    char text[8 * ADDRESS_TEXT], more[8 * ADDRESS_TEXT];
    choose("127.0.0.0/8", text);
    cr_assert_str_eq(text, "127.0.0.1:40000 ");
    choose("127.0.0.1", text);
    cr_assert_str_eq(text, "127.0.0.1:40000 ");
    choose("lo", text);
    cr_assert_eq(strncmp(text, "127.0.0.1:40000 ", 16), 0, "%s", text);
    choose("lo,127.0.0.0/8,lo", more);
    cr_assert_str_eq(text, more, "each once");
    choose("126.0.0.0/7", text);
    cr_assert_str_eq(text, "127.0.0.1:40000 ");
    choose(NULL, text);
    cr_assert(strstr(text, "127.0.0.1") == NULL || strcmp(text, "127.0.0.1:40000 ") == 0,
              "the loopback only if there is no other: %s", text);
    cr_assert_null(strstr(text, "fe80"));
}

/* End to end: the connector connects to each address of the listener. */
Test(connector, all_addresses_connect, .init = set_up, .fini = tear_down)
{
    static const char *const which[] = {NULL, "lo", "127.0.0.1", "0.0.0.0/0"};
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        char all[ADDRESSES_MAX], one[ADDRESS_TEXT], why[512];
        struct listener *d = listener_open(&loop, &nonce, which[i], all, &listener_events,
                                           &listener, why, sizeof why);
        cr_assert_not_null(d, "%s", why);
        char *end = all;
        for (char *at = all; *end != '\0'; at = end + 1) {
            end = at + strcspn(at, ",");
            snprintf(one, sizeof one, "%.*s", (int)(end - at), at);
            start_connector(&nonce, one, PATIENT_MS);
            expect_connected();
        }
        listener_close(d);
    }
}
