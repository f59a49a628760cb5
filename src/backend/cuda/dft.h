/** @file dft.h  Short Fourier transforms in registers, for the row filter (internal; CUDA C++).
 *
 * X[k] = sum_n x[n] exp(-2 pi i n k / R), in place; x and X are in natural order.  All loops are
 * unrolled: arrays become registers, indices and factors become constants.  For the inverse, the
 * caller exchanges the real and imaginary parts before and after the same transform.
 * Used by: chain.cu.
 */
#ifndef FBP_SRC_CUDA_DFT_H
#define FBP_SRC_CUDA_DFT_H

/** Tables of cos and sin(2 pi k / N), k = 0 … N - 1, at compile time; 0, 1, -1 are exact. */
template <int N> struct cuda_turns {
    float cos[N] = {}, sin[N] = {};

    constexpr cuda_turns()
    {
        for (int k = 0; k < N; k++) {
            const int quarters = (8 * k / N + 1) / 2;
            const double x = 6.283185307179586476925 * (4 * k - quarters * N) / (4.0 * N);
            double c = 0, s = 0, term = 1;
            for (int i = 0; i < 10; i++) { /* Taylor series, |x| <= pi/4 */
                c += term;
                term *= x / (2 * i + 1);
                s += term;
                term *= -x / (2 * i + 2);
            }
            const double rotated[4][2] = {{c, s}, {-s, c}, {-c, -s}, {s, -c}};
            cos[k] = (float)rotated[quarters % 4][0];
            sin[k] = (float)rotated[quarters % 4][1];
        }
    }
};

static __device__ __forceinline__ float2 operator+(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

static __device__ __forceinline__ float2 operator-(float2 a, float2 b)
{
    return make_float2(a.x - b.x, a.y - b.y);
}

static __device__ __forceinline__ float2 cuda_times(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/** Returns a exp(-2 pi i k / N); the compiler knows k and N after it has unrolled loops. */
template <int N> static __device__ __forceinline__ float2 cuda_turned(float2 a, int k)
{
    constexpr cuda_turns<N> t;

    if (4 * k % N == 0) /* quarter turns, clockwise */
        return 4 * k / N % 4 == 0   ? a
               : 4 * k / N % 4 == 1 ? make_float2(a.y, -a.x)
               : 4 * k / N % 4 == 2 ? make_float2(-a.x, -a.y)
                                    : make_float2(-a.y, a.x);
    return cuda_times(a, make_float2(t.cos[k], -t.sin[k]));
}

template <int R> static __device__ __forceinline__ void cuda_dft(float2 (&x)[R]);

template <> __device__ __forceinline__ void cuda_dft<1>(float2 (&)[1])
{
}

template <> __device__ __forceinline__ void cuda_dft<2>(float2 (&x)[2])
{
    const float2 a = x[0];
    x[0] = a + x[1];
    x[1] = a - x[1];
}

template <> __device__ __forceinline__ void cuda_dft<3>(float2 (&x)[3])
{
    constexpr cuda_turns<3> t;
    const float2 sum = x[1] + x[2], d = x[1] - x[2];
    const float2 a = make_float2(fmaf(t.cos[1], sum.x, x[0].x), fmaf(t.cos[1], sum.y, x[0].y));
    const float2 b = make_float2(t.sin[1] * d.y, -t.sin[1] * d.x);

    x[0] = x[0] + sum;
    x[1] = a + b;
    x[2] = a - b;
}

template <> __device__ __forceinline__ void cuda_dft<4>(float2 (&x)[4])
{
    const float2 a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3];
    const float2 d = cuda_turned<4>(x[1] - x[3], 1);

    x[0] = a + c;
    x[1] = b + d;
    x[2] = a - c;
    x[3] = b - d;
}

template <> __device__ __forceinline__ void cuda_dft<5>(float2 (&x)[5])
{
    constexpr cuda_turns<5> t;
    const float2 s1 = x[1] + x[4], d1 = x[1] - x[4], s2 = x[2] + x[3], d2 = x[2] - x[3];
    const float c1 = t.cos[1], c2 = t.cos[2], n1 = t.sin[1], n2 = t.sin[2];
    const float2 a1 =
        make_float2(fmaf(c1, s1.x, fmaf(c2, s2.x, x[0].x)), fmaf(c1, s1.y, fmaf(c2, s2.y, x[0].y)));
    const float2 a2 =
        make_float2(fmaf(c2, s1.x, fmaf(c1, s2.x, x[0].x)), fmaf(c2, s1.y, fmaf(c1, s2.y, x[0].y)));
    const float2 b1 = make_float2(fmaf(n1, d1.y, n2 * d2.y), -fmaf(n1, d1.x, n2 * d2.x));
    const float2 b2 = make_float2(fmaf(n2, d1.y, -n1 * d2.y), -fmaf(n2, d1.x, -n1 * d2.x));

    x[0] = x[0] + s1 + s2;
    x[1] = a1 + b1;
    x[2] = a2 + b2;
    x[3] = a2 - b2;
    x[4] = a1 - b1;
}

/** Transform P Q values: Q transforms of P points, twiddles, then P of Q (Cooley, Tukey 1965). */
template <int P, int Q> static __device__ __forceinline__ void cuda_dft_product(float2 (&x)[P * Q])
{
    float2 y[P][Q];

#pragma unroll
    for (int n = 0; n < Q; n++) {
        float2 part[P];
#pragma unroll
        for (int i = 0; i < P; i++)
            part[i] = x[Q * i + n];
        cuda_dft<P>(part);
#pragma unroll
        for (int k = 0; k < P; k++)
            y[k][n] = cuda_turned<P * Q>(part[k], n * k);
    }
#pragma unroll
    for (int k = 0; k < P; k++) {
        cuda_dft<Q>(y[k]);
#pragma unroll
        for (int i = 0; i < Q; i++)
            x[k + P * i] = y[k][i];
    }
}

template <int R> static __device__ __forceinline__ void cuda_dft(float2 (&x)[R])
{
    if constexpr (R % 4 == 0)
        cuda_dft_product<4, R / 4>(x);
    else if constexpr (R % 2 == 0)
        cuda_dft_product<2, R / 2>(x);
    else
        cuda_dft_product<3, R / 3>(x);
}

/** Transform R values, of which in[] contains the first half, and the second half is zero. */
template <int R>
static __device__ __forceinline__ void cuda_dft_padded(const float2 (&in)[R / 2], float2 (&out)[R])
{
    float2 even[R / 2], odd[R / 2];

#pragma unroll
    for (int n = 0; n < R / 2; n++) {
        even[n] = in[n];
        odd[n] = cuda_turned<R>(in[n], n);
    }
    cuda_dft<R / 2>(even);
    cuda_dft<R / 2>(odd);
#pragma unroll
    for (int k = 0; k < R / 2; k++) {
        out[2 * k] = even[k];
        out[2 * k + 1] = odd[k];
    }
}

/** Compute the first half, X[0] … X[R/2 - 1], of a transform of R values. */
template <int R>
static __device__ __forceinline__ void cuda_dft_cropped(const float2 (&in)[R], float2 (&out)[R / 2])
{
    float2 odd[R / 2];

#pragma unroll
    for (int n = 0; n < R / 2; n++) {
        out[n] = in[2 * n];
        odd[n] = in[2 * n + 1];
    }
    cuda_dft<R / 2>(out);
    cuda_dft<R / 2>(odd);
#pragma unroll
    for (int k = 0; k < R / 2; k++)
        out[k] = out[k] + cuda_turned<R>(odd[k], k);
}

#endif /* FBP_SRC_CUDA_DFT_H */
