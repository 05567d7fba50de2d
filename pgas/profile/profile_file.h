/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_file.h - format of the file that holds a raw arrival profile.
 *
 * The library (PE 0, in shmem_finalize) writes it, tools/oshprof reads it, on a machine
 * with the same byte order and type sizes.  A header is followed by chunks, each of which
 * has `n` rows of one kind that belong to one PE.  The chunk PROFILE_CHUNK_END is the
 * last one: a file without it is incomplete.  Chunks of one kind are contiguous, and the
 * kinds appear in the order of the enumeration.
 */
#ifndef PGAS_PROFILE_PROFILE_FILE_H
#define PGAS_PROFILE_PROFILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PROFILE_SUFFIX ".oshprof"
/* oshrun sets this variable to the value of SHMEM_PROFILE_ARRIVAL if it will write the
 * report at the end of the job. */
#define PROFILE_BY_OSHRUN "PGAS_PROFILE_REPORT"

enum {
    PROFILE_MAGIC = 0x50485350, /* "PSHP" */
    PROFILE_VERSION = 1,
    PROFILE_ROUTINE_MAX = 48,
    PROFILE_MODULE_MAX = 256,
    PROFILE_TEAM_MAX = 32,
    PROFILE_TEXT_MAX = 256,
    PROFILE_BUCKETS = 66, /* by size: 0 bytes, then up to 2^0, 2^1 .. 2^64 */
};

struct profile_header {
    uint32_t magic, version;
    uint32_t npes, nnodes;
    uint64_t begin, end;  /* ns of PE 0's clock, from shmem_init to shmem_finalize */
    int64_t date;         /* of shmem_init, in seconds since 1970 */
    uint64_t records_max; /* records that one PE keeps */
    char host[PROFILE_TEXT_MAX];
    char program[PROFILE_TEXT_MAX]; /* path of the executable */
    char command[PROFILE_TEXT_MAX]; /* with its arguments */
};

enum profile_chunk_kind {
    PROFILE_CHUNK_NODE,   /* uint32_t: node of each PE; one chunk */
    PROFILE_CHUNK_CLOCK,  /* struct profile_clock_sample: two for each node; one chunk */
    PROFILE_CHUNK_LOST,   /* uint64_t: calls not recorded, for lack of space
                           */
    PROFILE_CHUNK_ALPHA,  /* struct profile_alpha */
    PROFILE_CHUNK_SITE,   /* struct profile_site */
    PROFILE_CHUNK_TEAM,   /* struct profile_team */
    PROFILE_CHUNK_RECORD, /* struct profile_record */
    PROFILE_CHUNK_END,
};

struct profile_chunk {
    uint32_t kind, pe;
    uint64_t n;
};

/* One sample of a node's clock: its offset to the clock of PE 0, and a bound of the
 * error. */
struct profile_clock_sample {
    uint64_t at;
    int64_t offset;
    uint64_t error;
};

/* Time of a message one way between two PEs in ns, by size; 0: not measured. */
struct profile_alpha {
    uint32_t first, last; /* the two PEs */
    bool same_node;       /* both on one node */
    uint64_t bytes_max;   /* the largest message that was measured */
    double ns[PROFILE_BUCKETS];
};

/* Call site of a routine. */
struct profile_site {
    char routine[PROFILE_ROUTINE_MAX];
    char module[PROFILE_MODULE_MAX]; /* executable or shared library */
    uint64_t address;                /* in that file, as addr2line takes it */
};

struct profile_team {
    uint64_t id; /* equal on all PEs of the team, different from those of other teams */
    uint32_t npes;
    char name[PROFILE_TEAM_MAX];
    uint64_t calls;    /* by this PE */
    uint64_t recorded; /* calls from this number on have no record of this PE */
};

/* One call; site and team are rows of this PE's tables. */
struct profile_record {
    uint64_t enter, exit; /* ns of the PE's clock; exit = 0: the call has not returned */
    uint64_t bytes;
    uint32_t site, team;
    uint64_t call; /* sequence number in the team, from 0 */
};

/* Size of a bucket: the largest number of bytes that belongs to it. */
static inline double profile_bucket_bytes(int bucket)
{
    double bytes = 1.0;

    for (int i = 1; i < bucket; i++)
        bytes *= 2.0;
    return bucket == 0 ? 0.0 : bytes;
}

static inline int profile_bucket(uint64_t bytes)
{
    int bucket = 1;

    if (bytes == 0)
        return 0;
    while (bucket < PROFILE_BUCKETS - 1 && profile_bucket_bytes(bucket) < (double)bytes)
        bucket++;
    return bucket;
}

/* True if the name has this ending and at least one character before it. */
static inline bool profile_name_ends(const char *name, const char *ending)
{
    size_t len = strlen(name), n = strlen(ending);

    return len > n && strcmp(name + len - n, ending) == 0;
}

/* Length of the name in SHMEM_PROFILE_ARRIVAL without its ending: for "a.html", "a.txt",
 * "a.oshprof" and "a" the profile is in "a.oshprof", that of the second shmem_init in
 * "a.2.oshprof". */
static inline size_t profile_base_length(const char *name)
{
    static const char *const endings[] = {".html", ".txt", PROFILE_SUFFIX};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (profile_name_ends(name, endings[i]))
            return strlen(name) - strlen(endings[i]);
    return strlen(name);
}

#endif
