# SPDX-License-Identifier: BSD-3-Clause
# lists.sh - the names of api-1.6.txt and of our extensions, for the tests in this folder.
# Sourced, not run.
api=${top_srcdir:?}/tests/api/abi/api-1.6.txt

# All routines of the specification; the deprecated ones
list_routines() { awk -F'|' '$2 == "C" || $2 == "OLD" { print $1 }' "$api" | sort; }
list_deprecated() {
    awk -F'|' '($2 == "C" || $2 == "OLD") && $4 != "no" { print $1 }' "$api" | sort
}

# Routines beyond the specification: for old programs (shmem.h); extensions (shmemx.h)
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

# declarations HEADER...: the functions that the headers declare, one prototype per line
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
