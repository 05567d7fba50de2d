# SPDX-License-Identifier: BSD-3-Clause
# offsets.awk - lists the functions with a loop and a store of more than a word: `file function`, in
# C source and in the functions that a macro of it defines.
function done() {
    if (name != "" && loop && store)
        print file, name
    name = ""
    loop = store = 0
}
FNR == 1 {
    done()
    file = FILENAME
    sub(/.*pgas\/datatype\//, "", file)
}
/^(COPY_[A-Z]+ |PACK_INLINE |ALWAYS_INLINE |LINE_ALIGNED |NOINLINE |INLINE |__attribute__.*)?(static |void |size_t )/ ||
    /^ +(COPY_ALWAYS|INLINE|NOINLINE|static) .*(##|_)[A-Za-z_#]*\(/ {
    if ($0 !~ /;$/ && $0 ~ /\(/) {
        done()
        text = $0
        sub(/^__attribute__\(\(.*\)\) static/, "static", text)
        sub(/COPY_NAME\(/, "", text)
        sub(/[()].*/, "", text)
        sub(/.*[ *]/, "", text)
        name = text
    }
}
/(^|[^a-z_])(for|while) \(|ROLLED|INDEPENDENT/ { loop = 1 }
/_(storeu?|stream|maskstore|scatter)_|_mask_storeu?_|i32scatter|svst[1-4]|line_store\(|side_store\(|store_lanes\(|copy_store\(|copy_nt_line\(|gather_line(_part)?\(|part\[i\] = F|SELECT\(H|structure_step|COPY_NAME\((one|four)\)|out\[[^]]*\] = |memcpy\((to|out|packed|base|part|d)[ ,+]|copy_bytes\((to|base|packed)|wins\[/ {
    store = 1
}
END { done() }
