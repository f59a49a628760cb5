/* Reference values in double precision for some voxels of a volume, by the arithmetic of the
 * backend `ref`. Called by bench kernel and by the commands of the papers.
 * Used by: bench/host/, bench/kernels/, bench/papers/ino2009/, bench/papers/ino2010/,
 * bench/papers/qiao2015/, bench/papers/zinsser2013/. */
#include "bench/common/truth.h"

#include "backend/slab.h"
#include "backend/views.h"
#include "base/base.h"
#include "base/threads.h"
#include "pipeline/division.h"

#include <string.h>

enum { CHUNK_VIEWS = 16, PIECE = 2048 }; /* views filtered at a time, samples of a work item */

/* Whether slice i is in the middle of one of n_whole equal parts of n slices. */
static bool is_whole(size_t i, size_t n, size_t n_whole)
{
    return (i * n_whole + n / 2) / n != ((i + 1) * n_whole + n / 2) / n;
}

static uint32_t hash(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* The i-th of n pseudo-random voxels of a slice with `size` voxels: one from each of n equal parts.
 */
static uint32_t some_voxel(size_t slice, size_t i, size_t n, size_t size)
{
    const double u = hash(hash((uint32_t)slice + 1) + (uint32_t)i) * 0x1p-32;
    return (uint32_t)(((double)i + u) * (double)size / (double)n);
}

static bool is_wanted(const struct fbp_job *job, size_t voxel, size_t z)
{
    const size_t x = voxel % job->grid.n[0], y = voxel / job->grid.n[0];
    size_t n;

    if (!job->requested.region)
        return true;
    const struct fbp_interval *runs = fbp_region_row(job->requested.region, y, z, &n);
    for (size_t i = 0; i < n; i++)
        if (x >= runs[i].first && x < runs[i].end)
            return true;
    return false;
}

/* Choose the voxels to compare, within the region of the job; their values are computed later. */
static fbp_status choose(struct fbp_bench_truth *t, const struct fbp_job *job)
{
    const struct fbp_grid *g = &job->grid;
    const size_t size = g->n[0] * g->n[1], fit = FBP_BENCH_WHOLE / size;
    const size_t most = fit < 1 ? 1 : fit < FBP_BENCH_SLICES ? fit : FBP_BENCH_SLICES;
    const size_t wanted = most < t->nz ? most : t->nz, others = t->nz - wanted;
    const size_t even = others ? FBP_BENCH_VOXELS / others : 0, a_slice = even < size ? even : size;

    FBP_TRY(fbp_calloc((void **)&t->first, t->nz + 1, sizeof *t->first, "samples"));
    FBP_TRY(fbp_calloc((void **)&t->voxel, wanted * size + others * a_slice, sizeof *t->voxel,
                       "samples"));
    for (size_t i = 0; i < t->nz; i++) {
        const bool whole = is_whole(i, t->nz, wanted);
        const size_t n = whole ? size : a_slice;
        for (size_t k = 0; k < n; k++) {
            const uint32_t voxel = whole ? (uint32_t)k : some_voxel(t->z0 + i, k, n, size);
            if (is_wanted(job, voxel, t->z0 + i))
                t->voxel[t->n++] = voxel;
        }
        t->first[i + 1] = t->n;
        *(whole ? &t->n_whole : &t->n_random) += whole ? 1 : n;
    }
    return FBP_OK;
}

/* State of adding a chunk of filtered views to all chosen voxels; one device of `ref` per worker.
 */
struct chunk {
    struct fbp_bench_truth *truth;
    const struct fbp_job *job;
    const struct fbp_backend *ref;
    fbp_device **devices;
    const float *views;
    struct fbp_batch batch;
    float *raw;       /* [CHUNK_VIEWS][n_rows][n_columns], at most */
    double *filtered; /* [CHUNK_VIEWS][n_rows][wide.n_columns], of the batch's rows */
    fbp_status *st;   /* one a worker */
};

static void filter_view(void *user, size_t k, int worker)
{
    const struct chunk *c = user;
    const size_t nc = c->job->panel.n_columns, view = c->job->panel.n_rows * nc;
    float *raw = c->raw + k * view; /* it may be written to */
    struct fbp_batch one = c->batch;

    one.view0 += k;
    one.n_views = 1;
    memcpy(raw, c->views + one.view0 * view + one.load_row0 * nc, one.load_rows * nc * sizeof *raw);
    const fbp_status st =
        c->ref->filter(c->devices[worker], &one, raw,
                       c->filtered + k * one.n_rows * c->job->padded.panel.n_columns);
    if (st != FBP_OK)
        c->st[worker] = st;
}

static void add_samples(void *user, size_t piece, int worker)
{
    const struct chunk *c = user;
    struct fbp_bench_truth *t = c->truth;
    const size_t nx = c->job->grid.n[0], begin = piece * PIECE;
    const size_t end = begin + PIECE < t->n ? begin + PIECE : t->n;
    size_t slice = 0;

    for (size_t i = begin; i < end && (i % 256 || !fbp_stopped()); i++) {
        while (t->first[slice + 1] <= i)
            slice++;
        const struct fbp_slab voxel = {.x0 = t->voxel[i] % nx,
                                       .y0 = t->voxel[i] / nx,
                                       .z0 = t->z0 + slice,
                                       .nx = 1,
                                       .ny = 1,
                                       .nz = 1};
        const fbp_status st = c->ref->backproject(c->devices[worker], &c->batch, c->filtered,
                                                  &voxel, voxel.z0, voxel.z0 + 1, &t->value[i]);
        if (st != FBP_OK)
            c->st[worker] = st;
    }
}

static fbp_status open_chunk(struct chunk *c, size_t n_threads)
{
    const struct fbp_panel *p = &c->job->panel;

    FBP_TRY(fbp_calloc((void **)&c->devices, n_threads, sizeof(fbp_device *), "devices"));
    FBP_TRY(fbp_calloc((void **)&c->st, n_threads, sizeof *c->st, "devices"));
    for (size_t i = 0; i < n_threads; i++)
        FBP_TRY(c->ref->open(&c->devices[i], 0, c->job));
    FBP_TRY(fbp_alloc((void **)&c->raw, CHUNK_VIEWS * p->n_rows * p->n_columns * sizeof *c->raw,
                      "views"));
    return fbp_alloc((void **)&c->filtered, c->ref->filtered_bytes(c->job, CHUNK_VIEWS, p->n_rows),
                     "filtered views");
}

static void close_chunk(struct chunk *c, size_t n_threads)
{
    for (size_t i = 0; c->devices && i < n_threads; i++)
        c->ref->close(&c->devices[i]);
    free(c->devices);
    free(c->st);
    fbp_free(c->raw);
    fbp_free(c->filtered);
}

static fbp_status add_views(struct chunk *c, fbp_pool *pool, size_t n_threads)
{
    const struct fbp_slab slab = fbp_slab_whole(c->job, c->truth->z0, c->truth->nz);
    const size_t n = c->job->n_views;

    for (size_t k = 0; k < n; k += CHUNK_VIEWS) {
        FBP_TRY(fbp_check_cancelled());
        c->batch = fbp_work_batch_of(c->job, &slab, k, n - k < CHUNK_VIEWS ? n - k : CHUNK_VIEWS);
        fbp_pool_for(pool, c->batch.n_views, filter_view, c);
        for (size_t i = 0; i < n_threads; i++)
            if (c->st[i] != FBP_OK)
                return fbp_fail(
                    c->st[i],
                    "bench: the views of the reference could not be filtered: report this error");
        fbp_pool_for(pool, (c->truth->n + PIECE - 1) / PIECE, add_samples, c);
    }
    for (size_t i = 0; i < c->truth->n; i++)
        c->truth->value[i] = c->job->scale * c->truth->value[i] + c->job->shift;
    return FBP_OK;
}

fbp_status fbp_bench_truth_make(struct fbp_bench_truth *out, const struct fbp_job *job,
                                const float *views, size_t z0, size_t nz, fbp_pool *pool,
                                int n_threads)
{
    struct fbp_job first = *job; /* the first channel only */
    struct chunk c = {.truth = out, .job = &first, .views = views, .ref = fbp_backend_find("ref")};
    fbp_status st = FBP_OK;

    first.channels = 1;
    *out = (struct fbp_bench_truth){.z0 = z0, .nz = nz};
    FBP_TRY_GOTO(choose(out, job));
    FBP_TRY_GOTO(fbp_calloc((void **)&out->value, out->n, sizeof *out->value, "samples"));
    FBP_TRY_GOTO(open_chunk(&c, (size_t)n_threads));
    FBP_TRY_GOTO(add_views(&c, pool, (size_t)n_threads));
fail:
    close_chunk(&c, (size_t)n_threads);
    if (st != FBP_OK)
        fbp_bench_truth_clear(out);
    return st;
}

void fbp_bench_truth_clear(struct fbp_bench_truth *t)
{
    free(t->first);
    free(t->voxel);
    free(t->value);
    *t = (struct fbp_bench_truth){0};
}

void fbp_bench_truth_pick(const struct fbp_bench_truth *t, const struct fbp_grid *g, size_t z,
                          size_t n, const float *voxels, float *out)
{
    const size_t size = g->n[0] * g->n[1];

    for (size_t i = 0; i < n; i++)
        for (size_t k = t->first[z - t->z0 + i]; k < t->first[z - t->z0 + i + 1]; k++)
            out[k] = voxels[i * size + t->voxel[k]];
}

struct fbp_bench_difference fbp_bench_sum_of(const struct fbp_bench_sum *s)
{
    const double rmse = s->n ? sqrt(s->squares / (double)s->n) : 0;

    return (struct fbp_bench_difference){.rmse = rmse, /* a value that is no number shows */
                                         .max = s->max,
                                         .psnr_db =
                                             s->squares == 0 ? 999 : 20 * log10(s->peak / rmse)};
}

struct fbp_bench_difference fbp_bench_truth_compare(const struct fbp_bench_truth *t,
                                                    const float *samples)
{
    struct fbp_bench_sum sum = {0};

    for (size_t i = 0; i < t->n; i++)
        fbp_bench_sum_add(&sum, (double)samples[i], t->value[i]);
    return fbp_bench_sum_of(&sum);
}
