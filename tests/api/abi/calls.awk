# SPDX-License-Identifier: BSD-3-Clause
# calls.awk - write a call of every routine of api-1.6.txt, for calls.c.
# usage: awk -F'|' -v p= -f calls.awk api-1.6.txt      (p=p: by the names for profiling)
# A line is CALL(name, call) or, with the value that the routine must return,
# EXPECT(name, value, call).  Arguments are chosen by the names of the parameters; a
# parameter that has no value here is an error.
BEGIN {
    # Whole lines: routines that need others before or after; @ is the name to call.
    line["set_lock"] = "CALL(@, (@(&lock), shmem_clear_lock(&lock)))"
    line["clear_lock"] = "CALL(@, (shmem_set_lock(&lock), @(&lock)))"
    line["test_lock"] = "CALL(@, call_test_lock(@))"
    line["free"] = line["shfree"] = "CALL(@, @(shmem_malloc(64)))"
    line["team_destroy"] = "CALL(@, @(make_team()))"
    line["ctx_destroy"] = "CALL(@, @(make_ctx()))"
    # calls.c itself calls these routines, because a process can call them only once.
    start_end = " init init_thread start_pes finalize global_exit "

    split("ctx SHMEM_CTX_DEFAULT *ctx &ctx team SHMEM_TEAM_WORLD *team &team " \
        "parent_team SHMEM_TEAM_WORLD src_team SHMEM_TEAM_WORLD dest_team SHMEM_TEAM_WORLD " \
        "new_team &team xaxis_team &xaxis_team yaxis_team &yaxis_team start 0 stride 1 " \
        "xrange 1 src_pe 0 options 0 level 1 hints 0 alignment 64 count 2 size 64 " \
        "dest dest addr dest source source fetch fetch nelems 1 nreduce 1 nblocks 1 " \
        "bsize 1 dst 1 sst 1 pe peer value 1 cond 1 sig_addr &sig signal 1 " \
        "sig_op SHMEM_SIGNAL_SET ivar zeros ivars zeros cmp SHMEM_CMP_GE cmp_value 0 " \
        "cmp_values zeros status NULL indices indices PE_root 0 PE_start 0 " \
        "logPE_stride 0 PE_size world pSync psync pWrk pwrk target_pes &peer npes 1 " \
        "ptr shmem_malloc(8) major &number minor &number name text initialized &number " \
        "provided &number xaxis_config NULL yaxis_config NULL xaxis_mask 0 yaxis_mask 0 " \
        "config NULL config_mask 0", word, " ")
    for (i = 1; i in word; i += 2)
        value[word[i]] = word[i + 1]

    # Exceptions for one routine: "routine parameter"
    value["team_split_strided size"] = "world"
    value["team_get_config config"] = "&team_config"
    value["team_get_config config_mask"] = "SHMEM_TEAM_NUM_CONTEXTS"
    value["ctx_session_start config"] = "&session_config"
    value["ctx_session_start config_mask"] = "SHMEM_CTX_SESSION_TOTAL_OPS"
}

$2 == "C" || $2 == "OLD" {
    base = $1
    sub(/^shmem_/, "", base)
    if (index(start_end, " " base " "))
        next
    if (base in line)
        text = line[base]
    else
        text = ordinary(base, $5)
    gsub(/@/, p $1, text)
    # The next routine must not reuse a work array that is in use.
    if ($5 ~ /pSync/)
        text = text "\nshmem_barrier_all();"
    print text
}

function ordinary(base, prototype,    list, n, i, args, arg)
{
    list = prototype
    sub(/^[^(]*\(/, "", list)
    sub(/\)$/, "", list)
    n = (list == "void") ? 0 : split(list, param, ", ")
    for (i = 1; i <= n; i++) {
        if (param[i] == "...")
            continue
        arg = argument(base, param[i])
        args = args (i > 1 ? ", " : "") arg
    }
    args = "@(" args ")"
    if (base ~ /(malloc|calloc|realloc|align|malloc_with_hints)$/)
        return "CALL(@, check_heap(\"@\", " args "))"
    if (result(base, prototype) == "")
        return "CALL(@, " args ")"
    return "EXPECT(@, " result(base, prototype) ", " args ")"
}

function argument(base, param,    name)
{
    name = param
    sub(/.*[ *]/, "", name)
    if (base ~ /(^|_)wait$/ && name == "cmp_value")
        return "1"
    if ((base " " name) in value)
        return value[base " " name]
    if (param ~ /\*/ && ("*" name) in value)
        name = "*" name
    if (!(name in value)) {
        print "calls.awk: no value for " param " of " base >"/dev/stderr"
        exit 1
    }
    return value[name]
}

# The value that the routine must return for these arguments, if it is defined
function result(base, prototype)
{
    if (base ~ /_(test|test_all|test_all_vector)$/)
        return 1
    if (base ~ /_(wait_until|test)_any(_vector)?$/)
        return 0
    if (base ~ /_(wait_until|test)_some(_vector)?$/)
        return 1
    if (prototype ~ /^int shmem_[a-z0-9_]*\(shmem_team_t team, [a-zA-Z0-9_ ]*\*dest/)
        return 0
    if (base ~ /^team_(split_|get_config|sync|create_ctx)|^ctx_(create|get_team)$/)
        return 0
    if (base ~ /^(team_)?my_pe$|^_my_pe$/)
        return "me"
    if (base ~ /^(team_)?n_pes$|^_num_pes$/)
        return "world"
    if (base ~ /_accessible$/)
        return 1
    return ""
}
