/** @file line_loops.h  Loops over detector rows of the CPU device: their table, struct
 * fbp_line_dsp, and the loops for one instruction set (internal).  filter.c and convolve.c call
 * them through the table.
 *
 * simd_c.c defines SUFFIX(name) before it includes simd.h, and gets the loops in plain C;
 * the other simd_*.c also define the operations of their vectors, and get the loops with vectors.
 * All other files get the declarations alone. Used by: simd.h.
 */
#ifndef FBP_SRC_CPU_LINE_LOOPS_H
#define FBP_SRC_CPU_LINE_LOOPS_H

#include <stddef.h>

/* Loops over detector rows; all but `convolve` give the same bits with every instruction set. */

enum {
    FBP_CONVOLVE_COLUMNS = 12, /**< number of output columns that `convolve` computes together */
    FBP_MAX_LANES = 16         /**< greatest number of lanes of a vector of floats */
};

struct fbp_line_dsp {
    /** Returns the greatest |x[i]|, i < n; 0 for n = 0. */
    float (*peak)(const float *x, size_t n);
    /** out[i] = x[i] a[i] b[i], i < n. */
    void (*weigh)(const float *x, const float *a, const float *b, size_t n, float *out);
    /** Transposes: out[c stride + r] = in[r n_columns + c], r < n_rows, c < n_columns. */
    void (*transpose)(const float *in, size_t n_rows, size_t n_columns, float *out, size_t stride);
    /**
     * Convolves `lanes` interleaved lines x[n][lanes] with a kernel of 2 S + 1 taps; lines are zero
     * beyond their ends:
     *
     *     out[c][l] = sum_i  centre[c - i]  x[i][l],    |c - i| <= S,  0 <= i < n
     *
     * (Okitsu et al. 2008, eq. 1).
     *
     * centre  tap 0; the FBP_CONVOLVE_COLUMNS taps beyond -S and +S must be readable and 0
     * S       at most n - 1
     */
    void (*convolve)(const float *x, const float *centre, size_t S, size_t n, float *out);
    size_t lanes; /**< lines that `convolve` processes together */
};

#if defined(VL) /* vectors */

/* Operations that the other simd_*.c define: V is a vector of VL floats, V*() are its
 * operations, and
 *
 *   VSTREAM(p, a)        store past the caches, p aligned; VFENCE() orders these stores
 *   zip(a, b, &lo, &hi)  lo = a0 b0 a1 b1 … from the first halves, hi from the second
 */

enum { LANES = VL, LINE = 16 /* floats of a cache line */ };

static float peak(const float *x, size_t n)
{
    V most = VSET1(0);
    float lane[VL], out = 0;
    size_t i = 0;

    for (; i + VL <= n; i += VL)
        most = VMAX(VABS(VLOAD(x + i)), most);
    VSTORE(lane, most);
    for (size_t l = 0; l < VL; l++)
        out = lane[l] > out ? lane[l] : out;
    for (; i < n; i++)
        out = fabsf(x[i]) > out ? fabsf(x[i]) : out;
    return out;
}

static void weigh(const float *x, const float *a, const float *b, size_t n, float *out)
{
    size_t i = 0;

    for (; i + VL <= n; i += VL)
        VSTORE(out + i, VMUL(VMUL(VLOAD(x + i), VLOAD(a + i)), VLOAD(b + i)));
    for (; i < n; i++)
        out[i] = x[i] * a[i] * b[i];
}

/* Transpose a square of VL x VL floats. Interleaving (zip) the halves of the vectors rotates the
 * bits of an element's index by one; log2(VL) rotations exchange row and column. */
static inline void transpose_square(const float *in, size_t in_stride, V a[VL])
{
    UNROLL
    for (size_t i = 0; i < VL; i++)
        a[i] = VLOAD(in + i * in_stride);
    UNROLL
    for (size_t step = 1; step < VL; step *= 2) {
        V b[VL];
        UNROLL
        for (size_t i = 0; i < VL / 2; i++)
            zip(a[i], a[i + VL / 2], &b[2 * i], &b[2 * i + 1]);
        UNROLL
        for (size_t i = 0; i < VL; i++)
            a[i] = b[i];
    }
}

/* Transpose. Aligned output bypasses the caches, which are smaller than a batch of views: its cache
 * lines need not be read before they are written. */
static void transpose(const float *in, size_t n_rows, size_t n_columns, float *out, size_t stride)
{
    const size_t rows = n_rows / LINE * LINE, columns = n_columns / VL * VL;
    const bool aligned = (uintptr_t)out % (LINE * sizeof *out) == 0 && stride % LINE == 0;

    for (size_t c = 0; c < columns; c += VL)
        for (size_t r = 0; r < rows; r += LINE) {
            float *to = out + c * stride + r;
            V a[LINE / VL][VL];
            UNROLL
            for (size_t h = 0; h < LINE / VL; h++)
                transpose_square(in + (r + h * VL) * n_columns + c, n_columns, a[h]);
            UNROLL
            for (size_t i = 0; i < VL; i++) {
                UNROLL
                for (size_t h = 0; h < LINE / VL; h++)
                    if (aligned)
                        VSTREAM(to + i * stride + h * VL, a[h][i]);
                    else
                        VSTORE(to + i * stride + h * VL, a[h][i]);
            }
        }
    for (size_t c = 0; c < n_columns; c++)
        for (size_t r = c < columns ? rows : 0; r < n_rows; r++)
            out[c * stride + r] = in[r * n_columns + c];
    /* stores that bypassed the caches become visible to other threads before all later stores */
    VFENCE();
}

/* Convolve FBP_CONVOLVE_COLUMNS output columns at a time: each load of an input sample serves all
 * of them, and arithmetic, not memory, limits the speed. */
static void convolve(const float *x, const float *centre, size_t S, size_t n, float *out)
{
    for (size_t c = 0; c < n; c += FBP_CONVOLVE_COLUMNS) {
        const size_t last = c + FBP_CONVOLVE_COLUMNS - 1;
        const size_t lo = c > S ? c - S : 0, end = last + S < n ? last + S + 1 : n;
        const float *k = centre + c - lo;
        V sum[FBP_CONVOLVE_COLUMNS];
        UNROLL
        for (size_t j = 0; j < FBP_CONVOLVE_COLUMNS; j++)
            sum[j] = VSET1(0);
        for (size_t i = lo; i < end; i++, k--) {
            const V at = VLOAD(x + i * VL);
            /* Without this statement, gcc keeps filter taps in registers for the next iteration,
             * but there are too few registers. */
            __asm__("" : "+r"(k));
            UNROLL
            for (size_t j = 0; j < FBP_CONVOLVE_COLUMNS; j++)
                sum[j] = VFMA(VSET1(k[j]), at, sum[j]);
        }
        for (size_t j = 0; j < FBP_CONVOLVE_COLUMNS && c + j < n; j++)
            VSTORE(out + (c + j) * VL, sum[j]);
    }
}

#elif defined(SUFFIX) /* plain C */

static float peak(const float *x, size_t n)
{
    float most = 0;

    for (size_t i = 0; i < n; i++)
        most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
    return most;
}

static void weigh(const float *x, const float *a, const float *b, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] * a[i] * b[i];
}

static void transpose(const float *in, size_t n_rows, size_t n_columns, float *out, size_t stride)
{
    for (size_t c = 0; c < n_columns; c++)
        for (size_t r = 0; r < n_rows; r++)
            out[c * stride + r] = in[r * n_columns + c];
}

enum { LANES = 4 };

static void convolve(const float *x, const float *centre, size_t S, size_t n, float *out)
{
    for (size_t c = 0; c < n; c++) {
        const size_t lo = c > S ? c - S : 0, end = c + S < n ? c + S + 1 : n;
        const float *k = centre + c;
        float sum[LANES] = {0};
        for (size_t i = lo; i < end; i++)
            for (size_t l = 0; l < LANES; l++)
                sum[l] += k[-(ptrdiff_t)i] * x[i * LANES + l];
        for (size_t l = 0; l < LANES; l++)
            out[c * LANES + l] = sum[l];
    }
}

#endif

#endif /* FBP_SRC_CPU_LINE_LOOPS_H */
