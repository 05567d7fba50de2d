/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link_seal_test.c - a link rejects each record that is not the next one of the other
 * side, whatever has changed the stream.
 */
#include "config.h"

#include "tests/unit/link_help.h"

#define CHANGED                                                                          \
    " a message that is not authentic: its connection was changed in transit, or a "     \
    "foreign message was injected"
#define PARTIAL "has sent a message of which only a part has arrived in "

enum { RECORDS = 4, BODY = 100, LONG = RECORD_BODY_MAX, SHORT_MS = 200 };

/* Some records of one frame each. */
struct stream {
    unsigned char byte[RECORDS * (LONG + OVERHEAD)];
    size_t at[RECORDS + 1]; /* where they start; at[RECORDS]: the end */
};

static void make_stream(struct stream *s, int fd, size_t body)
{
    static unsigned char plain[LONG];
    s->at[0] = 0;
    for (int i = 0; i < RECORDS; i++) {
        size_t n = make_raw(plain, WIRE_OUTPUT, body - HEADER, body - HEADER);
        s->at[i + 1] = s->at[i] + seal_raw(fd, plain, n, s->byte + s->at[i]);
    }
}

static void send_part(int fd, const struct stream *s, size_t from, size_t to)
{
    cr_assert_eq(send(fd, s->byte + from, to - from, MSG_NOSIGNAL), (ssize_t)(to - from));
}

/* True if what the other side gets back is an alert. */
static bool is_told(int fd)
{
    unsigned char got[2 * RECORD_HEAD];
    struct evbuffer *wire = evbuffer_new(), *plain = evbuffer_new();
    uint32_t body = 0;
    ssize_t n = recv(fd, got, sizeof got, 0);
    bool right = n == RECORD_HEAD && evbuffer_add(wire, got, (size_t)n) == 0 &&
                 record_open(bare_seal[fd], &body, wire, plain) == RECORD_ALERT &&
                 evbuffer_get_length(wire) == 0 && evbuffer_get_length(plain) == 0;
    evbuffer_free(wire);
    evbuffer_free(plain);
    return right;
}

/* The link delivers `frames` frames, rejects what follows, and says so to both sides. */
static void expect_rejected(struct end *e, int fd, size_t frames)
{
    while (e->downs == 0)
        cr_assert(run(PATIENT_MS), "nothing is noticed");
    cr_assert_str_eq(e->why, "sent" CHANGED);
    cr_assert_eq(e->frames, frames);
    cr_assert(link_not_authentic(e->link));
    cr_assert(is_told(fd));
    link_free(e->link);
    close(fd);
}

static void expect_flip_rejected(size_t at, unsigned bit)
{
    static struct stream s;
    struct end a = {0};
    int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
    make_stream(&s, fd, BODY);
    s.byte[s.at[1] + at] ^= (unsigned char)(1u << bit);
    send_part(fd, &s, 0, s.at[RECORDS]);
    expect_rejected(&a, fd, 1);
}

/* Length, tag of the length, body, tag of the body. */
Test(link_seal, a_bit_flipped, .init = set_up, .fini = tear_down)
{
    for (size_t at = 0; at < BODY + OVERHEAD; at++)
        expect_flip_rejected(at, at % 8);
    for (unsigned bit = 0; bit < 8; bit++)
        expect_flip_rejected(0, bit);
}

/* Also the last one that comes: the length is checked before the body is awaited. */
Test(link_seal, a_length_is_not_believed, .init = set_up, .fini = tear_down)
{
    static struct stream s;
    struct end a = {0};
    int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
    make_stream(&s, fd, BODY);
    s.byte[s.at[1] + 1] ^= 1; /* 256 bytes more */
    send_part(fd, &s, 0, s.at[2]);
    uint64_t start = now_ms();
    expect_rejected(&a, fd, 1);
    cr_assert_lt(now_ms() - start, PATIENT_MS / 2);
}

/* Sealed with the right key, but too long. */
Test(link_seal, a_length_is_bounded, .init = set_up, .fini = tear_down)
{
    static const uint32_t length[] = {RECORD_BODY_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof length / sizeof length[0]; i++) {
        unsigned char head[RECORD_HEAD];
        struct end a = {0};
        int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
        for (int b = 0; b < 4; b++)
            head[b] = (unsigned char)(length[i] >> (8 * b));
        seal_encrypt(bare_seal[fd], head, 4, NULL, 0, NULL, head + 4);
        cr_assert_eq(send(fd, head, sizeof head, MSG_NOSIGNAL), (ssize_t)sizeof head);
        expect_rejected(&a, fd, 0);
    }
}

/* What a proxy does to the record 1 of 4. */
static void drop(int fd, const struct stream *s)
{
    send_part(fd, s, 0, s->at[1]);
    send_part(fd, s, s->at[2], s->at[RECORDS]);
}

static void repeat(int fd, const struct stream *s)
{
    send_part(fd, s, 0, s->at[1]);
    send_part(fd, s, 0, s->at[1]);
    send_part(fd, s, s->at[1], s->at[RECORDS]);
}

static void reorder(int fd, const struct stream *s)
{
    send_part(fd, s, 0, s->at[1]);
    send_part(fd, s, s->at[2], s->at[3]);
    send_part(fd, s, s->at[1], s->at[2]);
}

static void cut_head(int fd, const struct stream *s)
{
    send_part(fd, s, 0, s->at[1]);
    send_part(fd, s, s->at[1] + 5, s->at[RECORDS]);
}

static void cut_body(int fd, const struct stream *s)
{
    send_part(fd, s, 0, s->at[2] - SEAL_TAG - 3);
    send_part(fd, s, s->at[2] - SEAL_TAG, s->at[RECORDS]);
}

static void inject(int fd, const struct stream *s)
{
    static const unsigned char plain[HEADER] = {WIRE_STOP};
    send_part(fd, s, 0, s->at[1]);
    cr_assert_eq(send(fd, plain, sizeof plain, MSG_NOSIGNAL), (ssize_t)sizeof plain);
    send_part(fd, s, s->at[1], s->at[RECORDS]);
}

Test(link_seal, records_out_of_order, .init = set_up, .fini = tear_down)
{
    static void (*const proxy[])(int fd, const struct stream *s) = {
        drop, repeat, reorder, cut_head, cut_body, inject};
    static struct stream s;
    for (size_t i = 0; i < sizeof proxy / sizeof proxy[0]; i++) {
        struct end a = {0};
        int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
        make_stream(&s, fd, BODY);
        proxy[i](fd, &s);
        expect_rejected(&a, fd, 1);
    }
}

/* Its own records come back; another connection's records come in. */
Test(link_seal, a_wrong_key, .init = set_up, .fini = tear_down)
{
    unsigned char got[2 * PING_BYTES];
    struct end a = {0}, b = {0};
    int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
    send_one(a.link, WIRE_STOP, 0);
    run(1);
    ssize_t n = recv(fd, got, sizeof got, 0);
    cr_assert_eq(n, PING_BYTES);
    cr_assert_eq(send(fd, got, (size_t)n, MSG_NOSIGNAL), n);
    while (a.downs == 0)
        cr_assert(run(PATIENT_MS));
    cr_assert_str_eq(a.why, "sent" CHANGED);
    cr_assert_eq(a.frames, 0);
    link_free(a.link);
    close(fd);

    static const uint8_t secret[SEAL_SECRET] = "a secret of both ends";
    static const uint8_t challenge[SEAL_CHALLENGE] = "another challenge";
    fd = open_half(&b, PATIENT_MS, LINK_AWAKE);
    seal_free(bare_seal[fd]);
    bare_seal[fd] = seal_new(secret, "test", challenge, challenge, false);
    send_raw(fd, WIRE_STOP, 0, 0);
    while (b.downs == 0)
        cr_assert(run(PATIENT_MS));
    cr_assert_eq(b.frames, 0);
    link_free(b.link);
    close(fd);
}

/* It ends the link in the middle of a frame, too, and what follows is ignored. */
Test(link_seal, an_alert, .init = set_up, .fini = tear_down)
{
    for (size_t part = 0; part <= HEADER + 1; part += HEADER + 1) {
        unsigned char frame[HEADER + 2], alert[RECORD_HEAD];
        struct evbuffer *wire = evbuffer_new();
        struct end a = {0};
        int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
        make_raw(frame, WIRE_STOP, 2, 2);
        if (part > 0)
            send_sealed(fd, frame, part);
        record_seal_alert(bare_seal[fd], wire);
        cr_assert_eq(evbuffer_remove(wire, alert, sizeof alert), (int)sizeof alert);
        cr_assert_eq(send(fd, alert, sizeof alert, MSG_NOSIGNAL), (ssize_t)sizeof alert);
        send_raw(fd, WIRE_STOP, 0, 0);
        while (a.downs == 0)
            cr_assert(run(PATIENT_MS));
        cr_assert_str_eq(a.why, "received" CHANGED);
        cr_assert(link_not_authentic(a.link));
        cr_assert_eq(a.frames, 0);
        evbuffer_free(wire);
        link_free(a.link);
        close(fd);
    }
}

Test(link_seal, a_truncated_record, .init = set_up, .fini = tear_down)
{
    static const size_t end[] = {3, RECORD_HEAD, RECORD_HEAD + 1, BODY + OVERHEAD - 1};
    static struct stream s;
    for (size_t i = 0; i < sizeof end / sizeof end[0]; i++) {
        struct end a = {0};
        int fd = open_half(&a, PATIENT_MS, LINK_AWAKE);
        make_stream(&s, fd, BODY);
        send_part(fd, &s, 0, s.at[1] + end[i]);
        close(fd);
        expect_down(&a, "closed the connection in the middle of a message");
        cr_assert_eq(a.frames, 1);
    }
}

/* Most of a long record is missing, and pings come in its place: they must not keep the
 * link alive until they fill it, not even on a link whose other side may be stopped. */
Test(link_seal, a_hole_is_noticed_soon, .init = set_up, .fini = tear_down)
{
    static struct stream s;
    struct end a = {0};
    int fd = open_half(&a, SHORT_MS, LINK_MAY_STOP);
    make_stream(&s, fd, LONG);
    send_part(fd, &s, 0, s.at[1] + RECORD_HEAD + 1);
    uint64_t start = now_ms();
    for (size_t at = s.at[1] + LONG / 2; a.downs == 0; at++) {
        cr_assert_lt(now_ms() - start, PATIENT_MS);
        send_part(fd, &s, at, at + 1);
        run(SHORT_MS / 16);
    }
    cr_assert_eq(strncmp(a.why, PARTIAL, strlen(PARTIAL)), 0, "%s", a.why);
    cr_assert(link_not_authentic(a.link));
    cr_assert_eq(a.frames, 1);
    cr_assert_geq(now_ms() - start, SHORT_MS / 2);
    link_free(a.link);
    close(fd);
}

/* The same silence without such bytes is that of a front end that was stopped. */
Test(link_seal, half_a_record_of_a_stopped_front, .init = set_up, .fini = tear_down)
{
    static struct stream s;
    struct end a = {0};
    int fd = open_half(&a, SHORT_MS, LINK_MAY_STOP);
    make_stream(&s, fd, LONG);
    send_part(fd, &s, 0, s.at[0] + LONG / 2);
    run(4 * SHORT_MS);
    cr_assert_eq(a.downs, 0, "%s", a.why);
    a.stop_at = RECORDS;
    send_part(fd, &s, s.at[0] + LONG / 2, s.at[RECORDS]);
    cr_assert(run(PATIENT_MS));
    cr_assert_eq(a.frames, RECORDS);
    link_free(a.link);
    close(fd);
}
