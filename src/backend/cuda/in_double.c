#include "backend/cuda/in_double.h"
#include "backend/cuda/peer.h"

#include "backend/rows.h"
#include "backend/slab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the lines that are filtered at once; rows of a grid along y, at most; of the block's parts. */
enum { LINES_BYTES = 16 << 20, MOST_ROWS = 32768, ALIGN = 256 };

static size_t place(size_t *bytes, size_t n)
{
    const size_t at = *bytes;

    *bytes += (n + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

static size_t rows_a_call(const struct fbp_job *job)
{
    const size_t row = job->wide.n_columns * sizeof(double), n = LINES_BYTES / row;

    return n < 1 ? 1 : n < MOST_ROWS ? n : MOST_ROWS;
}

/* Places in the block; common: those that struct gpu_tables has, too. */
static void lay_out(const struct fbp_job *job, struct gpu_tables *common,
                    struct cuda_double_tables *out)
{
    size_t *at = &common->bytes;
    const size_t taps = job->filtered ? 0 : 2 * job->filter->half_width + 1;

    *common = (struct gpu_tables){0};
    *out = (struct cuda_double_tables){.rows_a_call = rows_a_call(job)};
    out->planes = place(at, job->n_views * sizeof(struct gpu_plane));
    out->weights = place(at, job->filtered ? 0 : job->n_views * sizeof(double));
    out->taps = place(at, taps * sizeof(double));
    for (int i = 0; i < 2; i++)
        out->lines[i] = place(at, out->rows_a_call * job->wide.n_columns * sizeof(double));
    out->found = place(at, GPU_FOUND * sizeof(struct cuda_double_found));
    common->counters = place(at, 2 * sizeof(uint64_t));
    common->ledger =
        place(at, fbp_ledger_words(job->n_views, job->panel.n_rows) * sizeof(unsigned));
}

bool cuda_double_choose(struct fbp_job *job, const char *name, const char *isa)
{
    if ((name && strcmp(name, "planes") != 0) || !gpu_planes_usable(job) || job->columns ||
        job->pad || fabs(job->scale - 1) > 0 || fabs(job->shift) > 0)
        return false;
    gpu_kernel_take(&cuda_kernel_planes_exact.gpu, isa, job);
    return true;
}

size_t cuda_double_filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    return gpu_planes_bytes(job, n_views, n_rows) / sizeof(float) * sizeof(double);
}

size_t cuda_double_volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab)
{
    return fbp_frames(job) * slab->nz * fbp_slab_slice(slab) * sizeof(double);
}

size_t cuda_double_fixed_bytes(const struct fbp_job *job)
{
    struct cuda_double_tables own;
    struct gpu_tables common;

    lay_out(job, &common, &own);
    return common.bytes;
}

void cuda_double_lay_out(struct cuda_device *dev)
{
    lay_out(dev->job, &dev->tables, &dev->doubles);
}

static fbp_status put(struct cuda_device *dev, size_t at, const void *data, size_t bytes)
{
    CUDA_TRY(cudaMemcpy(dev->memory + at, data, bytes, cudaMemcpyHostToDevice));
    return FBP_OK;
}

/* One number a view: columns and frames are alike. */
static void fill_weights(const struct fbp_job *job, double *row, double *out)
{
    for (size_t k = 0; k < job->n_views; k++) {
        gpu_host->weights_row(job->weights, k, 0, row);
        out[k] = row[0];
    }
}

/* As samples come: the filter of the last one first. */
static void fill_taps(const struct fbp_filter_design *f, double *out)
{
    const double *back = f->kernel_back ? f->kernel_back : f->kernel;

    for (size_t i = 0; i <= f->half_width; i++) {
        out[f->half_width - i] = f->kernel[i];
        if (i > 0)
            out[f->half_width + i] = back[i];
    }
}

/* Room on the host for the largest of them. */
static fbp_status write_tables(struct cuda_device *dev, double *scratch)
{
    const struct fbp_job *job = dev->job;
    const struct cuda_double_tables *t = &dev->doubles;
    struct gpu_plane *planes = (void *)scratch;
    struct cuda_double_found *found = (void *)scratch;

    for (size_t k = 0; k < job->n_views; k++)
        gpu_plane_of(job, k, &planes[k]);
    FBP_TRY(put(dev, t->planes, planes, job->n_views * sizeof *planes));
    for (int i = 0; i < GPU_FOUND; i++)
        found[i] = (struct cuda_double_found){INFINITY, -INFINITY, 0};
    FBP_TRY(put(dev, t->found, found, GPU_FOUND * sizeof *found));
    if (job->filtered)
        return FBP_OK;
    fill_weights(job, scratch + job->n_views, scratch);
    FBP_TRY(put(dev, t->weights, scratch, job->n_views * sizeof *scratch));
    fill_taps(job->filter, scratch);
    return put(dev, t->taps, scratch, (2 * job->filter->half_width + 1) * sizeof *scratch);
}

fbp_status cuda_double_write(struct cuda_device *dev)
{
    const struct fbp_job *job = dev->job;
    const size_t taps = job->filtered ? 0 : 2 * job->filter->half_width + 1;
    const size_t n = 4 * job->n_views + job->panel.n_columns + taps + 3 * GPU_FOUND;
    double *scratch = calloc(n, sizeof *scratch);

    if (!scratch)
        return gpu_host->fail(FBP_ERR_NOMEM, "cuda: cannot allocate %zu bytes",
                              n * sizeof *scratch);
    const fbp_status st = write_tables(dev, scratch);
    free(scratch);
    return st;
}

static double *line_of(const struct cuda_device *dev, unsigned i)
{
    return (void *)(dev->memory + dev->doubles.lines[i % 2]);
}

static struct cuda_double_rows rows_of(const struct cuda_device *dev, const struct fbp_batch *b,
                                       void *raw)
{
    const struct fbp_job *job = dev->job;
    const char *memory = dev->memory;

    return (struct cuda_double_rows){
        .raw = raw,
        .raw_columns = (unsigned)job->panel.n_columns,
        .load_rows = (unsigned)b->load_rows,
        .skip = (unsigned)(b->row0 - b->load_row0),
        .n_rows = (unsigned)b->n_rows,
        .view0 = (unsigned)b->view0,
        .pad_left = (unsigned)job->pad_left,
        .apart = (unsigned)job->between + 1,
        .n_columns = (unsigned)job->wide.n_columns,
        .weights =
            job->filtered ? NULL : (const double *)(const void *)(memory + dev->doubles.weights),
        .ledger = dev->counts_once ? (void *)(dev->memory + dev->tables.ledger) : NULL,
        .panel_rows = (unsigned)job->panel.n_rows,
        .row0 = (unsigned)b->row0,
        .not_finite = (void *)(dev->memory + dev->tables.counters),
        .lines = line_of(dev, 0)};
}

/* Some rows, through all passes of the filter, into the batch's place. */
static fbp_status filter_some(const struct cuda_device *dev, const struct cuda_double_rows *rows,
                              double *filtered)
{
    const struct fbp_job *job = dev->job;
    const double *taps = (const void *)(dev->memory + dev->doubles.taps);
    const struct gpu_planes to = gpu_planes_of(job, rows->n_rows);
    const unsigned passes = job->filtered ? 0 : job->filter->passes;
    cudaStream_t stream = dev->streams[FBP_STAGE_FILTER].stream;

    CUDA_TRY(cuda_double_take(rows, stream));
    for (unsigned i = 0; i < passes; i++)
        CUDA_TRY(cuda_double_convolve(line_of(dev, i), rows->n, rows->n_columns, taps,
                                      (unsigned)job->filter->half_width, line_of(dev, i + 1),
                                      stream));
    CUDA_TRY(cuda_double_store(rows, line_of(dev, passes), &to, filtered, stream));
    return FBP_OK;
}

/* Where a batch lies in its buffer. */
static size_t bytes_before(const struct cuda_device *dev, const struct fbp_batch *b)
{
    return cuda_double_filtered_bytes(dev->job, b->place, b->n_rows);
}

fbp_status cuda_double_filter(struct cuda_device *dev, const struct fbp_batch *batch, void *raw,
                              void *filtered)
{
    const struct cuda_views *views = filtered;
    double *out = (void *)((char *)views->memory + bytes_before(dev, batch));
    struct cuda_double_rows rows = rows_of(dev, batch, raw);
    const size_t n = batch->n_views * batch->n_rows, call = dev->doubles.rows_a_call;

    CUDA_TRY(cudaSetDevice(dev->index));
    for (size_t at = 0; at < n; at += call) {
        rows.first = (unsigned)at;
        rows.n = (unsigned)(n - at < call ? n - at : call);
        FBP_TRY(filter_some(dev, &rows, out));
    }
    return FBP_OK;
}

fbp_status cuda_double_share(struct cuda_device *dev, const struct fbp_batch *batch, void *filtered,
                             const struct cuda_device *from, const void *theirs)
{
    const struct cuda_views *to = filtered, *other = theirs;
    const size_t at = bytes_before(dev, batch);

    CUDA_TRY(cudaMemcpyPeerAsync(
        (char *)to->memory + at, dev->index, (const char *)other->memory + at, from->index,
        cuda_double_filtered_bytes(dev->job, batch->n_views, batch->n_rows),
        dev->streams[FBP_STAGE_OUT].stream));
    return FBP_OK;
}

/* volume: of frame 0, from slice bp->grid.z0 on. */
fbp_status cuda_double_backproject(struct cuda_device *dev, struct cuda_bp *bp,
                                   const void *filtered, char *volume)
{
    const struct gpu_plane *planes = (const void *)(dev->memory + dev->doubles.planes);
    struct cuda_views views = *(const struct cuda_views *)filtered;

    views.memory = (char *)views.memory + bytes_before(dev, bp->batch);
    bp->views = &views;
    bp->planes = planes + bp->batch->view0;
    bp->volume = (void *)volume;
    CUDA_TRY(cuda_planes_in_double(bp));
    return FBP_OK;
}

static struct cuda_double_found *found_of(const struct cuda_device *dev)
{
    return (void *)(dev->memory + dev->doubles.found);
}

/* Looked at and copied side by side, as fetch_plain() of volume.c. */
static fbp_status fetch_frame(struct cuda_device *dev, const double *voxels, size_t n, double *host)
{
    struct cuda_unpacking *u = &dev->unpacking;
    cudaStream_t out = dev->streams[FBP_STAGE_OUT].stream;

    CUDA_TRY(cuda_double_look_at(voxels, n, found_of(dev), u->stream));
    CUDA_TRY(cudaEventRecord(u->filled[0], u->stream));
    CUDA_TRY(cudaMemcpyAsync(host, voxels, n * sizeof *host, cudaMemcpyDeviceToHost, out));
    CUDA_TRY(cudaStreamWaitEvent(out, u->filled[0], 0));
    return FBP_OK;
}

fbp_status cuda_double_fetch(struct cuda_device *dev, const struct fbp_slab *slab, size_t z0,
                             size_t z1, const double *volume, double *host)
{
    const size_t slice = fbp_slab_slice(slab), n = (z1 - z0) * slice;

    for (size_t f = 0; f < fbp_frames(dev->job); f++)
        FBP_TRY(fetch_frame(dev, volume + (f * slab->nz + z0 - slab->z0) * slice, n, host + f * n));
    return FBP_OK;
}

fbp_status cuda_double_statistics(const struct cuda_device *dev, struct fbp_statistics *out)
{
    cudaStream_t stream = dev->unpacking.stream;
    struct cuda_double_found found[GPU_FOUND];

    CUDA_TRY(cudaMemcpyAsync(found, found_of(dev), sizeof found, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    *out = (struct fbp_statistics){INFINITY, -INFINITY, 0};
    for (int i = 0; i < GPU_FOUND; i++) {
        out->min = fmin(out->min, found[i].min);
        out->max = fmax(out->max, found[i].max);
        out->sum += found[i].sum;
        found[i] = (struct cuda_double_found){INFINITY, -INFINITY, 0};
    }
    CUDA_TRY(cudaMemcpyAsync(found_of(dev), found, sizeof found, cudaMemcpyHostToDevice, stream));
    return FBP_OK;
}
