/* SPDX-License-Identifier: BSD-3-Clause */
/* listener_test.c - the connections that a listener accepts and rejects. */
#include "config.h"

#include <sys/wait.h>

#include "tests/unit/listener_help.h"
#include "tools/oshrun/net/auth.h"

/* ---- the nonce -------------------------------------------------------------------- */

Test(listener, nonces_as_texts)
{
    static const char *const bad[] = {"", "0", "g", " "};
    char hex[NONCE_HEX_BYTES], again[NONCE_HEX_BYTES], text[2 * NONCE_HEX_BYTES];
    struct nonce a, b;
    cr_assert_eq(nonce_make(&a), 0);
    nonce_to_hex(&a, hex);
    cr_assert_eq(strlen(hex), 64);
    cr_assert_eq(nonce_from_hex(&b, hex), 0);
    cr_assert_eq(memcmp(&a, &b, sizeof a), 0);
    nonce_to_hex(&b, again);
    cr_assert_str_eq(hex, again);
    cr_assert_eq(nonce_make(&b), 0);
    cr_assert_neq(memcmp(&a, &b, sizeof a), 0, "random ones differ");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text, "%.63s%s", hex, bad[i]);
        cr_assert_eq(nonce_from_hex(&b, text), strcmp(bad[i], "0") == 0 ? 0 : -1, "%s",
                     text);
    }
    snprintf(text, sizeof text, "%s0", hex);
    cr_assert_eq(nonce_from_hex(&b, text), -1, "too long");
    cr_assert_eq(nonce_from_hex(&b, ""), -1);
}

/* ---- handshakes ------------------------------------------------------------------- */

Test(listener, the_valid_nonce, .init = set_up, .fini = tear_down)
{
    for (int i = 0; i < 20; i++)
        expect_daemon_connects();
    run(20);
    cr_assert_eq(listener.refused, 0, "%s", listener.error_text[0]);
}

/* The listener's owner may send at once; the handshake consumes none of those bytes. */
Test(listener, bytes_after_the_handshake_are_not_read, .init = set_up, .fini = tear_down)
{
    char text[6] = "";
    listener.send_first = true;
    start_connector(&nonce, listener.at, PATIENT_MS);
    while (connector.made == 0)
        cr_assert(run(PATIENT_MS));
    cr_assert_eq(receive(connector.fd, text, 5), 5);
    cr_assert_str_eq(text, "hello");
}

Test(listener, a_wrong_nonce, .init = set_up, .fini = tear_down)
{
    start_connector(&other_nonce, listener.at, PATIENT_MS);
    expect_failed("it does not belong to this job");
    cr_assert_not_null(strstr(connector.why, listener.at), "%s", connector.why);
    expect_refused(1, ": it does not know the nonce of this job");
    struct nonce near = nonce; /* differs in one bit */
    near.byte[NONCE_BYTES - 1] ^= 1;
    start_connector(&near, listener.at, PATIENT_MS);
    expect_failed("it does not belong to this job");
    cr_assert_eq(listener.accepted, 0);
    expect_daemon_connects();
}

Test(listener, closed_or_freed_in_events, .init = set_up, .fini = tear_down)
{
    listener.close_it = connector.free_it = true;
    connector.connector = connector_start(
        &loop, &nonce, listener.at, (struct connector_limits){PATIENT_MS, PATIENT_MS},
        &connector_events, &connector);
    int held[3] = {connect_bare(), connect_bare(), connect_bare()};
    expect_connected();
    run(20);
    cr_assert_eq(listener.refused, 0);
    for (int i = 0; i < 3; i++)
        close(held[i]);
}

Test(listener, closed_in_refused, .init = set_up, .fini = tear_down)
{
    listener.close_it = true;
    int held[100];
    for (int i = 0; i < 100; i++)
        held[i] = connect_bare();
    while (listener.refused == 0)
        cr_assert(run(PATIENT_MS));
    run(20);
    cr_assert_eq(listener.refused, 1, "a closed listener reports nothing");
    for (int i = 0; i < 100; i++)
        close(held[i]);
}

/* ---- unauthenticated connections --------------------------------------------------- */

Test(listener, errors_name_the_kind_of_connection, .init = set_up, .fini = tear_down)
{
    unsigned char greeting[GREETING_BYTES], text[PROOF_BYTES] = "GET / HTTP/1.1\r\n\r\n";
    int fd = connect_bare();
    cr_assert_eq(receive(fd, greeting, sizeof greeting), sizeof greeting);
    cr_assert_eq(send(fd, text, 1, 0), 1);
    expect_refused(1, ": it sent an invalid authentication message");
    cr_assert_eq(receive(fd, text, 1), 0, "the listener has closed it");
    close(fd);
    fd = connect_bare();
    run(10);
    close(fd);
    expect_refused(2, " before it was authenticated");
    fd = connect_bare();
    header(text, KIND_LEAVE);
    cr_assert_eq(send(fd, text, HEADER, 0), HEADER);
    close(fd);
    run(50);
    cr_assert_eq(listener.refused, 2,
                 "a daemon that used another address is not reported: %s",
                 listener.error_text[2]);
}

static void send_half(int fd, size_t n)
{
    unsigned char m[PROOF_BYTES] = {0};
    header(m, KIND_PROOF);
    cr_assert_eq(send(fd, m, n, 0), (ssize_t)n);
}

Test(listener, half_messages_and_silence, .init = set_up, .fini = tear_down)
{
    static const size_t half[] = {1, HEADER - 1, HEADER, PROOF_BYTES - 1};
    uint64_t start = now_ms();
    int fd[5];
    for (int i = 0; i < 5; i++) {
        fd[i] = connect_bare();
        if (i < 4)
            send_half(fd[i], half[i]);
        run(20); /* they arrive in this order */
    }
    cr_assert_eq(listener.refused, 0);
    expect_refused(1, ": it sent part of a message and then nothing for 2 s");
    cr_assert_geq(now_ms() - start, 1990);
    expect_refused(4, ": it sent part of a message and then nothing for 2 s");
    expect_refused(5, ": it sent nothing for 2 s");
    for (int i = 0; i < 5; i++)
        close(fd[i]);
}

Test(listener, refusals_are_reported_eight_times, .init = set_up, .fini = tear_down)
{
    for (int i = 0; i < 3 * REPORTS; i++) {
        int fd = connect_bare();
        cr_assert_eq(send(fd, "x", 1, 0), 1);
        run(20);
        close(fd);
    }
    cr_assert_eq(listener.refused, REPORTS);
    for (int i = 0; i < REPORTS; i++)
        cr_assert_eq(strstr(listener.error_text[i], "further ones are not reported") !=
                         NULL,
                     i == REPORTS - 1, "%s", listener.error_text[i]);
    expect_daemon_connects();
}

static int open_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) != -1;
    return n;
}

/* Unauthenticated connections do not occupy the listener for long. */
Test(listener, more_unauthenticated_connections_than_slots, .init = set_up,
     .fini = tear_down)
{
    enum { MANY = 200, PLACES = 64 };
    int fd[MANY], open_at_first = open_files();
    char byte;
    for (int i = 0; i < MANY; i++) {
        fd[i] = connect_bare();
        if (i % 50 == 0)
            expect_daemon_connects();
    }
    expect_daemon_connects();
    expect_refused(1, ": it was not authenticated when too many others connected");
    cr_assert_leq(open_files(), open_at_first + MANY + PLACES + 4);
    int shut = 0;
    for (int i = 0; i < MANY; i++) {
        unsigned char m[GREETING_BYTES + HEADER];
        ssize_t n = recv(fd[i], m, sizeof m, MSG_DONTWAIT);
        cr_assert_geq(n, GREETING_BYTES);
        bool out = n == sizeof m && recv(fd[i], &byte, 1, MSG_DONTWAIT) == 0;
        shut += out;
        cr_assert(out || i > 0, "the oldest is closed first");
        close(fd[i]);
    }
    cr_assert_geq(shut, MANY - PLACES);
}

/* A process that keeps connecting and holds each connection for a while. */
static pid_t start_flood(void)
{
    enum { HELD = 300, MANY = 200000 };
    static const struct linger hard = {.l_onoff = 1}; /* no TIME_WAIT */
    pid_t pid = fork_helper();
    if (pid > 0)
        return pid;
    int held[HELD];
    memset(held, -1, sizeof held);
    alarm(PATIENT_MS / 1000);
    for (int i = 0; i < MANY; i++) {
        int *fd = &held[i % HELD];
        close(*fd);
        *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(*fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        connect(*fd, (struct sockaddr *)&listener.in, sizeof listener.in);
    }
    _exit(0);
}

Test(listener, a_flood_of_connections, .init = set_up, .fini = tear_down)
{
    pid_t pid = start_flood();
    while (listener.refused < REPORTS)
        cr_assert(run(PATIENT_MS));
    for (int i = 0; i < 10; i++)
        expect_daemon_connects();
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* ---- attackers -------------------------------------------------------------------- */

static uint32_t seed = 1;

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* Mostly valid at its start, so that all parts of the parser are reached. */
static size_t make_rubbish(unsigned char *m, size_t max)
{
    size_t len = next_random() % (max + 1);
    for (size_t i = 0; i < len; i++)
        m[i] = (unsigned char)next_random();
    unsigned char start[HEADER];
    header(start, (int)(next_random() % 8));
    size_t right = next_random() % (HEADER + 4);
    memcpy(m, start, right < len ? (right < HEADER ? right : HEADER) : 0);
    return len;
}

Test(listener, random_bytes, .init = set_up, .fini = tear_down)
{
    uint64_t end = now_ms() + FUZZ_MS;
    struct linger hard = {.l_onoff = 1};
    int rounds = 0;
    for (; rounds < FUZZ_ROUNDS && now_ms() < end; rounds++) {
        unsigned char m[2 * PROOF_BYTES];
        int fd = connect_bare();
        for (unsigned parts = next_random() % 4; parts > 0; parts--) {
            if (send(fd, m, make_rubbish(m, sizeof m), MSG_NOSIGNAL) < 0)
                break;
            if (next_random() % 2)
                run(0);
        }
        if (next_random() % 4 == 0)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        close(fd);
        run(0);
        cr_assert_eq(listener.accepted, 0);
    }
    cr_assert_gt(rounds, 200);
    cr_assert_eq(listener.refused, REPORTS);
    expect_daemon_connects();
}

/* An attacker between a daemon, which connects to its socket, and the true listener, to
 * which the attacker connects. */
struct forger {
    int listener, victim, truth;
    char at[ADDRESS_TEXT];
    unsigned char greeting[GREETING_BYTES], proof[PROOF_BYTES];
};

/* The daemon has sent the answer to the true listener's challenge to the attacker. */
static void open_forger(struct forger *f)
{
    f->listener = listen_bare(f->at);
    f->truth = connect_bare();
    cr_assert_eq(receive(f->truth, f->greeting, GREETING_BYTES), GREETING_BYTES);
    start_connector(&nonce, f->at, PATIENT_MS);
    f->victim = accept_bare(f->listener);
    cr_assert_eq(send(f->victim, f->greeting, GREETING_BYTES, 0), GREETING_BYTES);
    cr_assert_eq(receive(f->victim, f->proof, PROOF_BYTES), PROOF_BYTES);
}

static void close_forger(struct forger *f)
{
    close(f->victim);
    close(f->truth);
    close(f->listener);
}

/* Relay: the answer is bound to the address that the daemon has connected to. */
Test(listener, a_relayed_answer, .init = set_up, .fini = tear_down)
{
    struct forger f;
    char byte;
    open_forger(&f);
    cr_assert_eq(send(f.truth, f.proof, PROOF_BYTES, 0), PROOF_BYTES);
    expect_refused(1, ": it does not know the nonce of this job");
    cr_assert_eq(receive(f.truth, &byte, 1), 0,
                 "no message to an unauthenticated connection");
    cr_assert_eq(listener.accepted, 0);
    close_forger(&f);
}

/* Reflection of the connector's own answer. */
Test(listener, a_reflected_answer, .init = set_up, .fini = tear_down)
{
    struct forger f;
    unsigned char reply[VERDICT_BYTES];
    open_forger(&f);
    header(reply, KIND_VERDICT);
    memcpy(reply + HEADER, f.proof + GREETING_BYTES, VERDICT_BYTES - HEADER);
    cr_assert_eq(send(f.victim, reply, VERDICT_BYTES, 0), VERDICT_BYTES);
    expect_failed("it does not belong to this job");
    close_forger(&f);
}

/* Reflection of the listener's own bytes, as every message of the protocol. */
Test(listener, a_reflected_challenge, .init = set_up, .fini = tear_down)
{
    unsigned char greeting[GREETING_BYTES], proof[PROOF_BYTES];
    for (int way = 0; way < 3; way++) {
        int fd = connect_bare();
        cr_assert_eq(receive(fd, greeting, sizeof greeting), sizeof greeting);
        memcpy(proof, greeting, sizeof greeting);
        memcpy(proof + sizeof greeting, greeting + HEADER,
               sizeof proof - sizeof greeting);
        header(proof, way == 0 ? KIND_GREETING : KIND_PROOF);
        if (way == 2)
            memset(proof + HEADER, 0, sizeof proof - HEADER);
        cr_assert_eq(send(fd, proof, sizeof proof, 0), sizeof proof);
        expect_refused(way + 1, way == 0 ? "an invalid authentication message"
                                         : "does not know the nonce");
        cr_assert_eq(receive(fd, proof, 1), 0,
                     "no message to an unauthenticated connection");
        close(fd);
    }
    cr_assert_eq(listener.accepted, 0);
}

/* Replay: a recorded handshake is not valid again. */
Test(listener, a_replayed_handshake, .init = set_up, .fini = tear_down)
{
    unsigned char greeting[GREETING_BYTES], proof[PROOF_BYTES];
    struct auth a;
    int fd = connect_bare();
    run(10);
    cr_assert_eq(auth_start(&a, fd, AUTH_CONNECTOR, &nonce), 0);
    cr_assert_eq(auth_read(&a), AUTH_GREETED);
    int pair[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    a.fd = pair[0]; /* intercept the proof */
    cr_assert_eq(auth_prove(&a), 0);
    cr_assert_eq(recv(pair[1], proof, sizeof proof, 0), sizeof proof);
    for (int time = 0; time < 2; time++) {
        cr_assert_eq(send(fd, proof, sizeof proof, 0), sizeof proof);
        run(100);
        cr_assert_eq(listener.accepted, 1, "only the first time");
        close(fd);
        fd = connect_bare();
        cr_assert_eq(receive(fd, greeting, sizeof greeting), sizeof greeting);
    }
    expect_refused(1, ": it does not know the nonce of this job");
    close(fd);
    close(pair[0]);
    close(pair[1]);
}
