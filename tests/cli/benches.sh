#!/usr/bin/env bash
# The scripts under bench/: a small run of each, and the fit of laws that are known.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || {
    echo "skipped: no python3"
    exit 77
}
export PYTHONDONTWRITEBYTECODE=1
scripts=$here/../../bench last="bench/scaling"

PYTHONPATH=$scripts/scaling python3 - <<'PY' || say "$last: the fit"
import scaling
law = [{"n": n, "k": k, "t": 2e-9 * n**3 * k} for n, k in ((64, 8), (64, 16), (128, 8), (256, 32))]
(log_a, p, q), worst = scaling.fit(law, "t")
assert abs(p - 3) < 1e-9 and abs(q - 1) < 1e-9 and abs(worst - 1) < 1e-9, (p, q, worst)
law[0]["t"] *= 3
assert scaling.fit(law, "t")[1] > 1.1
assert abs(scaling.slope(law[1:], "n", "t") - 3.5) < 0.5
PY

mkdir place
python3 "$scripts/scaling/scaling.py" --fbp "$fbp" --sizes 8,16 --at-views 8 --views 8,12 --at-size 16 \
    --seconds 0.01 --threads 1 --dir place >out 2>err || say "$last: $(cat err)"
has out 'kernel [a-z0-9+]*, .*, 1 threads:$'
[ "$(grep -cE '^\| (8|16) \| (8|12) \|( [0-9.]+ \|){4}$' out)" -eq 4 ] || say "$last: $(cat out)"
has out '^Backprojection: t = [^ ]+ s N\^-?[0-9.]+ K\^-?[0-9.]+, every point within'
has out '^Whole job: .* over K alone -?[0-9.]+\.$'
python3 -c 'import xml.dom.minidom as x; assert len(x.parse("scaling.svg").getElementsByTagName("circle")) == 8' ||
    say "$last: scaling.svg"
[ -z "$(ls -A place)" ] || say "$last: files were left"

last="bench/ranks"
# Two CPUs or one: the rows that there are have the bits of one rank, or nearly its values.
cpus=$(python3 -c 'import os; print(len(os.sched_getaffinity(0)))')
[ "$cpus" -lt 2 ] && ranks=1 rows=1 || ranks=1,2 rows=4
python3 "$scripts/ranks/ranks.py" --fbp "$fbp" --ranks $ranks --cores 1 --size 24 --views 20 --runs 1 --dir place \
    --json ranks.json >out 2>err || say "$last: $(cat err)"
[ "$(grep -cE '^\| [12] x 1 cores(, apart)? \| [12] x [12] \|( [0-9.]+ \|){6} (-|same bits|[0-9.]+e-[0-9]+) \|' out)" -eq $rows ] ||
    say "$last: $(cat out)"
python3 - <<'PY' || say "$last: $(cat ranks.json)"
import json
rows = json.load(open("ranks.json"))["rows"][1:]
assert [row["apart"] for row in rows] in ([], [False, False, True]), rows
for row in rows:
    if row["apart"]:
        continue
    assert row["same_bits"] or row["view_ranks"] > 1, row
    assert row["rmse_of_peak"] < 1e-6, row
PY
[ -z "$(ls -A place)" ] || say "$last: files were left"

last="bench/peers"
if python3 -c 'import numpy' 2>/dev/null; then
    # Without the peers, which are looked for in PATH and among Python's packages.
    mkdir empty site
    python=$(python3 -c 'import sys; print(sys.executable)')
    echo 'raise ImportError("left out")' >site/itk.py
    PATH=$PWD/empty PYTHONPATH=$PWD/site "$python" "$scripts/peers/peers.py" --fbp "$fbp" \
        --sizes 64 --runs 1 --dir place --json >out 2>err || say "$last: $(cat err)"
    one_line out
    [ "$(json tool)" = fbp ] || say "$last: tool"
    is "$(json unsynced) <= $(json seconds) && $(json rmse) > 0 && $(json rmse) < 0.002"
    is "$(json memory_peak_bytes) > 1e6 && $(json times_fbp) == 1"
    [ -z "$(ls -A place)" ] || say "$last: files were left"

    # Of the script for GPUs: fbp on the CPU, and the message of programs that are not installed.
    last="bench/peers/gpu.py"
    echo 'raise ImportError("left out")' >site/torch.py
    echo 'raise ImportError("left out")' >site/kernelkit.py
    PYTHONPATH=$PWD/site "$python" "$scripts/peers/gpu.py" kernelkit copies --fbp "$fbp" --device cpu --jobs J1 \
        --divide 16 --runs 1 --dir place >out 2>err || say "$last: $(cat err)"
    has out '^J1 *whole *fbp *matrix, fast .* 1\.000000$'
    has err '^kernelkit: left out: ImportError: left out$'
    has err '^copies: left out: ImportError: left out$'
    [ -z "$(ls -A place)" ] || say "$last: files were left"
fi
finish
