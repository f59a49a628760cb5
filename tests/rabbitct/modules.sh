#!/usr/bin/env bash
# A module under RabbitCT's three interfaces: the volume must agree with the data set's reference.
# MODULES.sh FBP RUNNER MODULE WORK_DIR
set -u
fbp=$1 runner=$2 module=$3 work=$4
failures=0
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1

# 50 views: no multiple of 8 or of 4, so that groups and quarters are left incomplete.
"$fbp" rabbitct make -o set.rctd --views 50 --detector 156x120 --references 1 --device cpu -q ||
    exit 1
for release in 0 1 3 "3 ALL"; do
    # shellcheck disable=SC2086
    out=$(FBP_RABBITCT_PRECISION=exact "$runner" "$module" set.rctd 128 $release)
    status=$?
    if [ $status -eq 77 ]; then
        echo "skipped: the module has no device"
        exit 77
    fi
    rmse=$(echo "$out" | sed -n 's/.*"rmse": \([0-9.]*\).*/\1/p')
    if [ $status -ne 0 ] || ! awk "BEGIN { exit !(\"$rmse\" != \"\" && $rmse + 0 < 0.05) }"; then
        echo "FAILED: release $release: status $status, $out"
        failures=1
    fi
done
[ $failures -eq 0 ] && echo passed
exit $failures
