/* Fills the tables of a GPU (filter, weights, corrections; layout in gpu/tables.h) with values
 * computed on the host, when a device is opened (gpu_tables_write()); the backend's function put()
 * copies them to the device. Also combines the statistics of voxels of all thread blocks.
 * Used by: backend/cuda/filter.c, backend/cuda/volume.c, backend/gl/backproject.c,
 * backend/gl/filter.c. */
#include "backend/gpu/tables.h"

#include "backend/gpu/gpu_kernel.h"
#include "backend/module.h"
#include "backend/views.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

struct writer {
    const struct fbp_job *job;
    gpu_put_fn *put;
    void *user;
};

/* Pass a table of n entries of `size` bytes to the backend's function put(), then free the table.
 * values NULL: the caller could not allocate the table. */
static fbp_status put_and_free(const struct writer *w, size_t at, void *values, size_t n,
                               size_t size)
{
    if (!values)
        return gpu_host->fail(
            FBP_ERR_NOMEM,
            "device: cannot allocate %zu bytes for tables; lower --memory, or close other programs",
            n * size);
    const fbp_status st = w->put(w->user, at, values, n * size);
    free(values);
    return st;
}

/* Write the tables of the one-launch filter (chain.cu, fft.glsl): twiddle factors, and the response
 * at n frequencies in the order of gpu_chain_frequency(), divided by n. The response is computed in
 * double from the taps, so transforms of all lengths apply the same filter. */
static fbp_status put_chain(const struct writer *w, const struct gpu_tables *t)
{
    const struct fbp_filter_design *f = w->job->filtering.design;
    const size_t n = t->fft_length, n_factors = gpu_chain_twiddles(n);
    double *cosines = malloc(2 * n * sizeof *cosines);
    float *values = cosines ? malloc(n * sizeof *values) : NULL;
    float(*factors)[2] = malloc(n_factors * sizeof *factors);

    for (size_t i = 0; values && i < n; i++)
        cosines[i] = cos(2 * PI * (double)i / (double)n);
    for (size_t i = 0; values && i <= n / 2; i++) {
        double sum = f->kernel[0];
        for (size_t k = 1, at = i; k <= f->half_width; k++) {
            sum += 2 * f->kernel[k] * cosines[at];
            at = at + i < n ? at + i : at + i - n;
        }
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no length is 0 */
        cosines[n + i] = cosines[n + (n - i) % n] = sum / (double)n;
    }
    for (size_t i = 0; values && i < n; i++)
        values[i] = (float)cosines[n + gpu_chain_frequency(n, i)];
    free(cosines);
    for (size_t i = 0; factors && i < n_factors; i++) {
        const double angle = -2 * PI * gpu_chain_twiddle(n, i);
        factors[i][0] = (float)cos(angle);
        factors[i][1] = (float)sin(angle);
    }
    const fbp_status st = put_and_free(w, t->filter, values, n, sizeof *values);
    if (st != FBP_OK) {
        free(factors);
        return st;
    }
    return put_and_free(w, t->twiddles, factors, n_factors, sizeof *factors);
}

/* Write a table of n rows of weights, one weight per detector column; fill() computes row i. */
static fbp_status put_rows(const struct writer *w, size_t at, size_t n,
                           void (*fill)(const fbp_weights *, size_t, double *))
{
    const size_t nc = w->job->panel.n_columns;
    double *row = malloc(nc * sizeof *row);
    float *values = row ? malloc(n * nc * sizeof *values) : NULL;

    for (size_t i = 0; values && i < n; i++) {
        fill(w->job->filtering.weights, i, row);
        for (size_t c = 0; c < nc; c++)
            values[i * nc + c] = (float)row[c];
    }
    free(row);
    return put_and_free(w, at, values, n * nc, sizeof *values);
}

/* Range of slices that contains all requested voxels of a cell (struct gpu_wanted); 0, 0: none. */
static struct gpu_wanted cell_of(const struct fbp_job *job, size_t cell_x, size_t cell_y)
{
    const size_t x0 = cell_x * GPU_CELL, y0 = cell_y * GPU_CELL, *n = job->grid.n;
    struct gpu_wanted out = {0, 0};

    for (size_t y = y0; y < y0 + GPU_CELL && y < n[1]; y++)
        for (size_t x = x0; x < x0 + GPU_CELL && x < n[0]; x++) {
            const struct fbp_interval z = fbp_symmetric_slices(job, x, y);
            const int first = (int)z.first, end = (int)z.end;
            if (end == 0)
                continue;
            out.first = out.end == 0 || first < out.first ? first : out.first;
            out.end = end > out.end ? end : out.end;
        }
    return out;
}

/* Write the filter's 2 S + 1 taps (S: half_width) or its response at n_fft/2 + 1 frequencies. Tap i
 * belongs to the input sample i - S columns before the output. */
static fbp_status put_filter(const struct writer *w, const struct gpu_tables *t)
{
    const struct fbp_filter_design *f = w->job->filtering.design;
    const double *back = f->kernel_back ? f->kernel_back : f->kernel;
    const bool space = t->in_double || t->way == GPU_FILTER_SPATIAL;
    const size_t s = f->half_width, n = space ? 2 * s + 1 : f->n_fft / 2 + 1;
    const size_t size = t->in_double ? sizeof(double) : sizeof(float);
    void *values = malloc(n * size);

    for (size_t i = 0; values && i < n; i++) {
        const double value = !space ? f->response[i] : i >= s ? f->kernel[i - s] : back[s - i];
        if (t->in_double)
            ((double *)values)[i] = value;
        else
            ((float *)values)[i] = (float)value;
    }
    return put_and_free(w, t->filter, values, n, size);
}

fbp_status gpu_tables_write(const struct fbp_job *job, const struct gpu_tables *t, gpu_put_fn *put,
                            void *user)
{
    const struct writer w = {job, put, user};
    const struct fbp_prep *prep = job->filtering.prep;
    const size_t image = job->panel.n_rows * job->panel.n_columns * sizeof(float);

    if (prep->dark)
        FBP_TRY(put(user, t->dark, prep->dark, image));
    if (prep->gain)
        FBP_TRY(put(user, t->gain, prep->gain, image));
    if (prep->n_bridges) {
        struct gpu_bridge *bridges = malloc(prep->n_bridges * sizeof *bridges);
        for (size_t i = 0; bridges && i < prep->n_bridges; i++) {
            bridges[i].pixel = (unsigned)prep->bridges[i].pixel;
            for (int k = 0; k < 4; k++)
                bridges[i].from[k] = (unsigned)prep->bridges[i].from[k];
            memcpy(bridges[i].weight, prep->bridges[i].weight, sizeof bridges[i].weight);
        }
        FBP_TRY(put_and_free(&w, t->bridges, bridges, prep->n_bridges, sizeof *bridges));
    }
    if (gpu_kernel_of(job)->planes) {
        struct gpu_plane *planes = malloc(job->n_views * sizeof *planes);
        for (size_t k = 0; planes && k < job->n_views; k++)
            gpu_plane_of(job, k, &planes[k]);
        FBP_TRY(put_and_free(&w, t->planes, planes, job->n_views, sizeof *planes));
    }
    if (gpu_kernel_of(job)->slices) {
        struct gpu_parallel_view *views = malloc(job->n_views * sizeof *views);
        for (size_t k = 0; views && k < job->n_views; k++)
            gpu_parallel_view_of(job, k, &views[k]);
        FBP_TRY(put_and_free(&w, t->parallel, views, job->n_views, sizeof *views));
    }
    if (job->requested.region) {
        const size_t nx = gpu_cells(job->grid.n[0]), n = nx * gpu_cells(job->grid.n[1]);
        struct gpu_wanted *cells = malloc(n * sizeof *cells);
        for (size_t i = 0; cells && i < n; i++)
            cells[i] = cell_of(job, i % nx, i / nx);
        FBP_TRY(put_and_free(&w, t->wanted, cells, n, sizeof *cells));
    }
    if (t->way == GPU_FILTER_NONE)
        return FBP_OK;
    FBP_TRY(t->way == GPU_FILTER_CHAIN ? put_chain(&w, t) : put_filter(&w, t));
    if (job->filtering.columns) {
        const struct fbp_column_filter *f = job->filtering.columns;
        const size_t n = gpu_column_taps(job), middle = n / 2;
        float *taps = malloc(n * sizeof *taps);
        for (size_t i = 0; taps && i < n; i++) {
            const size_t off = i > middle ? i - middle : middle - i;
            taps[i] = off <= f->half_width ? (float)f->kernel[off] : 0;
        }
        FBP_TRY(put_and_free(&w, t->taps_v, taps, n, sizeof *taps));
    }
    if (job->filtering.pad)
        FBP_TRY(put(user, t->pad, job->filtering.pad->tables,
                    sizeof(float) * 2 * job->filtering.pad->rule.n_lengths *
                        job->filtering.pad->n_columns));

    const size_t n = job->n_views, nc = job->panel.n_columns;
    if (fbp_in_double(job)) { /* all samples of a view have the same weight */
        double *row = malloc(nc * sizeof *row);
        double *scales = row ? malloc(n * sizeof *scales) : NULL;
        for (size_t k = 0; scales && k < n; k++) {
            gpu_host->weights_row(job->filtering.weights, k, 0, row);
            scales[k] = row[0];
        }
        free(row);
        return put_and_free(&w, t->scales, scales, n, sizeof *scales);
    }
    if (gpu_host->weights_separable(job->filtering.weights)) {
        FBP_TRY(put_rows(&w, t->image, job->panel.n_rows, gpu_host->weights_image));
        return put_rows(&w, t->lines, n, gpu_host->weights_line);
    }
    struct fbp_rays rays;
    gpu_host->weights_rays(job->filtering.weights, &rays);
    if (rays.redundancy == FBP_PER_RAY)
        FBP_TRY(put_rows(&w, t->lines, n, gpu_host->weights_line));
    struct fbp_ray_view *views = malloc(n * sizeof *views);
    for (size_t k = 0; views && k < n; k++)
        gpu_host->weights_view(job->filtering.weights, k, &views[k]);
    return put_and_free(&w, t->rays, views, n, sizeof *views);
}

void gpu_statistics_take(struct gpu_block_statistics found[GPU_STATISTICS_BLOCKS],
                         struct fbp_statistics *out)
{
    *out = (struct fbp_statistics){INFINITY, -INFINITY, 0};
    for (int i = 0; i < GPU_STATISTICS_BLOCKS; i++) {
        out->min = fmin(out->min, (double)found[i].min);
        out->max = fmax(out->max, (double)found[i].max);
        out->sum += found[i].sum;
        found[i] = (struct gpu_block_statistics){INFINITY, -INFINITY, 0};
    }
}

void gpu_statistics_take_double(struct gpu_block_statistics_double found[GPU_STATISTICS_BLOCKS],
                                struct fbp_statistics *out)
{
    *out = (struct fbp_statistics){INFINITY, -INFINITY, 0};
    for (int i = 0; i < GPU_STATISTICS_BLOCKS; i++) {
        out->min = fmin(out->min, found[i].min);
        out->max = fmax(out->max, found[i].max);
        out->sum += found[i].sum;
        found[i] = (struct gpu_block_statistics_double){INFINITY, -INFINITY, 0};
    }
}
