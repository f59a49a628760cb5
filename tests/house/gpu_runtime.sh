#!/bin/sh
# gpu_runtime.sh SOURCE: only src/backend/cuda/gpu_runtime.h names the runtime of CUDA or HIP.  All
# other files of the backend and of its benchmarks use the names that the header defines.  The header
# also lists the files with inline assembly.
cd "$1" || exit 1
header=src/backend/cuda/gpu_runtime.h
pattern='cuda_runtime|cuda_fp16|CUDART_|(^|[^A-Za-z0-9_"])(cuda|hip)[A-Z]'

for line in '#include <cuda_runtime_api.h>' '    CUDA_TRY(cudaSetDevice(0));' 'hipStream_t stream;'; do
    echo "$line" | grep -qE "$pattern" || { echo "gpu_runtime.sh does not see: $line"; exit 1; }
done
for line in 'CUDA_TRY(gpuSetDevice(0));' 'cuda_failed(e, GPU_TEXT(gpuMalloc));' '{"cufftCreate", &fft.create},'; do
    echo "$line" | grep -qE "$pattern" && { echo "gpu_runtime.sh takes offence at: $line"; exit 1; }
done
grep -qE "$pattern" "$header" || { echo "$header names no runtime"; exit 1; }
found=$(
    grep -nE "$pattern" src/backend/cuda/* bench/cuda/* | grep -v "^$header:"
    for file in $(grep -lE '^ *asm\>' src/backend/cuda/*); do
        grep -q "$(basename "$file")" "$header" || echo "$file: inline assembly"
    done
)
[ -z "$found" ] && exit 0
echo "$found"
echo "use the names of $header, or add a name there; list files with inline assembly in its comment"
exit 1
