/* What the tables of a device hold: converted from the host's, part after part. */
#include "backend/gpu/chain.h"
#include "backend/gpu/gpu_planes.h"
#include "backend/gpu/host.h"
#include "backend/gpu/tables.h"
#include "backend/partners.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* One job's tables, and how they are written. */
struct writer {
    const struct fbp_job *job;
    const struct gpu_tables *tables;
    gpu_put_fn *put;
    void *user;
};

static fbp_status no_memory(size_t bytes)
{
    return gpu_host->fail(FBP_ERR_NOMEM, "device: cannot allocate %zu bytes for tables", bytes);
}

static fbp_status put(const struct writer *w, size_t at, const void *data, size_t bytes)
{
    return w->put(w->user, at, data, bytes);
}

/* Response of the taps at n frequencies, the 1/n of the way back included: in double, so that every
 * length gives the same filter. */
static void transform_taps(const struct fbp_filter_design *f, size_t n, double *cosines,
                           double *response)
{
    for (size_t i = 0; i < n; i++)
        cosines[i] = cos(2 * PI * (double)i / (double)n);
    for (size_t i = 0; i <= n / 2; i++) {
        double sum = f->kernel[0];
        for (size_t k = 1, at = i; k <= f->half_width; k++) {
            sum += 2 * f->kernel[k] * cosines[at];
            at = at + i < n ? at + i : at + i - n;
        }
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a length is none */
        response[i] = response[(n - i) % n] = sum / (double)n;
    }
}

/* Response and factors of the chain's transforms. */
static fbp_status put_chain(const struct writer *w)
{
    const size_t n = w->tables->fft_length, turns = gpu_chain_turns(n);
    double *cosines = malloc(2 * n * sizeof *cosines);
    float *values = malloc(n * sizeof *values);
    float(*factors)[2] = malloc(turns * sizeof *factors);
    fbp_status st = FBP_OK;

    if (!cosines || !values || !factors) {
        st = no_memory(turns * sizeof *factors);
        goto fail;
    }
    transform_taps(w->job->filter, n, cosines, cosines + n);
    for (size_t i = 0; i < n; i++)
        values[i] = (float)cosines[n + gpu_chain_frequency(n, i)];
    for (size_t i = 0; i < turns; i++) {
        const double angle = -2 * PI * gpu_chain_turn(n, i);
        factors[i][0] = (float)cos(angle);
        factors[i][1] = (float)sin(angle);
    }
    st = put(w, w->tables->filter, values, n * sizeof *values);
    if (st == FBP_OK)
        st = put(w, w->tables->turns, factors, turns * sizeof *factors);
fail:
    free(cosines);
    free(values);
    free(factors);
    return st;
}

/* Tap i of 2 S + 1, of sample i - S before the one that it is for. */
static double tap_of(const struct fbp_filter_design *f, size_t i)
{
    const size_t s = f->half_width;

    return i >= s ? f->kernel[i - s] : (f->kernel_back ? f->kernel_back : f->kernel)[s - i];
}

/* All of them, in double. */
static fbp_status put_taps(const struct writer *w)
{
    const struct fbp_filter_design *f = w->job->filter;
    const size_t n = 2 * f->half_width + 1;
    double *values = malloc(n * sizeof *values);

    if (!values)
        return no_memory(n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = tap_of(f, i);
    const fbp_status st = put(w, w->tables->filter, values, n * sizeof *values);
    free(values);
    return st;
}

static fbp_status put_filter(const struct writer *w)
{
    const struct fbp_filter_design *f = w->job->filter;
    const bool space = w->tables->way == GPU_IN_SPACE;
    const size_t s = f->half_width, n = space ? 2 * s + 1 : f->n_fft / 2 + 1;
    float *values = malloc(n * sizeof *values);

    if (!values)
        return no_memory(n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = (float)(space ? tap_of(f, i) : f->response[i]);
    const fbp_status st = put(w, w->tables->filter, values, n * sizeof *values);
    free(values);
    return st;
}

static fbp_status put_columns(const struct writer *w)
{
    const struct fbp_column_filter *f = w->job->columns;
    const size_t n = gpu_column_taps(w->job), middle = n / 2;
    float *values = malloc(n * sizeof *values);

    if (!values)
        return no_memory(n * sizeof *values);
    for (size_t i = 0; i < n; i++) {
        const size_t off = i > middle ? i - middle : middle - i;
        values[i] = off <= f->half_width ? (float)f->kernel[off] : 0;
    }
    const fbp_status st = put(w, w->tables->taps_v, values, n * sizeof *values);
    free(values);
    return st;
}

static fbp_status put_bridges(const struct writer *w)
{
    const struct fbp_prep *p = w->job->prep;
    struct gpu_bridge *bridges = malloc(p->n_bridges * sizeof *bridges);

    if (!bridges)
        return no_memory(p->n_bridges * sizeof *bridges);
    for (size_t i = 0; i < p->n_bridges; i++) {
        bridges[i].pixel = (unsigned)p->bridges[i].pixel;
        for (int k = 0; k < 4; k++)
            bridges[i].from[k] = (unsigned)p->bridges[i].from[k];
        memcpy(bridges[i].weight, p->bridges[i].weight, sizeof bridges[i].weight);
    }
    const fbp_status st = put(w, w->tables->bridges, bridges, p->n_bridges * sizeof *bridges);
    free(bridges);
    return st;
}

static fbp_status put_prep(const struct writer *w)
{
    const struct fbp_prep *p = w->job->prep;
    const size_t image = w->job->panel.n_rows * w->job->panel.n_columns * sizeof(float);

    if (p->dark)
        FBP_TRY(put(w, w->tables->dark, p->dark, image));
    if (p->gain)
        FBP_TRY(put(w, w->tables->gain, p->gain, image));
    return p->n_bridges ? put_bridges(w) : FBP_OK;
}

/* n rows of weights, `fill` giving one. */
static fbp_status put_rows(const struct writer *w, size_t at, size_t n,
                           void (*fill)(const fbp_weights *, size_t, double *))
{
    const size_t nc = w->job->panel.n_columns;
    double *row = malloc(nc * sizeof *row);
    float *values = malloc(n * nc * sizeof *values);
    fbp_status st;

    if (!row || !values) {
        st = no_memory(n * nc * sizeof *values);
        goto fail;
    }
    for (size_t i = 0; i < n; i++) {
        fill(w->job->weights, i, row);
        for (size_t c = 0; c < nc; c++)
            values[i * nc + c] = (float)row[c];
    }
    st = put(w, at, values, n * nc * sizeof *values);
fail:
    free(row);
    free(values);
    return st;
}

/* Of plane integrals all samples of a view have one. */
static fbp_status put_scales(const struct writer *w)
{
    const size_t n = w->job->n_views, nc = w->job->panel.n_columns;
    double *row = malloc((nc + n) * sizeof *row), *const scales = row + nc;

    if (!row)
        return no_memory((nc + n) * sizeof *row);
    for (size_t k = 0; k < n; k++) {
        gpu_host->weights_row(w->job->weights, k, 0, row);
        scales[k] = row[0];
    }
    const fbp_status st = put(w, w->tables->scales, scales, n * sizeof *scales);
    free(row);
    return st;
}

static fbp_status put_weights(const struct writer *w)
{
    const struct fbp_job *job = w->job;
    const size_t bytes = job->n_views * sizeof(struct fbp_ray_view);
    struct fbp_rays rays;

    if (fbp_in_double(job))
        return put_scales(w);
    if (gpu_host->weights_separable(job->weights)) {
        FBP_TRY(put_rows(w, w->tables->image, job->panel.n_rows, gpu_host->weights_image));
        return put_rows(w, w->tables->lines, job->n_views, gpu_host->weights_line);
    }
    gpu_host->weights_rays(job->weights, &rays);
    if (rays.redundancy == FBP_PER_RAY)
        FBP_TRY(put_rows(w, w->tables->lines, job->n_views, gpu_host->weights_line));
    struct fbp_ray_view *views = malloc(bytes);
    if (!views)
        return no_memory(bytes);
    for (size_t k = 0; k < job->n_views; k++)
        gpu_host->weights_view(job->weights, k, &views[k]);
    const fbp_status st = put(w, w->tables->rays, views, bytes);
    free(views);
    return st;
}

/* All columns of a cell. */
static struct gpu_wanted cell_of(const struct fbp_job *job, size_t cell_x, size_t cell_y)
{
    const size_t x0 = cell_x * GPU_CELL, y0 = cell_y * GPU_CELL, *n = job->grid.n;
    struct gpu_wanted out = {0, 0};

    for (size_t y = y0; y < y0 + GPU_CELL && y < n[1]; y++)
        for (size_t x = x0; x < x0 + GPU_CELL && x < n[0]; x++) {
            const struct fbp_interval z = fbp_orbit_slices(job, x, y);
            const int first = (int)z.first, end = (int)z.end;
            if (end == 0)
                continue;
            out.first = out.end == 0 || first < out.first ? first : out.first;
            out.end = end > out.end ? end : out.end;
        }
    return out;
}

static fbp_status put_wanted(const struct writer *w)
{
    const size_t nx = gpu_cells(w->job->grid.n[0]), ny = gpu_cells(w->job->grid.n[1]);
    struct gpu_wanted *cells = malloc(nx * ny * sizeof *cells);

    if (!cells)
        return no_memory(nx * ny * sizeof *cells);
    for (size_t i = 0; i < nx * ny; i++)
        cells[i] = cell_of(w->job, i % nx, i / nx);
    const fbp_status st = put(w, w->tables->wanted, cells, nx * ny * sizeof *cells);
    free(cells);
    return st;
}

static fbp_status put_planes(const struct writer *w)
{
    const size_t n = w->job->n_views, bytes = n * sizeof(struct gpu_plane);
    struct gpu_plane *planes = malloc(bytes);

    if (!planes)
        return no_memory(bytes);
    for (size_t k = 0; k < n; k++)
        gpu_plane_of(w->job, k, &planes[k]);
    const fbp_status st = put(w, w->tables->planes, planes, bytes);
    free(planes);
    return st;
}

fbp_status gpu_tables_write(const struct fbp_job *job, const struct gpu_tables *tables,
                            gpu_put_fn *put_at, void *user)
{
    const struct writer w = {job, tables, put_at, user};

    FBP_TRY(put_prep(&w));
    if (gpu_kernel_of(job)->planes)
        FBP_TRY(put_planes(&w));
    if (job->region)
        FBP_TRY(put_wanted(&w));
    if (tables->way == GPU_NO_FILTER)
        return FBP_OK;
    FBP_TRY(tables->way == GPU_AT_ONCE ? put_chain(&w)
            : tables->in_double        ? put_taps(&w)
                                       : put_filter(&w));
    if (job->columns)
        FBP_TRY(put_columns(&w));
    if (job->pad)
        FBP_TRY(put(&w, tables->pad, job->pad->tables,
                    sizeof(float) * 2 * job->pad->rule.n_lengths * job->pad->n_columns));
    return put_weights(&w);
}
