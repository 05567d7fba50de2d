/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * door_test.c - who gets in at a door and who does not, and that a dial finds its door
 * among others.
 *
 * A time that must pass is checked from below; from above only so widely that a busy
 * machine does not matter.
 */
#include "config.h"

#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/oshrun/net/address.h"
#include "tools/oshrun/net/auth.h"
#include "tools/oshrun/net/door.h"

enum { PATIENT_MS = 20000, TOLD = 8, FUZZ_ROUNDS = 4000, FUZZ_MS = 2000 };
enum { GREETING_BYTES = 40, PROOF_BYTES = 72, VERDICT_BYTES = 40, HEADER = 8 };
enum { KIND_GREETING, KIND_PROOF, KIND_VERDICT, KIND_AGAIN, KIND_LEAVE };

static struct loop loop;
static struct nonce nonce, other_nonce;

/* What a door and a dial said. */
static struct {
    struct door *door;
    char at[ADDRESSES_MAX];
    struct sockaddr_in in;
    int came, fd, refused;
    char sentence[TOLD][256];
    bool close_it;
} door;

static struct {
    struct dial *dial;
    int made, fd, failed;
    char why[1024];
    bool free_it;
} dial;

/* -- help ------------------------------------------------------------------------- */

static void on_time(void *arg)
{
    *(bool *)arg = true;
    loop.stop = true;
}

/* Until somebody stops the loop.  False if ms have passed. */
static bool run(uint64_t ms)
{
    bool late = false;
    struct loop_timer t = {.fn = on_time, .arg = &late};
    loop.stop = false;
    loop_after(&loop, &t, ms);
    loop_run(&loop);
    loop_cancel(&loop, &t);
    return !late;
}

static uint64_t now_ms(void)
{
    return loop_now_ns() / 1000000;
}

static void on_came(void *arg, int fd)
{
    cr_assert_eq(arg, &door);
    if (door.came++ > 0)
        close(door.fd);
    door.fd = fd;
    loop.stop = true;
    if (door.close_it)
        door_close(door.door);
}

static void on_refused(void *arg, const char *sentence)
{
    cr_assert_eq(arg, &door);
    cr_assert_lt(door.refused, TOLD);
    cr_assert_null(strchr(sentence, '\n'));
    snprintf(door.sentence[door.refused++], sizeof door.sentence[0], "%s", sentence);
    loop.stop = true;
    if (door.close_it)
        door_close(door.door);
}

static void on_made(void *arg, int fd)
{
    cr_assert_eq(arg, &dial);
    dial.made++;
    dial.fd = fd;
    loop.stop = true;
    if (dial.free_it)
        dial_free(dial.dial);
}

static void on_failed(void *arg, const char *why)
{
    cr_assert_eq(arg, &dial);
    dial.failed++;
    snprintf(dial.why, sizeof dial.why, "%s", why);
    loop.stop = true;
    if (dial.free_it)
        dial_free(dial.dial);
}

static const struct door_events door_events = {on_came, on_refused};
static const struct dial_events dial_events = {on_made, on_failed};

static void set_up(void)
{
    char why[512];
    struct address at;
    signal(SIGPIPE, SIG_IGN); /* for the strangers of this test */
    cr_assert_eq(loop_open(&loop), 0);
    cr_assert_eq(nonce_make(&nonce), 0);
    cr_assert_eq(nonce_make(&other_nonce), 0);
    door.door = door_open(&loop, &nonce, "127.0.0.1", door.at, &door_events, &door, why,
                          sizeof why);
    cr_assert_not_null(door.door, "%s", why);
    cr_assert_eq(address_parse(&at, door.at, strlen(door.at)), 0);
    door.in = at.as.in;
}

static void tear_down(void)
{
    if (!door.close_it)
        door_close(door.door);
    if (!dial.free_it)
        dial_free(dial.dial);
    if (door.came > 0)
        close(door.fd);
    if (dial.made > 0)
        close(dial.fd);
    loop_close(&loop);
}

static void start_dial(const struct nonce *n, const char *at, uint32_t timeout_ms)
{
    if (dial.made > 0)
        close(dial.fd);
    dial_free(dial.dial);
    dial.made = dial.failed = 0;
    dial.dial = dial_start(&loop, n, at, timeout_ms, &dial_events, &dial);
    cr_assert_not_null(dial.dial);
    cr_assert_eq(dial.made + dial.failed, 0, "events come from the loop");
}

/* Both ends have told that they have each other, and really do. */
static void expect_in(void)
{
    char byte = 0;
    int before = door.came;
    while (dial.made + dial.failed == 0 || (dial.made > 0 && door.came == before))
        cr_assert(run(PATIENT_MS));
    cr_assert_eq(dial.failed, 0, "%s", dial.why);
    cr_assert_eq(door.came, before + 1);
    cr_assert_eq(write(dial.fd, "x", 1), 1);
    cr_assert_eq(read(door.fd, &byte, 1), 1);
    cr_assert_eq(byte, 'x');
    for (int i = 0; i < 2; i++) {
        int fd = i == 0 ? dial.fd : door.fd;
        cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        cr_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
    }
}

static void expect_daemon_gets_in(void)
{
    door.came = 0;
    start_dial(&nonce, door.at, PATIENT_MS);
    expect_in();
    close(door.fd);
    door.came = 0;
}

static void expect_failed(const char *part)
{
    while (dial.made + dial.failed == 0)
        cr_assert(run(PATIENT_MS));
    cr_assert_eq(dial.failed, 1);
    cr_assert_not_null(strstr(dial.why, part), "'%s' not in '%s'", part, dial.why);
}

static void expect_refused(int n, const char *part)
{
    while (door.refused < n)
        cr_assert(run(PATIENT_MS));
    const char *sentence = door.sentence[n - 1];
    cr_assert_eq(strncmp(sentence, "refused a connection from 127.0.0.1:", 36), 0, "%s",
                 sentence);
    cr_assert_not_null(strstr(sentence, part), "'%s' not in '%s'", part, sentence);
}

/* A stranger's connection. */
static int knock(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_geq(fd, 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&door.in, sizeof door.in), 0);
    return fd;
}

/* A bare listening socket, and its address as a text. */
static int listen_bare(char at[ADDRESS_TEXT])
{
    struct address a = {.len = sizeof a.as.in};
    a.as.in.sin_family = AF_INET;
    a.as.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(bind(fd, &a.as.any, a.len), 0);
    cr_assert_eq(listen(fd, 8), 0);
    address_of_socket(&a, fd);
    address_text(&a, at);
    return fd;
}

/* Runs the loop until all n bytes have come to a bare socket; fewer if it ended. */
static size_t receive(int fd, void *to, size_t n)
{
    size_t have = 0;
    for (uint64_t end = now_ms() + PATIENT_MS; have < n && now_ms() < end; run(1)) {
        ssize_t got = recv(fd, (char *)to + have, n - have, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN))
            break;
        have += got > 0 ? (size_t)got : 0;
    }
    return have;
}

static int accept_bare(int listener)
{
    struct pollfd p = {.fd = listener, .events = POLLIN};
    for (uint64_t end = now_ms() + PATIENT_MS; poll(&p, 1, 0) == 0;) {
        cr_assert(now_ms() < end);
        run(1);
    }
    return accept(listener, NULL, NULL);
}

static void header(unsigned char *m, int kind)
{
    memcpy(m, "oshrun\1", 7);
    m[7] = (unsigned char)kind;
}

/* -- the nonce -------------------------------------------------------------------- */

Test(door, nonces_as_texts)
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

/* -- in and out ------------------------------------------------------------------- */

Test(door, the_right_nonce, .init = set_up, .fini = tear_down)
{
    for (int i = 0; i < 20; i++)
        expect_daemon_gets_in();
    run(20);
    cr_assert_eq(door.refused, 0, "%s", door.sentence[0]);
}

/* The door's owner may speak at once: no byte of that is taken for the handshake. */
Test(door, what_follows_the_handshake_is_left, .init = set_up, .fini = tear_down)
{
    char text[6] = "";
    start_dial(&nonce, door.at, PATIENT_MS);
    while (door.came == 0)
        cr_assert(run(PATIENT_MS));
    cr_assert_eq(write(door.fd, "hello", 5), 5);
    while (dial.made == 0)
        cr_assert(run(PATIENT_MS));
    cr_assert_eq(receive(dial.fd, text, 5), 5);
    cr_assert_str_eq(text, "hello");
}

Test(door, a_wrong_nonce, .init = set_up, .fini = tear_down)
{
    start_dial(&other_nonce, door.at, PATIENT_MS);
    expect_failed("it is not of this job");
    cr_assert_not_null(strstr(dial.why, door.at), "%s", dial.why);
    expect_refused(1, ": it does not know the nonce of this job");
    struct nonce near = nonce; /* each bit counts */
    near.byte[NONCE_BYTES - 1] ^= 1;
    start_dial(&near, door.at, PATIENT_MS);
    expect_failed("it is not of this job");
    cr_assert_eq(door.came, 0);
    expect_daemon_gets_in();
}

Test(door, closed_or_freed_in_events, .init = set_up, .fini = tear_down)
{
    door.close_it = dial.free_it = true;
    dial.dial = dial_start(&loop, &nonce, door.at, PATIENT_MS, &dial_events, &dial);
    int held[3] = {knock(), knock(), knock()};
    expect_in();
    run(20);
    cr_assert_eq(door.refused, 0);
    for (int i = 0; i < 3; i++)
        close(held[i]);
}

Test(door, closed_in_refused, .init = set_up, .fini = tear_down)
{
    door.close_it = true;
    int held[100];
    for (int i = 0; i < 100; i++)
        held[i] = knock();
    while (door.refused == 0)
        cr_assert(run(PATIENT_MS));
    run(20);
    cr_assert_eq(door.refused, 1, "a closed door says nothing");
    for (int i = 0; i < 100; i++)
        close(held[i]);
}

/* -- strangers -------------------------------------------------------------------- */

Test(door, strangers_are_told_apart, .init = set_up, .fini = tear_down)
{
    unsigned char greeting[GREETING_BYTES], text[PROOF_BYTES] = "GET / HTTP/1.1\r\n\r\n";
    int fd = knock();
    cr_assert_eq(receive(fd, greeting, sizeof greeting), sizeof greeting);
    cr_assert_eq(send(fd, text, 1, 0), 1);
    expect_refused(1, ": it sent what is not the greeting of a daemon");
    cr_assert_eq(receive(fd, text, 1), 0, "it is shut out");
    close(fd);
    fd = knock();
    run(10);
    close(fd);
    expect_refused(2, " before it had proven itself");
    fd = knock();
    header(text, KIND_LEAVE);
    cr_assert_eq(send(fd, text, HEADER, 0), HEADER);
    close(fd);
    run(50);
    cr_assert_eq(door.refused, 2, "one of us that found another way: %s",
                 door.sentence[2]);
}

static void send_half(int fd, size_t n)
{
    unsigned char m[PROOF_BYTES] = {0};
    header(m, KIND_PROOF);
    cr_assert_eq(send(fd, m, n, 0), (ssize_t)n);
}

Test(door, half_messages_and_silence, .init = set_up, .fini = tear_down)
{
    static const size_t half[] = {1, HEADER - 1, HEADER, PROOF_BYTES - 1};
    uint64_t start = now_ms();
    int fd[5];
    for (int i = 0; i < 5; i++) {
        fd[i] = knock();
        if (i < 4)
            send_half(fd[i], half[i]);
        run(20); /* they arrive in this order */
    }
    cr_assert_eq(door.refused, 0);
    expect_refused(1, ": it sent half a greeting and then nothing for 2 s");
    cr_assert_geq(now_ms() - start, 1990);
    expect_refused(4, ": it sent half a greeting and then nothing for 2 s");
    expect_refused(5, ": it said nothing for 2 s");
    for (int i = 0; i < 5; i++)
        close(fd[i]);
}

Test(door, refusals_are_told_eight_times, .init = set_up, .fini = tear_down)
{
    for (int i = 0; i < 3 * TOLD; i++) {
        int fd = knock();
        cr_assert_eq(send(fd, "x", 1, 0), 1);
        run(20);
        close(fd);
    }
    cr_assert_eq(door.refused, TOLD);
    for (int i = 0; i < TOLD; i++)
        cr_assert_eq(strstr(door.sentence[i], "further ones are not told") != NULL,
                     i == TOLD - 1, "%s", door.sentence[i]);
    expect_daemon_gets_in();
}

static int open_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) != -1;
    return n;
}

/* Whoever holds connections holds no place for long. */
Test(door, more_strangers_than_places, .init = set_up, .fini = tear_down)
{
    enum { MANY = 200, PLACES = 64 };
    int fd[MANY], open_at_first = open_files();
    char byte;
    for (int i = 0; i < MANY; i++) {
        fd[i] = knock();
        if (i % 50 == 0)
            expect_daemon_gets_in();
    }
    expect_daemon_gets_in();
    expect_refused(1, ": it had not proven itself when too many others came");
    cr_assert_leq(open_files(), open_at_first + MANY + PLACES + 4);
    int shut = 0;
    for (int i = 0; i < MANY; i++) {
        unsigned char m[GREETING_BYTES + HEADER];
        ssize_t n = recv(fd[i], m, sizeof m, MSG_DONTWAIT);
        cr_assert_geq(n, GREETING_BYTES);
        bool out = n == sizeof m && recv(fd[i], &byte, 1, MSG_DONTWAIT) == 0;
        shut += out;
        cr_assert(out || i > 0, "the oldest goes first");
        close(fd[i]);
    }
    cr_assert_geq(shut, MANY - PLACES);
}

/* Connects without end, and holds each connection for a while. */
static pid_t start_flood(void)
{
    enum { HELD = 300, MANY = 200000 };
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid > 0)
        return pid;
    int held[HELD];
    memset(held, -1, sizeof held);
    alarm(PATIENT_MS / 1000);
    for (int i = 0; i < MANY; i++) {
        close(held[i % HELD]);
        held[i % HELD] = knock();
    }
    _exit(0);
}

Test(door, a_flood_of_strangers, .init = set_up, .fini = tear_down)
{
    pid_t pid = start_flood();
    while (door.refused < TOLD)
        cr_assert(run(PATIENT_MS));
    for (int i = 0; i < 10; i++)
        expect_daemon_gets_in();
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* -- forgers ---------------------------------------------------------------------- */

static uint32_t seed = 1;

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* Mostly right at its start, so that all parts of the reader have their share. */
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

Test(door, random_bytes, .init = set_up, .fini = tear_down)
{
    uint64_t end = now_ms() + FUZZ_MS;
    struct linger hard = {.l_onoff = 1};
    int rounds = 0;
    for (; rounds < FUZZ_ROUNDS && now_ms() < end; rounds++) {
        unsigned char m[2 * PROOF_BYTES];
        int fd = knock();
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
        cr_assert_eq(door.came, 0);
    }
    cr_assert_gt(rounds, 200);
    cr_assert_eq(door.refused, TOLD);
    expect_daemon_gets_in();
}

/* A door of a forger, which a daemon dials; the true door is dialled by the forger. */
struct forger {
    int listener, victim, truth;
    char at[ADDRESS_TEXT];
    unsigned char greeting[GREETING_BYTES], proof[PROOF_BYTES];
};

/* The daemon has answered the true door's challenge to the forger. */
static void open_forger(struct forger *f)
{
    f->listener = listen_bare(f->at);
    f->truth = knock();
    cr_assert_eq(receive(f->truth, f->greeting, GREETING_BYTES), GREETING_BYTES);
    start_dial(&nonce, f->at, PATIENT_MS);
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

/* The answer is for the address that was dialled, and for no other door. */
Test(door, an_answer_passed_on, .init = set_up, .fini = tear_down)
{
    struct forger f;
    char byte;
    open_forger(&f);
    cr_assert_eq(send(f.truth, f.proof, PROOF_BYTES, 0), PROOF_BYTES);
    expect_refused(1, ": it does not know the nonce of this job");
    cr_assert_eq(receive(f.truth, &byte, 1), 0, "no word to a stranger");
    cr_assert_eq(door.came, 0);
    close_forger(&f);
}

/* The dial's own answer as the door's. */
Test(door, an_answer_sent_back_to_the_dial, .init = set_up, .fini = tear_down)
{
    struct forger f;
    unsigned char verdict[VERDICT_BYTES];
    open_forger(&f);
    header(verdict, KIND_VERDICT);
    memcpy(verdict + HEADER, f.proof + GREETING_BYTES, VERDICT_BYTES - HEADER);
    cr_assert_eq(send(f.victim, verdict, VERDICT_BYTES, 0), VERDICT_BYTES);
    expect_failed("it is not of this job");
    close_forger(&f);
}

/* The door's own bytes sent back to it, as whatever they may be taken for. */
Test(door, the_door_s_challenge_sent_back, .init = set_up, .fini = tear_down)
{
    unsigned char greeting[GREETING_BYTES], proof[PROOF_BYTES];
    for (int way = 0; way < 3; way++) {
        int fd = knock();
        cr_assert_eq(receive(fd, greeting, sizeof greeting), sizeof greeting);
        memcpy(proof, greeting, sizeof greeting);
        memcpy(proof + sizeof greeting, greeting + HEADER,
               sizeof proof - sizeof greeting);
        header(proof, way == 0 ? KIND_GREETING : KIND_PROOF);
        if (way == 2)
            memset(proof + HEADER, 0, sizeof proof - HEADER);
        cr_assert_eq(send(fd, proof, sizeof proof, 0), sizeof proof);
        expect_refused(way + 1,
                       way == 0 ? "not the greeting" : "does not know the nonce");
        cr_assert_eq(receive(fd, proof, 1), 0, "no word to a stranger");
        close(fd);
    }
    cr_assert_eq(door.came, 0);
}

/* A whole handshake that was overheard is worth nothing at another time. */
Test(door, a_handshake_played_again, .init = set_up, .fini = tear_down)
{
    unsigned char greeting[GREETING_BYTES], proof[PROOF_BYTES];
    struct auth a;
    int fd = knock();
    run(10);
    cr_assert_eq(auth_start(&a, fd, AUTH_DIAL, &nonce), 0);
    cr_assert_eq(auth_read(&a), AUTH_GREETED);
    int pair[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    a.fd = pair[0]; /* to see the proof before the door does */
    cr_assert_eq(auth_prove(&a), 0);
    cr_assert_eq(recv(pair[1], proof, sizeof proof, 0), sizeof proof);
    for (int time = 0; time < 2; time++) {
        cr_assert_eq(send(fd, proof, sizeof proof, 0), sizeof proof);
        run(100);
        cr_assert_eq(door.came, 1, "only the first time");
        close(fd);
        fd = knock();
        cr_assert_eq(receive(fd, greeting, sizeof greeting), sizeof greeting);
    }
    expect_refused(1, ": it does not know the nonce of this job");
    close(fd);
    close(pair[0]);
    close(pair[1]);
}

/* -- the dial --------------------------------------------------------------------- */

Test(door, no_addresses, .init = set_up, .fini = tear_down)
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
                                      "[fe80::1%lo]:5",
                                      "1111111111111111111111111111111111111111111111111"
                                      "11111111111111111111111111111111111111111:5"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        start_dial(&nonce, bad[i], PATIENT_MS);
        expect_failed("which is no address like 10.0.0.1:40000");
    }
}

Test(door, nobody_there, .init = set_up, .fini = tear_down)
{
    char at[ADDRESS_TEXT], two[3 * ADDRESS_TEXT], want[5 * ADDRESS_TEXT];
    close(listen_bare(at));
    snprintf(two, sizeof two, "%s,%s", at, at);
    start_dial(&nonce, two, PATIENT_MS);
    expect_failed("");
    snprintf(want, sizeof want,
             "cannot connect to %s (Connection refused), %s (Connection refused)", at,
             at);
    cr_assert_str_eq(dial.why, want);
}

Test(door, somebody_silent, .init = set_up, .fini = tear_down)
{
    char at[ADDRESS_TEXT];
    int silent = listen_bare(at);
    uint64_t start = now_ms();
    start_dial(&nonce, at, 300);
    expect_failed("no answer for 0.3 s");
    cr_assert_geq(now_ms() - start, 299);
    close(silent);
}

/* A dead address, one of another job, one that talks otherwise, and then the right one.
 */
Test(door, the_right_address_comes_last, .init = set_up, .fini = tear_down)
{
    char at[3][ADDRESS_TEXT], all[ADDRESSES_MAX], other[ADDRESSES_MAX], why[256];
    int silent = listen_bare(at[0]), talker = listen_bare(at[1]);
    close(listen_bare(at[2]));
    struct door *other_job =
        door_open(&loop, &other_nonce, "127.0.0.1", other, &door_events, &door, why, 256);
    snprintf(all, sizeof all, "%.63s,%.63s,%.63s,%.63s,%.63s", at[0], at[1], at[2], other,
             door.at);
    start_dial(&nonce, all, PATIENT_MS);
    int said = accept_bare(talker);
    cr_assert_eq(send(said, "SSH-2.0-OpenSSH\r\n", 17, 0), 17);
    expect_in();
    expect_refused(1, ": it does not know the nonce of this job"); /* by the other job */
    run(50);
    cr_assert_eq(door.refused, 1);
    door_close(other_job);
    close(said);
    close(silent);
    close(talker);
}

/* Several ways to one door: one connection, and no word about the others. */
Test(door, several_ways_to_one_door, .init = set_up, .fini = tear_down)
{
    char all[ADDRESSES_MAX];
    snprintf(all, sizeof all, "%.63s,%.63s,%.63s", door.at, door.at, door.at);
    start_dial(&nonce, all, PATIENT_MS);
    struct timespec stagger = {.tv_nsec = 250000000};
    for (int i = 0; i < 4; i++) {
        run(0); /* a slow machine: the next way is tried before the first has answered */
        nanosleep(&stagger, NULL);
    }
    while (dial.made == 0 || door.came == 0)
        cr_assert(run(PATIENT_MS));
    run(300);
    cr_assert_eq(door.came, 1);
    cr_assert_eq(door.refused, 0, "%s", door.sentence[0]);
}

Test(door, told_to_come_again, .init = set_up, .fini = tear_down)
{
    char at[ADDRESS_TEXT];
    unsigned char again[HEADER];
    int listener = listen_bare(at);
    header(again, KIND_AGAIN);
    start_dial(&nonce, at, PATIENT_MS);
    for (int i = 0; i < 3; i++) {
        int fd = accept_bare(listener);
        cr_assert_eq(send(fd, again, sizeof again, 0), sizeof again);
        close(fd);
    }
    cr_assert_eq(dial.failed, 0);
    close(accept_bare(listener));
    expect_failed("it closed the connection");
    close(listener);
}

Test(door, a_dial_given_up, .init = set_up, .fini = tear_down)
{
    for (int i = 0; i < 30; i++) {
        start_dial(&nonce, door.at, PATIENT_MS);
        for (int k = 0; k < i / 6; k++)
            run(0);
    }
    dial_free(dial.dial);
    dial.dial = NULL;
    run(50);
    expect_daemon_gets_in();
}

/* -- addresses -------------------------------------------------------------------- */

static const struct {
    const char *which, *why;
} bad_choices[] = {
    {"eth999", "--if eth999: there is no such interface; this host has "},
    {"lo,eth999", "--if eth999: there is no such interface; this host has "},
    {"203.0.113.0/24",
     "--if 203.0.113.0/24: this host has no address there that is up; "},
    {"203.0.113.1", "--if 203.0.113.1: this host has no address there that is up; "},
    {"2001:db8::/32", "--if 2001:db8::/32: this host has no address there that is up; "},
    {"10.0.0.0/33", "--if 10.0.0.0/33: that is no network, which looks like 10.0.0.0/8"},
    {"fd00::/129", "--if fd00::/129: that is no network"},
    {"10.0.0.0/", "--if 10.0.0.0/: that is no network"},
    {"10.0.0.0/-1", "--if 10.0.0.0/-1: that is no network"},
    {"10.0.0/8", "--if 10.0.0/8: that is no network"},
    {"eth0/8", "--if eth0/8: that is no network"},
    {"/8", "--if /8: that is no network"},
    {"", "--if : the name of an interface or a network is missing"},
    {"lo,", "--if lo,: the name of an interface or a network is missing"},
    {",lo", "--if ,lo: the name of an interface or a network is missing"},
    {"lo,,lo", "--if lo,,lo: the name of an interface or a network is missing"},
};

Test(door, addresses_that_are_not_there)
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
    cr_assert_str_eq(why, "--if eth999: there ", "cut where its place ends");
}

/* The texts of what is chosen, and that they can be read. */
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

Test(door, addresses_of_this_host)
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

/* The same as a whole: what is dialled is what is listened at. */
Test(door, all_addresses_lead_in, .init = set_up, .fini = tear_down)
{
    static const char *const which[] = {NULL, "lo", "127.0.0.1", "0.0.0.0/0"};
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        char all[ADDRESSES_MAX], one[ADDRESS_TEXT], why[512];
        struct door *d =
            door_open(&loop, &nonce, which[i], all, &door_events, &door, why, sizeof why);
        cr_assert_not_null(d, "%s", why);
        char *end = all;
        for (char *at = all; *end != '\0'; at = end + 1) {
            end = at + strcspn(at, ",");
            snprintf(one, sizeof one, "%.*s", (int)(end - at), at);
            start_dial(&nonce, one, PATIENT_MS);
            expect_in();
        }
        door_close(d);
    }
}
