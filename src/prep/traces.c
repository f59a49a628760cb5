/* A source of plane integrals (EPR imaging) that are computed from measured rows, spectra or time
 * signals: baseline, resampling to equal steps, FFT, phase, division by a profile.
 * fbp_spectra_open() wraps the source of stored rows; each row is prepared when it is read.
 * scan->preparation has the parameters.
 * Used by: pipeline/plan.c. */
#include "prep/prep.h"

#include "array/array.h"
#include "array/file/format.h"
#include "array/names.h"
#include "base/math.h"
#include "base/text.h"
#include "base/threads.h"
#include "fft/fft.h"
#include "scan/file/scan.h"
#include "scan/file/text.h"

#include <complex.h>
#include <string.h>

/* Weights by which cubic interpolation between 4 stored samples, first … first + 3, computes one
 * sample of a row with equal steps. */
struct taps {
    size_t first;
    double weight[4];
};

struct traces {
    const struct fbp_preparation *p;
    fbp_source *real, *imaginary; /* sources of the real and of the imaginary parts of stored rows;
                                     imaginary NULL: only real parts are needed */
    size_t n_in, n_out;           /* numbers of samples of a stored row and of a prepared row */
    size_t ranges[2][2]; /* two ranges [begin, end) of samples, which determine the baseline */
    struct taps *taps;   /* [n_in]; NULL: not resampled */
    struct fbp_fft *fft; /* NULL: no FFT */
    /* [n_out] phase factors after the FFT, for the position of time 0 in the stored row */
    double complex *turn;
    double *gain;  /* [n_out] 1 / profile, or 0 where the profile is below its threshold; NULL: no
                      profile */
    double *scale; /* [view]; NULL: 1 */
    double phase;  /* phase of all views [rad]; if the phase of each view is determined separately
                      (FBP_PHASE_VIEW), an estimate that decides between two values half a turn
                      apart */
};

/* Memory of one reader. */
struct room {
    double complex *in, *spare, *out;
    double *work;   /* scratch memory of transforms */
    double *values; /* real or imaginary part of a stored row */
};

/* Sums from which the phase of a view is determined, or totals of these sums over all views. */
struct phase_sums {
    double complex sum;     /* the sum of a row: of all rows of the view, the sum with the greatest
                               magnitude */
    double complex squares; /* sum of the squares of all samples of the view */
    double size;            /* sum of the magnitudes of the samples of the row with this `sum` */
};

/* Lay out the memory of a reader; returns its size [bytes].  memory NULL: only the size. */
static size_t lay_out(const struct traces *t, void *memory, struct room *r)
{
    const size_t n_work = t->fft ? fbp_fft_work(t->n_out) : 0;
    size_t used = 0;

    r->out = fbp_carve(memory, &used, t->n_out * sizeof *r->out);
    r->in = fbp_carve(memory, &used, t->n_in * sizeof *r->in);
    r->spare = fbp_carve(memory, &used, t->n_in * sizeof *r->spare);
    r->work = fbp_carve(memory, &used, n_work * sizeof *r->work);
    r->values = fbp_carve(memory, &used, t->n_in * sizeof *r->values);
    return used;
}

static fbp_status make_room(const struct traces *t, struct room *r)
{
    void *memory;

    FBP_TRY(fbp_alloc(&memory, lay_out(t, NULL, r), "a row"));
    lay_out(t, memory, r);
    return FBP_OK;
}

/* Read a row, and apply the steps before the phase correction: baseline, resampling, FFT.  The
 * result is in r->out. */
static fbp_status begin_row(const struct traces *t, size_t view, size_t row, struct room *r)
{
    const size_t n = t->n_out, half = n / 2;
    double complex *in = r->in;

    FBP_TRY(fbp_source_read(t->real, view, 1, row, 1, FBP_F64, r->values));
    for (size_t i = 0; i < t->n_in; i++)
        in[i] = r->values[i];
    if (t->imaginary) {
        FBP_TRY(fbp_source_read(t->imaginary, view, 1, row, 1, FBP_F64, r->values));
        for (size_t i = 0; i < t->n_in; i++)
            in[i] += I * r->values[i];
    }
    if (t->p->baseline_terms) { /* subtract a constant or a straight line that is fitted to the
                                   samples of the baseline */
        const double middle = ((double)t->n_in - 1) / 2;
        double count = 0, x1 = 0, x2 = 0;
        double complex y0 = 0, y1 = 0;
        for (int k = 0; k < 2; k++)
            for (size_t i = t->ranges[k][0]; i < t->ranges[k][1]; i++) {
                const double x = (double)i - middle;
                count++;
                x1 += x;
                x2 += x * x;
                y0 += in[i];
                y1 += x * in[i];
            }
        const double spread = count * x2 - x1 * x1;
        const double complex slope =
            t->p->baseline_terms > 1 && spread > 0 ? (count * y1 - x1 * y0) / spread : 0;
        const double complex level = (y0 - slope * x1) / count;
        for (size_t i = 0; i < t->n_in; i++)
            in[i] -= level + slope * ((double)i - middle);
    }
    if (t->taps) {
        in = r->spare;
        for (size_t i = 0; i < t->n_in; i++) {
            const double complex *from = r->in + t->taps[i].first;
            in[i] = 0;
            for (int k = 0; k < 4; k++)
                in[i] += t->taps[i].weight[k] * from[k];
        }
    }
    memcpy(r->out, in, t->n_in * sizeof *in);
    if (!t->fft)
        return FBP_OK;
    memset(r->out + t->n_in, 0, (n - t->n_in) * sizeof *in);
    /* Factors (-1)^j, or their equivalent for odd n, shift frequency 0 to sample n/2. */
    for (size_t j = 0; j < t->n_in; j++)
        r->out[j] *= n % 2 == 0
                         ? (j % 2 ? -1 : 1)
                         : cexp(2 * FBP_PI * I * fmod((double)(half * j % n) / (double)n, 1));
    fbp_fft_complex(t->fft, r->out, r->work);
    for (size_t i = 0; i < n; i++)
        r->out[i] *= t->turn[i];
    return FBP_OK;
}

static fbp_status sum_view(const struct traces *t, size_t view, struct room *r,
                           struct phase_sums *s)
{
    *s = (struct phase_sums){0};
    for (size_t row = 0; row < t->real->info.n[1]; row++) {
        double complex sum = 0;
        double size = 0;
        FBP_TRY(begin_row(t, view, row, r));
        for (size_t i = 0; i < t->n_out; i++) {
            sum += r->out[i];
            size += cabs(r->out[i]);
            s->squares += r->out[i] * r->out[i];
        }
        if (cabs(sum) >= cabs(s->sum)) {
            s->sum = sum;
            s->size = size;
        }
    }
    return FBP_OK;
}

/* Returns the phase by which rows that should be real are rotated: the phase of their sum (the
 * integral of the object).  If the sum is nearly 0, as for derivatives of lines, the phase follows
 * from the sum of squares up to half a turn, and the value nearest to `near` is returned. */
static double phase_of(const struct phase_sums *s, double near)
{
    static const double LEAST_SUM = .1; /* relative to the sum of magnitudes */

    if (cabs(s->sum) > LEAST_SUM * s->size)
        return carg(s->sum);
    const double half = carg(s->squares) / 2;

    return cos(half - near) < 0 ? half + FBP_PI : half;
}

static fbp_status read_traces(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                              size_t n_rows, bool as_float, void *out)
{
    const struct traces *t = src->state;
    const bool single = as_float || src->info.type == FBP_F32;
    const size_t n = t->n_out;
    struct room r = {0};
    fbp_status st = make_room(t, &r);
    float *floats = out;
    double *doubles = out;

    for (size_t view = slice0; view < slice0 + n_slices && st == FBP_OK; view++) {
        double phase = t->phase;
        if (t->p->phase == FBP_PHASE_VIEW) {
            struct phase_sums sums;
            FBP_TRY_GOTO(sum_view(t, view, &r, &sums));
            phase = phase_of(&sums, t->phase);
        }
        for (size_t i = 0; i < n_rows; i++) {
            FBP_TRY_GOTO(begin_row(t, view, row0 + i, &r));
            const double complex back = (t->scale ? t->scale[view] : 1) * cexp(-I * phase);
            for (size_t k = 0; k < n; k++) {
                const double value = creal(r.out[k] * back) * (t->gain ? t->gain[k] : 1);
                if (single)
                    *floats++ = (float)value;
                else
                    *doubles++ = value;
            }
        }
    }
fail:
    fbp_free(r.out);
    return st;
}

static void close_traces(fbp_source *src)
{
    struct traces *t = src->state;

    fbp_fft_close(&t->fft);
    free(t->taps);
    free(t->turn);
    free(t->gain);
    free(t->scale);
    fbp_source_close(&t->imaginary);
    free(t);
}

static fbp_status tabulate(struct traces *t, const struct fbp_scan *scan)
{
    const struct fbp_preparation *p = t->p;
    const size_t n = t->n_in, eighth = n / 8 > 0 ? n / 8 : 1;
    const bool given = p->baseline_samples[0][1] > 0 || p->baseline_samples[1][1] > 0;
    const size_t ends[2][2] = {{0, eighth}, {n - eighth, n}};

    memcpy(t->ranges, given ? p->baseline_samples : ends, sizeof t->ranges);
    if (p->places) { /* prepare the resampling of rows whose n >= 4 positions increase or decrease
                        strictly */
        const double *x = p->places, step = (x[n - 1] - x[0]) / (double)(n - 1);
        size_t right = 1; /* first sample at or after the position */
        FBP_TRY(fbp_calloc((void **)&t->taps, n, sizeof *t->taps, "weights"));
        for (size_t i = 0; i < n; i++) {
            const double at = i + 1 < n ? x[0] + (double)i * step : x[n - 1];
            struct taps *out = &t->taps[i];
            while (right + 1 < n && (x[right] - at) * step < 0)
                right++;
            const size_t first = right < 2 ? 0 : right - 2;
            out->first = first + 4 > n ? n - 4 : first;
            const double *node = x + out->first; /* Lagrange's polynomial */
            for (int j = 0; j < 4; j++) {
                out->weight[j] = 1;
                for (int k = 0; k < 4; k++)
                    if (k != j)
                        out->weight[j] *= (at - node[k]) / (node[j] - node[k]);
            }
        }
    }
    if (p->fft) {
        FBP_TRY(fbp_fft_open_complex(&t->fft, t->n_out));
        FBP_TRY(fbp_calloc((void **)&t->turn, t->n_out, sizeof *t->turn, "a spectrum"));
        const size_t middle = t->n_out / 2;
        for (size_t i = 0; i < t->n_out; i++) {
            const double nu = (double)i - (double)middle;
            t->turn[i] = cexp(2 * FBP_PI * I * fmod(nu * p->zero_sample / (double)t->n_out, 1));
        }
    }
    if (p->profile) {
        const double threshold = p->profile_threshold > 0 ? p->profile_threshold : .1;
        double most = 0;
        size_t rows = 0;
        FBP_TRY(fbp_number_table_load(p->profile, 1, "one number per sample", &t->gain, &rows));
        if (rows != t->n_out)
            return FBP_INVALID("%s: the profile has %zu numbers, but the rows that it divides have "
                               "%zu samples; give one number per sample",
                               p->profile, rows, t->n_out);
        for (size_t i = 0; i < rows; i++)
            most = fmax(most, t->gain[i]);
        if (!(most > 0) || !isfinite(most))
            return FBP_INVALID(
                "%s: the profile has no number above 0; check that it is the right file",
                p->profile);
        for (size_t i = 0; i < rows; i++)
            t->gain[i] = t->gain[i] >= threshold * most ? 1 / t->gain[i] : 0;
    }
    if (p->fft) {
        /* Scale of each view after the FFT, such that all views have the same integral.  A reduced
         * scan contains only some of the stored views, and its detector step is `bin` samples. */
        const size_t bin = scan->bin ? scan->bin : 1;
        const size_t n_views = t->real->info.n[2];
        FBP_TRY(fbp_calloc((void **)&t->scale, n_views, sizeof *t->scale, "views"));
        for (size_t k = 0; k < scan->n_views && fbp_stored_view(scan, k) < n_views; k++)
            t->scale[fbp_stored_view(scan, k)] =
                (double)bin / ((double)p->fft * fbp_norm(scan->views[k].u));
    }
    return FBP_OK;
}

/* Initialise a source of prepared rows, which reads stored rows from `below`.  what: a struct
 * fbp_scan, which contains the parameters. */
static fbp_status set_up(fbp_source *src, const void *what, fbp_source *below)
{
    const struct fbp_scan *scan = what;
    const struct fbp_preparation *p = scan->preparation;
    const struct fbp_array_info *info = &below->info;
    struct phase_sums all = {0};
    struct traces *t = NULL;
    struct room r = {0};
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_calloc((void **)&t, 1, sizeof *t, "a source"));
    *t = (struct traces){
        .p = p, .real = below, .n_in = p->n_samples, .n_out = p->fft ? p->fft : p->n_samples};
    src->state = t;
    src->close = close_traces;
    src->read_block = read_traces;
    if (fbp_source_in_order(below) && below->growing)
        return FBP_UNSUPPORTED("%s: prepare needs all rows, so it excludes --follow; reconstruct "
                               "when the scan is complete",
                               below->path);
    if (info->n[0] != p->n_samples)
        return FBP_INVALID(
            "%s: has rows of %zu samples, but the scan file gives %zu; correct the scan file",
            below->path, info->n[0], p->n_samples);
    if (scan->reference && (p->fft || p->places || p->profile))
        return FBP_UNSUPPORTED("%s: the division by a reference spectrum excludes the preparation "
                               "steps fft, resample and profile; omit them",
                               scan->reference);
    if (p->fft > 0 || p->phase != FBP_PHASE_NONE) /* both parts of complex samples are needed */
        FBP_TRY(fbp_source_open_as(&t->imaginary, below->path, &scan->raw, FBP_SOURCE_IMAGINARY));
    FBP_TRY(tabulate(t, scan));
    t->phase = p->phase_deg * FBP_PI / 180;
    if (p->phase > FBP_PHASE_GIVEN) { /* estimate one phase for all views from sums over all views,
                                         which have equal integrals */
        FBP_TRY(make_room(t, &r));
        for (size_t k = 0; k < info->n[2]; k++) {
            struct phase_sums view = {0};
            FBP_TRY_GOTO(fbp_check_cancelled());
            FBP_TRY_GOTO(sum_view(t, k, &r, &view));
            all.sum += view.sum;
            all.size += view.size;
            all.squares += view.squares;
        }
        t->phase = phase_of(&all, 0);
    }

    fbp_source_like(src, below);
    src->info.n[0] = t->n_out;
    src->info.type = info->type == FBP_F64 && info->scale == 0 ? FBP_F64 : FBP_F32;
    src->in_order = below->in_order;
    src->unpacks = true;
    src->held_bytes = below->held_bytes + (t->imaginary ? t->imaginary->held_bytes : 0);
    src->reader_bytes = below->reader_bytes + lay_out(t, NULL, &(struct room){0});
    if (t->imaginary) /* clear the remark that only the real parts of the samples are used */
        src->info.taken[0] = '\0';
    FBP_TRY_GOTO(fbp_source_wrap_set_up(src, below));
    src->stored_bytes *= t->imaginary ? 2 : 1;
    st = fbp_inputs_add_array(&src->inputs, p->profile, NULL);
fail:
    fbp_free(r.out);
    return st;
}

fbp_status fbp_spectra_open(fbp_source **out, fbp_source *below, const struct fbp_scan *scan)
{
    return fbp_source_wrap(out, set_up, scan, below, true);
}
