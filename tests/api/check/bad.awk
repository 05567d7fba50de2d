# SPDX-License-Identifier: BSD-3-Clause
# bad.awk - write a row for every routine of tests/api/abi/api-1.6.txt, for bad.c.
# usage: awk -F'|' -f bad.awk api-1.6.txt
# A row is ROW(name, bytes of an element, "parameters", "classes", call), where the call
# takes its arguments from a[0], a[1], ... as 64-bit numbers.  Classes are letters, one per
# parameter, found from the names of routine and parameter alone: see bad.c.
BEGIN {
    split("float 4 double 8 char 1 schar 1 uchar 1 int8 1 uint8 1 short 2 ushort 2 " \
        "int16 2 uint16 2 int 4 uint 4 int32 4 uint32 4 long 8 ulong 8 longlong 8 " \
        "ulonglong 8 int64 8 uint64 8 size 8 ptrdiff 8 longdouble 16 complexd 16 " \
        "complexf 8", word, " ")
    for (i = 1; i in word; i += 2)
        bytes_of[word[i]] = word[i + 1]
    # Classes that do not depend on the routine
    split("pe p ctx c team t parent_team t parent t src_team t dest_team t nelems n nreduce i " \
        "nblocks n bsize . dst d sst d sig_addr g sig_op o cmp m cmp_values l indices l " \
        "status . PE_root r PE_start b logPE_stride e PE_size z pSync y pWrk w lock g " \
        "ivar W ivars V target_pes q npes . ptr h alignment a hints . fetch x " \
        "options f *ctx x new_team x major x minor x name x initialized x provided x " \
        "*team x xaxis_team x yaxis_team x config . config_mask v xaxis_config . " \
        "yaxis_config . xaxis_mask v yaxis_mask v list M n . value . cond . signal . cmp_value . " \
        "level . status . count . size . start . stride . xrange . src_pe . requested . " \
        "addr .", word, " ")
    for (i = 1; i in word; i += 2)
        class_of[word[i]] = word[i + 1]
    # Other tests cover the routines that initialize or finalize the library.
    split("shmem_init shmem_init_thread shmem_finalize shmem_global_exit start_pes", word, " ")
    for (i in word)
        not_here[word[i]] = 1
}

($2 == "C" || $2 == "OLD") && !($1 in not_here) { write_row($5) }

END {
    $0 = "shmemx_team_create|C|||"
    write_row("int shmemx_team_create(shmem_team_t parent, const int *list, int n, shmem_team_t *new_team)")
}

function write_row(list,    n, i)
{
    sub(/^[^(]*\(/, "", list)
    sub(/\)$/, "", list)
    n = (list == "void") ? 0 : split(list, param, ", ")
    names = classes = call = ""
    for (i = 1; i <= n; i++)
        if (param[i] != "...")
            add(param[i], i - 1)
    printf "ROW(%s, %d, \"%s\", \"%s\", %s(%s))\n", $1, size_of($1), names, classes, $1, call
}

function add(param, at,    name, type, class)
{
    type = name = param
    sub(/.*[ *]/, "", name)
    sub(/ *[a-zA-Z_]*$/, "", type)
    class = class_for($1, name, type)
    names = names (names == "" ? "" : " ") name
    classes = classes class
    if (type ~ /\*$|_t$/ && type !~ /^(u?int[0-9]+|size|ptrdiff)_t$/)
        call = call (call == "" ? "" : ", ") "(" type ")(uintptr_t)a[" at "]"
    else
        call = call (call == "" ? "" : ", ") "(" type ")a[" at "]"
}

# Derives the class from the name of the routine, which determines what it reads and writes.
function class_for(routine, name, type,    is_get, is_word)
{
    if (routine ~ /_(quiet|fence)$|_ctx_destroy$|_get_team$|_session_st(art|op)$/ && name == "ctx" && type !~ /\*/)
        return "C"
    if (routine ~ /accessible$/)
        return "."
    if (routine == "shmem_ptr" && name == "dest" || routine == "shmem_team_ptr" && name == "dest")
        return "."
    if (routine ~ /team_(my_pe|n_pes|get_config|translate_pe|destroy|split|create)|^shmem_team_ptr$/ && name ~ /team$|^parent$/ && type !~ /\*/)
        return "T"
    if (routine == "shmem_ctx_session_start" && name == "options")
        return "F"
    if (routine == "shmem_ctx_session_start" && name == "config_mask")
        return "u"
    if (routine == "shmemx_team_create" && name == "n")
        return "i"
    if (name == "ctx" && type ~ /\*/ || name == "team" && type ~ /\*/)
        return "x"
    if (name == "nelems" && routine ~ /_collect|collectmem$|_collect(32|64)$/ && routine !~ /fcollect/)
        return "N"
    if (name == "nreduce" && type == "size_t")
        return "n"
    if (name == "dest" || name == "source")
        return end_class(routine, name)
    if (name in class_of)
        return class_of[name]
    print "bad.awk: no class for " name " of " routine >"/dev/stderr"
    exit 1
}

function end_class(routine, name)
{
    if (routine ~ /(_i?b?get|_g$|_iget|_ibget)/ && routine ~ /_get(_nbi|mem|mem_nbi|[0-9]+|[0-9]+_nbi)?$|_g$|_ib?get([0-9]+)?$/) {
        if (routine ~ /_g$/)
            return "E"
        return name == "dest" ? "l" : strided(routine, "s", "S")
    }
    if (routine ~ /_put(_signal)?(_nbi)?$|_put(mem|[0-9]+)(_signal)?(_nbi)?$|_ib?put([0-9]+)?$/)
        return name == "source" ? "l" : strided(routine, "s", "S")
    if (routine ~ /_p$/)
        return "E"
    if (routine ~ /atomic|_(fetch|set|swap|cswap|finc|inc|fadd|add)$/)
        return "W"
    return collective_class(routine, name)
}

function strided(routine, plain, with_stride)
{
    return routine ~ /_ib?(put|get)/ ? with_stride : plain
}

# A = n elements per PE, s = n elements, E = one (dest of collect: its length depends on
# other PEs)
function collective_class(routine, name)
{
    if (routine ~ /alltoalls/)
        return "A"
    if (routine ~ /alltoall/)
        return "A"
    if (routine ~ /fcollect/)
        return name == "dest" ? "A" : "s"
    if (routine ~ /collect/)
        return name == "dest" ? "E" : "s"
    return "s"
}

function size_of(routine,    part, n, k)
{
    n = split(routine, part, "_")
    if (routine ~ /signal/ && routine !~ /put/)
        return 8
    if (routine ~ /lock$/)
        return 8
    for (k = 2; k <= 3 && k <= n; k++)
        if (part[k] in bytes_of && n > k)
            return bytes_of[part[k]]
    if (match(routine, /(8|16|32|64|128)(_nbi|_signal|_signal_nbi)?$/)) {
        k = substr(routine, RSTART)
        sub(/_.*/, "", k)
        return k / 8
    }
    if (routine ~ /^shmem_(wait|wait_until)$/)
        return 8
    return 1
}
