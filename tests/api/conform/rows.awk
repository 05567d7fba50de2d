# SPDX-License-Identifier: BSD-3-Clause
# rows.awk - make the type tables of the conformance programs, as row macros, from the
# prototypes of the specification (tests/api/abi/api-1.6.txt), not from the library's tables.
# usage: awk -F'|' -f rows.awk api-1.6.txt >types.h
# A list CF_<LIST>(X) has a row X(TYPENAME, C type) for each routine
# shmem_<TYPENAME>_<end>.
BEGIN {
    end["put"] = "RMA"
    end["atomic_compare_swap"] = "AMO"
    end["atomic_swap"] = "EXT"
    end["atomic_and"] = "BIT"
    end["wait_until"] = "SYNC_ONE"
    end["fadd"] = "OLD_AMO"
    end["fetch"] = "OLD_EXT"
    end["wait"] = "OLD_WAIT"
    n = split("and or xor max min sum prod", op, " ")
    for (i = 1; i <= n; i++) {
        end[op[i] "_reduce"] = "TEAM_" toupper(op[i])
        end[op[i] "_to_all"] = "ASET_" toupper(op[i])
    }
    print "/* SPDX-License-Identifier: BSD-3-Clause */"
    print "/* Made by tests/api/conform/rows.awk from tests/api/abi/api-1.6.txt. */"
}

$2 == "C" && $1 ~ /^shmem_[a-z0-9]+_/ {
    type = last = $1
    sub(/^shmem_/, "", type)
    sub(/_.*/, "", type)
    sub(/^shmem_[a-z0-9]+_/, "", last)
    if (!(last in end) || type == "ctx" || type == "signal")
        next
    c = $5
    sub(/^[^(]*\(/, "", c)
    sub(/^shmem_team_t team, /, "", c)
    sub(/^const /, "", c)
    sub(/ *\*.*/, "", c)
    if (!(end[last] in row))
        list[++lists] = end[last]
    row[end[last]] = row[end[last]] " \\\n    X(" type ", " c ")"
}

END {
    for (i = 1; i <= lists; i++)
        printf "\n#define CF_%s(X)%s\n", list[i], row[list[i]]
}
