/* A source on top of that of the stored rows: view after view is prepared as it is read. */
#include "prep/traces.h"

#include "array/array.h"
#include "array/reads.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/vec.h"
#include "prep/steps.h"
#include "scan/file/preparation.h"

#include <math.h>
#include <string.h>

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
