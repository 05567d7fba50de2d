# SPDX-License-Identifier: BSD-3-Clause
# lists.sh - the names of api-1.6.txt, and our own, for the tests in this folder (sourced).
api=${top_srcdir:?}/tests/api/abi/api-1.6.txt

# Routines of the specification; those of them that are deprecated
list_routines() { awk -F'|' '$2 == "C" || $2 == "OLD" { print $1 }' "$api" | sort; }
list_deprecated() {
    awk -F'|' '($2 == "C" || $2 == "OLD") && $4 != "no" { print $1 }' "$api" | sort
}

# What we offer beyond the specification: for old programs (shmem.h), and shmemx.h
list_cache_routines() {
    sort <<'END'
shmem_clear_cache_inv
shmem_clear_cache_line_inv
shmem_set_cache_inv
shmem_set_cache_line_inv
shmem_udcflush
shmem_udcflush_line
END
}
list_extensions() {
    sh "$top_srcdir/tools/man-names" "$top_srcdir"/docs/man/shmemx_*.3.md | awk '{ print $2 }'
}

# declarations FILE...: the functions that headers declare, one prototype in a line
declarations() {
    for header in "$@"; do
        printf '#include <%s>\n' "$header"
    done | ${CC:-cc} -std=c99 -E -P ${DEFINES:+"$DEFINES"} -I"$top_srcdir/include" -x c - |
        tr '\n' ' ' | awk -v RS=';' '{
            gsub(/[ \t]+/, " ")
            sub(/^ /, "")
            sub(/^extern /, "")
            if (/^[^({]*[ *]p?(_?sh|shmem|_my_pe|_num_pes|start_pes)[a-z0-9_]*\(/) print
        }' | sort
}
