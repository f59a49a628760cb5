/* The inner loops of the CPU device in plain C, which are the specification of all others, and the
 * choice among instruction sets (fbp_line_dsp_init(), fbp_bp_dsp_init()). Products and sums are
 * not contracted (-ffp-contract=off): these loops give the same bits on every machine.
 * Used by: bench/fft/fft.c, cpu.c, matrix.c. */
#define SUFFIX(name) name##_c

#include "backend/cpu/simd.h"

#include "base/system.h"

void fbp_line_dsp_init(struct fbp_line_dsp *dsp, unsigned flags)
{
    *dsp = fbp_line_c;
#if defined(__x86_64__)
    if (flags & FBP_CPU_AVX512)
        *dsp = fbp_line_avx512;
    else if (flags & FBP_CPU_AVX2)
        *dsp = fbp_line_avx2;
#elif defined(__aarch64__)
    if (flags & FBP_CPU_NEON)
        *dsp = fbp_line_neon;
#else
    (void)flags;
#endif
}

void fbp_bp_dsp_init(struct fbp_bp_dsp *dsp, unsigned flags)
{
    *dsp = fbp_bp_c;
#if defined(__x86_64__)
    if (flags & FBP_CPU_AVX512)
        *dsp = fbp_bp_avx512;
    else if (flags & FBP_CPU_AVX2)
        *dsp = fbp_bp_avx2;
    if (flags & FBP_CPU_GATHER)
        dsp->matrix[FBP_INTERPOLATION_LINEAR] =
            flags & FBP_CPU_AVX512 ? fbp_bp_matrix_avx512_gather : fbp_bp_matrix_avx2_gather;
    if (flags & FBP_CPU_VNNI)
        dsp->rot90_half = fbp_bp_rot90_half_vnni;
#elif defined(__aarch64__)
    if (flags & FBP_CPU_NEON)
        *dsp = fbp_bp_neon;
#else
    (void)flags;
#endif
}
