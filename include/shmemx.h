/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmemx.h - what pgas offers beyond OpenSHMEM 1.6.  The names and their behaviour may
 * change with a release.
 *
 * Made by tools/gen-header from shmem_types.def and shmemx.h.in: do not edit.
 */
#ifndef SHMEMX_H
#define SHMEMX_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A team of any PEs: PE i of the new team is PE list[i] of the parent.  All PEs of the
   parent call it with the same list of n different PEs; those outside of it get
   SHMEM_TEAM_INVALID.  0 on success. */
int shmemx_team_create(shmem_team_t parent, const int *list, int n,
                       shmem_team_t *new_team);
int pshmemx_team_create(shmem_team_t parent, const int *list, int n,
                        shmem_team_t *new_team);

/* ---- node-shared results ---------------------------------------------------------
   One copy of a collective's result on each node, which all PEs of the node load from.
   All PEs of the team call these in one order, but shmemx_shared_ptr.  The result of a
   call stays until this PE calls the next routine with the handle. */
typedef struct shmemx_shared *shmemx_shared_t;
#define SHMEMX_SHARED_INVALID ((shmemx_shared_t)0)

/* For results of so many bytes: 0, or not 0 on all PEs of the team. */
int shmemx_shared_create(shmem_team_t team, size_t bytes, shmemx_shared_t *shared);
int pshmemx_shared_create(shmem_team_t team, size_t bytes, shmemx_shared_t *shared);
void shmemx_shared_destroy(shmemx_shared_t *shared);
void pshmemx_shared_destroy(shmemx_shared_t *shared);

/* This node's copy. */
void *shmemx_shared_ptr(shmemx_shared_t shared);
void *pshmemx_shared_ptr(shmemx_shared_t shared);

/* Nobody reads the old result any more: PEs may write into the copy. */
int shmemx_shared_reclaim(shmemx_shared_t shared);
int pshmemx_shared_reclaim(shmemx_shared_t shared);

/* source is any memory; NULL: the data are in the copy of the calling PE's node, since
   shmemx_shared_reclaim. */
int shmemx_shared_broadcast(shmemx_shared_t shared, const void *source, size_t bytes,
                            int PE_root);
int pshmemx_shared_broadcast(shmemx_shared_t shared, const void *source, size_t bytes,
                             int PE_root);
int shmemx_shared_fcollect(shmemx_shared_t shared, const void *source, size_t bytes);
int pshmemx_shared_fcollect(shmemx_shared_t shared, const void *source, size_t bytes);

/* source is symmetric. */
int shmemx_uchar_shared_and_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int pshmemx_uchar_shared_and_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int shmemx_uchar_shared_or_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int pshmemx_uchar_shared_or_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int shmemx_uchar_shared_xor_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int pshmemx_uchar_shared_xor_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int shmemx_ushort_shared_and_reduce(shmemx_shared_t shared, const unsigned short *source,
    size_t nreduce);
int pshmemx_ushort_shared_and_reduce(shmemx_shared_t shared, const unsigned short *source,
    size_t nreduce);
int shmemx_ushort_shared_or_reduce(shmemx_shared_t shared, const unsigned short *source,
    size_t nreduce);
int pshmemx_ushort_shared_or_reduce(shmemx_shared_t shared, const unsigned short *source,
    size_t nreduce);
int shmemx_ushort_shared_xor_reduce(shmemx_shared_t shared, const unsigned short *source,
    size_t nreduce);
int pshmemx_ushort_shared_xor_reduce(shmemx_shared_t shared, const unsigned short *source,
    size_t nreduce);
int shmemx_uint_shared_and_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int pshmemx_uint_shared_and_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int shmemx_uint_shared_or_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int pshmemx_uint_shared_or_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int shmemx_uint_shared_xor_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int pshmemx_uint_shared_xor_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int shmemx_ulong_shared_and_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int pshmemx_ulong_shared_and_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int shmemx_ulong_shared_or_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int pshmemx_ulong_shared_or_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int shmemx_ulong_shared_xor_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int pshmemx_ulong_shared_xor_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int shmemx_ulonglong_shared_and_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int pshmemx_ulonglong_shared_and_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int shmemx_ulonglong_shared_or_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int pshmemx_ulonglong_shared_or_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int shmemx_ulonglong_shared_xor_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int pshmemx_ulonglong_shared_xor_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int shmemx_int8_shared_and_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int pshmemx_int8_shared_and_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int shmemx_int8_shared_or_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int pshmemx_int8_shared_or_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int shmemx_int8_shared_xor_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int pshmemx_int8_shared_xor_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int shmemx_int16_shared_and_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int pshmemx_int16_shared_and_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int shmemx_int16_shared_or_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int pshmemx_int16_shared_or_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int shmemx_int16_shared_xor_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int pshmemx_int16_shared_xor_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int shmemx_int32_shared_and_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int pshmemx_int32_shared_and_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int shmemx_int32_shared_or_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int pshmemx_int32_shared_or_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int shmemx_int32_shared_xor_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int pshmemx_int32_shared_xor_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int shmemx_int64_shared_and_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int pshmemx_int64_shared_and_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int shmemx_int64_shared_or_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int pshmemx_int64_shared_or_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int shmemx_int64_shared_xor_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int pshmemx_int64_shared_xor_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int shmemx_uint8_shared_and_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int pshmemx_uint8_shared_and_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int shmemx_uint8_shared_or_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int pshmemx_uint8_shared_or_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int shmemx_uint8_shared_xor_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int pshmemx_uint8_shared_xor_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int shmemx_uint16_shared_and_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int pshmemx_uint16_shared_and_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int shmemx_uint16_shared_or_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int pshmemx_uint16_shared_or_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int shmemx_uint16_shared_xor_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int pshmemx_uint16_shared_xor_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int shmemx_uint32_shared_and_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int pshmemx_uint32_shared_and_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int shmemx_uint32_shared_or_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int pshmemx_uint32_shared_or_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int shmemx_uint32_shared_xor_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int pshmemx_uint32_shared_xor_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int shmemx_uint64_shared_and_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int pshmemx_uint64_shared_and_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int shmemx_uint64_shared_or_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int pshmemx_uint64_shared_or_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int shmemx_uint64_shared_xor_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int pshmemx_uint64_shared_xor_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int shmemx_size_shared_and_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int pshmemx_size_shared_and_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int shmemx_size_shared_or_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int pshmemx_size_shared_or_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int shmemx_size_shared_xor_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int pshmemx_size_shared_xor_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int shmemx_float_shared_max_reduce(shmemx_shared_t shared, const float *source,
    size_t nreduce);
int pshmemx_float_shared_max_reduce(shmemx_shared_t shared, const float *source,
    size_t nreduce);
int shmemx_float_shared_min_reduce(shmemx_shared_t shared, const float *source,
    size_t nreduce);
int pshmemx_float_shared_min_reduce(shmemx_shared_t shared, const float *source,
    size_t nreduce);
int shmemx_double_shared_max_reduce(shmemx_shared_t shared, const double *source,
    size_t nreduce);
int pshmemx_double_shared_max_reduce(shmemx_shared_t shared, const double *source,
    size_t nreduce);
int shmemx_double_shared_min_reduce(shmemx_shared_t shared, const double *source,
    size_t nreduce);
int pshmemx_double_shared_min_reduce(shmemx_shared_t shared, const double *source,
    size_t nreduce);
int shmemx_longdouble_shared_max_reduce(shmemx_shared_t shared, const long double *source,
    size_t nreduce);
int pshmemx_longdouble_shared_max_reduce(shmemx_shared_t shared,
    const long double *source,
    size_t nreduce);
int shmemx_longdouble_shared_min_reduce(shmemx_shared_t shared, const long double *source,
    size_t nreduce);
int pshmemx_longdouble_shared_min_reduce(shmemx_shared_t shared,
    const long double *source,
    size_t nreduce);
int shmemx_char_shared_max_reduce(shmemx_shared_t shared, const char *source,
    size_t nreduce);
int pshmemx_char_shared_max_reduce(shmemx_shared_t shared, const char *source,
    size_t nreduce);
int shmemx_char_shared_min_reduce(shmemx_shared_t shared, const char *source,
    size_t nreduce);
int pshmemx_char_shared_min_reduce(shmemx_shared_t shared, const char *source,
    size_t nreduce);
int shmemx_schar_shared_max_reduce(shmemx_shared_t shared, const signed char *source,
    size_t nreduce);
int pshmemx_schar_shared_max_reduce(shmemx_shared_t shared, const signed char *source,
    size_t nreduce);
int shmemx_schar_shared_min_reduce(shmemx_shared_t shared, const signed char *source,
    size_t nreduce);
int pshmemx_schar_shared_min_reduce(shmemx_shared_t shared, const signed char *source,
    size_t nreduce);
int shmemx_short_shared_max_reduce(shmemx_shared_t shared, const short *source,
    size_t nreduce);
int pshmemx_short_shared_max_reduce(shmemx_shared_t shared, const short *source,
    size_t nreduce);
int shmemx_short_shared_min_reduce(shmemx_shared_t shared, const short *source,
    size_t nreduce);
int pshmemx_short_shared_min_reduce(shmemx_shared_t shared, const short *source,
    size_t nreduce);
int shmemx_int_shared_max_reduce(shmemx_shared_t shared, const int *source,
    size_t nreduce);
int pshmemx_int_shared_max_reduce(shmemx_shared_t shared, const int *source,
    size_t nreduce);
int shmemx_int_shared_min_reduce(shmemx_shared_t shared, const int *source,
    size_t nreduce);
int pshmemx_int_shared_min_reduce(shmemx_shared_t shared, const int *source,
    size_t nreduce);
int shmemx_long_shared_max_reduce(shmemx_shared_t shared, const long *source,
    size_t nreduce);
int pshmemx_long_shared_max_reduce(shmemx_shared_t shared, const long *source,
    size_t nreduce);
int shmemx_long_shared_min_reduce(shmemx_shared_t shared, const long *source,
    size_t nreduce);
int pshmemx_long_shared_min_reduce(shmemx_shared_t shared, const long *source,
    size_t nreduce);
int shmemx_longlong_shared_max_reduce(shmemx_shared_t shared, const long long *source,
    size_t nreduce);
int pshmemx_longlong_shared_max_reduce(shmemx_shared_t shared, const long long *source,
    size_t nreduce);
int shmemx_longlong_shared_min_reduce(shmemx_shared_t shared, const long long *source,
    size_t nreduce);
int pshmemx_longlong_shared_min_reduce(shmemx_shared_t shared, const long long *source,
    size_t nreduce);
int shmemx_uchar_shared_max_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int pshmemx_uchar_shared_max_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int shmemx_uchar_shared_min_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int pshmemx_uchar_shared_min_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int shmemx_ushort_shared_max_reduce(shmemx_shared_t shared, const unsigned short *source,
    size_t nreduce);
int pshmemx_ushort_shared_max_reduce(shmemx_shared_t shared, const unsigned short *source,
    size_t nreduce);
int shmemx_ushort_shared_min_reduce(shmemx_shared_t shared, const unsigned short *source,
    size_t nreduce);
int pshmemx_ushort_shared_min_reduce(shmemx_shared_t shared, const unsigned short *source,
    size_t nreduce);
int shmemx_uint_shared_max_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int pshmemx_uint_shared_max_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int shmemx_uint_shared_min_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int pshmemx_uint_shared_min_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int shmemx_ulong_shared_max_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int pshmemx_ulong_shared_max_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int shmemx_ulong_shared_min_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int pshmemx_ulong_shared_min_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int shmemx_ulonglong_shared_max_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int pshmemx_ulonglong_shared_max_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int shmemx_ulonglong_shared_min_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int pshmemx_ulonglong_shared_min_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int shmemx_int8_shared_max_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int pshmemx_int8_shared_max_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int shmemx_int8_shared_min_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int pshmemx_int8_shared_min_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int shmemx_int16_shared_max_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int pshmemx_int16_shared_max_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int shmemx_int16_shared_min_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int pshmemx_int16_shared_min_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int shmemx_int32_shared_max_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int pshmemx_int32_shared_max_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int shmemx_int32_shared_min_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int pshmemx_int32_shared_min_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int shmemx_int64_shared_max_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int pshmemx_int64_shared_max_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int shmemx_int64_shared_min_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int pshmemx_int64_shared_min_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int shmemx_uint8_shared_max_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int pshmemx_uint8_shared_max_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int shmemx_uint8_shared_min_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int pshmemx_uint8_shared_min_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int shmemx_uint16_shared_max_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int pshmemx_uint16_shared_max_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int shmemx_uint16_shared_min_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int pshmemx_uint16_shared_min_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int shmemx_uint32_shared_max_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int pshmemx_uint32_shared_max_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int shmemx_uint32_shared_min_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int pshmemx_uint32_shared_min_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int shmemx_uint64_shared_max_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int pshmemx_uint64_shared_max_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int shmemx_uint64_shared_min_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int pshmemx_uint64_shared_min_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int shmemx_size_shared_max_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int pshmemx_size_shared_max_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int shmemx_size_shared_min_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int pshmemx_size_shared_min_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int shmemx_ptrdiff_shared_max_reduce(shmemx_shared_t shared, const ptrdiff_t *source,
    size_t nreduce);
int pshmemx_ptrdiff_shared_max_reduce(shmemx_shared_t shared, const ptrdiff_t *source,
    size_t nreduce);
int shmemx_ptrdiff_shared_min_reduce(shmemx_shared_t shared, const ptrdiff_t *source,
    size_t nreduce);
int pshmemx_ptrdiff_shared_min_reduce(shmemx_shared_t shared, const ptrdiff_t *source,
    size_t nreduce);
int shmemx_float_shared_sum_reduce(shmemx_shared_t shared, const float *source,
    size_t nreduce);
int pshmemx_float_shared_sum_reduce(shmemx_shared_t shared, const float *source,
    size_t nreduce);
int shmemx_float_shared_prod_reduce(shmemx_shared_t shared, const float *source,
    size_t nreduce);
int pshmemx_float_shared_prod_reduce(shmemx_shared_t shared, const float *source,
    size_t nreduce);
int shmemx_double_shared_sum_reduce(shmemx_shared_t shared, const double *source,
    size_t nreduce);
int pshmemx_double_shared_sum_reduce(shmemx_shared_t shared, const double *source,
    size_t nreduce);
int shmemx_double_shared_prod_reduce(shmemx_shared_t shared, const double *source,
    size_t nreduce);
int pshmemx_double_shared_prod_reduce(shmemx_shared_t shared, const double *source,
    size_t nreduce);
int shmemx_longdouble_shared_sum_reduce(shmemx_shared_t shared, const long double *source,
    size_t nreduce);
int pshmemx_longdouble_shared_sum_reduce(shmemx_shared_t shared,
    const long double *source,
    size_t nreduce);
int shmemx_longdouble_shared_prod_reduce(shmemx_shared_t shared,
    const long double *source,
    size_t nreduce);
int pshmemx_longdouble_shared_prod_reduce(shmemx_shared_t shared,
    const long double *source,
    size_t nreduce);
int shmemx_char_shared_sum_reduce(shmemx_shared_t shared, const char *source,
    size_t nreduce);
int pshmemx_char_shared_sum_reduce(shmemx_shared_t shared, const char *source,
    size_t nreduce);
int shmemx_char_shared_prod_reduce(shmemx_shared_t shared, const char *source,
    size_t nreduce);
int pshmemx_char_shared_prod_reduce(shmemx_shared_t shared, const char *source,
    size_t nreduce);
int shmemx_schar_shared_sum_reduce(shmemx_shared_t shared, const signed char *source,
    size_t nreduce);
int pshmemx_schar_shared_sum_reduce(shmemx_shared_t shared, const signed char *source,
    size_t nreduce);
int shmemx_schar_shared_prod_reduce(shmemx_shared_t shared, const signed char *source,
    size_t nreduce);
int pshmemx_schar_shared_prod_reduce(shmemx_shared_t shared, const signed char *source,
    size_t nreduce);
int shmemx_short_shared_sum_reduce(shmemx_shared_t shared, const short *source,
    size_t nreduce);
int pshmemx_short_shared_sum_reduce(shmemx_shared_t shared, const short *source,
    size_t nreduce);
int shmemx_short_shared_prod_reduce(shmemx_shared_t shared, const short *source,
    size_t nreduce);
int pshmemx_short_shared_prod_reduce(shmemx_shared_t shared, const short *source,
    size_t nreduce);
int shmemx_int_shared_sum_reduce(shmemx_shared_t shared, const int *source,
    size_t nreduce);
int pshmemx_int_shared_sum_reduce(shmemx_shared_t shared, const int *source,
    size_t nreduce);
int shmemx_int_shared_prod_reduce(shmemx_shared_t shared, const int *source,
    size_t nreduce);
int pshmemx_int_shared_prod_reduce(shmemx_shared_t shared, const int *source,
    size_t nreduce);
int shmemx_long_shared_sum_reduce(shmemx_shared_t shared, const long *source,
    size_t nreduce);
int pshmemx_long_shared_sum_reduce(shmemx_shared_t shared, const long *source,
    size_t nreduce);
int shmemx_long_shared_prod_reduce(shmemx_shared_t shared, const long *source,
    size_t nreduce);
int pshmemx_long_shared_prod_reduce(shmemx_shared_t shared, const long *source,
    size_t nreduce);
int shmemx_longlong_shared_sum_reduce(shmemx_shared_t shared, const long long *source,
    size_t nreduce);
int pshmemx_longlong_shared_sum_reduce(shmemx_shared_t shared, const long long *source,
    size_t nreduce);
int shmemx_longlong_shared_prod_reduce(shmemx_shared_t shared, const long long *source,
    size_t nreduce);
int pshmemx_longlong_shared_prod_reduce(shmemx_shared_t shared, const long long *source,
    size_t nreduce);
int shmemx_uchar_shared_sum_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int pshmemx_uchar_shared_sum_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int shmemx_uchar_shared_prod_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int pshmemx_uchar_shared_prod_reduce(shmemx_shared_t shared, const unsigned char *source,
    size_t nreduce);
int shmemx_ushort_shared_sum_reduce(shmemx_shared_t shared, const unsigned short *source,
    size_t nreduce);
int pshmemx_ushort_shared_sum_reduce(shmemx_shared_t shared, const unsigned short *source,
    size_t nreduce);
int shmemx_ushort_shared_prod_reduce(shmemx_shared_t shared, const unsigned short *source,
    size_t nreduce);
int pshmemx_ushort_shared_prod_reduce(shmemx_shared_t shared,
    const unsigned short *source,
    size_t nreduce);
int shmemx_uint_shared_sum_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int pshmemx_uint_shared_sum_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int shmemx_uint_shared_prod_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int pshmemx_uint_shared_prod_reduce(shmemx_shared_t shared, const unsigned int *source,
    size_t nreduce);
int shmemx_ulong_shared_sum_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int pshmemx_ulong_shared_sum_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int shmemx_ulong_shared_prod_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int pshmemx_ulong_shared_prod_reduce(shmemx_shared_t shared, const unsigned long *source,
    size_t nreduce);
int shmemx_ulonglong_shared_sum_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int pshmemx_ulonglong_shared_sum_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int shmemx_ulonglong_shared_prod_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int pshmemx_ulonglong_shared_prod_reduce(shmemx_shared_t shared,
    const unsigned long long *source,
    size_t nreduce);
int shmemx_int8_shared_sum_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int pshmemx_int8_shared_sum_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int shmemx_int8_shared_prod_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int pshmemx_int8_shared_prod_reduce(shmemx_shared_t shared, const int8_t *source,
    size_t nreduce);
int shmemx_int16_shared_sum_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int pshmemx_int16_shared_sum_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int shmemx_int16_shared_prod_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int pshmemx_int16_shared_prod_reduce(shmemx_shared_t shared, const int16_t *source,
    size_t nreduce);
int shmemx_int32_shared_sum_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int pshmemx_int32_shared_sum_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int shmemx_int32_shared_prod_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int pshmemx_int32_shared_prod_reduce(shmemx_shared_t shared, const int32_t *source,
    size_t nreduce);
int shmemx_int64_shared_sum_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int pshmemx_int64_shared_sum_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int shmemx_int64_shared_prod_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int pshmemx_int64_shared_prod_reduce(shmemx_shared_t shared, const int64_t *source,
    size_t nreduce);
int shmemx_uint8_shared_sum_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int pshmemx_uint8_shared_sum_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int shmemx_uint8_shared_prod_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int pshmemx_uint8_shared_prod_reduce(shmemx_shared_t shared, const uint8_t *source,
    size_t nreduce);
int shmemx_uint16_shared_sum_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int pshmemx_uint16_shared_sum_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int shmemx_uint16_shared_prod_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int pshmemx_uint16_shared_prod_reduce(shmemx_shared_t shared, const uint16_t *source,
    size_t nreduce);
int shmemx_uint32_shared_sum_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int pshmemx_uint32_shared_sum_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int shmemx_uint32_shared_prod_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int pshmemx_uint32_shared_prod_reduce(shmemx_shared_t shared, const uint32_t *source,
    size_t nreduce);
int shmemx_uint64_shared_sum_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int pshmemx_uint64_shared_sum_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int shmemx_uint64_shared_prod_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int pshmemx_uint64_shared_prod_reduce(shmemx_shared_t shared, const uint64_t *source,
    size_t nreduce);
int shmemx_size_shared_sum_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int pshmemx_size_shared_sum_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int shmemx_size_shared_prod_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int pshmemx_size_shared_prod_reduce(shmemx_shared_t shared, const size_t *source,
    size_t nreduce);
int shmemx_ptrdiff_shared_sum_reduce(shmemx_shared_t shared, const ptrdiff_t *source,
    size_t nreduce);
int pshmemx_ptrdiff_shared_sum_reduce(shmemx_shared_t shared, const ptrdiff_t *source,
    size_t nreduce);
int shmemx_ptrdiff_shared_prod_reduce(shmemx_shared_t shared, const ptrdiff_t *source,
    size_t nreduce);
int pshmemx_ptrdiff_shared_prod_reduce(shmemx_shared_t shared, const ptrdiff_t *source,
    size_t nreduce);
SHMEM_COMPLEX_ int shmemx_complexd_shared_sum_reduce(shmemx_shared_t shared,
    const double _Complex *source,
    size_t nreduce);
SHMEM_COMPLEX_ int pshmemx_complexd_shared_sum_reduce(shmemx_shared_t shared,
    const double _Complex *source,
    size_t nreduce);
SHMEM_COMPLEX_ int shmemx_complexd_shared_prod_reduce(shmemx_shared_t shared,
    const double _Complex *source,
    size_t nreduce);
SHMEM_COMPLEX_ int pshmemx_complexd_shared_prod_reduce(shmemx_shared_t shared,
    const double _Complex *source,
    size_t nreduce);
SHMEM_COMPLEX_ int shmemx_complexf_shared_sum_reduce(shmemx_shared_t shared,
    const float _Complex *source,
    size_t nreduce);
SHMEM_COMPLEX_ int pshmemx_complexf_shared_sum_reduce(shmemx_shared_t shared,
    const float _Complex *source,
    size_t nreduce);
SHMEM_COMPLEX_ int shmemx_complexf_shared_prod_reduce(shmemx_shared_t shared,
    const float _Complex *source,
    size_t nreduce);
SHMEM_COMPLEX_ int pshmemx_complexf_shared_prod_reduce(shmemx_shared_t shared,
    const float _Complex *source,
    size_t nreduce);

#ifdef __cplusplus
}
#endif

#endif
