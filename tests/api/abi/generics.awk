# SPDX-License-Identifier: BSD-3-Clause
# generics.awk - write calls of every overload of every C11 generic of api-1.6.txt.
# usage: awk -F'|' -v want=accepted|refused -f generics.awk api-1.6.txt
# accepted: for each type of the overload, a line that compiles without a warning if the
# call does and has the overload's type.  refused: for each other type, a line that must
# not compile.
BEGIN {
    split("ctx ctx team SHMEM_TEAM_WORLD nelems 1 nreduce 1 nblocks 1 bsize 1 dst 1 sst 1 " \
        "pe 0 sig_addr sig signal 1 sig_op SHMEM_SIGNAL_SET cmp SHMEM_CMP_EQ status NULL " \
        "indices indices PE_root 0", word, " ")
    for (i = 1; i in word; i += 2)
        value[word[i]] = word[i + 1]

    # The type of a typedef on LP64: both are the same branch of a _Generic.
    split("int8_t=signed char;int16_t=short;int32_t=int;int64_t=long;ptrdiff_t=long;" \
        "uint8_t=unsigned char;uint16_t=unsigned short;uint32_t=unsigned int;" \
        "uint64_t=unsigned long;size_t=unsigned long", pair, ";")
    for (i in pair) {
        split(pair[i], part, "=")
        alias[part[1]] = part[2]
    }
    universe = "float, double, long double, char, signed char, short, int, long, long long, " \
        "unsigned char, unsigned short, unsigned int, unsigned long, unsigned long long, " \
        "int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, size_t, " \
        "ptrdiff_t, double _Complex, float _Complex, _Bool, void, void *, struct point"

    print "#include <shmem.h>"
    print "struct point { int x, y; };"
    print "extern shmem_ctx_t ctx;"
    print "extern uint64_t *sig;"
    print "extern size_t indices[];"
    print "extern char bytes[];"
    print "#define SAME(a, b) __builtin_types_compatible_p(__typeof__(a), b)"
    print "void calls(void);"
    print "void calls(void) {"
}

$2 == "C11" && $6 != "" {
    split("", in_list)
    n = split($6, type, ", ")
    for (i = 1; i <= n; i++)
        in_list[canonical(type[i])] = 1
    if (want == "accepted") {
        for (i = 1; i <= n; i++)
            accept($5, type[i])
    } else {
        n = split(universe, type, ", ")
        for (i = 1; i <= n; i++)
            if (!(canonical(type[i]) in in_list))
                print "(void)(" call($5, type[i], "const ") ");"
    }
}

END { print "}" }

function canonical(type) { return (type in alias) ? alias[type] : type }

function accept(prototype, type,    result)
{
    result = prototype
    sub(/ shmem_.*/, "", result)
    if (result == "TYPE")
        result = type
    print "_Static_assert(SAME(" call(prototype, type, "const ") ", " result "), \"" type "\");"
    # The first pointer of the type may also be to non-const
    if (prototype ~ /^[^*]*\(([^,*]*, )?const TYPE \*/)
        print "_Static_assert(SAME(" call(prototype, type, "") ", " result "), \"" type "\");"
}

function call(prototype, type, constant,    name, param, n, i, text)
{
    name = prototype
    sub(/\(.*/, "", name)
    sub(/.* /, "", name)
    sub(/^[^(]*\(/, "", prototype)
    sub(/\)$/, "", prototype)
    n = split(prototype, param, ", ")
    for (i = 1; i <= n; i++)
        text = text (i > 1 ? ", " : "") argument(param[i], type, constant)
    return name "(" text ")"
}

function argument(param, type, constant,    name)
{
    if (param ~ /^const TYPE \*/)
        return type ~ /\*$/ ? "(" type " " constant "*)bytes" : "(" constant type " *)bytes"
    if (param ~ /^TYPE \*/)
        return "(" type " *)bytes"
    if (param ~ /^TYPE /)
        return type ~ /^struct/ ? "(struct point){1, 2}" : \
            type == "void" || type ~ /\*$/ ? "0" : "(" type ")1"
    name = param
    sub(/.*[ *]/, "", name)
    if (!(name in value)) {
        print "generics.awk: no value for " param >"/dev/stderr"
        exit 1
    }
    return value[name]
}
