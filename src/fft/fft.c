/* Fourier transforms of rows in double, of any length.  A length with a prime factor greater than 5
 * becomes a convolution with a chirp (Bluestein 1970).  A real row of even length is transformed as
 * a complex row of half the length. */
#include "fft/fft.h"

#include "base/mem.h"
#include "base/vec.h"
#include "fft/mixed.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A complex transform of n points, by mixed radices or by a convolution of mixed.n points. */
struct core {
    size_t n;
    struct fbp_mixed mixed;
    double *chirp;    /* [n][2]; NULL: no convolution */
    double *response; /* [mixed.n][2] */
};

struct fbp_fft {
    size_t n;
    struct core core; /* n points; real rows of even length: n/2 points */
    double *turns;    /* real rows of even length: exp(-2 pi i k / n), [n/4 + 1][2]; else NULL */
};

/* Has n > 0 no prime factor greater than 5? */
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

/* Points of the convolution, or n if none is needed. */
static size_t circle_of(size_t n)
{
    return is_mixed(n) ? n : fbp_fft_length(2 * n);
}

/* Doubles of scratch. */
static size_t core_work(size_t n)
{
    return is_mixed(n) ? 2 * n : 4 * circle_of(n);
}

static void times(double *z, const double *w)
{
    const double re = z[0] * w[0] - z[1] * w[1];

    z[1] = z[0] * w[1] + z[1] * w[0];
    z[0] = re;
}

static void swap_parts(double *z, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double re = z[2 * i];
        z[2 * i] = z[2 * i + 1];
        z[2 * i + 1] = re;
    }
}

/* X(k) = c(k) sum_j (x(j) c(j)) conj c(k - j),  c(j) = exp(-pi i j^2 / n). */
static void convolve(const struct core *c, double *x, double *work)
{
    const size_t m = c->mixed.n;
    double *z = work;

    memset(z, 0, 2 * m * sizeof *z);
    for (size_t i = 0; i < c->n; i++) {
        memcpy(z + 2 * i, x + 2 * i, 2 * sizeof *z);
        times(z + 2 * i, c->chirp + 2 * i);
    }
    fbp_mixed_run(&c->mixed, z, work + 2 * m);
    for (size_t i = 0; i < m; i++)
        times(z + 2 * i, c->response + 2 * i);
    swap_parts(z, m);
    fbp_mixed_run(&c->mixed, z, work + 2 * m);
    swap_parts(z, m);
    for (size_t i = 0; i < c->n; i++) {
        memcpy(x + 2 * i, z + 2 * i, 2 * sizeof *z);
        times(x + 2 * i, c->chirp + 2 * i);
    }
}

static void run(const struct core *c, double *x, double *work)
{
    if (c->chirp)
        convolve(c, x, work);
    else
        fbp_mixed_run(&c->mixed, x, work);
}

static void run_back(const struct core *c, double *x, double *work)
{
    swap_parts(x, c->n);
    run(c, x, work);
    swap_parts(x, c->n);
}

/* j^2 modulo 2 n keeps the angle exact. */
static void fill_chirp(struct core *c)
{
    size_t square = 0;

    for (size_t j = 0; j < c->n; j++) {
        const double angle = FBP_PI * (double)square / (double)c->n;
        c->chirp[2 * j] = cos(angle);
        c->chirp[2 * j + 1] = -sin(angle);
        square = (square + 2 * j + 1) % (2 * c->n);
    }
}

/* Spectrum of the conjugate chirp, repeated with period m, times 1/m. */
static fbp_status fill_response(struct core *c)
{
    const size_t m = c->mixed.n;
    double *work;

    FBP_TRY(fbp_alloc((void **)&work, 2 * m * sizeof *work, "the plan of a transform"));
    memset(c->response, 0, 2 * m * sizeof *c->response);
    for (size_t j = 0; j < c->n; j++) {
        double *ahead = c->response + 2 * j, *behind = c->response + 2 * ((m - j) % m);
        ahead[0] = behind[0] = c->chirp[2 * j] / (double)m;
        ahead[1] = behind[1] = -c->chirp[2 * j + 1] / (double)m;
    }
    fbp_mixed_run(&c->mixed, c->response, work);
    fbp_free(work);
    return FBP_OK;
}

static fbp_status open_core(struct core *c, size_t n)
{
    c->n = n;
    FBP_TRY(fbp_mixed_open(&c->mixed, circle_of(n)));
    if (c->mixed.n == n)
        return FBP_OK;
    FBP_TRY(fbp_alloc((void **)&c->chirp, 2 * n * sizeof *c->chirp, "the plan of a transform"));
    FBP_TRY(fbp_alloc((void **)&c->response, 2 * c->mixed.n * sizeof *c->response,
                      "the plan of a transform"));
    fill_chirp(c);
    return fill_response(c);
}

static fbp_status fill_turns(struct fbp_fft *b)
{
    const size_t last = b->n / 4;

    FBP_TRY(fbp_alloc((void **)&b->turns, 2 * (last + 1) * sizeof *b->turns,
                      "the plan of a transform"));
    for (size_t k = 0; k <= last; k++) {
        const double angle = 2 * FBP_PI * (double)k / (double)b->n;
        b->turns[2 * k] = cos(angle);
        b->turns[2 * k + 1] = -sin(angle);
    }
    return FBP_OK;
}

void fbp_fft_close(struct fbp_fft **fft)
{
    struct fbp_fft *b = *fft;

    *fft = NULL;
    if (!b)
        return;
    fbp_mixed_close(&b->core.mixed);
    fbp_free(b->core.chirp);
    fbp_free(b->core.response);
    fbp_free(b->turns);
    free(b);
}

static fbp_status open_plan(struct fbp_fft **out, size_t n, bool halves)
{
    struct fbp_fft *b = NULL;
    fbp_status st;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&b, 1, sizeof *b, "the plan of a transform"));
    b->n = n;
    FBP_TRY_GOTO(open_core(&b->core, halves ? n / 2 : n));
    if (halves)
        FBP_TRY_GOTO(fill_turns(b));
    *out = b;
    return FBP_OK;
fail:
    fbp_fft_close(&b);
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

size_t fbp_fft_work(size_t n)
{
    return 2 * n + core_work(n);
}

void fbp_fft_complex(const struct fbp_fft *fft, double complex *row, double *work)
{
    run(&fft->core, (double *)row, work);
}

/*
 * Between the transform Z of z(j) = x(2j) + i x(2j + 1) and that of x, k = 0 … n/2 = h:
 *
 *     2 X(k) = (Z(k) + conj Z(h - k)) - i t(k) (Z(k) - conj Z(h - k)),   t(k) = exp(-2 pi i k / n)
 *
 * and back with + i conj t(k).  In place, two numbers at a time, as t(h - k) is -conj t(k); turn is
 * -i t(k), or i conj t(k).
 */
static void exchange(double *a, double *b, const double turn[2], double scale)
{
    const double er = a[0] + b[0], ei = a[1] - b[1];
    double d[2] = {a[0] - b[0], a[1] + b[1]};

    times(d, turn);
    a[0] = scale * (er + d[0]);
    a[1] = scale * (ei + d[1]);
    b[0] = scale * (er - d[0]);
    b[1] = scale * (d[1] - ei);
}

static void exchange_all(const struct fbp_fft *b, double *z, bool back)
{
    const size_t h = b->n / 2;

    for (size_t k = 1; k <= h / 2; k++) {
        const double *t = b->turns + 2 * k;
        const double turn[2] = {t[1], back ? t[0] : -t[0]};
        double twice[2] = {z[2 * k], z[2 * k + 1]}; /* of the one in the middle */
        exchange(z + 2 * k, 2 * k == h ? twice : z + 2 * (h - k), turn, back ? 1 : .5);
    }
}

/* Real rows of odd length are complex ones. */
static void real_odd(const struct fbp_fft *b, const double *row, double *spectrum, double *work)
{
    for (size_t i = 0; i < b->n; i++) {
        work[2 * i] = row[i];
        work[2 * i + 1] = 0;
    }
    run(&b->core, work, work + 2 * b->n);
    memcpy(spectrum, work, 2 * (b->n / 2 + 1) * sizeof *spectrum);
}

static void real_odd_back(const struct fbp_fft *b, const double *spectrum, double *row,
                          double *work)
{
    memcpy(work, spectrum, 2 * (b->n / 2 + 1) * sizeof *spectrum);
    work[1] = 0;
    for (size_t i = 1; i <= b->n / 2; i++) {
        work[2 * (b->n - i)] = work[2 * i];
        work[2 * (b->n - i) + 1] = -work[2 * i + 1];
    }
    run_back(&b->core, work, work + 2 * b->n);
    for (size_t i = 0; i < b->n; i++)
        row[i] = work[2 * i];
}

void fbp_fft_real(const struct fbp_fft *b, double *row, double complex *spectrum, double *work)
{
    const size_t n = b->n;
    double *z = (double *)spectrum;

    if (!b->turns) {
        real_odd(b, row, z, work);
        return;
    }
    memcpy(z, row, n * sizeof *row);
    run(&b->core, z, work);
    const double re = z[0], im = z[1];
    exchange_all(b, z, false);
    z[0] = re + im;
    z[n] = re - im;
    z[1] = z[n + 1] = 0;
}

void fbp_fft_real_back(const struct fbp_fft *b, double complex *spectrum, double *row, double *work)
{
    const size_t n = b->n;
    double *z = (double *)spectrum;

    if (!b->turns) {
        real_odd_back(b, z, row, work);
        return;
    }
    const double first = z[0], last = z[n];
    exchange_all(b, z, true);
    z[0] = first + last;
    z[1] = first - last;
    run_back(&b->core, z, work);
    memcpy(row, z, n * sizeof *row);
}

struct even {
    struct fbp_fft *fft;
    double *row, *work;
    double complex *spectrum;
};

static fbp_status open_even(struct even *e, size_t n)
{
    const size_t period = 2 * (n - 1);

    FBP_TRY(fbp_fft_open_real(&e->fft, period));
    FBP_TRY(fbp_alloc((void **)&e->row, period * sizeof *e->row, "the filter"));
    FBP_TRY(fbp_alloc((void **)&e->spectrum, n * sizeof *e->spectrum, "the filter"));
    return fbp_alloc((void **)&e->work, fbp_fft_work(period) * sizeof *e->work, "the filter");
}

fbp_status fbp_fft_even(double *values, size_t n)
{
    struct even e = {0};
    const fbp_status st = open_even(&e, n);

    if (st == FBP_OK) {
        memcpy(e.row, values, n * sizeof *values);
        for (size_t i = n; i < 2 * (n - 1); i++)
            e.row[i] = values[2 * (n - 1) - i];
        fbp_fft_real(e.fft, e.row, e.spectrum, e.work);
        for (size_t i = 0; i < n; i++)
            values[i] = creal(e.spectrum[i]);
    }
    fbp_fft_close(&e.fft);
    fbp_free(e.row);
    fbp_free(e.spectrum);
    fbp_free(e.work);
    return st;
}
