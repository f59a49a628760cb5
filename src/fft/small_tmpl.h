/*
 * Template of small in-place Fourier transforms, of 2, 3, 4, 5 or 8 points, of which longer
 * transforms consist.  Parameters:
 *
 *   V, S                type of the points: vectors, or numbers; type of numbers
 *   VSET1(a)            a in all lanes
 *   VFMA(a, b, c)       a b + c, and VFNMA(a, b, c) c - a b
 *
 * The inverse transform is the same one for numbers with real and imaginary parts exchanged.
 * Used by: abreast_tmpl.h, fft.c, lanes_tmpl.h.
 */

#define INLINE static inline __attribute__((always_inline))
/* Unroll a loop, so that arrays of vectors are kept in registers. */
#define UNROLL _Pragma("GCC unroll 16")

/* Multiply the complex number (re, im) by (w[0], w[1]). */
INLINE void turn(V *re, V *im, const S *w)
{
    const V a = VSET1(w[0]), b = VSET1(w[1]), x = *re;

    *re = VFNMA(*im, b, x * a);
    *im = VFMA(x, b, *im * a);
}

INLINE void turn_all(size_t radix, const S *w, V *re, V *im)
{
    UNROLL
    for (size_t k = 1; k < radix; k++)
        turn(re + k, im + k, w + 2 * (k - 1));
}

INLINE void dft2(V *re, V *im)
{
    const V r = re[0] - re[1], i = im[0] - im[1];

    re[0] = re[0] + re[1];
    im[0] = im[0] + im[1];
    re[1] = r;
    im[1] = i;
}

INLINE void dft3(V *re, V *im)
{
    const V half = VSET1(.5), sine = VSET1(0.86602540378443864676);
    const V sr = re[1] + re[2], si = im[1] + im[2];
    const V dr = sine * (re[1] - re[2]), di = sine * (im[1] - im[2]);
    const V mr = VFNMA(half, sr, re[0]), mi = VFNMA(half, si, im[0]);

    re[0] = re[0] + sr;
    im[0] = im[0] + si;
    re[1] = mr + di;
    im[1] = mi - dr;
    re[2] = mr - di;
    im[2] = mi + dr;
}

INLINE void dft4(V *re, V *im)
{
    const V ar = re[0] + re[2], ai = im[0] + im[2], br = re[0] - re[2], bi = im[0] - im[2];
    const V cr = re[1] + re[3], ci = im[1] + im[3], dr = re[1] - re[3], di = im[1] - im[3];

    re[0] = ar + cr;
    im[0] = ai + ci;
    re[1] = br + di;
    im[1] = bi - dr;
    re[2] = ar - cr;
    im[2] = ai - ci;
    re[3] = br - di;
    im[3] = bi + dr;
}

INLINE void dft5(V *re, V *im)
{
    const V c1 = VSET1(0.30901699437494742410), c2 = VSET1(-0.80901699437494742410);
    const V s1 = VSET1(0.95105651629515357212), s2 = VSET1(0.58778525229247312917);
    const V ar = re[1] + re[4], ai = im[1] + im[4], dr = re[1] - re[4], di = im[1] - im[4];
    const V br = re[2] + re[3], bi = im[2] + im[3], er = re[2] - re[3], ei = im[2] - im[3];
    const V pr = VFMA(c2, br, VFMA(c1, ar, re[0])), pi = VFMA(c2, bi, VFMA(c1, ai, im[0]));
    const V qr = VFMA(c1, br, VFMA(c2, ar, re[0])), qi = VFMA(c1, bi, VFMA(c2, ai, im[0]));
    const V ur = VFMA(s2, er, s1 * dr), ui = VFMA(s2, ei, s1 * di);
    const V vr = VFNMA(s1, er, s2 * dr), vi = VFNMA(s1, ei, s2 * di);

    re[0] = re[0] + ar + br;
    im[0] = im[0] + ai + bi;
    re[1] = pr + ui;
    im[1] = pi - ur;
    re[2] = qr + vi;
    im[2] = qi - vr;
    re[3] = qr - vi;
    im[3] = qi + vr;
    re[4] = pr - ui;
    im[4] = pi + ur;
}

/* Transform 8 points: join the transforms of the points with even and with odd indices. */
INLINE void dft8(V *re, V *im)
{
    const V h = VSET1(0.70710678118654752440);
    V er[4] = {re[0], re[2], re[4], re[6]}, ei[4] = {im[0], im[2], im[4], im[6]};
    V or [4] = {re[1], re[3], re[5], re[7]}, oi[4] = {im[1], im[3], im[5], im[7]};

    dft4(er, ei);
    dft4(or, oi);
    const V r1 = h * (or [1] + oi[1]), i1 = h * (oi[1] - or [1]);
    const V r3 = h * (oi[3] - or [3]), i3 = h * (-oi[3] - or [3]);
    const V tr[4] = { or [0], r1, oi[2], r3}, ti[4] = {oi[0], i1, - or [2], i3};
    UNROLL
    for (size_t k = 0; k < 4; k++) {
        re[k] = er[k] + tr[k];
        im[k] = ei[k] + ti[k];
        re[k + 4] = er[k] - tr[k];
        im[k + 4] = ei[k] - ti[k];
    }
}

INLINE void dft(size_t radix, V *re, V *im)
{
    if (radix == 2)
        dft2(re, im);
    else if (radix == 3)
        dft3(re, im);
    else if (radix == 4)
        dft4(re, im);
    else if (radix == 5)
        dft5(re, im);
    else if (radix == 8)
        dft8(re, im);
}
