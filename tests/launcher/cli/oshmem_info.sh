#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshmem_info.sh - the reports, their JSON, and the self-test.
set -eu
: "${OSHMEM_INFO:?}" "${top_srcdir:?}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/pgas-info.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/tmp"
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
info() { timeout 120 "$OSHMEM_INFO" "$@"; }
json_valid() { awk -f "$top_srcdir/tests/launcher/cli/json.awk" "$1" || fail "not JSON: $2"; }

# -- the JSON checker detects errors ------------------------------------------------------
printf '{"a": [1, true, null, {"b": "\\u00e4 \\""}], "c": {}}\n' >"$dir/good"
json_valid "$dir/good" 'a good text'
for bad in '{"a": }' '{"a" 1}' '[1,]' '{"a": "x}' '{"a": 1,}' '"\x"' '{} {}' '[1 2]'; do
    printf '%s\n' "$bad" >"$dir/bad"
    if awk -f "$top_srcdir/tests/launcher/cli/json.awk" "$dir/bad" 2>/dev/null; then
        fail "the checker accepts $bad as JSON"
    fi
done

# -- reports ------------------------------------------------------------------------------
info >"$dir/page"
for word in 'Version' 'OpenSHMEM level        1.6' 'Transport shm' 'Transport ofi' \
    'Transport ucx' 'PEs of other nodes' 'Configure line' 'Instruction set' \
    'Default heap' 'C compiler'; do
    grep -q "$word" "$dir/page" || fail "the page has no \"$word\""
done
case $(info --version) in 'oshmem_info: pgas '[0-9]*) ;; *) fail '--version' ;; esac
case $(info --help) in usage:*) ;; *) fail '--help' ;; esac
[ "$(info --path bindir)" != '' ] || fail '--path bindir'
info --path nowhere 2>/dev/null && fail '--path nowhere is accepted'
info --nonsense 2>/dev/null && fail '--nonsense is accepted'
SHMEM_SYMMETRIC_SIZE=3m info --env >"$dir/env"
grep -q '^SHMEM_SYMMETRIC_SIZE .* 3m ' "$dir/env" || fail '--env has no current value'
# Every variable of the table is listed, and nothing else.
sed -n 's/^ *E(\([A-Z_0-9]*\),.*/SHMEM_\1/p' "$top_srcdir/pgas/core/base/env.def" >"$dir/want"
sed -n 's/^\(SHMEM_[A-Z_0-9]*\).*/\1/p' "$dir/env" | cmp -s - "$dir/want" ||
    fail '--env does not list the variables of env.def'
for args in --all --config --paths --transports; do
    [ -n "$(info $args)" ] || fail "$args prints nothing"
done
info --parsable >"$dir/lines"
grep -q '^package:version:[0-9]' "$dir/lines" || fail '--parsable has no version'
grep -q '^env:SHMEM_DEBUG:default:' "$dir/lines" || fail '--parsable has no variables'
grep -qv '^[a-z]*:..*:' "$dir/lines" && fail '--parsable has other lines'

# -- the instruction set ------------------------------------------------------------------
isa() { SHMEM_ISA=$1 info --parsable | sed -n 's/^package:isa://p'; }
[ "$(isa baseline)" = baseline ] || fail 'SHMEM_ISA=baseline is not followed'
[ "$(isa auto)" = "$(info --parsable | sed -n 's/^package:isa://p')" ] || fail 'auto is not the default'
case $(isa mmx) in 'not an instruction set; use auto'*baseline*) ;; *) fail "SHMEM_ISA=mmx: $(isa mmx)" ;; esac
SHMEM_ISA=mmx TMPDIR=$dir/tmp info --check >"$dir/check" && fail '--check accepts SHMEM_ISA=mmx'
grep -q '^FAIL .*SHMEM_ISA=mmx: not an instruction set; use auto' "$dir/check" || fail 'SHMEM_ISA is not named'

# -- JSON, with values that need escapes -------------------------------------------------------
nasty=$(printf 'q" b\\ tab\t nl\n. bell\007 utf8\303\244 bad\377 over\300\200 cut\303')
SHMEM_SYMMETRIC_SIZE=$nasty SHMEM_DEBUG='' info --json >"$dir/json"
json_valid "$dir/json" '--json'
for key in package transports network config paths env version specification heap_default \
    launcher current default; do
    grep -q "\"$key\": " "$dir/json" || fail "--json has no key $key"
done
grep -q '"q\\" b\\\\ tab\\u0009 nl\\u000a. bell\\u0007 utf8ä bad\\ufffd over\\ufffd\\ufffd cut\\ufffd"' \
    "$dir/json" || fail "--json does not escape: $(grep 'q.*tab' "$dir/json")"
info --json --algorithms --pes 3 >"$dir/json"
json_valid "$dir/json" '--json --algorithms'
for key in selection machine collectives builtin now algorithms reproducible; do
    grep -q "\"$key\": " "$dir/json" || fail "--json --algorithms has no key $key"
done
SHMEM_SCAN_ALGORITHM=barrier info --algorithms >"$dir/page"
grep -A 1 '^scan, built-in  *mailbox to ' "$dir/page" | grep -q '^  used now  *barrier$' ||
    fail "--algorithms does not follow a variable: $(cat "$dir/page")"
info --json --env >"$dir/json"
json_valid "$dir/json" '--json --env'
grep -q '"package"' "$dir/json" && fail '--json --env has more than that'

# -- transports to other nodes -------------------------------------------------------------
# chosen LIST, reason LIST: the transport that --parsable names for SHMEM_TRANSPORT=LIST, and
# its reason.
chosen() { SHMEM_TRANSPORT=$1 info --transports --parsable | sed -n 's/^network:transport://p'; }
reason() { SHMEM_TRANSPORT=$1 info --transports --parsable | sed -n 's/^network:reason://p'; }
usable() { grep -q "^transports:$1:usable:true" "$dir/lines"; }
fabric=$(ls -A /sys/class/infiniband /sys/class/cxi 2>/dev/null | grep -v : | head -1)
[ -n "$fabric" ] || [ "$(chosen auto)" = tcp ] || fail 'tcp is not preferred on plain Ethernet'
if usable ofi; then
    SHMEM_OFI_DOMAIN=lo info --transports --parsable | grep -q '^network:transport:ofi$' ||
        fail 'ofi is not preferred although SHMEM_OFI_DOMAIN is set'
    [ "$(chosen ucx,ofi)" = ofi ] || fail 'a list is not read'
    [ "$(chosen ^ucx,^tcp)" = ofi ] || fail '^ucx,^tcp leaves ofi out'
    [ "$(chosen ^ofi)" != ofi ] || fail '^ofi does not leave ofi out'
    grep -q '^transports:ofi:library:libfabric 1\.' "$dir/lines" || fail 'no version of libfabric'
    SHMEM_OFI_PROVIDER=none_such info --transports --parsable >"$dir/none"
    grep -q '^transports:ofi:note:.*none_such' "$dir/none" || fail 'a provider that is not there'
    grep -q '^network:transport:ofi' "$dir/none" && fail 'ofi is chosen without its provider'
fi
if usable ucx; then
    [ "$(chosen ucx)" = ucx ] || fail 'ucx is not chosen'
    [ "$(chosen ^ofi,^tcp)" = ucx ] || fail '^ofi,^tcp does not choose ucx'
    grep -q '^transports:ucx:library:UCX 1\.' "$dir/lines" || fail 'no version of UCX'
fi
[ "$(chosen '^ofi,^ucx')" = tcp ] || fail 'tcp is not chosen'
[ -z "$(chosen '^ofi,^ucx,^tcp')" ] || fail 'an excluded transport is chosen'
for bad in ofx ofi,none ^ofi,ucx ofi,^ucx ^auto; do
    case $(reason "$bad") in *"is not valid"*) ;; *) fail "SHMEM_TRANSPORT=$bad passes" ;; esac
done

# -- self-test -------------------------------------------------------------------------------
TMPDIR=$dir/tmp info --check >"$dir/check" || { cat "$dir/check"; fail '--check'; }
for word in 'sealed memory' 'memory of a peer' 'waiting across PEs' 'PMIx server' \
    'libfabric' 'UCX' 'PEs of other nodes' 'huge pages' 'cheap wake-ups' 'debugger'; do
    grep -q "^[a-zA-Z]* *$word" "$dir/check" || fail "--check has no line for $word"
done
TMPDIR=$dir/tmp info --json --check >"$dir/json" || fail '--json --check'
json_valid "$dir/json" '--json --check'
TMPDIR=$dir/nowhere info --check >"$dir/check" && fail '--check does not see a bad TMPDIR'
[ "$(grep -c '^FAIL' "$dir/check")" = 1 ] || fail '--check reports a bad TMPDIR more than once'
SHMEM_SYMMETRIC_SIZE=lots TMPDIR=$dir/tmp info --check >"$dir/check" &&
    fail '--check does not detect an invalid variable'
grep -q '^FAIL .*SHMEM_SYMMETRIC_SIZE' "$dir/check" || fail 'the invalid variable is not named'
[ -z "$(ls -A "$dir/tmp")" ] || fail "left behind: $(ls "$dir/tmp")"
exit "$failed"
