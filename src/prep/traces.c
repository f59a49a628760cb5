/* Preparation of spectra as a view source: baseline, resampling, FFT, phase, profile. */
#include "prep/traces.h"

#include "array/array.h"
#include "array/reads.h"
#include "fft/fft.h"
#include "scan/file/preparation.h"
#include "scan/format/number_table.h"

#include "base/mem.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

/* Lagrange's polynomial of four nodes. */
static void weigh(const double *x, double at, double weight[4])
{
    for (int i = 0; i < 4; i++) {
        weight[i] = 1;
        for (int k = 0; k < 4; k++)
            if (k != i)
                weight[i] *= (at - x[k]) / (x[i] - x[k]);
    }
}

void fbp_resample_taps(const double *places, size_t n, struct fbp_taps *out)
{
    const double step = (places[n - 1] - places[0]) / (double)(n - 1);
    size_t right = 1; /* the first sample at or behind the place */

    for (size_t i = 0; i < n; i++) {
        const double at = i + 1 < n ? places[0] + (double)i * step : places[n - 1];
        while (right + 1 < n && (places[right] - at) * step < 0)
            right++;
        const size_t first = right < 2 ? 0 : right - 2;
        out[i].first = first + 4 > n ? n - 4 : first;
        weigh(places + out[i].first, at, out[i].weight);
    }
}

void fbp_resample(const struct fbp_taps *taps, size_t n, const double complex *in,
                  double complex *out)
{
    for (size_t i = 0; i < n; i++) {
        const double complex *from = in + taps[i].first;
        out[i] = 0;
        for (int k = 0; k < 4; k++)
            out[i] += taps[i].weight[k] * from[k];
    }
}

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

/* A source on top of that of the stored rows: view after view is prepared as it is read. */

struct traces {
    struct fbp_steps steps;
    fbp_source *real, *imaginary; /* imaginary NULL: the real parts are all that is needed */
    double *scale;                /* of a view; NULL: 1 */
    double phase;                 /* of all views, or that which one of a view is nearest to */
};

/* A reader's memory. */
struct room {
    double complex *in, *spare, *out;
    double *work;   /* of transforms */
    double *values; /* of one part of a stored row, or of a prepared one */
};

static size_t room_bytes(const struct traces *t)
{
    const struct fbp_steps *s = &t->steps;

    return fbp_steps_bytes(s) + (size_t)5 * FBP_ALIGN + (s->n_in + s->n_out) * sizeof(double);
}

static size_t aligned(size_t bytes)
{
    return (bytes + FBP_ALIGN - 1) / FBP_ALIGN * FBP_ALIGN;
}

static fbp_status make_room(const struct traces *t, struct room *out)
{
    const struct fbp_steps *s = &t->steps;
    char *memory;

    FBP_TRY(fbp_alloc((void **)&memory, room_bytes(t), "a row"));
    out->out = (double complex *)(void *)memory;
    memory += aligned(s->n_out * sizeof *out->out);
    out->in = (double complex *)(void *)memory;
    memory += aligned(s->n_in * sizeof *out->in);
    out->spare = (double complex *)(void *)memory;
    memory += aligned(s->n_in * sizeof *out->spare);
    out->work = (double *)(void *)memory;
    memory += aligned(fbp_steps_work(s) * sizeof *out->work);
    out->values = (double *)(void *)memory;
    return FBP_OK;
}

static void free_room(struct room *r)
{
    fbp_free(r->out);
}

/* A row of the file up to its phase, in r->out. */
static fbp_status begin_row(const struct traces *t, size_t view, size_t row, struct room *r)
{
    const size_t n = t->steps.n_in;

    FBP_TRY(fbp_source_read_double(t->real, view, 1, row, 1, r->values));
    for (size_t i = 0; i < n; i++)
        r->in[i] = r->values[i];
    if (t->imaginary) {
        FBP_TRY(fbp_source_read_double(t->imaginary, view, 1, row, 1, r->values));
        for (size_t i = 0; i < n; i++)
            r->in[i] += I * r->values[i];
    }
    fbp_steps_begin(&t->steps, r->in, r->spare, r->out, r->work);
    return FBP_OK;
}

/* Of all rows of a view. */
static fbp_status sum_view(const struct traces *t, size_t view, struct room *r,
                           struct fbp_phase_sums *out)
{
    *out = (struct fbp_phase_sums){0};
    for (size_t row = 0; row < t->real->info.n[1]; row++) {
        FBP_TRY(begin_row(t, view, row, r));
        fbp_phase_add(out, r->out, t->steps.n_out);
    }
    return FBP_OK;
}

/* Views of one object have one integral, so that their sums add up. */
static fbp_status find_phase(struct traces *t)
{
    struct fbp_phase_sums all = {0};
    struct room r = {0};
    fbp_status st = make_room(t, &r);

    for (size_t k = 0; k < t->real->info.n[2] && st == FBP_OK; k++) {
        struct fbp_phase_sums view = {0};
        st = fbp_go_on();
        if (st == FBP_OK)
            st = sum_view(t, k, &r, &view);
        all.sum += view.sum;
        all.size += view.size;
        all.squares += view.squares;
    }
    free_room(&r);
    t->phase = fbp_phase_of(&all, 0);
    return st;
}

static fbp_status phase_of(const struct traces *t, size_t view, struct room *r, double *out)
{
    struct fbp_phase_sums sums;

    *out = t->phase;
    if (t->steps.p->phase != FBP_PHASE_VIEW)
        return FBP_OK;
    FBP_TRY(sum_view(t, view, r, &sums));
    *out = fbp_phase_of(&sums, t->phase);
    return FBP_OK;
}

/* A prepared row to the caller's floats, or to samples of the source's type. */
static void put_row(const double *from, size_t n, bool single, void *to)
{
    if (!single) {
        memcpy(to, from, n * sizeof *from);
        return;
    }
    for (size_t i = 0; i < n; i++)
        ((float *)to)[i] = (float)from[i];
}

static fbp_status read_view(const struct traces *t, size_t view, size_t row0, size_t n_rows,
                            bool single, struct room *r, char *out)
{
    const size_t n = t->steps.n_out;
    double phase;

    FBP_TRY(phase_of(t, view, r, &phase));
    for (size_t i = 0; i < n_rows; i++) {
        FBP_TRY(begin_row(t, view, row0 + i, r));
        fbp_steps_end(&t->steps, r->out, phase, t->scale ? t->scale[view] : 1, r->values);
        put_row(r->values, n, single, out + i * n * (single ? sizeof(float) : sizeof(double)));
    }
    return FBP_OK;
}

static fbp_status read_traces(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                              size_t n_rows, bool as_float, void *out)
{
    const struct traces *t = src->state;
    const bool single = as_float || src->info.type == FBP_F32;
    const size_t view = n_rows * t->steps.n_out * (single ? sizeof(float) : sizeof(double));
    struct room r = {0};
    fbp_status st = make_room(t, &r);

    for (size_t k = 0; k < n_slices && st == FBP_OK; k++)
        st = read_view(t, slice0 + k, row0, n_rows, single, &r, (char *)out + k * view);
    free_room(&r);
    return st;
}

static void close_traces(fbp_source *src)
{
    struct traces *t = src->state;

    fbp_steps_clear(&t->steps);
    fbp_source_close(&t->real);
    fbp_source_close(&t->imaginary);
    free(t->scale);
    free(t);
}

/* The integral of a view is its trace at time 0: sum of S over n steps of the view. */
static fbp_status make_scale(struct traces *t, const struct fbp_scan *scan)
{
    const struct fbp_preparation *p = scan->preparation;

    if (p->fft == 0)
        return FBP_OK;
    /* Of a scan that was reduced, every some view, with steps of some samples. */
    const size_t every = scan->every ? scan->every : 1, bin = scan->bin ? scan->bin : 1;
    FBP_TRY(fbp_calloc((void **)&t->scale, t->real->info.n[2], sizeof *t->scale, "views"));
    for (size_t k = 0; k < scan->n_views && k * every < t->real->info.n[2]; k++)
        t->scale[k * every] = (double)bin / ((double)p->fft * fbp_norm(scan->views[k].u));
    return FBP_OK;
}

static fbp_status check(const struct fbp_source *below, const struct fbp_scan *scan)
{
    const struct fbp_preparation *p = scan->preparation;

    if (fbp_source_in_order(below) && below->growing)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: rows are prepared when all of them are there: reconstruct it when it "
                        "is complete",
                        below->path);
    if (below->info.n[0] != p->n_samples)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: has rows of %zu samples, the scan says %zu: correct the scan file",
                        below->path, below->info.n[0], p->n_samples);
    if (scan->reference && (p->fft || p->places || p->profile))
        return fbp_fail(
            FBP_ERR_UNSUPPORTED,
            "%s: spectra are divided by the reference at the fields of both: leave fft, "
            "resample and profile out",
            scan->reference);
    return FBP_OK;
}

static void set_info(fbp_source *src, const struct traces *t)
{
    const fbp_source *below = t->real;
    const bool twice = below->info.type == FBP_F64 && below->info.scale == 0;

    src->info = below->info;
    src->info.n[0] = t->steps.n_out;
    src->info.type = twice ? FBP_F64 : FBP_F32;
    src->info.scale = src->info.offset = 0;
    src->info.big_endian = false;
    src->stored_type = below->info.scale != 0 ? FBP_F32 : below->info.type;
    src->stored_bytes = (uint64_t)below->info.n[0] * below->info.n[1] * below->info.n[2] *
                        fbp_type_size(below->info.type) * (t->imaginary ? 2 : 1);
    src->in_order = below->in_order;
    src->unpacks = true;
    src->held_bytes = below->held_bytes + (t->imaginary ? t->imaginary->held_bytes : 0);
    src->reader_bytes = below->reader_bytes + room_bytes(t);
    if (t->imaginary) /* what is taken is said by the preparation */
        src->info.taken[0] = '\0';
}

static fbp_status fill(fbp_source *src, const struct fbp_scan *scan)
{
    struct traces *t = src->state;
    fbp_source *below = t->real;

    FBP_TRY(check(below, scan));
    if (fbp_preparation_is_complex(scan->preparation))
        FBP_TRY(fbp_source_open_as(&t->imaginary, below->path, &scan->raw, FBP_SOURCE_IMAGINARY));
    FBP_TRY(fbp_steps_create(&t->steps, scan->preparation));
    FBP_TRY(make_scale(t, scan));
    t->phase = scan->preparation->phase_deg * FBP_PI / 180;
    if (scan->preparation->phase > FBP_PHASE_GIVEN)
        FBP_TRY(find_phase(t));
    src->below = below;
    set_info(src, t);
    src->path = fbp_strdup(below->path);
    if (!src->path)
        return fbp_fail_nomem(strlen(below->path), "a path");
    FBP_TRY(fbp_inputs_add_all(&src->inputs, &below->inputs, 0));
    return fbp_inputs_add_array(&src->inputs, scan->preparation->profile, NULL);
}

fbp_status fbp_traces_open(fbp_source **out, fbp_source *below, const struct fbp_scan *scan)
{
    struct traces *t = NULL;
    fbp_source *src = NULL;
    fbp_status st;

    *out = NULL;
    FBP_TRY_GOTO(fbp_calloc((void **)&t, 1, sizeof *t, "a source"));
    FBP_TRY_GOTO(fbp_calloc((void **)&src, 1, sizeof *src, "a source"));
    t->real = below;
    src->state = t;
    src->close = close_traces;
    src->read_block = read_traces;
    src->fd = -1;
    st = fill(src, scan);
    if (st != FBP_OK)
        fbp_source_close(&src);
    *out = src;
    return st;
fail:
    free(t);
    fbp_source_close(&below);
    return st;
}
