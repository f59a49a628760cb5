/* Kernel A of Zinsser and Keck (2013) in the shapes of Table II, tests 1 to 4. Launched by s1.c.
 * Used by: s1.c. */
#include "bench/cuda/s1_kernel.h"

template <int I, int K, bool SYNC> static s1_kernel make(int test)
{
    return {{test, 'A', SYNC, false, I, K, 32, 8}, s1_entry_a<S1_ROWS, I, K, 32, 8, SYNC>(), {}};
}

extern "C" const s1_kernel *cuda_s1_a(size_t index)
{
    static const s1_kernel kernels[] = {make<1, 512, false>(1), make<4, 512, false>(2),
                                        make<4, 512, true>(3), make<4, 8, false>(4)};

    return index < sizeof kernels / sizeof *kernels ? &kernels[index] : NULL;
}
