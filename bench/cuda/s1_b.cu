/* Kernel B of Zinsser and Keck (2013): the shapes of Table II, tests 5 to 8, and shapes that are
 * faster on today's GPUs. Launched by s1.c.
 * Used by: s1.c. */
#include "bench/cuda/s1_kernel.h"

/* Views of a launch are unrolled to the last, up to 4 of them. */
template <s1_lanes LANES, int I, int K, int BX, int BY> static s1_kernel make(int test)
{
    constexpr int UNROLL = I < 4 ? I : 4;

    return {{test, 'B', false, LANES == S1_SQUARES, I, K, BX, BY},
            s1_entry_b<LANES, I, K, BX, BY, UNROLL>(),
            s1_entry_b<LANES, I / 2, K, BX, BY, (I < 8 ? I / 2 : UNROLL)>()};
}

extern "C" const s1_kernel *cuda_s1_b(size_t index)
{
    static const s1_kernel kernels[] = {
        make<S1_ROWS, 4, 8, 32, 8>(5),       make<S1_ROWS, 8, 4, 16, 16>(6),
        make<S1_ROWS, 16, 4, 16, 32>(7),     make<S1_ROWS, 32, 4, 16, 32>(8),
        make<S1_ROWS, 124, 8, 32, 8>(0),     make<S1_SQUARES, 62, 8, 16, 16>(0),
        make<S1_SQUARES, 124, 8, 32, 8>(0),  make<S1_SQUARES, 124, 16, 16, 16>(0),
        make<S1_SQUARES, 124, 16, 16, 8>(0),
    };

    return index < sizeof kernels / sizeof *kernels ? &kernels[index] : NULL;
}
