/* Raw views to filtered ones: prep, weight, filter; rows in pairs, some at a time. */
#include "backend/cuda/filter_kernels.h"

#include "backend/cuda/cuda.h"
#include "backend/cuda/doubles.h"
#include "backend/cuda/pad.h"
#include "backend/gpu/gpu_planes.h"
#include "backend/rows.h"

#include <string.h>

static cudaStream_t filter_stream(const struct cuda_device *dev)
{
    return dev->streams[FBP_STAGE_FILTER].stream;
}

static struct cuda_raw raw_of(const struct fbp_job *job, const struct fbp_batch *b, void *memory)
{
    const size_t floats = fbp_raw_floats(job, fbp_raw_samples(job, b));

    return (struct cuda_raw){.samples = (void *)((char *)memory + floats),
                             .counts = job->raw == FBP_U16 ? memory : NULL,
                             .n_views = (unsigned)b->n_views,
                             .load_rows = (unsigned)b->load_rows,
                             .n_columns = (unsigned)job->panel.n_columns,
                             .first_row = (unsigned)b->load_row0,
                             .view0 = (unsigned)b->view0,
                             .a_part = (unsigned)(b->n_views / job->turns),
                             .part_views = (unsigned)fbp_part_views(job)};
}

static struct cuda_prep prep_of(const struct cuda_device *dev)
{
    const struct fbp_prep *p = dev->job->prep;
    unsigned long long *counters = (void *)(dev->memory + dev->tables.counters);

    return (struct cuda_prep){
        .dark = p->dark ? (const float *)(void *)(dev->memory + dev->tables.dark) : NULL,
        .gain = p->gain ? (const float *)(void *)(dev->memory + dev->tables.gain) : NULL,
        .inverse_i0 = p->inverse_i0,
        .intensity = p->intensity,
        .hardening = p->hardening,
        .not_finite = &counters[0],
        .clipped = &counters[1],
        .ledger = dev->counts_once ? (void *)(dev->memory + dev->tables.ledger) : NULL,
        .panel_rows = (unsigned)dev->job->panel.n_rows};
}

/* Line integrals, bad pixels bridged. */
static fbp_status prepare(const struct cuda_device *dev, const struct fbp_batch *b,
                          const struct cuda_raw *raw)
{
    const struct fbp_prep *p = dev->job->prep;
    const struct cuda_prep prep = prep_of(dev);
    size_t r0, r1;

    CUDA_TRY(cuda_prepare_rows(raw, &prep, filter_stream(dev)));
    fbp_needed_rows(dev->job, b, &r0, &r1);
    if (p->n_bridges)
        CUDA_TRY(cuda_bridge_pixels(raw, (void *)(dev->memory + dev->tables.bridges),
                                    (unsigned)p->n_bridges, (unsigned)r0, (unsigned)(r1 - r0),
                                    filter_stream(dev)));
    return FBP_OK;
}

static struct cuda_weights weights_of(const struct cuda_device *dev)
{
    const struct fbp_weights *weights = dev->job->weights;
    struct cuda_weights out = {.image = NULL};

    if (dev->job->filtered)
        return out;
    gpu_host->weights_rays(weights, &out.rays);
    if (gpu_host->weights_separable(weights)) {
        out.image = (const void *)(dev->memory + dev->tables.image);
        out.lines = (const void *)(dev->memory + dev->tables.lines);
    } else {
        out.views = (const void *)(dev->memory + dev->tables.rays);
        if (out.rays.redundancy == FBP_PER_RAY)
            out.lines = (const void *)(dev->memory + dev->tables.lines);
    }
    return out;
}

/* Weighted, and convolved along columns, some views at a time. */
static fbp_status filter_columns(const struct cuda_device *dev, const struct fbp_batch *b,
                                 const struct cuda_raw *raw)
{
    const struct fbp_job *job = dev->job;
    const size_t call = dev->tables.views_a_call;
    size_t r0, r1;

    fbp_needed_rows(job, b, &r0, &r1);
    for (size_t at = 0; at < b->n_views; at += call) {
        const struct cuda_columns columns = {
            .raw = *raw,
            .weights = weights_of(dev),
            .first = (unsigned)at,
            .n = (unsigned)(b->n_views - at < call ? b->n_views - at : call),
            .n_groups = (unsigned)(b->n_views / job->turns),
            .part_views = (unsigned)fbp_part_views(job),
            .view0 = (unsigned)b->view0,
            .row0 = (unsigned)r0,
            .n_rows = (unsigned)(r1 - r0),
            .weighted = (void *)(dev->memory + dev->tables.weighted),
            .taps = (const void *)(dev->memory + dev->tables.taps_v),
            .half_width = (unsigned)job->columns->half_width};
        CUDA_TRY(cuda_filter_columns(&columns, filter_stream(dev)));
    }
    return FBP_OK;
}

/* n rows in space, from one place to another. */
static cudaError_t convolve_once(const struct cuda_device *dev, unsigned n, const float2 *from,
                                 float2 *to)
{
    const struct gpu_tables *t = &dev->tables;
    const unsigned length = (unsigned)t->row_length;
    const unsigned half_width = (unsigned)dev->job->filter->half_width;
    const void *taps = dev->memory + t->filter;

    if (t->in_double)
        return cuda_convolve_in_double(from, n, length, taps, half_width, to, filter_stream(dev));
    return (dev->kernel->convolve ? dev->kernel->convolve : cuda_convolve_rows)(
        from, n, length, taps, half_width, to, filter_stream(dev));
}

/* In one pass to the other place, in a second back; *out: the last. */
static fbp_status convolve(const struct cuda_device *dev, unsigned n, float2 *rows, float2 *work,
                           const float2 **out)
{
    for (unsigned i = 0; i < dev->job->filter->passes; i++) {
        float2 *from = i % 2 ? work : rows, *to = i % 2 ? rows : work;
        CUDA_TRY(convolve_once(dev, n, from, to));
        *out = to;
    }
    return FBP_OK;
}

/* Rows one after another, as spectra or in space; filtered ones are where *out says. */
static fbp_status filter_in_steps(const struct cuda_device *dev, const struct cuda_pairs *pairs,
                                  const float2 **out)
{
    const struct gpu_tables *t = &dev->tables;
    float2 *rows = (void *)(dev->memory + t->rows), *work = (void *)(dev->memory + t->work);
    const float *filter = (const void *)(dev->memory + t->filter);
    const unsigned length = (unsigned)t->row_length;
    cudaStream_t stream = filter_stream(dev);

    CUDA_TRY(cuda_pad_rows(pairs, length, rows, stream));
    *out = rows;
    if (t->way == GPU_NO_FILTER)
        return FBP_OK;
    if (t->way == GPU_IN_SPACE)
        return convolve(dev, pairs->n, rows, work, out);
    FBP_TRY(cuda_fft_run(dev->plan, rows, false));
    CUDA_TRY(cuda_multiply_rows(rows, pairs->n, length, filter, stream));
    return cuda_fft_run(dev->plan, rows, true);
}

/* The same in one launch, preparation included unless it is done. */
static fbp_status filter_at_once(const struct cuda_device *dev, const struct cuda_pairs *pairs,
                                 bool prepared, const float2 **out)
{
    const struct gpu_tables *t = &dev->tables;
    struct cuda_chain chain = {.pairs = *pairs,
                               .prep = prep_of(dev),
                               .prepared = prepared,
                               .turns = (const void *)(dev->memory + t->turns),
                               .response = (const void *)(dev->memory + t->filter),
                               .out = (void *)(dev->memory + t->rows),
                               .stride = (unsigned)t->row_length,
                               .n_columns = (unsigned)dev->job->wide.n_columns};

    if (prepared) {
        chain.prep.intensity = false;
        chain.prep.hardening.n = 0;
    }
    CUDA_TRY(cuda_filter_rows(&chain, t->fft_length, filter_stream(dev)));
    *out = chain.out;
    return FBP_OK;
}

static struct cuda_pairs pairs_of(const struct cuda_device *dev, const struct fbp_batch *b,
                                  const struct cuda_raw *raw)
{
    const struct fbp_job *job = dev->job;
    const unsigned n_groups = (unsigned)(b->n_views / job->turns);

    return (struct cuda_pairs){.raw = *raw,
                               .weights = job->columns ? (struct cuda_weights){0} : weights_of(dev),
                               .turns = (unsigned)job->turns,
                               .part_views = (unsigned)fbp_part_views(job),
                               .n_groups = n_groups,
                               .n_rows = (unsigned)b->n_rows,
                               .row0 = (unsigned)b->row0,
                               .view0 = (unsigned)b->view0,
                               .pad_left = (unsigned)job->pad_left,
                               .apart = (unsigned)job->between + 1};
}

/* How prepared rows go on beyond the panel. */
static struct cuda_pad pad_of(const struct cuda_device *dev, const struct cuda_pairs *pairs)
{
    const struct fbp_pad *pad = dev->job->pad;

    return (struct cuda_pad){.pairs = *pairs,
                             .weights = weights_of(dev),
                             .weighted = dev->job->columns != NULL,
                             .rule = pad->rule,
                             .tables = (const void *)(dev->memory + dev->tables.pad),
                             .n_columns = (unsigned)pad->n_columns,
                             .ends = (void *)(dev->memory + dev->tables.ends)};
}

/* Pairs of rows, filtered, in scratch that *out tells. */
static fbp_status filter_pairs(const struct cuda_device *dev, const struct cuda_pairs *pairs,
                               bool prepared, const float2 **out)
{
    const struct gpu_tables *t = &dev->tables;
    struct cuda_pad pad;

    if (dev->job->pad) {
        pad = pad_of(dev, pairs);
        CUDA_TRY(cuda_pad_find(&pad, filter_stream(dev)));
    }
    FBP_TRY(t->way == GPU_AT_ONCE ? filter_at_once(dev, pairs, prepared, out)
                                  : filter_in_steps(dev, pairs, out));
    if (dev->job->pad)
        CUDA_TRY(cuda_pad_add(&pad, (float2 *)(uintptr_t)*out, (unsigned)t->row_length,
                              filter_stream(dev)));
    return FBP_OK;
}

/* Where filtered rows go: into the kernel's layout, or plain. */
struct target {
    struct cuda_views views;
    float *plain; /* NULL: into the views */
};

static fbp_status store(const struct cuda_device *dev, const struct cuda_rows *rows,
                        const struct target *to)
{
    if (to->plain)
        CUDA_TRY(cuda_plain_rows(rows, to->plain, filter_stream(dev)));
    else
        CUDA_TRY(dev->kernel->store(dev->job, rows, &to->views, filter_stream(dev)));
    return FBP_OK;
}

/* group0: of the target's views, that the batch's first one is. */
static fbp_status filter_to(struct cuda_device *dev, const struct fbp_batch *batch, void *raw,
                            const struct target *to, unsigned group0)
{
    const struct fbp_job *job = dev->job;
    const struct gpu_tables *t = &dev->tables;
    const bool prepared =
        t->way != GPU_AT_ONCE || job->prep->n_bridges > 0 || job->columns || job->pad;

    CUDA_TRY(cudaSetDevice(dev->index));
    struct cuda_raw samples = raw_of(job, batch, raw);
    if (prepared) {
        FBP_TRY(prepare(dev, batch, &samples));
        samples.counts = NULL;
    }
    if (job->columns)
        FBP_TRY(filter_columns(dev, batch, &samples));
    struct cuda_pairs pairs = pairs_of(dev, batch, &samples);
    const size_t lanes = job->turns;
    const size_t n = lanes * ((pairs.n_groups + 1) / 2) * batch->n_rows;
    struct cuda_rows rows = {.stride = (unsigned)t->row_length,
                             .n_lanes = (unsigned)lanes,
                             .n_groups = pairs.n_groups,
                             .n_rows = pairs.n_rows,
                             .n_columns = (unsigned)job->wide.n_columns,
                             .group0 = group0};
    for (size_t at = 0; at < n; at += t->rows_a_call) {
        pairs.first = rows.first = (unsigned)at;
        pairs.n = rows.n = (unsigned)(n - at < t->rows_a_call ? n - at : t->rows_a_call);
        FBP_TRY(filter_pairs(dev, &pairs, prepared, &rows.rows));
        FBP_TRY(store(dev, &rows, to));
    }
    return FBP_OK;
}

static struct cuda_doubles doubles_of(const struct cuda_device *dev, const struct fbp_batch *b,
                                      void *raw)
{
    const struct fbp_job *job = dev->job;

    return (struct cuda_doubles){
        .samples = raw,
        .n_views = (unsigned)b->n_views,
        .load_rows = (unsigned)b->load_rows,
        .n_columns = (unsigned)job->panel.n_columns,
        .view0 = (unsigned)b->view0,
        .first_row = (unsigned)b->load_row0,
        .row0 = (unsigned)b->row0,
        .n_rows = (unsigned)b->n_rows,
        .pad_left = (unsigned)job->pad_left,
        .apart = (unsigned)job->between + 1,
        .length = (unsigned)job->wide.n_columns,
        .weights = job->filtered ? NULL : (const void *)(dev->memory + dev->tables.scales)};
}

/* n rows in space; *out: where they are. */
static fbp_status convolve_doubles(const struct cuda_device *dev, unsigned n, double *rows,
                                   double *work, const double **out)
{
    const struct fbp_filter_design *f = dev->job->filter;
    const double *taps = (const void *)(dev->memory + dev->tables.filter);

    *out = rows;
    for (unsigned i = 0; !dev->job->filtered && i < f->passes; i++) {
        const double *from = i % 2 ? work : rows;
        double *to = i % 2 ? rows : work;
        CUDA_TRY(cuda_convolve_doubles(from, n, (unsigned)dev->job->wide.n_columns, taps,
                                       (unsigned)f->half_width, to, filter_stream(dev)));
        *out = to;
    }
    return FBP_OK;
}

/* A batch in double, which has plane integrals alone, into its views. */
static fbp_status filter_doubles(struct cuda_device *dev, const struct fbp_batch *batch, void *raw,
                                 const struct cuda_views *views)
{
    const struct gpu_tables *t = &dev->tables;
    const struct cuda_doubles d = doubles_of(dev, batch, raw);
    const struct cuda_prep prep = prep_of(dev);
    const struct gpu_planes p = gpu_planes_of(dev->job, batch->n_rows);
    const size_t n = batch->n_views * batch->n_rows;
    double *rows = (void *)(dev->memory + t->rows), *work = (void *)(dev->memory + t->work);

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cuda_mend_doubles(&d, &prep, filter_stream(dev)));
    for (size_t at = 0; at < n; at += t->rows_a_call) {
        const unsigned some = (unsigned)(n - at < t->rows_a_call ? n - at : t->rows_a_call);
        const double *filtered;
        CUDA_TRY(cuda_load_doubles(&d, (unsigned)at, some, rows, filter_stream(dev)));
        FBP_TRY(convolve_doubles(dev, some, rows, work, &filtered));
        CUDA_TRY(cuda_store_doubles(&d, (unsigned)at, some, filtered, (unsigned)p.columns,
                                    (unsigned)p.groups, (unsigned)p.frames, (double *)views->memory,
                                    filter_stream(dev)));
    }
    return FBP_OK;
}

fbp_status cuda_filter(fbp_device *device, const struct fbp_batch *batch, void *raw, void *filtered)
{
    struct cuda_device *dev = cuda_of(device);
    unsigned group0;

    if (batch->n_rows == 0)
        return FBP_OK;
    const struct target to = {.views =
                                  cuda_views_at(dev->kernel, dev->job, batch, filtered, &group0)};
    if (fbp_in_double(dev->job))
        return filter_doubles(dev, batch, raw, &to.views);
    return filter_to(dev, batch, raw, &to, group0);
}

fbp_status cuda_filter_plain(fbp_device *device, const struct fbp_batch *batch, void *raw,
                             float *rows)
{
    const struct target to = {.plain = rows};

    if (fbp_in_double(cuda_of(device)->job))
        return gpu_host->fail(FBP_ERR_UNSUPPORTED, "cuda: filtered rows in double are not fetched");
    return batch->n_rows > 0 ? filter_to(cuda_of(device), batch, raw, &to, 0) : FBP_OK;
}

fbp_status cuda_download(fbp_device *device, const float *rows, size_t n, float *host)
{
    const struct cuda_device *dev = cuda_of(device);

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaMemcpyAsync(host, rows, n * sizeof *host, cudaMemcpyDeviceToHost,
                             dev->streams[FBP_STAGE_OUT].stream));
    return FBP_OK;
}

fbp_status cuda_expect(fbp_device *device, const struct fbp_ledger *ledger)
{
    struct cuda_device *dev = cuda_of(device);

    dev->counts_once = ledger->bits != NULL;
    if (!ledger->bits)
        return FBP_OK;
    CUDA_TRY(cudaSetDevice(dev->index));
    /* In the order of the filter's work; ordinary memory of the host is read before it returns. */
    CUDA_TRY(cudaMemcpyAsync(dev->memory + dev->tables.ledger,
                             (const void *)(uintptr_t)ledger->bits,
                             fbp_ledger_words(ledger->n_views, ledger->n_rows) * sizeof(unsigned),
                             cudaMemcpyHostToDevice, filter_stream(dev)));
    return FBP_OK;
}

fbp_status cuda_counts(fbp_device *device, struct fbp_prep_counts *out)
{
    const struct cuda_device *dev = cuda_of(device);
    uint64_t counters[2] = {0, 0};

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaMemcpy(counters, dev->memory + dev->tables.counters, sizeof counters,
                        cudaMemcpyDeviceToHost));
    *out = (struct fbp_prep_counts){.not_finite = counters[0], .clipped = counters[1]};
    return FBP_OK;
}

/* Shared memory that a block of the chain has for its row, on every device; FBP_FFT=cufft: none
 * (tests). */
static size_t row_bytes(void)
{
    const char *wanted = gpu_host->environment(FBP_ENV_FFT);
    int n = 0, bytes, least = 0;

    if ((wanted && strcmp(wanted, "cufft") == 0) || cudaGetDeviceCount(&n) != cudaSuccess)
        return 0;
    for (int i = 0; i < n; i++)
        if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, i) ==
                cudaSuccess &&
            (least == 0 || bytes < least))
            least = bytes;
    return (size_t)least > cuda_chain_beside() ? (size_t)least - cuda_chain_beside() : 0;
}

const struct gpu_offer cuda_offer = {row_bytes, cuda_fft_found};

static fbp_status put(void *user, size_t at, const void *data, size_t bytes)
{
    const struct cuda_device *dev = user;

    CUDA_TRY(cudaMemcpy(dev->memory + at, data, bytes, cudaMemcpyHostToDevice));
    return FBP_OK;
}

/* A plan whose scratch fits its place: fewer rows a call if it must be. */
static fbp_status open_plan(struct cuda_device *dev)
{
    struct gpu_tables *t = &dev->tables;
    const size_t lanes = dev->job->turns;
    size_t work;

    for (;;) {
        FBP_TRY(cuda_fft_create(&dev->plan, t->row_length, t->rows_a_call, &work));
        if (work <= t->work_bytes)
            break;
        if (t->rows_a_call == lanes)
            return gpu_host->fail(FBP_ERR_UNSUPPORTED,
                                  "cuda: cuFFT wants %zu bytes for a row of %zu points: use "
                                  "--spatial",
                                  work, t->row_length);
        cuda_fft_destroy(&dev->plan);
        t->rows_a_call = (t->rows_a_call / lanes + 1) / 2 * lanes;
    }
    return cuda_fft_place(dev->plan, dev->memory + t->work, filter_stream(dev));
}

fbp_status cuda_filter_open(struct cuda_device *dev)
{
    const struct gpu_tables *t = &dev->tables;

    if (t->way == GPU_BY_FFT)
        FBP_TRY(open_plan(dev));
    if (t->way == GPU_AT_ONCE)
        CUDA_TRY(cuda_chain_open(t->fft_length));
    return gpu_tables_write(dev->job, t, put, dev);
}

void cuda_filter_close(struct cuda_device *dev)
{
    cuda_fft_destroy(&dev->plan);
}
