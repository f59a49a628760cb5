#include "prep/steps.h"

#include "base/mem.h"
#include "base/vec.h"
#include "fft/fft.h"
#include "scan/format/number_table.h"

#include <math.h>
#include <string.h>

/* A sum below this part of the sum of sizes is noise: the rows are derivatives. */
static const double LEAST_SUM = .1;

static fbp_status plan_fft(struct fbp_steps *s)
{
    FBP_TRY(fbp_fft_open_complex(&s->fft, s->n_out));
    FBP_TRY(fbp_calloc((void **)&s->turn, s->n_out, sizeof *s->turn, "a spectrum"));
    const size_t middle = s->n_out / 2;
    for (size_t i = 0; i < s->n_out; i++) {
        const double nu = (double)i - (double)middle;
        s->turn[i] = cexp(2 * FBP_PI * I * fmod(nu * s->p->zero_sample / (double)s->n_out, 1));
    }
    return FBP_OK;
}

static fbp_status read_profile(struct fbp_steps *s)
{
    const double threshold = s->p->profile_threshold > 0 ? s->p->profile_threshold : .1;
    double most = 0;
    size_t n = 0;

    FBP_TRY(fbp_number_table_load(s->p->profile, 1, "one number a sample", &s->gain, &n));
    if (n != s->n_out)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the profile has %zu numbers, but rows have %zu samples when they are "
                        "divided by it: give one a sample",
                        s->p->profile, n, s->n_out);
    for (size_t i = 0; i < n; i++)
        most = fmax(most, s->gain[i]);
    if (!(most > 0) || !isfinite(most))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the profile has no number above 0: is it the right file?",
                        s->p->profile);
    for (size_t i = 0; i < n; i++)
        s->gain[i] = s->gain[i] >= threshold * most ? 1 / s->gain[i] : 0;
    return FBP_OK;
}

static void choose_ranges(struct fbp_steps *s)
{
    const size_t n = s->n_in, eighth = n / 8 > 0 ? n / 8 : 1;
    const bool given = s->p->baseline_samples[0][1] > 0 || s->p->baseline_samples[1][1] > 0;
    const size_t ends[2][2] = {{0, eighth}, {n - eighth, n}};

    memcpy(s->ranges, given ? s->p->baseline_samples : ends, sizeof s->ranges);
}

fbp_status fbp_steps_create(struct fbp_steps *s, const struct fbp_preparation *p)
{
    fbp_status st = FBP_OK;

    *s = (struct fbp_steps){.p = p, .n_in = p->n_samples, .n_out = p->fft ? p->fft : p->n_samples};
    choose_ranges(s);
    if (p->places) {
        FBP_TRY_GOTO(fbp_calloc((void **)&s->taps, s->n_in, sizeof *s->taps, "weights"));
        fbp_resample_taps(p->places, s->n_in, s->taps);
    }
    if (p->fft)
        FBP_TRY_GOTO(plan_fft(s));
    if (p->profile)
        FBP_TRY_GOTO(read_profile(s));
fail:
    if (st != FBP_OK)
        fbp_steps_clear(s);
    return st;
}

void fbp_steps_clear(struct fbp_steps *s)
{
    fbp_fft_close(&s->fft);
    free(s->taps);
    free(s->turn);
    free(s->gain);
    *s = (struct fbp_steps){0};
}

size_t fbp_steps_bytes(const struct fbp_steps *s)
{
    return (2 * s->n_in + s->n_out) * sizeof(double complex) + fbp_steps_work(s) * sizeof(double);
}

size_t fbp_steps_work(const struct fbp_steps *s)
{
    return s->fft ? fbp_fft_work(s->n_out) : 0;
}

/* The polynomial that fits the chosen samples best; x in samples from the middle of the row. */
static void subtract_baseline(const struct fbp_steps *s, double complex *row)
{
    const double middle = ((double)s->n_in - 1) / 2;
    double n = 0, x1 = 0, x2 = 0;
    double complex y0 = 0, y1 = 0;

    for (int r = 0; r < 2; r++)
        for (size_t i = s->ranges[r][0]; i < s->ranges[r][1]; i++) {
            const double x = (double)i - middle;
            n++;
            x1 += x;
            x2 += x * x;
            y0 += row[i];
            y1 += x * row[i];
        }
    const double spread = n * x2 - x1 * x1;
    const double complex slope =
        s->p->baseline_terms > 1 && spread > 0 ? (n * y1 - x1 * y0) / spread : 0;
    const double complex level = (y0 - slope * x1) / n;
    for (size_t i = 0; i < s->n_in; i++)
        row[i] -= level + slope * ((double)i - middle);
}

/* Frequency 0 to the middle. */
static void transform(const struct fbp_steps *s, const double complex *in, double complex *out,
                      double *work)
{
    const size_t n = s->n_out, half = n / 2;

    memcpy(out, in, s->n_in * sizeof *out);
    memset(out + s->n_in, 0, (n - s->n_in) * sizeof *out);
    /* a shift by n/2 samples of the spectrum: the trace times (-1)^j, or what an odd n makes of it
     */
    for (size_t j = 0; j < s->n_in; j++)
        out[j] *= n % 2 == 0 ? (j % 2 ? -1 : 1)
                             : cexp(2 * FBP_PI * I * fmod((double)(half * j % n) / (double)n, 1));
    fbp_fft_complex(s->fft, out, work);
    for (size_t i = 0; i < n; i++)
        out[i] *= s->turn[i];
}

void fbp_steps_begin(const struct fbp_steps *s, double complex *in, double complex *spare,
                     double complex *out, double *work)
{
    if (s->p->baseline_terms)
        subtract_baseline(s, in);
    if (s->taps) {
        fbp_resample(s->taps, s->n_in, in, spare);
        in = spare;
    }
    if (s->fft)
        transform(s, in, out, work);
    else
        memcpy(out, in, s->n_in * sizeof *out);
}

void fbp_steps_end(const struct fbp_steps *s, const double complex *row, double phase, double scale,
                   double *out)
{
    const double complex back = scale * cexp(-I * phase);

    for (size_t i = 0; i < s->n_out; i++)
        out[i] = creal(row[i] * back) * (s->gain ? s->gain[i] : 1);
}

void fbp_phase_add(struct fbp_phase_sums *s, const double complex *row, size_t n)
{
    double complex sum = 0;
    double size = 0;

    for (size_t i = 0; i < n; i++) {
        sum += row[i];
        size += cabs(row[i]);
        s->squares += row[i] * row[i];
    }
    if (cabs(sum) >= cabs(s->sum)) {
        s->sum = sum;
        s->size = size;
    }
}

double fbp_phase_of(const struct fbp_phase_sums *s, double near)
{
    if (cabs(s->sum) > LEAST_SUM * s->size)
        return carg(s->sum);
    const double half = carg(s->squares) / 2;

    return cos(half - near) < 0 ? half + FBP_PI : half;
}
