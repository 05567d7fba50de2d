# SPDX-License-Identifier: BSD-3-Clause
# pack-count.awk - input: a disassembly of objdump (AT&T syntax or AArch64), then the steps
# of pack_count.  Prints a line per direction and kernel, for 64 packed bytes.

# The stack is addressed by sp.
function classify_arm(code) {
    if (code ~ /\[sp/ || code !~ /\[/)
        return ""
    return code ~ /^ld/ ? "load" : code ~ /^st/ ? "store" : ""
}

# The memory operand of an instruction is its last one if it is stored.
function classify(code, name, operands, memory_last) {
    name = code
    sub(/[ \t].*/, "", name)
    operands = code
    if (!sub(/^[^ \t]+[ \t]+/, "", operands) || operands !~ /\(/ || name ~ /^(lea|nop|prefetch|call|jmp|data16|cs)/)
        return ""
    sub(/[ \t]*[<#].*/, "", operands)
    if (operands ~ /\(%r?[sb]p/ && operands ~ /-?0x[0-9a-f]*\(%rsp\)|^[^,]*\(%rsp\)/)
        return "" # the stack
    memory_last = operands ~ /\)(\{[^}]*\})*$/
    if (name ~ /^(cmp|test|vptest|ucomis)/)
        return "load"
    return memory_last ? "store" : "load"
}
FNR == 1 { file++ }
file == 1 && /file format elf64-littleaarch64/ { arm = 1 }
file == 1 {
    if (match($0, /^ *[0-9a-f]+:\t/)) {
        address = substr($0, RSTART, RLENGTH)
        gsub(/[ :\t]/, "", address)
        code = substr($0, RSTART + RLENGTH)
        kind[address] = arm ? classify_arm(code) : classify(code)
        wide[address] = code ~ (arm ? "\\[x[0-9]+, z" : "^v?p?(gather|scatter)")
    }
    next
}
{
    row = $1 " " $2
    if (!(row in all))
        order[++rows] = row
    all[row] += $4
    if (kind[$3] != "")
        count[row, kind[$3]] += $4
    if (wide[$3])
        gathers[row] += $4
}
END {
    scale = bytes / 64
    printf "%-7s %-16s %12s %8s %8s %16s %10s\n", "", "kernel", "instructions", "loads", "stores", "gathers/scatters", "of scalar"
    for (i = 1; i <= rows; i++) {
        row = order[i]
        split(row, f, " ")
        printf "%-7s %-16s %12.1f %8.1f %8.1f %16.1f %8.1f %%\n", f[1], f[2], all[row] / scale,
            count[row, "load"] / scale, count[row, "store"] / scale, gathers[row] / scale,
            100 * all[row] / all[f[1] " scalar"]
    }
}
