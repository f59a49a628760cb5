/*
 * Template for the vector loops over detector rows.  Parameters:
 *
 *   VL            floats per vector
 *   V             float vector type, plus the V* operations
 *   VABS(a)       |a|
 *   VSTREAM(p, a) store past the caches, p aligned
 *   VZIP(a, b, lo, hi)      lo = a0 b0 a1 b1 …, hi the rest
 *   TABLE         name of the dispatch table
 *
 * Included once per ISA file; line.c is the specification.
 */

enum { LINE = 16 }; /* floats of a cache line */

/* Arrays of vectors must end in registers. */
#define UNROLL _Pragma("GCC unroll 16")

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

/* A square: zipping the first half of the vectors with the second turns the index of an element by
 * one bit, and log2(VL) turns exchange row and column. */
static inline void transpose_square(const float *in, size_t in_stride, V a[VL])
{
    UNROLL
    for (size_t i = 0; i < VL; i++)
        a[i] = VLOAD(in + i * in_stride);
    UNROLL
    for (size_t turn = 1; turn < VL; turn *= 2) {
        V b[VL];
        UNROLL
        for (size_t i = 0; i < VL / 2; i++)
            VZIP(a[i], a[i + VL / 2], b[2 * i], b[2 * i + 1]);
        UNROLL
        for (size_t i = 0; i < VL; i++)
            a[i] = b[i];
    }
}

/* VL columns of LINE rows.  Whole cache lines bypass the caches: a batch of views is larger than
 * they are, and a line need not be read before it is overwritten. */
static inline void transpose_lines(const float *in, size_t in_stride, float *out, size_t stride,
                                   bool aligned)
{
    V a[LINE / VL][VL];

    UNROLL
    for (size_t h = 0; h < LINE / VL; h++)
        transpose_square(in + h * VL * in_stride, in_stride, a[h]);
    UNROLL
    for (size_t i = 0; i < VL; i++) {
        UNROLL
        for (size_t h = 0; h < LINE / VL; h++)
            if (aligned)
                VSTREAM(out + i * stride + h * VL, a[h][i]);
            else
                VSTORE(out + i * stride + h * VL, a[h][i]);
    }
}

static void transpose(const float *in, size_t n_rows, size_t n_columns, float *out, size_t stride)
{
    const size_t rows = n_rows / LINE * LINE, columns = n_columns / VL * VL;
    const bool aligned = (uintptr_t)out % (LINE * sizeof *out) == 0 && stride % LINE == 0;

    for (size_t c = 0; c < columns; c += VL)
        for (size_t r = 0; r < rows; r += LINE)
            transpose_lines(in + r * n_columns + c, n_columns, out + c * stride + r, stride,
                            aligned);
    for (size_t c = 0; c < n_columns; c++)
        for (size_t r = c < columns ? rows : 0; r < n_rows; r++)
            out[c * stride + r] = in[r * n_columns + c];
    _mm_sfence(); /* other threads will read what bypassed the caches */
}

/* Outputs [c, c + FBP_CONVOLVE_COLUMNS): one load of x and a broadcast tap each, so that products
 * and sums bind. */
static inline void outputs(const float *x, const float *centre, size_t S, size_t n, size_t c,
                           V sum[FBP_CONVOLVE_COLUMNS])
{
    const size_t last = c + FBP_CONVOLVE_COLUMNS - 1;
    const size_t lo = c > S ? c - S : 0, end = last + S < n ? last + S + 1 : n;
    const float *k = centre + c - lo;

    UNROLL
    for (size_t j = 0; j < FBP_CONVOLVE_COLUMNS; j++)
        sum[j] = VSET1(0);
    for (size_t i = lo; i < end; i++, k--) {
        const V at = VLOAD(x + i * VL);
        /* gcc would carry taps over from i to i + 1, in registers that there are not. */
        __asm__("" : "+r"(k));
        UNROLL
        for (size_t j = 0; j < FBP_CONVOLVE_COLUMNS; j++)
            sum[j] = VFMA(VSET1(k[j]), at, sum[j]);
    }
}

static void convolve(const float *x, const float *centre, size_t S, size_t n, float *out)
{
    for (size_t c = 0; c < n; c += FBP_CONVOLVE_COLUMNS) {
        V sum[FBP_CONVOLVE_COLUMNS];
        outputs(x, centre, S, n, c, sum);
        for (size_t j = 0; j < FBP_CONVOLVE_COLUMNS && c + j < n; j++)
            VSTORE(out + (c + j) * VL, sum[j]);
    }
}

const struct fbp_line_dsp TABLE = {
    peak, weigh, transpose, convolve, VL,
};
