/** @file runtime.h  CUDA's runtime, and device functions with inline PTX: reciprocal, asynchronous
 * copies to shared memory, loads from it, products of matrices (internal; C and CUDA C++).
 * Used by: bench/cuda/, backend/cuda/. */
#ifndef FBP_SRC_BACKEND_CUDA_RUNTIME_H
#define FBP_SRC_BACKEND_CUDA_RUNTIME_H

#include <cuda_runtime_api.h>

#define CUDA_MAJOR(version) ((version) / 1000)
#define CUDA_MINOR(version) ((version) % 1000 / 10)

/** Handle of a plan of cuFFT, whose header is not included; CUDA_NO_FFT: no plan. */
typedef int cuda_fft_plan;
#define CUDA_NO_FFT (-1)

#ifdef FBP_CUDA_HOST /* tests: kernels on the host */
#    include FBP_CUDA_HOST
#elif defined __CUDACC__

#    include <cuda_fp16.h>

#    define CUDA_LAUNCH(KERNEL, BLOCKS, THREADS, STREAM, ...) \
        KERNEL<<<BLOCKS, THREADS, 0, STREAM>>>(__VA_ARGS__)

/** Returns 1/x to within one unit in the last place. */
static __device__ inline float cuda_reciprocal(float x)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

/* Asynchronous copies to shared memory (from sm_80 on), and loads from it by 32-bit addresses. */
#    if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
enum { CUDA_CAN_COPY = 0 };
#    else
enum { CUDA_CAN_COPY = 1 };
#    endif

/** Start an asynchronous copy of 16 bytes to shared memory; zeros if `there` is false. */
[[maybe_unused]] static __device__ inline void cuda_copy_16_bytes(unsigned to, const void *from,
                                                                  bool there)
{
#    if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(to), "l"(from), "r"(there ? 16 : 0)
                 : "memory");
#    endif
}

/** End a group of asynchronous copies: those that this thread started since the last call. */
[[maybe_unused]] static __device__ inline void cuda_end_of_copy(void)
{
#    if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" : : : "memory");
#    endif
}

/** Wait until all groups of copies of this thread, except the latest LEFT, are complete. */
template <int LEFT> [[maybe_unused]] static __device__ inline void cuda_wait_for_copies(void)
{
#    if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" : : "n"(LEFT) : "memory");
#    endif
}

template <int OFFSET> static __device__ inline float cuda_load_shared(unsigned at)
{
    float value;
    asm volatile("ld.shared.f32 %0, [%1 + %2];" : "=f"(value) : "r"(at), "n"(OFFSET));
    return value;
}

/* Products on tensor cores; not called before sm_80 (entry.c). */

/** Four 8 x 8 matrices from shared memory, transposed; a lane gives the address of a row. */
static __device__ inline void cuda_load_matrices(unsigned at, unsigned (&q)[4])
{
#    if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(q[0]), "=r"(q[1]), "=r"(q[2]), "=r"(q[3])
                 : "r"(at)
                 : "memory");
#    endif
}

/** Transposes an 8 x 8 matrix of 16-bit values.  Lane l holds the values of row l / 4 in columns
 * 2 (l % 4) and 2 (l % 4) + 1, before and after. */
static __device__ inline unsigned cuda_transpose(unsigned q)
{
    unsigned out = 0;
#    if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(q));
#    endif
    return out;
}

/** sum [16][8] += weights [16][16] * samples [16][8] */
static __device__ inline void cuda_multiply(float (&sum)[4], const unsigned (&weights)[4],
                                            unsigned q0, unsigned q1)
{
#    if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(weights[0]), "r"(weights[1]), "r"(weights[2]), "r"(weights[3]), "r"(q0), "r"(q1));
#    endif
}

#endif /* __CUDACC__ */
#endif /* FBP_SRC_BACKEND_CUDA_RUNTIME_H */
