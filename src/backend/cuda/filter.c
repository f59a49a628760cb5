/* Filter of the CUDA device: corrections, weights, filter along columns and rows. Rows of floats
 * are filtered in pairs, rows of doubles (doubles.cu) singly, as many per launch as scratch memory
 * holds. entry.c lists the functions as slots of the backend; they launch the kernels of
 * filter_kernels.h. cuda_filter_open() writes the tables that the kernels use.
 * Used by: entry.c. */
#include "backend/cuda/filter_kernels.h"

#include "backend/cuda/cuda.h"
#include "backend/rows.h"

#include <string.h>

static cudaStream_t filter_stream(const struct cuda_device *dev)
{
    return dev->streams[FBP_STAGE_FILTER].stream;
}

/* Returns the device address of a table; at: offset of the table, from struct gpu_tables. */
static void *table(const struct cuda_device *dev, size_t at)
{
    return dev->memory + at;
}

static struct cuda_prep prep_of(const struct cuda_device *dev)
{
    const struct gpu_tables *t = &dev->tables;
    const struct fbp_prep *p = dev->job->filtering.prep;
    unsigned long long *counters = table(dev, t->counters);

    return (struct cuda_prep){.dark = p->dark ? table(dev, t->dark) : NULL,
                              .gain = p->gain ? table(dev, t->gain) : NULL,
                              .inverse_i0 = p->inverse_i0,
                              .intensity = p->intensity,
                              .hardening = p->hardening,
                              .not_finite = &counters[0],
                              .clipped = &counters[1],
                              .ledger = dev->counts_once ? table(dev, t->row_bitmap) : NULL,
                              .panel_rows = (unsigned)dev->job->panel.n_rows};
}

static struct cuda_weights weights_of(const struct cuda_device *dev)
{
    const struct gpu_tables *t = &dev->tables;
    const struct fbp_weights *weights = dev->job->filtering.weights;
    struct cuda_weights out = {.image = NULL};

    if (dev->job->input.filtered)
        return out;
    gpu_host->weights_rays(weights, &out.rays);
    if (gpu_host->weights_separable(weights)) {
        out.image = table(dev, t->image);
        out.lines = table(dev, t->lines);
    } else {
        out.views = table(dev, t->rays);
        if (out.rays.redundancy == FBP_PER_RAY)
            out.lines = table(dev, t->lines);
    }
    return out;
}

/* Compute line integrals of a batch in place, and interpolate bad pixels; if the job has a filter
 * along columns, weight the views and filter their columns. */
static fbp_status prepare(const struct cuda_device *dev, const struct fbp_batch *b,
                          const struct cuda_raw *raw)
{
    const struct fbp_job *job = dev->job;
    const struct gpu_tables *t = &dev->tables;
    const struct cuda_prep prep = prep_of(dev);
    cudaStream_t stream = filter_stream(dev);
    size_t r0, r1;

    fbp_needed_rows(job, b, &r0, &r1);
    CUDA_TRY(cuda_prepare_rows(raw, &prep, table(dev, t->bridges),
                               (unsigned)job->filtering.prep->n_bridges, (unsigned)r0,
                               (unsigned)(r1 - r0), stream));
    if (!job->filtering.columns)
        return FBP_OK;
    struct cuda_columns columns = {.raw = *raw,
                                   .weights = weights_of(dev),
                                   .n_groups =
                                       (unsigned)(b->n_views / job->selection.symmetric_views),
                                   .part_views = (unsigned)fbp_part_views(job),
                                   .view0 = (unsigned)b->view0,
                                   .row0 = (unsigned)r0,
                                   .n_rows = (unsigned)(r1 - r0),
                                   .weighted = table(dev, t->weighted),
                                   .taps = table(dev, t->taps_v),
                                   .half_width = (unsigned)job->filtering.columns->half_width};
    columns.raw.counts = NULL; /* samples are line integrals now */
    for (size_t at = 0, n; at < b->n_views; at += n) {
        n = b->n_views - at < t->views_per_call ? b->n_views - at : t->views_per_call;
        columns.first = (unsigned)at;
        columns.n = (unsigned)n;
        CUDA_TRY(cuda_filter_columns(&columns, stream));
    }
    return FBP_OK;
}

/* Filter pairs of rows in scratch memory; *out: address of the filtered rows.  prepared: samples
 * are line integrals; otherwise the launch that filters them also computes the line integrals. */
static fbp_status filter_pairs(const struct cuda_device *dev, const struct cuda_pairs *pairs,
                               bool prepared, float2 **out)
{
    const struct fbp_job *job = dev->job;
    const struct gpu_tables *t = &dev->tables;
    const unsigned length = (unsigned)t->row_length, n = pairs->n;
    float2 *rows = table(dev, t->rows), *work = table(dev, t->work);
    const void *filter = table(dev, t->filter);
    cudaStream_t stream = filter_stream(dev);
    struct cuda_pad pad;

    *out = rows;
    /* Fit the extrapolation of rows now, because the filter may overwrite the rows. */
    if (job->filtering.pad) {
        pad = (struct cuda_pad){.pairs = *pairs,
                                .weights = weights_of(dev),
                                .weighted = job->filtering.columns != NULL,
                                .rule = job->filtering.pad->rule,
                                .tables = table(dev, t->pad),
                                .n_columns = (unsigned)job->filtering.pad->n_columns,
                                .ends = table(dev, t->ends)};
        CUDA_TRY(cuda_pad_find(&pad, stream));
    }
    if (t->way == GPU_FILTER_CHAIN) {
        struct cuda_chain chain = {.pairs = *pairs,
                                   .prep = prep_of(dev),
                                   .prepared = prepared,
                                   .turns = table(dev, t->twiddles),
                                   .response = filter,
                                   .out = rows,
                                   .stride = length,
                                   .n_columns = (unsigned)job->padded.panel.n_columns};
        if (prepared) {
            chain.prep.intensity = false;
            chain.prep.hardening.n = 0;
        }
        CUDA_TRY(cuda_filter_rows(&chain, t->fft_length, stream));
    } else {
        CUDA_TRY(cuda_pad_rows(pairs, length, rows, stream));
    }
    if (t->way == GPU_FILTER_FFT) {
        FBP_TRY(cuda_fft_run(dev->plan, rows, false));
        CUDA_TRY(cuda_multiply_rows(rows, n, length, filter, stream));
        FBP_TRY(cuda_fft_run(dev->plan, rows, true));
    }
    for (unsigned i = 0; t->way == GPU_FILTER_SPATIAL && i < job->filtering.design->passes; i++) {
        const unsigned half_width = (unsigned)job->filtering.design->half_width;
        float2 *from = i % 2 ? work : rows, *to = i % 2 ? rows : work;
        if (dev->kernel->convolve && !t->in_double)
            CUDA_TRY(dev->kernel->convolve(from, n, length, filter, half_width, to, stream));
        else
            CUDA_TRY(
                cuda_convolve_rows(from, n, length, filter, t->in_double, half_width, to, stream));
        *out = to;
    }
    if (job->filtering.pad)
        CUDA_TRY(cuda_pad_add(&pad, *out, length, stream));
    return FBP_OK;
}

/* Filter a batch, and store it in `views` from group group0 of symmetric views on or, if `plain`
 * is not NULL, as rows [view][row][column] in `plain`. */
static fbp_status filter_batch(struct cuda_device *dev, const struct fbp_batch *b, void *raw,
                               const struct cuda_views *views, unsigned group0, float *plain)
{
    const struct fbp_job *job = dev->job;
    const struct gpu_tables *t = &dev->tables;
    const bool prepared = t->way != GPU_FILTER_CHAIN || job->filtering.prep->n_bridges > 0 ||
                          job->filtering.columns || job->filtering.pad;
    const size_t lanes = job->selection.symmetric_views, n_groups = b->n_views / lanes;
    const size_t n = lanes * ((n_groups + 1) / 2) * b->n_rows;
    struct cuda_pairs pairs = {
        .raw = {.samples = (void *)((char *)raw + fbp_raw_floats(job, fbp_raw_samples(job, b))),
                .counts = job->input.type == FBP_U16 ? raw : NULL,
                .n_views = (unsigned)b->n_views,
                .load_rows = (unsigned)b->load_rows,
                .n_columns = (unsigned)job->panel.n_columns,
                .first_row = (unsigned)b->load_row0,
                .view0 = (unsigned)b->view0,
                .a_part = (unsigned)n_groups,
                .part_views = (unsigned)fbp_part_views(job)},
        .turns = (unsigned)lanes,
        .part_views = (unsigned)fbp_part_views(job),
        .n_groups = (unsigned)n_groups,
        .n_rows = (unsigned)b->n_rows,
        .row0 = (unsigned)b->row0,
        .view0 = (unsigned)b->view0,
        .pad_left = (unsigned)job->padded.left,
        .apart = (unsigned)job->padded.inserted + 1};
    struct cuda_rows rows = {.stride = (unsigned)t->row_length,
                             .n_lanes = (unsigned)lanes,
                             .n_groups = (unsigned)n_groups,
                             .n_rows = (unsigned)b->n_rows,
                             .n_columns = (unsigned)job->padded.panel.n_columns,
                             .group0 = group0,
                             .row0 = (unsigned)b->row0};
    const size_t whole = lanes * b->n_rows;
    const size_t most = gpu_stores_whole_views(&dev->kernel->gpu) ? t->rows_per_call / whole * whole
                                                                  : t->rows_per_call;

    CUDA_TRY(cudaSetDevice(dev->index));
    if (!job->filtering.columns)
        pairs.weights = weights_of(dev);
    if (prepared) {
        FBP_TRY(prepare(dev, b, &pairs.raw));
        pairs.raw.counts = NULL;
    }
    if (most == 0)
        return gpu_host->fail(FBP_ERR_UNSUPPORTED,
                              "cuda: too little scratch memory to filter a whole view of %zu rows; "
                              "use --kernel column",
                              b->n_rows);
    for (size_t at = 0; at < n; at += most) {
        float2 *filtered;
        pairs.first = rows.first = (unsigned)at;
        pairs.n = rows.n = (unsigned)(n - at < most ? n - at : most);
        FBP_TRY(filter_pairs(dev, &pairs, prepared, &filtered));
        rows.rows = filtered;
        if (plain)
            CUDA_TRY(cuda_plain_rows(&rows, plain, filter_stream(dev)));
        else
            CUDA_TRY(cuda_store(job, &rows, views, filter_stream(dev)));
    }
    return FBP_OK;
}

fbp_status cuda_filter(fbp_device *device, const struct fbp_batch *b, void *raw, void *filtered)
{
    struct cuda_device *dev = cuda_of(device);
    const struct fbp_job *job = dev->job;
    const struct gpu_tables *t = &dev->tables;
    unsigned group0;

    if (b->n_rows == 0)
        return FBP_OK;
    const struct cuda_views views = cuda_views_at(dev->kernel, job, b, filtered, &group0);
    if (!fbp_in_double(job))
        return filter_batch(dev, b, raw, &views, group0, NULL);
    const struct cuda_prep prep = prep_of(dev);
    const struct gpu_planes p = gpu_planes_of(job, b->n_rows);
    const struct cuda_doubles rows = {.samples = raw,
                                      .n_views = (unsigned)b->n_views,
                                      .load_rows = (unsigned)b->load_rows,
                                      .n_columns = (unsigned)job->panel.n_columns,
                                      .view0 = (unsigned)b->view0,
                                      .first_row = (unsigned)b->load_row0,
                                      .row0 = (unsigned)b->row0,
                                      .n_rows = (unsigned)b->n_rows,
                                      .pad_left = (unsigned)job->padded.left,
                                      .apart = (unsigned)job->padded.inserted + 1,
                                      .length = (unsigned)job->padded.panel.n_columns,
                                      .weights =
                                          job->input.filtered ? NULL : table(dev, t->scales)};
    struct cuda_doubles_filter filter = {.rows_per_call = (unsigned)t->rows_per_call,
                                         .rows = table(dev, t->rows),
                                         .work = table(dev, t->work),
                                         .columns = (unsigned)p.columns,
                                         .groups = (unsigned)p.groups,
                                         .frames = (unsigned)p.frames,
                                         .views = views.memory};
    if (!job->input.filtered) {
        filter.taps = table(dev, t->filter);
        filter.half_width = (unsigned)job->filtering.design->half_width;
        filter.passes = job->filtering.design->passes;
    }
    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cuda_filter_doubles(&rows, &prep, &filter, filter_stream(dev)));
    return FBP_OK;
}

fbp_status cuda_filter_plain(fbp_device *device, const struct fbp_batch *batch, void *raw,
                             float *rows)
{
    if (fbp_in_double(cuda_of(device)->job))
        return gpu_host->fail(FBP_ERR_UNSUPPORTED, "cuda: filtered rows in double precision cannot "
                                                   "be copied to the host; use --precision exact");
    return batch->n_rows > 0 ? filter_batch(cuda_of(device), batch, raw, NULL, 0, rows) : FBP_OK;
}

fbp_status cuda_download(fbp_device *device, const float *rows, size_t n, float *host)
{
    const struct cuda_device *dev = cuda_of(device);

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaMemcpyAsync(host, rows, n * sizeof *host, cudaMemcpyDeviceToHost,
                             dev->streams[FBP_STAGE_OUT].stream));
    return FBP_OK;
}

fbp_status cuda_count_mask(fbp_device *device, const struct fbp_row_bitmap *ledger)
{
    struct cuda_device *dev = cuda_of(device);

    dev->counts_once = ledger->bits != NULL;
    if (!ledger->bits)
        return FBP_OK;
    CUDA_TRY(cudaSetDevice(dev->index));
    /* The copy runs in the filter's stream, so it waits for earlier filter calls; pageable host
     * memory may be reused when cudaMemcpyAsync() returns. */
    CUDA_TRY(
        cudaMemcpyAsync(table(dev, dev->tables.row_bitmap), (const void *)(uintptr_t)ledger->bits,
                        fbp_row_bitmap_words(ledger->n_views, ledger->n_rows) * sizeof(unsigned),
                        cudaMemcpyHostToDevice, filter_stream(dev)));
    return FBP_OK;
}

fbp_status cuda_counts(fbp_device *device, struct fbp_prep_counts *out)
{
    const struct cuda_device *dev = cuda_of(device);
    uint64_t counters[2] = {0, 0};

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaMemcpy(counters, table(dev, dev->tables.counters), sizeof counters,
                        cudaMemcpyDeviceToHost));
    *out = (struct fbp_prep_counts){.not_finite = counters[0], .clipped = counters[1]};
    return FBP_OK;
}

/* Bytes of shared memory of a block of chain.cu (filter in one launch) for its row: the least of
 * all devices; 0: chain.cu is not used, for example if FBP_FFT=cufft (tests). */
static size_t row_bytes(void)
{
    const char *method = gpu_host->environment(FBP_ENV_FFT);
    int n = 0, bytes, least = 0;

    if ((method && strcmp(method, "cufft") == 0) || cudaGetDeviceCount(&n) != cudaSuccess)
        return 0;
    for (int i = 0; i < n; i++)
        if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, i) ==
                cudaSuccess &&
            (least == 0 || bytes < least))
            least = bytes;
    return (size_t)least > cuda_chain_static_bytes() ? (size_t)least - cuda_chain_static_bytes()
                                                     : 0;
}

const struct gpu_filter_capabilities cuda_offer = {row_bytes, cuda_fft_found};

static fbp_status put(void *user, size_t at, const void *data, size_t bytes)
{
    CUDA_TRY(cudaMemcpy(table(user, at), data, bytes, cudaMemcpyHostToDevice));
    return FBP_OK;
}

fbp_status cuda_filter_open(struct cuda_device *dev)
{
    struct gpu_tables *t = &dev->tables;
    const size_t lanes = dev->job->selection.symmetric_views;

    if (t->way == GPU_FILTER_CHAIN)
        CUDA_TRY(cuda_chain_open(t->fft_length));
    while (t->way == GPU_FILTER_FFT) { /* halve rows_per_call until cuFFT's scratch memory fits */
        size_t work;
        FBP_TRY(cuda_fft_create(&dev->plan, t->row_length, t->rows_per_call, &work));
        if (work <= t->work_bytes) {
            FBP_TRY(cuda_fft_place(dev->plan, table(dev, t->work), filter_stream(dev)));
            break;
        }
        if (t->rows_per_call == lanes)
            return gpu_host->fail(FBP_ERR_UNSUPPORTED,
                                  "cuda: cuFFT needs %zu bytes for a row of %zu points, which is "
                                  "too much; use --spatial",
                                  work, t->row_length);
        cuda_fft_destroy(&dev->plan);
        t->rows_per_call = (t->rows_per_call / lanes + 1) / 2 * lanes;
    }
    return gpu_tables_write(dev->job, t, put, dev);
}
