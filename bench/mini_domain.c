/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mini_domain.c - exchanges particles between boxes: first in x, then y, then z, with
 * ghosts of earlier dimensions among those sent, so that 6 messages of each thread reach
 * all 26 neighbours.  Thread t sends its share to thread t of the neighbour.
 *
 * Messages: the number of particles, then their numbers.  They alternate between two
 * buffers with signals of their own: a thread begins exchange k + 2 only after it has
 * received the message of exchange k + 1 of the opposite swap, which its sender sent
 * after it had read that of exchange k.
 */
#include "mini_md.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIGRANT = 7 }; /* doubles of a migrating particle */

/* -- the grid ------------------------------------------------------------------------ */

/* The grid with the widest boxes, the longer dimensions first. */
static void choose_grid(int npes, int *dims)
{
    int widest = npes;

    dims[0] = npes;
    dims[1] = dims[2] = 1;
    for (int a = 1; a <= npes; a++)
        for (int b = 1; npes % a == 0 && b <= a; b++) {
            int c = npes / a / b;
            if (npes / a % b == 0 && c <= b && a < widest) {
                widest = dims[0] = a;
                dims[1] = b;
                dims[2] = c;
            }
        }
}

double domain_width(double side, int npes)
{
    int dims[3];

    choose_grid(npes, dims);
    return side / dims[0];
}

static void place_box(struct md *md)
{
    int rest = md->job.me;

    choose_grid(md->job.npes, md->dims);
    for (int d = 0; d < 3; d++) {
        md->at[d] = rest % md->dims[d];
        rest /= md->dims[d];
        md->lo[d] = md->side * md->at[d] / md->dims[d];
        md->hi[d] = md->side * (md->at[d] + 1) / md->dims[d];
    }
    for (int s = 0; s < MD_SWAPS; s++) {
        int at[3], d = s / 2, step = s % 2 == 0 ? md->dims[d] - 1 : 1;
        memcpy(at, md->at, sizeof(at));
        at[d] = (at[d] + step) % md->dims[d];
        md->neighbour[s] = (at[2] * md->dims[1] + at[1]) * md->dims[0] + at[0];
    }
}

void domain_open(struct md *md)
{
    double outer[3], particles = md->density, face = 0;

    place_box(md);
    for (int d = 0; d < 3; d++) {
        outer[d] = md->side / md->dims[d] + 2 * md->reach;
        particles *= outer[d];
    }
    for (int d = 0; d < 3; d++)
        face = fmax(face, particles / outer[d] * md->reach);
    md->capacity = (size_t)(particles * 1.3) + 256;
    md->message_max = (size_t)(face * 1.5 + 64) * 3 + 1;
    md->x = mini_memory(md->capacity * sizeof(*md->x));
    md->v = mini_memory(md->capacity * sizeof(*md->v));
    md->f = mini_memory(md->capacity * sizeof(*md->f));
    md->id = mini_memory(md->capacity * sizeof(*md->id));
    md->in = mini_need(2 * MD_SWAPS * (size_t)md->job.threads * md->message_max *
                       sizeof(*md->in));
    md->arrived = mini_need(2 * MD_SWAPS * (size_t)md->job.threads * MINI_LINE);
    for (int t = 0; t < md->job.threads; t++) {
        md->thread[t] =
            (struct md_thread){.out = mini_memory(md->message_max * sizeof(double))};
        for (int s = 0; s < MD_SWAPS; s++)
            md->thread[t].swap[s].index = mini_memory(md->message_max * sizeof(int));
    }
    shmem_barrier_all();
}

void domain_close(struct md *md)
{
    for (int t = 0; t < md->job.threads; t++) {
        free(md->thread[t].out);
        for (int s = 0; s < MD_SWAPS; s++)
            free(md->thread[t].swap[s].index);
    }
    free(md->x);
    free(md->v);
    free(md->f);
    free(md->id);
    shmem_free(md->in);
    shmem_free(md->arrived);
}

/* -- messages ------------------------------------------------------------------------ */

static size_t message_of(const struct md *md, uint64_t turn, int s, int t)
{
    return ((size_t)(turn % 2) * MD_SWAPS + (size_t)s) * (size_t)md->job.threads +
           (size_t)t;
}

static double *message_in(const struct md *md, uint64_t turn, int s, int t)
{
    return md->in + message_of(md, turn, s, t) * md->message_max;
}

static void send_particles(struct md *md, struct mini_worker *w, int s, size_t count,
                           size_t doubles)
{
    struct md_thread *mine = &md->thread[w->id];
    uint64_t *signal =
        mini_signal(md->arrived, (int)message_of(md, mine->turn, s, w->id));

    mine->out[0] = (double)count;
    mini_send(w, message_in(md, mine->turn, s, w->id), mine->out,
              (1 + count * doubles) * sizeof(double), signal, mine->turn,
              md->neighbour[s]);
}

static const double *recv_particles(struct md *md, struct mini_worker *w, int s)
{
    uint64_t turn = md->thread[w->id].turn;
    double *message = message_in(md, turn, s, w->id);

    mini_recv(w, mini_signal(md->arrived, (int)message_of(md, turn, s, w->id)), turn);
    if (message[0] > 0)
        mini_spoil(message + 1);
    return message + 1;
}

/* The particles of this thread's message, of those before it, and of all, in swap s.
 * All threads have received theirs. */
static size_t count_particles(const struct md *md, const struct mini_worker *w, int s,
                              size_t *before, size_t *all)
{
    uint64_t turn = md->thread[w->id].turn;

    *before = *all = 0;
    for (int t = 0; t < w->threads; t++) {
        if (t == w->id)
            *before = *all;
        *all += (size_t)message_in(md, turn, s, t)[0];
    }
    return (size_t)message_in(md, turn, s, w->id)[0];
}

static void check_space(const struct md *md, size_t need, size_t space, const char *what)
{
    if (need > space)
        mini_fail("md: no space for %zu %s on PE %d; at most %zu", need, what, md->job.me,
                  space);
}

/* The shift of a coordinate that leaves the cube through swap s. */
static double shift_of(const struct md *md, int s)
{
    int d = s / 2;

    if (s % 2 == 0)
        return md->at[d] == 0 ? md->side : 0;
    return md->at[d] == md->dims[d] - 1 ? -md->side : 0;
}

/* -- ghosts -------------------------------------------------------------------------- */

static void send_copies(struct md *md, struct mini_worker *w, int s)
{
    struct md_thread *mine = &md->thread[w->id];
    size_t n = mine->swap[s].n;
    double *out = mine->out + 1, shift = shift_of(md, s);

    for (size_t k = 0; k < n; k++, out += 3) {
        memcpy(out, md->x[mine->swap[s].index[k]], sizeof(md_vector));
        out[s / 2] += shift;
    }
    send_particles(md, w, s, n, 3);
}

/* Lists this thread's share of the first n particles that are near the side of s. */
static void list_border(struct md *md, struct mini_worker *w, int s, size_t n)
{
    struct md_thread *mine = &md->thread[w->id];
    size_t first = mini_split(n, w->id, w->threads), count = 0;
    size_t last = mini_split(n, w->id + 1, w->threads);
    int d = s / 2;

    for (size_t i = first; i < last; i++)
        if (s % 2 == 0 ? md->x[i][d] < md->lo[d] + md->reach
                       : md->x[i][d] >= md->hi[d] - md->reach) {
            check_space(md, 3 * (count + 1) + 1, md->message_max, "numbers in a message");
            mine->swap[s].index[count++] = (int)i;
        }
    mine->swap[s].n = count;
}

void domain_borders(struct md *md, struct mini_worker *w)
{
    struct md_thread *mine = &md->thread[w->id];
    size_t n = md->n;

    mine->turn++;
    for (int d = 0; d < 3; d++) {
        const double *from[2];
        size_t end = n;
        for (int s = 2 * d; s < 2 * d + 2; s++) {
            list_border(md, w, s, n);
            send_copies(md, w, s);
        }
        for (int s = 2 * d; s < 2 * d + 2; s++)
            from[s % 2] = recv_particles(md, w, s);
        mini_barrier(w);
        for (int s = 2 * d; s < 2 * d + 2; s++) {
            size_t before, all, count = count_particles(md, w, s, &before, &all);
            check_space(md, end + all, md->capacity, "particles and ghosts");
            mine->swap[s].ghosts = end + before;
            memcpy(md->x + end + before, from[s % 2], count * sizeof(md_vector));
            end += all;
        }
        n = end;
        mini_barrier(w);
    }
    if (w->id == 0)
        md->ghosts = n - md->n;
    mini_barrier(w);
}

void domain_forward(struct md *md, struct mini_worker *w)
{
    struct md_thread *mine = &md->thread[w->id];

    mine->turn++;
    for (int d = 0; d < 3; d++) {
        for (int s = 2 * d; s < 2 * d + 2; s++)
            send_copies(md, w, s);
        for (int s = 2 * d; s < 2 * d + 2; s++) {
            const double *from = recv_particles(md, w, s);
            memcpy(md->x + mine->swap[s].ghosts, from,
                   (size_t)from[-1] * sizeof(md_vector));
        }
        mini_barrier(w);
    }
}

/* -- migration ----------------------------------------------------------------------- */

static void send_migrants(struct md *md, struct mini_worker *w, int s)
{
    struct md_thread *mine = &md->thread[w->id];
    size_t first = mini_split(md->n, w->id, w->threads), count = 0;
    size_t last = mini_split(md->n, w->id + 1, w->threads);
    int d = s / 2;

    for (size_t i = first; i < last; i++) {
        if (md->id[i] < 0 ||
            !(s % 2 == 0 ? md->x[i][d] < md->lo[d] : md->x[i][d] >= md->hi[d]))
            continue;
        check_space(md, (count + 1) * MIGRANT + 1, md->message_max,
                    "numbers in a message");
        double *out = mine->out + 1 + count++ * MIGRANT;
        memcpy(out, md->x[i], sizeof(md_vector));
        memcpy(out + 3, md->v[i], sizeof(md_vector));
        out[6] = md->id[i];
        out[d] += shift_of(md, s);
        md->id[i] = -1;
    }
    send_particles(md, w, s, count, MIGRANT);
}

static void close_gaps(struct md *md)
{
    size_t kept = 0;

    for (size_t i = 0; i < md->n; i++)
        if (md->id[i] >= 0) {
            memcpy(md->x[kept], md->x[i], sizeof(md_vector));
            memcpy(md->v[kept], md->v[i], sizeof(md_vector));
            md->id[kept++] = md->id[i];
        }
    md->n = kept;
}

/* In a dimension with one box a particle returns to it at the other side. */
static void wrap(struct md *md, struct mini_worker *w, int d)
{
    size_t last = mini_split(md->n, w->id + 1, w->threads);

    for (size_t i = mini_split(md->n, w->id, w->threads); i < last; i++)
        if (md->x[i][d] < 0)
            md->x[i][d] += md->side;
        else if (md->x[i][d] >= md->side)
            md->x[i][d] -= md->side;
}

void domain_migrate(struct md *md, struct mini_worker *w)
{
    md->thread[w->id].turn++;
    for (int d = 0; d < 3; d++) {
        const double *from[2];
        size_t end;
        if (md->dims[d] == 1) {
            wrap(md, w, d);
            continue;
        }
        for (int s = 2 * d; s < 2 * d + 2; s++)
            send_migrants(md, w, s);
        mini_barrier(w);
        if (w->id == 0)
            close_gaps(md);
        for (int s = 2 * d; s < 2 * d + 2; s++)
            from[s % 2] = recv_particles(md, w, s);
        mini_barrier(w);
        end = md->n;
        for (int s = 2 * d; s < 2 * d + 2; s++) {
            size_t before, all, count = count_particles(md, w, s, &before, &all);
            check_space(md, end + all, md->capacity, "particles");
            for (size_t k = 0; k < count; k++, from[s % 2] += MIGRANT) {
                memcpy(md->x[end + before + k], from[s % 2], sizeof(md_vector));
                memcpy(md->v[end + before + k], from[s % 2] + 3, sizeof(md_vector));
                md->id[end + before + k] = from[s % 2][6];
            }
            end += all;
        }
        mini_barrier(w);
        if (w->id == 0)
            md->n = end;
        mini_barrier(w);
    }
    mini_barrier(w);
}
