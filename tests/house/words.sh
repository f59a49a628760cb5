#!/bin/sh
# words.sh SOURCE: src/backend alone knows what its devices are: what lies above and below it names
# no maker, no kind of a device's memory and no paper's kernels.  Names of devices for users come from
# the list of backends.  What GPUs share (src/backend/gpu) knows textures, but no maker.  And no text
# has the marks of a merge that was left half done.
folders='run plan api analysis scan array geometry base prep filter weight phantom picture'
makers='[Cc]uda|CUDA|[Nn]vidia|NVIDIA|NVCC|[Cc]u[Ff][Ff][Tt]|[Oo]pen[Gg][Ll]'
pattern="$makers|[Tt]exture|[Tt]exel|\\<S[01]\\>|([Ff][Bb][Pp]|cuda)_([A-Za-z0-9_]*_)?[sS][01](_|\\>)"
# A variable of the environment is called what its users call it; base/environment.[ch] lists them.
allowed='^src/base/environment\.[ch]:[0-9]+: *(\[?FBP_ENV_[A-Z_]+\]? = \{".*"\},|FBP_ENV_[A-Z_]+,)$'
marks='^([<]{7}|[>]{7}|[|]{7})( |$)'

for line in 'if (strcmp(name, "cuda") == 0)' '#ifdef __CUDACC__' 'fbp_backend_cuda.open(&d)' \
    'bool has_texture;' '/* S1 wants it */' 'FBP_S0_KERNELS S0' 'texels_a_column' 'find_cufft();' 'fbp_bench_s1(x);'; do
    echo "$line" | grep -qE "$pattern" || { echo "words.sh does not see: $line"; exit 1; }
done
for line in 'const double *s0 = scan->views[0].s;' '"%s1.53t\nimages=%zu"' 'const struct fbp_backend *b'; do
    echo "$line" | grep -qE "$pattern" && { echo "words.sh takes offence at: $line"; exit 1; }
done
echo 'src/base/environment.c:9:    if (getenv("CUDA_HOME"))' | grep -qE "$allowed" &&
    { echo "words.sh allows more than the table of the environment"; exit 1; }

words() { # in a tree
    (cd "$1" && {
        for folder in $folders; do grep -rnE "$pattern" "src/$folder"; done | grep -vE "$allowed"
        grep -rnE "$makers" src/backend/gpu
    })
}

# A word planted in any of the folders is found there.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
for folder in $folders backend/gpu; do
    mkdir -p "$tree/src/$folder/deep"
    echo 'if (strcmp(device, "cuda") == 0)' >"$tree/src/$folder/deep/a.c"
done
[ "$(words "$tree" | wc -l)" = "$(echo "$folders" backend/gpu | wc -w)" ] ||
    { echo "words.sh does not see what is planted:"; words "$tree"; exit 1; }

cd "$1" || exit 1
for folder in $folders backend/gpu; do
    [ -d "src/$folder" ] || { echo "no src/$folder in $1"; exit 1; }
done
found=$(words .)
[ -z "$found" ] ||
    { echo "$found"; echo "a word of one backend: it belongs into a folder of src/backend"; exit 1; }

echo '<<<<<<< HEAD' | grep -qE "$marks" || { echo "words.sh does not see a merge"; exit 1; }
found=$(grep -rnE "$marks" src cli include tests docs cmake scripts modules examples ./*.md CMakeLists.txt |
    grep -v '^tests/house/words\.sh:')
[ -z "$found" ] || { echo "$found"; echo "a merge was left half done here"; exit 1; }
