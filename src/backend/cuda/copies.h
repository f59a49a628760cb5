/** @file copies.h  Asynchronous copies to shared memory, and loads from it by addresses of 32 bits
 * (internal; CUDA C++).
 */
#ifndef FBP_SRC_CUDA_COPIES_H
#define FBP_SRC_CUDA_COPIES_H

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
enum { CUDA_CAN_COPY = 0 };
#else
enum { CUDA_CAN_COPY = 1 };
#endif

/** 16 bytes to shared memory, or zeros. */
[[maybe_unused]] static __device__ inline void cuda_copy_piece(unsigned to, const void *from,
                                                               bool there)
{
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(to), "l"(from), "r"(there ? 16 : 0)
                 : "memory");
#endif
}

/** The copies of this thread since the last call are a group. */
[[maybe_unused]] static __device__ inline void cuda_end_of_copy(void)
{
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

/** All but the latest `LEFT` groups of this thread are there. */
template <int LEFT> [[maybe_unused]] static __device__ inline void cuda_wait_for_copies(void)
{
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" : : "n"(LEFT) : "memory");
#endif
}

template <int OFFSET> static __device__ inline float cuda_load_shared(unsigned at)
{
    float value;
    asm volatile("ld.shared.f32 %0, [%1 + %2];" : "=f"(value) : "r"(at), "n"(OFFSET));
    return value;
}

#endif /* FBP_SRC_CUDA_COPIES_H */
