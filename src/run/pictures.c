#include "run/pictures.h"

#include "array/array.h"
#include "array/onto.h"
#include "backend/device.h"
#include "backend/rows.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/stop.h"

#include <pthread.h>
#include <string.h>

struct fbp_pictures {
    const struct fbp_stages *stages;
    fbp_device *dev;
    void *raw, *filtered, *sorted; /* all views; the last by planes */
    struct fbp_prep_counts before; /* mended in earlier runs: the device adds them up */
    fbp_look *look;
};

/* All views as one batch. */
static struct fbp_batch all_views(const struct fbp_job *job)
{
    return (struct fbp_batch){
        .n_views = job->n_views, .n_rows = job->panel.n_rows, .load_rows = job->panel.n_rows};
}

static size_t raw_bytes(const struct fbp_stages *s)
{
    const struct fbp_batch all = all_views(&s->first.job);

    return fbp_raw_device_bytes(&s->first.job, fbp_raw_samples(&s->first.job, &all));
}

static size_t filtered_bytes(const struct fbp_stages *s)
{
    const struct fbp_job *job = &s->first.job;

    return s->backend->filtered_bytes(job, job->n_views, job->panel.n_rows);
}

uint64_t fbp_pictures_bytes(const struct fbp_stages *s)
{
    return (uint64_t)raw_bytes(s) + 2 * (uint64_t)filtered_bytes(s) +
           s->backend->fixed_bytes(&s->first.job);
}

static fbp_status open_parts(fbp_pictures *p)
{
    const struct fbp_stages *s = p->stages;

    FBP_TRY(s->backend->open(&p->dev, 0, &s->first.job));
    FBP_TRY(fbp_alloc(&p->raw, raw_bytes(s), "all views"));
    FBP_TRY(fbp_alloc(&p->filtered, filtered_bytes(s), "filtered views"));
    return fbp_alloc(&p->sorted, filtered_bytes(s), "filtered views by planes");
}

fbp_status fbp_pictures_open(fbp_pictures **out, const struct fbp_stages *stages)
{
    *out = NULL;
    FBP_TRY(fbp_calloc((void **)out, 1, sizeof **out, "stage one"));
    (*out)->stages = stages;
    const fbp_status st = open_parts(*out);
    if (st != FBP_OK)
        fbp_pictures_close(out);
    return st;
}

void fbp_pictures_close(fbp_pictures **pictures)
{
    fbp_pictures *p = *pictures;

    if (!p)
        return;
    if (p->dev)
        p->stages->backend->close(&p->dev);
    fbp_free(p->raw);
    fbp_free(p->filtered);
    fbp_free(p->sorted);
    free(p);
    *pictures = NULL;
}

/* A source of pictures, which waits for the first who reads. */
struct drawn {
    fbp_pictures *pictures;
    const struct fbp_stages *stages;
    pthread_mutex_t lock; /* of: */
    bool filled;
};

static fbp_status filter_all(fbp_pictures *p, fbp_source *below)
{
    const struct fbp_backend *b = p->stages->backend;
    const struct fbp_job *job = &p->stages->first.job;
    const struct fbp_batch all = all_views(job);

    if (fbp_in_double(job))
        FBP_TRY(fbp_source_read_double(below, 0, job->n_views, 0, job->panel.n_rows, p->raw));
    else
        FBP_TRY(fbp_source_read(below, 0, job->n_views, 0, job->panel.n_rows, p->raw));
    for (size_t k = 0; p->look && k < job->n_views; k++)
        fbp_look_at(p->look, &all, k, p->raw, false);
    FBP_TRY(b->counts(p->dev, &p->before));
    FBP_TRY(b->filter(p->dev, &all, p->raw, p->filtered));
    return fbp_device_settle(b, p->dev, FBP_STAGE_FILTER);
}

/* Views of a plane lie side by side in what pictures are drawn from. */
static void sort(fbp_pictures *p)
{
    const size_t n = p->stages->first.job.n_views, bytes = filtered_bytes(p->stages) / n;

    for (size_t k = 0; k < n; k++)
        memcpy((char *)p->sorted + k * bytes, (char *)p->filtered + p->stages->order[k] * bytes,
               bytes);
}

static fbp_status fill(fbp_source *src, struct drawn *d)
{
    fbp_status st = FBP_OK;

    pthread_mutex_lock(&d->lock);
    if (!d->filled) {
        st = filter_all(d->pictures, src->below);
        if (st == FBP_OK)
            sort(d->pictures);
        d->filled = st == FBP_OK;
    }
    pthread_mutex_unlock(&d->lock);
    return st;
}

/* Rows of a picture of all frames, one behind the other. */
static fbp_status draw(const fbp_pictures *p, size_t plane, size_t row0, size_t n_rows, void *out)
{
    const struct fbp_meridian_pictures *m = &p->stages->pictures;
    const size_t row = m->n_columns * fbp_value_size(&p->stages->first.job);
    char *to = out;

    for (size_t r = row0, n; r < row0 + n_rows; r += n, to += n * row) {
        const size_t at = r % m->n_rows, left = row0 + n_rows - r;
        n = m->n_rows - at < left ? m->n_rows - at : left;
        FBP_TRY(p->stages->backend->meridian(
            p->dev, p->sorted,
            &(struct fbp_picture){.plane = plane, .frame = r / m->n_rows, .row0 = at, .n_rows = n},
            to));
    }
    return FBP_OK;
}

/* Pictures of doubles are read as such. */
static fbp_status read_pictures(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                size_t n_rows, bool as_float, void *out)
{
    struct drawn *d = src->state;
    const size_t picture = n_rows * src->info.n[0] * fbp_type_size(src->info.type);

    if (as_float && src->info.type != FBP_F32)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "stages: pictures in double are not read as floats");
    FBP_TRY(fill(src, d));
    for (size_t k = 0; k < n_slices; k++) {
        FBP_TRY(fbp_go_on());
        FBP_TRY(draw(d->pictures, slice0 + k, row0, n_rows, (char *)out + k * picture));
    }
    return FBP_OK;
}

static void close_drawn(fbp_source *src)
{
    struct drawn *d = src->state;

    pthread_mutex_destroy(&d->lock);
    free(d);
}

static fbp_status set_up(fbp_source *src, const void *what, fbp_source *below)
{
    const struct fbp_stages *stages = ((const struct drawn *)what)->stages;
    const struct fbp_meridian_pictures *m = &stages->pictures;
    const struct fbp_job *first = &stages->first.job;
    struct drawn *d;

    src->info =
        (struct fbp_array_info){.struct_size = sizeof src->info,
                                .n = {m->n_columns, fbp_frames(first) * m->n_rows, m->n_planes},
                                .type = fbp_in_double(first) ? FBP_F64 : FBP_F32,
                                .row_order = FBP_ROWS_BOTTOM_UP};
    FBP_TRY(fbp_calloc((void **)&d, 1, sizeof *d, "a source"));
    *d = *(const struct drawn *)what;
    pthread_mutex_init(&d->lock, NULL);
    src->state = d;
    src->close = close_drawn;
    src->read_block = read_pictures;
    src->unpacks = true;
    src->held_bytes = fbp_source_bytes(below, 1) + fbp_pictures_bytes(stages);
    return fbp_source_onto(src, below);
}

fbp_status fbp_source_pictures(fbp_source **out, fbp_pictures *pictures,
                               const struct fbp_stages *stages, fbp_source *below, bool owned)
{
    const struct drawn what = {.pictures = pictures, .stages = stages};

    return fbp_source_over(out, set_up, &what, below, owned);
}

void fbp_pictures_look(fbp_pictures *pictures, fbp_look *look)
{
    pictures->look = look;
}

fbp_status fbp_pictures_counts(const fbp_pictures *p, struct fbp_prep_counts *out)
{
    FBP_TRY(p->stages->backend->counts(p->dev, out));
    out->not_finite -= p->before.not_finite;
    out->clipped -= p->before.clipped;
    return FBP_OK;
}

/* The views filtered, and some rows of one picture; in the seconds of one thread. */
static fbp_status time_sample(fbp_pictures *p, size_t n_rows, void *rows, double *filter,
                              double *drawing)
{
    const struct fbp_batch all = all_views(&p->stages->first.job);
    const double start = fbp_seconds();

    memset(p->raw, 0, raw_bytes(p->stages));
    FBP_TRY(p->stages->backend->filter(p->dev, &all, p->raw, p->filtered));
    sort(p);
    *filter = fbp_seconds() - start;
    FBP_TRY(draw(p, 0, 0, n_rows, rows));
    *drawing = fbp_seconds() - start - *filter;
    return FBP_OK;
}

fbp_status fbp_pictures_estimate(const struct fbp_stages *stages, double *seconds)
{
    const struct fbp_meridian_pictures *m = &stages->pictures;
    const size_t n = m->n_rows < 16 ? m->n_rows : 16, views = m->first[1];
    double filter = 0, drawing = 0;
    fbp_pictures *p = NULL;
    void *rows = NULL;
    fbp_status st;

    *seconds = 0;
    FBP_TRY_GOTO(fbp_pictures_open(&p, stages));
    FBP_TRY_GOTO(fbp_alloc(&rows, n * m->n_columns * fbp_value_size(&stages->first.job),
                           "a sample of the work"));
    FBP_TRY_GOTO(time_sample(p, n, rows, &filter, &drawing));
    const double sampled = (double)(views * n * m->n_columns);
    *seconds = filter + drawing / sampled * (double)fbp_stages_updates(stages) /
                            (double)stages->first.job.n_threads;
fail:
    fbp_free(rows);
    fbp_pictures_close(&p);
    return st;
}
