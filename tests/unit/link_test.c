/* SPDX-License-Identifier: BSD-3-Clause */
/* link_test.c - frames over links, the end of links, and deletion in callbacks. */
#include "config.h"

#include <sys/resource.h>

#include "tests/unit/link_help.h"

/* ---- frames ----------------------------------------------------------------------- */

static const size_t sizes[] = {0,     1,           19,    20,     21,     44,      1000,
                               32748, 65515,       65516, 65517,  131072, 262123,  262144,
                               7,     3 * MIB + 5, 0,     700001, 5,      9 * MIB, 1};
enum { SIZES = sizeof sizes / sizeof sizes[0], ROUNDS = 3 };

Test(link, frames_of_all_sizes_both_ways, .init = set_up, .fini = tear_down)
{
    struct end a = {0}, b = {0};
    open_both(&a, &b, PATIENT_MS);
    b.stop_at = SIZES * ROUNDS;
    for (size_t i = 0; i < SIZES * ROUNDS; i++) {
        send_one(a.link, WIRE_OUTPUT, sizes[i % SIZES]);
        send_one(b.link, WIRE_INPUT, sizes[i % SIZES]);
    }
    cr_assert_gt(link_queued(a.link), 12 * MIB);
    while (a.frames < SIZES * ROUNDS || b.frames < SIZES * ROUNDS) {
        cr_assert(run(PATIENT_MS), "%zu and %zu frames arrived", a.frames, b.frames);
        a.stop_at = SIZES * ROUNDS;
    }
    cr_assert_eq(a.bytes, b.bytes);
    cr_assert_eq(link_queued(a.link), 0);
    link_free(a.link);
    link_free(b.link);
}

static void check_header(struct end *e, const struct frame *f)
{
    cr_assert_eq(f->type, e->frames % 2 ? WIRE_HELLO : WIRE_QUERY_ANSWER);
    cr_assert_eq(f->from, 1);
    cr_assert_eq(f->to, WIRE_FRONT);
}

Test(link, headers_arrive, .init = set_up, .fini = tear_down)
{
    struct end a = {0}, b = {.stop_at = 2, .at_frame = check_header};
    open_both(&a, &b, PATIENT_MS);
    cr_assert_eq(strncmp(link_peer(a.link), "127.0.0.1:", 10), 0, "%s",
                 link_peer(a.link));
    link_set_user(a.link, &b);
    cr_assert_eq(link_user(a.link), &b);
    send_one(a.link, WIRE_HELLO, 3);
    send_one(a.link, WIRE_QUERY_ANSWER, 0);
    cr_assert(run(PATIENT_MS));
    link_free(a.link);
    link_free(b.link);
}

Test(link, the_bytes_on_the_wire, .init = set_up, .fini = tear_down)
{
    static const unsigned char want[] = {WIRE_JOB, 0, 0, 0, 4, 3, 2, 1, 0xff, 0xff, 0xff,
                                         0xff,     2, 0, 0, 0, 0, 0, 0, 0,    'h',  'i'};
    unsigned char got[sizeof want + OVERHEAD + 1];
    struct end a = {0};
    int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
    struct frame f = {
        .type = WIRE_JOB, .from = 0x01020304, .to = WIRE_FRONT, .data = "hi", .len = 2};
    link_send(a.link, &f);
    run(1);
    cr_assert_eq(recv(fd, got, sizeof got, 0), sizeof want + OVERHEAD);
    cr_assert_eq(got[0], sizeof want, "the length is little-endian");
    struct evbuffer *wire = evbuffer_new(), *plain = evbuffer_new();
    uint32_t body = 0;
    evbuffer_add(wire, got, sizeof want + OVERHEAD);
    cr_assert_eq(record_open(bare_seal[fd], &body, wire, plain), RECORD_DONE);
    cr_assert_eq(evbuffer_remove(plain, got, sizeof got), sizeof want);
    cr_assert_eq(memcmp(got, want, sizeof want), 0);
    evbuffer_free(wire);
    evbuffer_free(plain);
    close(fd);
    link_free(a.link);
}

Test(link, many_small_frames_in_order, .init = set_up, .fini = tear_down)
{
    enum { MANY = 300000 };
    struct end a = {0}, b = {.stop_at = MANY};
    open_both(&a, &b, PATIENT_MS);
    for (size_t i = 0; i < MANY; i++)
        send_one(a.link, WIRE_STARTED, i % 9);
    cr_assert(run(PATIENT_MS), "%zu arrived", b.frames);
    link_free(a.link);
    link_free(b.link);
}

Test(link, one_byte_at_a_time, .init = set_up, .fini = tear_down)
{
    enum { SMALL = 40 };
    unsigned char plain[HEADER + SMALL], bytes[3 * (HEADER + SMALL + OVERHEAD)];
    struct end a = {0};
    int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
    size_t n = seal_raw(fd, plain, make_raw(plain, WIRE_OUTPUT, SMALL, SMALL), bytes);
    size_t first = n;
    n += seal_raw(fd, plain, make_raw(plain, WIRE_STOP, 0, 0), bytes + n);
    size_t second = n;
    n += seal_raw(fd, plain, make_raw(plain, WIRE_OUTPUT, 1, 1), bytes + n);
    for (size_t i = 0; i < n; i++) {
        cr_assert_eq(a.frames, (i >= first) + (i >= second));
        cr_assert_eq(send(fd, bytes + i, 1, MSG_NOSIGNAL), 1);
        run(1);
    }
    cr_assert_eq(a.frames, 3);
    cr_assert_eq(a.downs, 0);
    close(fd);
    link_free(a.link);
}

/* One busy link does not starve the others. */
Test(link, a_busy_link_does_not_starve_others, .init = set_up, .fini = tear_down)
{
    enum { ONE = HEADER + 1000, TURN = MIB / 2 };
    unsigned char frame[ONE], sealed[ONE + OVERHEAD];
    struct end a = {0};
    int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
    size_t frames = 0;
    make_raw(frame, WIRE_OUTPUT, ONE - HEADER, ONE - HEADER);
    seal_raw(fd, frame, ONE, sealed);
    while (send(fd, sealed, sizeof sealed, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           (ssize_t)sizeof sealed) {
        frames++;
        seal_raw(fd, frame, ONE, sealed);
    }
    cr_assert_gt(frames * ONE, 2 * TURN, "too few frames for the test");
    run(0);
    cr_assert(a.frames > 0 && a.bytes <= TURN, "%zu bytes in one turn", a.bytes);
    a.stop_at = frames;
    cr_assert(run(PATIENT_MS));
    close(fd);
    link_free(a.link);
}

/* ---- deletion in callbacks --------------------------------------------------------- */

static void free_in_frame(struct end *e, const struct frame *f)
{
    struct frame answer = {.type = WIRE_STOP};
    if (e->frames < 2)
        return;
    link_send(e->link, &answer);
    link_free(e->link);
    check_data(f); /* still valid */
    e->link = NULL;
    loop.stop = true;
}

Test(link, freed_in_its_own_callback, .init = set_up, .fini = tear_down)
{
    struct end a = {.at_frame = free_in_frame};
    int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
    for (int i = 0; i < 5; i++)
        send_raw(fd, WIRE_OUTPUT, 30000, 30000);
    cr_assert(run(PATIENT_MS));
    run(20);
    cr_assert_eq(a.frames, 2, "frames of a freed link");
    cr_assert_eq(a.downs, 0);
    close(fd);
}

static void free_other(struct end *e, const struct frame *f)
{
    (void)f;
    if (e->other->link != NULL)
        link_free(e->other->link);
    e->other->link = NULL;
}

/* Both are ready in the same round of the loop; the callback of the first one frees the
 * other. */
Test(link, freed_in_the_callback_of_another, .init = set_up, .fini = tear_down)
{
    for (int i = 0; i < 20; i++) {
        struct end a = {.at_frame = free_other}, b = {.at_frame = free_other};
        int fa = open_half(&a, PATIENT_MS, LINK_AWAKE);
        int fb = open_half(&b, PATIENT_MS, LINK_AWAKE);
        a.other = &b;
        b.other = &a;
        send_raw(fa, WIRE_STOP, 0, 0);
        send_raw(fb, WIRE_STOP, 0, 0);
        run(2);
        cr_assert_eq(a.frames + b.frames, 1);
        link_free(a.link != NULL ? a.link : b.link);
        close(fa);
        close(fb);
    }
}

static void free_in_down(void *arg, struct link *l, const char *why)
{
    link_free(l);
    on_down(arg, l, why); /* `why` is still valid */
}

Test(link, freed_in_down, .init = set_up, .fini = tear_down)
{
    static const struct link_events freeing = {on_frame, free_in_down};
    struct end a = {0};
    int fd[2];
    make_pair(fd);
    a.link =
        link_open(&loop, fd[0], make_seal(fd[0]), PATIENT_MS, LINK_AWAKE, &freeing, &a);
    close(fd[1]);
    cr_assert(run(PATIENT_MS));
    cr_assert_str_eq(a.why, "closed the connection");
}

/* ---- ends ------------------------------------------------------------------------- */

Test(link, closed_by_the_other, .init = set_up, .fini = tear_down)
{
    struct end a = {0}, b = {0}, c = {0};
    int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
    send_raw(fd, WIRE_ENDED, 5, 5);
    close(fd);
    expect_down(&a, "closed the connection");
    cr_assert_eq(a.frames, 1, "frames received before are delivered");
    fd = open_half(&b, PATIENT_MS, LINK_AWAKE);
    send_raw(fd, WIRE_ENDED, 50, 49);
    close(fd);
    expect_down(&b, "closed the connection in the middle of a message");
    fd = open_half(&c, PATIENT_MS, LINK_AWAKE);
    reset(fd);
    expect_down(&c, "has lost its connection (Connection reset by peer)");
}

static const struct {
    uint32_t type;
    uint64_t len;
    const char *why;
} bad_headers[] = {
    {WIRE_TYPES, 0, NULL},
    {777, 0, "sent an invalid message (type 777)"},
    {UINT32_MAX, 1, "sent an invalid message (type 4294967295)"},
    {WIRE_STOP, ((uint64_t)1 << 40) + 1,
     "sent an invalid message (STOP of 1099511627777 bytes)"},
    {WIRE_JOB, UINT64_MAX, "sent an invalid message (JOB of 18446744073709551615 bytes)"},
};

Test(link, bad_headers, .init = set_up, .fini = tear_down)
{
    for (size_t i = 0; i < sizeof bad_headers / sizeof bad_headers[0]; i++) {
        struct end a = {0};
        int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
        char why[64];
        snprintf(why, sizeof why, "sent an invalid message (type %d)", WIRE_TYPES);
        send_raw(fd, WIRE_STOP, 0, 0);
        send_raw(fd, bad_headers[i].type, bad_headers[i].len, 8);
        send_raw(fd, WIRE_STOP, 0, 0);
        expect_down(&a, bad_headers[i].why != NULL ? bad_headers[i].why : why);
        cr_assert_eq(a.frames, 1);
        close(fd);
    }
}

/* Memory is allocated as bytes arrive, not for the length that a header claims. */
Test(link, announced_lengths_allocate_no_memory, .init = set_up, .fini = tear_down)
{
    enum { LINKS = 100, GROWTH_KIB = 64 * 1024 };
    static struct end e[LINKS];
    int fd[LINKS];
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < LINKS; i++) {
        fd[i] = open_half(&e[i], PATIENT_MS, LINK_AWAKE);
        send_raw(fd[i], WIRE_OUTPUT, (uint64_t)1 << (20 + i % 21), 100);
    }
    run(100);
    getrusage(RUSAGE_SELF, &after);
    cr_assert_lt(after.ru_maxrss - before.ru_maxrss, GROWTH_KIB);
    for (int i = 0; i < LINKS; i++) {
        cr_assert_eq(e[i].downs, 0, "%s", e[i].why);
        close(fd[i]);
        link_free(e[i].link);
    }
}

/* The last frames of a departing daemon are received although our writes fail. */
Test(link, last_frames_are_read_after_a_failed_write, .init = set_up, .fini = tear_down)
{
    struct end a = {0};
    int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
    send_raw(fd, WIRE_FAILED, 1000, 1000);
    reset(fd);
    sleep_ms(20);
    for (int i = 0; i < 3; i++) {
        send_one(a.link, WIRE_STOP, 0);
        link_flush(a.link, 0); /* the write fails */
        cr_assert_eq(a.downs, 0, "only the loop reports events");
    }
    expect_down(&a, "has lost its connection (Connection reset by peer)");
    cr_assert_eq(a.frames, 1);
}

/* ---- flush ------------------------------------------------------------------------ */

/* A process that reads everything after a delay; its exit status is the number of MiB. */
static pid_t start_reader(int fd, int other)
{
    pid_t pid = fork_helper();
    if (pid > 0)
        return pid;
    static char sink[MIB];
    size_t sum = 0;
    close(other);
    sleep_ms(50);
    for (ssize_t n; (n = recv(fd, sink, sizeof sink, 0)) > 0;)
        sum += (size_t)n;
    _exit((int)(sum / MIB));
}

/* Also with unread received data: closing such a socket discards data in flight. */
Test(link, flush_sends_all, .init = set_up, .fini = tear_down)
{
    struct end a = {0};
    int fd[2], capacity = 64 * 1024;
    make_pair(fd);
    setsockopt(fd[1], SOL_SOCKET, SO_RCVBUF, &capacity, sizeof capacity);
    pid_t reader = start_reader(fd[1], fd[0]);
    open_end(&a, fd[0], PATIENT_MS, LINK_AWAKE);
    send_raw(fd[1], WIRE_STOP, 0, 0);
    close(fd[1]);
    for (int i = 0; i < 9; i++)
        send_one(a.link, WIRE_OUTPUT, MIB);
    link_flush(a.link, PATIENT_MS);
    send_one(a.link, WIRE_OUTPUT, MIB);
    cr_assert_eq(link_queued(a.link), 0, "nothing is sent any more");
    link_free(a.link);
    cr_assert_eq(exit_status(reader), 9);
}

Test(link, flush_is_bounded_and_leaves_the_receiving_side, .init = set_up,
     .fini = tear_down)
{
    struct end a = {0};
    int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
    send_one(a.link, WIRE_OUTPUT, 32 * MIB);
    uint64_t start = now_ms();
    link_flush(a.link, 100);
    uint64_t took = now_ms() - start;
    cr_assert(took >= 100 && took < PATIENT_MS, "%u ms", (unsigned)took);
    send_raw(fd, WIRE_STOP, 0, 0);
    close(fd);
    while (a.downs == 0)
        cr_assert(run(PATIENT_MS));
    cr_assert_eq(a.frames, 1);
    link_free(a.link);
}
