/* Fourier transforms of rows in double, of any length (fbp_fft_complex(), fbp_fft_real()). A
 * length with a prime factor greater than 5 becomes a convolution with a chirp (Bluestein 1970),
 * all others are transformed by mixed radices (Stockham; Van Loan 1992). A real row of even length
 * is transformed as a complex row of half the length.
 * Used by: bench/fft/, backend/cpu/, filter/, prep/. */
#include "fft/fft.h"

#include "base/math.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* Parameters of small_tmpl.h: a "vector" is one double here, for one row at a time. */
typedef double V;

#define S              double
#define VSET1(a)       (a)
#define VFMA(a, b, c)  ((a) * (b) + (c))
#define VFNMA(a, b, c) ((c) - (a) * (b))

#include "fft/small_tmpl.h"

enum { MOST = 5 };

static const char WHAT[] = "the plan of a transform";

/* One level of Stockham's transform from x to out; after all levels the frequencies are sorted (Van
 * Loan, Computational Frameworks for the FFT, 1992, 1.7).  Blocks have radix * m points, and `side`
 * blocks are interleaved; w: twiddle factors. */
INLINE void level(size_t radix, size_t m, size_t side, const double *w, const double *x,
                  double *out)
{
    for (size_t p = 0; p < m; p++, w += 2 * (radix - 1))
        for (size_t q = 0; q < side; q++) {
            const double *from = x + 2 * (side * p + q);
            double *to = out + 2 * (side * radix * p + q);
            V re[MOST], im[MOST];
            UNROLL
            for (size_t k = 0; k < radix; k++) {
                re[k] = from[2 * side * m * k];
                im[k] = from[2 * side * m * k + 1];
            }
            dft(radix, re, im);
            turn_all(radix, w, re, im);
            UNROLL
            for (size_t k = 0; k < radix; k++) {
                to[2 * side * k] = re[k];
                to[2 * side * k + 1] = im[k];
            }
        }
}

/* Transform the complex row x, [n][2], in place by mixed radices; work: as large as x. */
static void run_mixed(const struct fbp_mixed *f, double *x, double *work)
{
    const double *w = f->turns, *from = x;
    double *to = work;
    size_t side = 1;

    for (unsigned i = 0; i < f->n_levels; i++) {
        const size_t radix = f->radix[i], m = f->n / side / radix;
        if (radix == 4)
            level(4, m, side, w, from, to);
        else if (radix == 2)
            level(2, m, side, w, from, to);
        else if (radix == 3)
            level(3, m, side, w, from, to);
        else
            level(5, m, side, w, from, to);
        w += 2 * (radix - 1) * m;
        side *= radix;
        from = to;
        to = to == work ? x : work;
    }
    if (from != x)
        memcpy(x, from, 2 * f->n * sizeof *x);
}

void fbp_mixed_order(const struct fbp_mixed *f, size_t *frequency)
{
    for (size_t i = 0; i < f->n; i++) { /* frequency[i]: the digits of i, in the mixed radices, in
                                           reverse order */
        size_t m = f->n, times = 1, at = i;
        frequency[i] = 0;
        for (unsigned l = 0; l < f->n_levels; l++) {
            m /= f->radix[l];
            frequency[i] += times * (at / m);
            at %= m;
            times *= f->radix[l];
        }
    }
}

fbp_status fbp_mixed_open(struct fbp_mixed *f, size_t n)
{
    static const size_t radices[] = {4, 2, 5, 3};
    size_t left = n;

    *f = (struct fbp_mixed){.n = n};
    for (unsigned i = 0; i < 4; i++)
        for (; left % radices[i] == 0; left /= radices[i])
            f->radix[f->n_levels++] = radices[i];
    if (left != 1)
        return FBP_ERR_UNSUPPORTED;
    /* a level of blocks of p points has p - p / radix twiddle factors, which its blocks share; all
     * levels together have n - 1 */
    FBP_TRY(fbp_alloc((void **)&f->turns, 2 * n * sizeof(double), WHAT));
    double *out = f->turns;
    size_t points = n;
    for (unsigned i = 0; i < f->n_levels; points /= f->radix[i++])
        for (size_t p = 0; p < points / f->radix[i]; p++)
            for (size_t k = 1; k < f->radix[i]; k++) {
                const double angle = 2 * FBP_PI * (double)(p * k % points) / (double)points;
                *out++ = cos(angle);
                *out++ = -sin(angle);
            }
    return FBP_OK;
}

void fbp_mixed_close(struct fbp_mixed *f)
{
    fbp_free(f->turns);
    f->turns = NULL;
}

struct fbp_fft {
    size_t n;
    size_t points; /* length of the complex transform: n, or n/2 for real rows of even length */
    struct fbp_mixed mixed; /* plan for `points` points, or for a longer convolution */
    double *chirp;          /* chirp of a convolution, [points][2]; NULL: the transform is no
                               convolution */
    double *response;       /* response of the convolution, [mixed.n][2] */
    double *turns; /* real rows of even length: twiddle factors exp(-2 pi i k / n), [n/4 + 1][2];
                      else NULL */
};

/* True if n > 0 has no prime factor greater than 5. */
static bool is_mixed(size_t n)
{
    for (size_t p = 2; p <= 5; p++)
        while (n % p == 0)
            n /= p;
    return n == 1;
}

size_t fbp_fft_length(size_t n)
{
    for (size_t length = n + (n & 1); length && length <= SIZE_MAX / 16; length += 2)
        if (is_mixed(length))
            return length;
    return 0;
}

size_t fbp_fft_work(size_t n)
{
    return 2 * n + (is_mixed(n) ? 2 * n : 4 * fbp_fft_length(2 * n));
}

static void swap_parts(double *z, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double re = z[2 * i];
        z[2 * i] = z[2 * i + 1];
        z[2 * i + 1] = re;
    }
}

/* Compute the complex transform of x in place.  With a chirp c(j) = exp(-pi i j^2 / n), it is a
 * convolution: X(k) = c(k) sum_j (x(j) c(j)) conj c(k - j). */
static void run(const struct fbp_fft *f, double *x, double *work)
{
    const size_t m = f->mixed.n;
    double *z = work;

    if (!f->chirp) {
        run_mixed(&f->mixed, x, work);
        return;
    }
    memset(z, 0, 2 * m * sizeof *z);
    memcpy(z, x, 2 * f->points * sizeof *z);
    for (size_t i = 0; i < f->points; i++)
        turn(z + 2 * i, z + 2 * i + 1, f->chirp + 2 * i);
    run_mixed(&f->mixed, z, work + 2 * m);
    for (size_t i = 0; i < m; i++)
        turn(z + 2 * i, z + 2 * i + 1, f->response + 2 * i);
    swap_parts(z, m);
    run_mixed(&f->mixed, z, work + 2 * m);
    swap_parts(z, m);
    memcpy(x, z, 2 * f->points * sizeof *z);
    for (size_t i = 0; i < f->points; i++)
        turn(x + 2 * i, x + 2 * i + 1, f->chirp + 2 * i);
}

static void run_back(const struct fbp_fft *f, double *x, double *work)
{
    swap_parts(x, f->points);
    run(f, x, work);
    swap_parts(x, f->points);
}

static fbp_status open_plan(struct fbp_fft **out, size_t n, bool halves)
{
    const size_t points = halves ? n / 2 : n;
    const size_t m = is_mixed(points) ? points : fbp_fft_length(2 * points); /* convolution */
    struct fbp_fft *f = NULL;
    double *work = NULL;
    fbp_status st;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&f, 1, sizeof *f, WHAT));
    f->n = n;
    f->points = points;
    FBP_TRY_GOTO(fbp_mixed_open(&f->mixed, m));
    if (m != points) { /* response of the convolution: spectrum of the conjugate chirp with period
                          m, times 1/m */
        size_t square = 0; /* j^2 modulo 2 n keeps the angle exact */
        FBP_TRY_GOTO(fbp_alloc((void **)&f->chirp, 2 * points * sizeof *f->chirp, WHAT));
        FBP_TRY_GOTO(fbp_alloc((void **)&f->response, 2 * m * sizeof *f->response, WHAT));
        FBP_TRY_GOTO(fbp_alloc((void **)&work, 2 * m * sizeof *work, WHAT));
        memset(f->response, 0, 2 * m * sizeof *f->response);
        for (size_t j = 0; j < points; j++) {
            const double angle = FBP_PI * (double)square / (double)points;
            double *ahead = f->response + 2 * j, *behind = f->response + 2 * ((m - j) % m);
            f->chirp[2 * j] = cos(angle);
            f->chirp[2 * j + 1] = -sin(angle);
            ahead[0] = behind[0] = f->chirp[2 * j] / (double)m;
            ahead[1] = behind[1] = -f->chirp[2 * j + 1] / (double)m;
            square = (square + 2 * j + 1) % (2 * points);
        }
        run_mixed(&f->mixed, f->response, work);
        fbp_free(work);
    }
    if (halves) {
        FBP_TRY_GOTO(fbp_alloc((void **)&f->turns, 2 * (n / 4 + 1) * sizeof *f->turns, WHAT));
        for (size_t k = 0; k <= n / 4; k++) {
            const double angle = 2 * FBP_PI * (double)k / (double)n;
            f->turns[2 * k] = cos(angle);
            f->turns[2 * k + 1] = -sin(angle);
        }
    }
    *out = f;
    return FBP_OK;
fail:
    fbp_fft_close(&f);
    return st;
}

fbp_status fbp_fft_open_complex(struct fbp_fft **out, size_t n)
{
    return open_plan(out, n, false);
}

fbp_status fbp_fft_open_real(struct fbp_fft **out, size_t n)
{
    return open_plan(out, n, n % 2 == 0);
}

void fbp_fft_close(struct fbp_fft **fft)
{
    struct fbp_fft *f = *fft;

    *fft = NULL;
    if (!f)
        return;
    fbp_mixed_close(&f->mixed);
    fbp_free(f->chirp);
    fbp_free(f->response);
    fbp_free(f->turns);
    free(f);
}

void fbp_fft_complex(const struct fbp_fft *f, double complex *row, double *work)
{
    run(f, (double *)row, work);
}

/*
 * Compute the transform X of a real row x of even length n from the transform Z of the complex row
 * z(j) = x(2j) + i x(2j + 1), for k = 0 … h = n/2:
 *
 *     2 X(k) = (Z(k) + conj Z(h - k)) - i t(k) (Z(k) - conj Z(h - k)),   t(k) = exp(-2 pi i k / n)
 *
 * or, if `back` is true, Z from X (times 2), with + i conj t(k) in place of - i t(k).  This is done
 * in place, for k and h - k at a time, because t(h - k) is -conj t(k); w is the factor -i t(k) or i
 * conj t(k).  The caller computes k = 0 and h.
 */
static void exchange(const struct fbp_fft *f, double *z, bool back)
{
    const size_t h = f->n / 2;
    const double scale = back ? 1 : .5;

    for (size_t k = 1; k <= h / 2; k++) {
        const double *t = f->turns + 2 * k, w[2] = {t[1], back ? t[0] : -t[0]};
        double twice[2] = {z[2 * k], z[2 * k + 1]}; /* the number in the middle */
        double *a = z + 2 * k, *b = 2 * k == h ? twice : z + 2 * (h - k);
        const double er = a[0] + b[0], ei = a[1] - b[1];
        double dr = a[0] - b[0], di = a[1] + b[1];
        turn(&dr, &di, w);
        a[0] = scale * (er + dr);
        a[1] = scale * (ei + di);
        b[0] = scale * (er - dr);
        b[1] = scale * (di - ei);
    }
}

void fbp_fft_real(const struct fbp_fft *f, double *row, double complex *spectrum, double *work)
{
    const size_t n = f->n;
    double *z = (double *)spectrum;

    if (!f->turns) { /* a row of odd length is transformed as a complex row */
        for (size_t i = 0; i < n; i++) {
            work[2 * i] = row[i];
            work[2 * i + 1] = 0;
        }
        run(f, work, work + 2 * n);
        memcpy(z, work, 2 * (n / 2 + 1) * sizeof *z);
        return;
    }
    memcpy(z, row, n * sizeof *row);
    run(f, z, work);
    const double re = z[0], im = z[1];
    exchange(f, z, false);
    z[0] = re + im;
    z[n] = re - im;
    z[1] = z[n + 1] = 0;
}

void fbp_fft_real_back(const struct fbp_fft *f, double complex *spectrum, double *row, double *work)
{
    const size_t n = f->n;
    double *z = (double *)spectrum;

    if (!f->turns) {
        memcpy(work, z, 2 * (n / 2 + 1) * sizeof *z);
        work[1] = 0;
        for (size_t i = 1; i <= n / 2; i++) {
            work[2 * (n - i)] = work[2 * i];
            work[2 * (n - i) + 1] = -work[2 * i + 1];
        }
        run_back(f, work, work + 2 * n);
        for (size_t i = 0; i < n; i++)
            row[i] = work[2 * i];
        return;
    }
    const double first = z[0], last = z[n];
    exchange(f, z, true);
    z[0] = first + last;
    z[1] = first - last;
    run_back(f, z, work);
    memcpy(row, z, n * sizeof *row);
}

fbp_status fbp_fft_even(double *values, size_t n)
{
    const size_t period = 2 * (n - 1);
    double *row = NULL, *work = NULL;
    double complex *spectrum = NULL;
    struct fbp_fft *fft = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_fft_open_real(&fft, period));
    FBP_TRY_GOTO(fbp_alloc((void **)&row, period * sizeof *row, "the filter"));
    FBP_TRY_GOTO(fbp_alloc((void **)&spectrum, n * sizeof *spectrum, "the filter"));
    FBP_TRY_GOTO(fbp_alloc((void **)&work, fbp_fft_work(period) * sizeof *work, "the filter"));
    memcpy(row, values, n * sizeof *values);
    for (size_t i = n; i < period; i++)
        row[i] = values[period - i];
    fbp_fft_real(fft, row, spectrum, work);
    for (size_t i = 0; i < n; i++)
        values[i] = creal(spectrum[i]);
fail:
    fbp_fft_close(&fft);
    fbp_free(row);
    fbp_free(spectrum);
    fbp_free(work);
    return st;
}
