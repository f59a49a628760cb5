/** @file planes_parts.h  Device functions that planes_kernel.h calls: arithmetic, copies to shared
 * memory, and loads from shared memory (internal; CUDA C++).  A test without a device replaces
 * this file by host functions of the same names (tests/cuda/planes_host.h).
 * Used by: planes_kernel.h.
 */
#ifndef FBP_SRC_CUDA_PLANES_PARTS_H
#define FBP_SRC_CUDA_PLANES_PARTS_H

#include "backend/cuda/runtime.h"

#define PLANES_DEVICE __device__ inline
#define PLANES_UNROLL _Pragma("unroll")

/** Define `name` as the address of a block's dynamic shared memory. */
#define PLANES_SHARED_WINDOWS(name)                         \
    extern __shared__ __align__(128) char planes_windows[]; \
    const unsigned name = (unsigned)__cvta_generic_to_shared(planes_windows)

/** If FLOOR is added to x, rounding down, the sum's lowest bits are FLOOR_BITS + floor(x). */
template <class T> struct planes_real;

template <> struct planes_real<float> {
    static constexpr float FLOOR = 12582912.0f; /* |x| < 2^22 */
    static constexpr unsigned FLOOR_BITS = 0x4b400000u;

    static __device__ inline float add_down(float a, float b)
    {
        return __fadd_rd(a, b);
    }
    static __device__ inline unsigned low_bits(float x)
    {
        return __float_as_uint(x);
    }
};

template <> struct planes_real<double> {
    static constexpr double FLOOR = 6755399441055744.0; /* 1.5 * 2^52 */
    static constexpr unsigned FLOOR_BITS = 0;

    static __device__ inline double add_down(double a, double b)
    {
        return __dadd_rd(a, b);
    }
    static __device__ inline unsigned low_bits(double x)
    {
        return (unsigned)__double2loint(x);
    }
};

template <class T> static __device__ inline T planes_fma(T a, T b, T c)
{
    return fma(a, b, c);
}

/** Returns x. The compiler cannot trace the value, so it computes derived values again, instead of
 * keeping them in registers. */
static __device__ inline int planes_anew(int x)
{
    asm volatile("" : "+r"(x));
    return x;
}

static __device__ inline unsigned planes_ballot(bool x)
{
    return __ballot_sync(~0u, x);
}

static __device__ inline int planes_count(unsigned bits)
{
    return __popc(bits);
}

/** Copy 16 bytes, or zeros unless `there`, to shared memory: asynchronously from sm_80 on. */
static __device__ inline void planes_copy_piece(unsigned to, const char *from, bool there)
{
    if constexpr (CUDA_CAN_COPY) {
        cuda_copy_16_bytes(to, from, there);
    } else {
        const float4 q = there ? __ldg((const float4 *)from) : make_float4(0, 0, 0, 0);
        asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};"
                     :
                     : "r"(to), "f"(q.x), "f"(q.y), "f"(q.z), "f"(q.w)
                     : "memory");
    }
}

/** planes_end_of_copy() ends a group of asynchronous copies of this thread;
 * planes_wait_but_for_one() waits for all its groups except for the latest. */
static __device__ inline void planes_end_of_copy(void)
{
    cuda_end_of_copy();
}

static __device__ inline void planes_wait_but_for_one(void)
{
    cuda_wait_for_copies<1>();
}

/** If a != b, load channels [FIRST, FRAMES) at shared address at + OFFSET to q. */
template <int OFFSET, int FIRST = 0, int FRAMES>
static __device__ inline void planes_sample_if(unsigned at, unsigned a, unsigned b,
                                               float (&q)[FRAMES])
{
    static_assert(FRAMES % 2 == 0, "pairs of frames");
    constexpr int PIECE = FRAMES % 4 == 0 ? 4 : 2;

    if constexpr (PIECE == 4)
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "setp.ne.u32 p, %5, %6;\n\t"
                     "@p ld.shared.v4.f32 {%0, %1, %2, %3}, [%4 + %7];\n\t"
                     "}"
                     : "+f"(q[FIRST]), "+f"(q[FIRST + 1]), "+f"(q[FIRST + 2]), "+f"(q[FIRST + 3])
                     : "r"(at), "r"(a), "r"(b), "n"(OFFSET + FIRST * 4));
    else
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "setp.ne.u32 p, %3, %4;\n\t"
                     "@p ld.shared.v2.f32 {%0, %1}, [%2 + %5];\n\t"
                     "}"
                     : "+f"(q[FIRST]), "+f"(q[FIRST + 1])
                     : "r"(at), "r"(a), "r"(b), "n"(OFFSET + FIRST * 4));
    if constexpr (FIRST + PIECE < FRAMES)
        planes_sample_if<OFFSET, FIRST + PIECE>(at, a, b, q);
}

/** Load all channels of one sample from shared memory.  More than 4 channels are loaded 16 bytes at
 * a time or, if samples do not begin at multiples of 16 bytes, 8 bytes at a time. */
template <int OFFSET, int FRAMES>
static __device__ inline void planes_sample(unsigned at, float (&q)[FRAMES])
{
    if constexpr (FRAMES == 1)
        asm volatile("ld.shared.f32 %0, [%1 + %2];" : "=f"(q[0]) : "r"(at), "n"(OFFSET));
    else if constexpr (FRAMES == 2)
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2 + %3];"
                     : "=f"(q[0]), "=f"(q[1])
                     : "r"(at), "n"(OFFSET));
    else if constexpr (FRAMES == 4)
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4 + %5];"
                     : "=f"(q[0]), "=f"(q[1]), "=f"(q[2]), "=f"(q[3])
                     : "r"(at), "n"(OFFSET));
    else
        planes_sample_if<OFFSET>(at, 0, 1, q);
}

template <int OFFSET, int FRAMES>
static __device__ inline void planes_sample(unsigned at, double (&q)[FRAMES])
{
    if constexpr (FRAMES == 1)
        asm volatile("ld.shared.f64 %0, [%1 + %2];" : "=d"(q[0]) : "r"(at), "n"(OFFSET));
    else if constexpr (FRAMES == 2)
        asm volatile("ld.shared.v2.f64 {%0, %1}, [%2 + %3];"
                     : "=d"(q[0]), "=d"(q[1])
                     : "r"(at), "n"(OFFSET));
    else
        asm volatile("ld.shared.v2.f64 {%0, %1}, [%4 + %5];\n\t"
                     "ld.shared.v2.f64 {%2, %3}, [%4 + %6];"
                     : "=d"(q[0]), "=d"(q[1]), "=d"(q[2]), "=d"(q[3])
                     : "r"(at), "n"(OFFSET), "n"(OFFSET + 16));
}

/** Load N adjacent samples from shared memory. */
template <int N, int J = 0, class T, int FRAMES>
static __device__ inline void planes_load(unsigned at, T (&q)[N][FRAMES])
{
    if constexpr (J < N) {
        planes_sample<J * FRAMES *(int)sizeof(T)>(at, q[J]);
        planes_load<N, J + 1>(at, q);
    }
}

/** Replace the two samples in q, from address `last` on, by those from address `at` on: `at` equals
 *  `last`, or is one sample above (UP) or below. */
template <bool UP, int FRAMES>
static __device__ inline void planes_move(unsigned at, unsigned last, float (&q)[2][FRAMES])
{
#pragma unroll
    for (int f = 0; f < FRAMES; f++)
        q[UP ? 0 : 1][f] = at != last ? q[UP ? 1 : 0][f] : q[UP ? 0 : 1][f];
    planes_sample_if<UP ? FRAMES *(int)sizeof(float) : 0>(at, at, last, q[UP ? 1 : 0]);
}

#endif /* FBP_SRC_CUDA_PLANES_PARTS_H */
