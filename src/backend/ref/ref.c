/* The reference device (fbp_backend_ref, --device ref): plain C in double, one thread. It computes
 * any geometry, and is the specification of the other devices, which tests compare with it.
 * Filtered views are [view][row][column] of the padded detector, slabs (blocks of slices)
 * [channel][z][y][x].
 * Used by: backend/backend.c. */
#include "backend/backend.h"
#include "backend/rows.h"
#include "backend/slab.h"

#include "base/base.h"
#include "base/threads.h"
#include "filter/filter.h"
#include "filter/parabola.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

struct ref_device {
    const struct fbp_job *job;
    pthread_mutex_t lock; /* held while the device works; several threads call it at once */
    double *weights;      /* one row */
    struct fbp_row_work work;
    struct fbp_row_filter filter;
    float *ends; /* a row and its weights, if rows are extrapolated; else NULL */
    struct fbp_prep_counts counts;
    struct fbp_row_bitmap bitmap;
};

static struct ref_device *ref_of(fbp_device *device)
{
    return (struct ref_device *)(void *)device;
}

static size_t filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    return n_views * n_rows * job->padded.panel.n_columns * sizeof(double);
}

static size_t volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab)
{
    return fbp_channels(job) * slab->nz * fbp_slab_slice(slab) * sizeof(double);
}

static size_t fixed_bytes(const struct fbp_job *job)
{
    const size_t ends = job->filtering.pad ? 2 * job->panel.n_columns * sizeof(float) : 0;

    if (job->input.filtered)
        return 0;
    return (job->panel.n_columns + 3 * job->filtering.design->n_fft) * sizeof(double) + ends;
}

static bool choose(struct fbp_job *job, const char *name)
{
    job->selection.name = "matrix";
    job->selection.isa = "double";
    job->selection.entry = NULL;
    job->selection.boxes = true;
    return !name || strcmp(name, job->selection.name) == 0;
}

static void close_device(fbp_device **device)
{
    struct ref_device *dev = ref_of(*device);

    if (!dev)
        return;
    fbp_row_filter_close(&dev->filter);
    fbp_row_work_free(&dev->work);
    fbp_free(dev->weights);
    fbp_free(dev->ends);
    pthread_mutex_destroy(&dev->lock);
    free(dev);
    *device = NULL;
}

static fbp_status open_device(fbp_device **out, int index, const struct fbp_job *job)
{
    const size_t nc = job->panel.n_columns;
    struct ref_device *dev = NULL;
    fbp_status st = FBP_OK;

    (void)index;
    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&dev, 1, sizeof *dev, "reference device"));
    *out = (fbp_device *)(void *)dev;
    dev->job = job;
    pthread_mutex_init(&dev->lock, NULL);
    if (job->input.filtered)
        return FBP_OK;
    FBP_TRY_GOTO(fbp_alloc((void **)&dev->weights, nc * sizeof(double), "weights"));
    if (job->filtering.pad)
        FBP_TRY_GOTO(fbp_alloc((void **)&dev->ends, 2 * nc * sizeof(float), "a row's ends"));
    FBP_TRY_GOTO(fbp_row_work_alloc(&dev->work, job->filtering.design));
    FBP_TRY_GOTO(fbp_row_filter_open(&dev->filter, job->filtering.design, job->filtering.spatial));
    return FBP_OK;
fail:
    close_device(out);
    return st;
}

/* Sample c of a raw row. */
static double value_of(const struct fbp_job *job, const void *row, size_t c)
{
    return fbp_in_double(job) ? ((const double *)row)[c] : (double)((const float *)row)[c];
}

/* Add row r of view k, times its weights and `times`, to the row filter's buffer. */
static void add_row(struct ref_device *dev, const struct fbp_batch *batch, size_t k, size_t r,
                    double times, void *raw)
{
    const struct fbp_job *job = dev->job;
    const void *in = fbp_raw_row(job, batch, raw, k, r);
    double *line = dev->work.line + job->padded.left;

    fbp_weights_row(job->filtering.weights, batch->view0 + k, r, dev->weights);
    for (size_t c = 0; c < job->panel.n_columns; c++)
        line[(job->padded.inserted + 1) * c] += times * (value_of(job, in, c) * dev->weights[c]);
}

/* Weight and filter row r of view k of the batch. */
static void filter_row(struct ref_device *dev, const struct fbp_batch *batch, size_t k, size_t r,
                       void *raw, double *out)
{
    const struct fbp_job *job = dev->job;
    const struct fbp_pad *pad = job->filtering.pad;
    const size_t nc = job->panel.n_columns;
    struct fbp_pad_end ends[2];

    memset(dev->work.line, 0, job->filtering.design->n_fft * sizeof *dev->work.line);
    if (job->filtering.columns) { /* sum the row and its neighbours, weighted by the kernel */
        const size_t S = job->filtering.columns->half_width, n = job->panel.n_rows;
        for (size_t i = r > S ? r - S : 0; i < n && i <= r + S; i++)
            add_row(dev, batch, k, i, job->filtering.columns->kernel[i > r ? i - r : r - i], raw);
    } else {
        add_row(dev, batch, k, r, 1, raw);
    }
    if (pad) {
        float *line = dev->ends, *weights = line + nc;
        fbp_weights_row(job->filtering.weights, batch->view0 + k, r, dev->weights);
        for (size_t c = 0; c < nc; c++) {
            line[c] = (float)dev->work.line[job->padded.left + c];
            weights[c] = (float)dev->weights[c];
        }
        fbp_pad_ends(&pad->rule, line, weights, ends);
    }
    fbp_row_filter(&dev->filter, &dev->work, out);
    for (int end = 0; pad && end < 2; end++) { /* add filtered extrapolations (filter/pad.h) */
        const float *a = fbp_pad_table(pad, end, ends[end].at);
        const float *b = ends[end].part > 0 ? a + pad->n_columns : a;
        const double part = (double)ends[end].part, amount = (double)ends[end].amount;
        for (size_t c = 0; amount > 0 && c < pad->n_columns; c++)
            out[c] += amount * ((1 - part) * (double)a[c] + part * (double)b[c]);
    }
}

static fbp_status filter(fbp_device *device, const struct fbp_batch *batch, void *raw,
                         void *filtered)
{
    struct ref_device *dev = ref_of(device);
    const struct fbp_job *job = dev->job;
    double *out = filtered;

    pthread_mutex_lock(&dev->lock);
    for (size_t k = 0; k < batch->n_views; k++) {
        fbp_prepare_view(job, batch, raw, k, &dev->bitmap, &dev->counts);
        for (size_t r = batch->row0; r < batch->row0 + batch->n_rows && !fbp_stopped(); r++) {
            if (!job->input.filtered)
                filter_row(dev, batch, k, r, raw, out);
            for (size_t c = 0; job->input.filtered && c < job->panel.n_columns; c++)
                out[c] = value_of(job, fbp_raw_row(job, batch, raw, k, r), c);
            out += job->padded.panel.n_columns;
        }
    }
    pthread_mutex_unlock(&dev->lock);
    return fbp_check_cancelled();
}

/* Filter rows like filter(), and round them to float (member `filter_rows` of the backend). */
static fbp_status filter_rows(fbp_device *device, const struct fbp_batch *batch, void *raw,
                              float *rows)
{
    const struct fbp_job *job = ref_of(device)->job;
    const size_t bytes = filtered_bytes(job, batch->n_views, batch->n_rows);
    double *filtered = NULL;

    FBP_TRY(fbp_alloc((void **)&filtered, bytes, "filtered rows"));
    const fbp_status st = filter(device, batch, raw, filtered);
    for (size_t i = 0; st == FBP_OK && i < bytes / sizeof *filtered; i++)
        rows[i] = (float)filtered[i];
    fbp_free(filtered);
    return st;
}

/* Returns the sample in column c and row r of a filtered view; 0 outside of the detector.  NaN if
 * the row lies on the detector but not in the batch, which is an error of the plan. */
static double tap(const struct fbp_job *job, const struct fbp_batch *batch, const double *view,
                  double c, double r)
{
    if (!(c >= 0 && c < (double)job->padded.panel.n_columns && r >= 0 &&
          r < (double)job->padded.panel.n_rows))
        return 0;
    const size_t row = (size_t)r;
    if (row < batch->row0 || row >= batch->row0 + batch->n_rows)
        return NAN;
    return view[(row - batch->row0) * job->padded.panel.n_columns + (size_t)c];
}

/* floor(x) for x > -1 */
static double floor_of(double x)
{
    const double whole = (double)(ptrdiff_t)x;

    return x < whole ? whole - 1 : whole;
}

/* Interpolated value of a filtered view at column u and row v; 0 outside. Nearest and spline
 * interpolation are for plane integrals, whose `view` has one row. */
static double value_at(const struct fbp_job *job, const struct fbp_batch *batch, const double *view,
                       double u, double v)
{
    const size_t nc = job->padded.panel.n_columns;

    if (job->epr.interpolation == FBP_INTERPOLATION_NEAREST)
        return tap(job, batch, view, floor(u + FBP_NEAREST), 0);
    if (job->epr.interpolation == FBP_INTERPOLATION_CUBIC) {
        const double first = floor(u);
        double w[4], sum = 0;
        fbp_spline_weights(u - first, w);
        for (int i = 0; i < 4; i++)
            sum += w[i] * tap(job, batch, view, first + i - 1, 0);
        return sum;
    }
    if (!(u > -1 && u < (double)nc && v > -1 && v < (double)job->padded.panel.n_rows))
        return 0;

    const double c = floor_of(u), r = floor_of(v), fu = u - c, fv = v - r;
    const double first = (double)batch->row0, end = first + (double)batch->n_rows;
    double q[4];
    if (c >= 0 && c + 1 < (double)nc && r >= first && r + 1 < end) { /* all four samples exist */
        const double *at = view + (size_t)(r - first) * nc + (size_t)c;
        q[0] = at[0], q[1] = at[1], q[2] = at[nc], q[3] = at[nc + 1];
    } else {
        q[0] = tap(job, batch, view, c, r), q[1] = tap(job, batch, view, c + 1, r);
        q[2] = tap(job, batch, view, c, r + 1), q[3] = tap(job, batch, view, c + 1, r + 1);
    }
    return (1 - fv) * ((1 - fu) * q[0] + fu * q[1]) + fv * ((1 - fu) * q[2] + fu * q[3]);
}

/* Returns `sum` plus the interpolated values of all views of the batch at point x [mm], each
 * divided by w^2; w is the depth of the point in the view, from the third row of the view's matrix.
 * Views with w <= 0 are omitted. */
static double sum_at(const struct fbp_job *job, const struct fbp_batch *batch,
                     const double *filtered, size_t view_size, const double x[3], double sum)
{
    for (size_t k = 0; k < batch->n_views; k++) {
        const double *m = job->matrices[batch->view0 + k];
        const double w = m[8] * x[0] + m[9] * x[1] + m[10] * x[2] + m[11];
        if (w <= 0)
            continue;
        const double u = (m[0] * x[0] + m[1] * x[1] + m[2] * x[2] + m[3]) / w;
        const double v = (m[4] * x[0] + m[5] * x[1] + m[6] * x[2] + m[7]) / w;
        sum += value_at(job, batch, filtered + k * view_size, u, v) / (w * w);
    }
    return sum;
}

/* Add a batch of views to the voxels of row y in slice z of one channel (time point); `out` is the
 * first voxel of this row in the slab.  Jobs in double add view after view, so the result does not
 * depend on the division into batches; jobs in float add one sum per batch. */
static void backproject_row(const struct fbp_job *job, const struct fbp_batch *batch,
                            const double *filtered, size_t view_size, const struct fbp_slab *slab,
                            size_t y, size_t z, double *out)
{
    const struct fbp_grid *g = &job->grid;
    const size_t x0 = slab->x0, x1 = x0 + slab->nx;
    const struct fbp_interval all = {(uint32_t)x0, (uint32_t)x1}, *runs = &all;
    size_t n = 1;

    if (job->requested.region)
        runs = fbp_region_row(job->requested.region, y, z, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t x = runs[i].first > x0 ? runs[i].first : x0; x < x1 && x < runs[i].end; x++) {
            const double p[3] = {fbp_grid_coordinate(g, 0, (double)x),
                                 fbp_grid_coordinate(g, 1, (double)y),
                                 fbp_grid_coordinate(g, 2, (double)z)};
            if (fbp_in_double(job))
                out[x - x0] = sum_at(job, batch, filtered, view_size, p, out[x - x0]);
            else
                out[x - x0] += sum_at(job, batch, filtered, view_size, p, 0);
        }
}

static fbp_status backproject(fbp_device *device, const struct fbp_batch *batch,
                              const void *filtered, const struct fbp_slab *slab, size_t z0,
                              size_t z1, void *volume)
{
    struct ref_device *dev = ref_of(device);
    const struct fbp_job *job = dev->job;
    const size_t slice = fbp_slab_slice(slab), nc = job->padded.panel.n_columns;
    struct fbp_job one_row = *job;
    struct fbp_batch row = *batch;

    one_row.padded.panel.n_rows = row.n_rows = 1;
    pthread_mutex_lock(&dev->lock);
    for (size_t f = 0; f < fbp_channels(job); f++) {
        const bool channels = job->channels > 1; /* each channel is one row of the filtered views */
        double *out = (double *)volume + (f * slab->nz + z0 - slab->z0) * slice;
        for (size_t z = z0; z < z1; z++)
            for (size_t y = slab->y0; y < slab->y0 + slab->ny && !fbp_stopped(); y++) {
                backproject_row(channels ? &one_row : job, channels ? &row : batch,
                                (const double *)filtered + f * nc, batch->n_rows * nc, slab, y, z,
                                out);
                out += slab->nx;
            }
    }
    pthread_mutex_unlock(&dev->lock);
    return fbp_check_cancelled();
}

/* Compute rows of a sinogram image, sample by sample: the first stage of the backprojection of
 * plane integrals in two stages (struct fbp_meridian_images). */
static fbp_status meridian(fbp_device *device, const void *filtered, const struct fbp_image_rows *p,
                           void *out)
{
    const struct fbp_job *job = ref_of(device)->job;
    const struct fbp_meridian_images *m = job->epr.images;
    const double *channel = (const double *)filtered + p->channel * job->padded.panel.n_columns;
    const size_t n = m->n_columns, view = job->padded.panel.n_rows * job->padded.panel.n_columns;
    const struct fbp_batch one = {.n_views = 1, .n_rows = 1};
    struct fbp_job one_row = *job;

    one_row.padded.panel.n_rows = 1;
    for (size_t i = 0; i < p->n_rows * n; i++) {
        const size_t c = i % n, r = p->row0 + i / n;
        double sum = 0;
        for (size_t k = m->first[p->plane]; k < m->first[p->plane + 1]; k++) {
            const double *at = m->at[k];
            sum += value_at(&one_row, &one, channel + k * view,
                            at[0] + (double)c * at[1] + (double)r * at[2], 0);
        }
        if (fbp_in_double(job))
            ((double *)out)[i] = sum;
        else
            ((float *)out)[i] = (float)sum;
    }
    return FBP_OK;
}

static fbp_status clear(fbp_device *device, const struct fbp_slab *slab, void *volume)
{
    memset(volume, 0, volume_bytes(ref_of(device)->job, slab));
    return FBP_OK;
}

static fbp_status fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                        const void *volume, void *host)
{
    const struct fbp_job *job = ref_of(device)->job;
    const size_t slice = fbp_slab_slice(slab), n = (z1 - z0) * slice;
    const double *in = (const double *)volume + (z0 - slab->z0) * slice;

    for (size_t f = 0; f < fbp_channels(job); f++, in += slab->nz * slice)
        for (size_t i = 0; i < n; i++) {
            const double value = job->scale * in[i] + job->shift;
            if (fbp_in_double(job))
                ((double *)host)[f * n + i] = value;
            else
                ((float *)host)[f * n + i] = (float)value;
        }
    return FBP_OK;
}

static fbp_status set_bitmap(fbp_device *device, const struct fbp_row_bitmap *bitmap)
{
    ref_of(device)->bitmap = *bitmap;
    return FBP_OK;
}

static fbp_status counts(fbp_device *device, struct fbp_prep_counts *out)
{
    *out = ref_of(device)->counts;
    return FBP_OK;
}

const struct fbp_backend fbp_backend_ref = {
    .name = "ref",
    .summary = "plain C in double, one thread: the specification",
    .choose = choose,
    .filtered_bytes = filtered_bytes,
    .volume_bytes = volume_bytes,
    .fixed_bytes = fixed_bytes,
    .can.group_views = 8,
    .can.oversamples = true,
    .can.channels = true,
    .can.any_filter = true,
    .can.doubles = true,
    .can.periodic = true,
    .can.interpolations = 1u << FBP_INTERPOLATION_NEAREST | 1u << FBP_INTERPOLATION_CUBIC,
    .open = open_device,
    .close = close_device,
    .filter = filter,
    .filter_rows = filter_rows,
    .meridian = meridian,
    .clear = clear,
    .backproject = backproject,
    .fetch = fetch,
    .repair.set_bitmap = set_bitmap,
    .repair.counts = counts,
};
