/* The CPU device: fbp_backend_cpu, one of the backends that backend.c lists and the pipeline calls.
 * Chooses a kernel, and runs backprojection and copies of finished slices in a pool of threads.
 * Also contains the list of kernel names (fbp_kernel_name()), and cpu_rows_…(), the layout of views
 * that several kernels use.
 * Used by: bench/, cli/, backend/, pipeline/. */
#include "backend/cpu/cpu.h"
#include "backend/slab.h"
#include "backend/views.h"

#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"

#include <stdio.h>
#include <string.h>

extern const struct cpu_kernel cpu_kernel_matrix, cpu_kernel_column, cpu_kernel_hierarchical,
    cpu_kernel_planes, cpu_kernel_rot90, cpu_kernel_rot90_half, cpu_kernel_rot180,
    cpu_kernel_matrix_double, cpu_kernel_column_double, cpu_kernel_planes_double;

/* Fastest first; kernels for jobs in double have the names of kernels for float.  Kernels whose
 * inner loop runs along z compute values per voxel column that pay only for many slices
 * (cpu_kernel.least_slices).  For fewer slices, "matrix", which runs along x, is faster. */
static const struct cpu_kernel *const kernels[] = {
    &cpu_kernel_rot90_half,    &cpu_kernel_hierarchical,  &cpu_kernel_rot90,
    &cpu_kernel_rot180,        &cpu_kernel_column,
#ifdef FBP_HAS_EPR
    &cpu_kernel_planes,
#endif
    &cpu_kernel_tilted,        &cpu_kernel_matrix,
#ifdef FBP_HAS_EPR
    &cpu_kernel_planes_double,
#endif
    &cpu_kernel_column_double, &cpu_kernel_matrix_double,
};

enum { N_KERNELS = sizeof kernels / sizeof *kernels };

const char *fbp_kernel_name(size_t i)
{
    for (size_t k = N_KERNELS; k-- > 0;)
        if (!kernels[k]->in_double && kernels[k]->precision != FBP_PRECISION_HALF && i-- == 0)
            return kernels[k]->name;
    return i == 0 ? "parallel" : NULL; /* a kernel of CUDA devices only */
}

/* Names of the instruction sets, with the precision if it is not exact, for messages. */
static const char *isa_of(const struct cpu_kernel *kernel)
{
    static const char *const names[][3] = {{"c fast", "avx2 fast", "avx512 fast"},
                                           {NULL, "avx2 half", "avx512 half"}};
    const unsigned flags = fbp_cpu_flags();

    return kernel->precision == FBP_PRECISION_DEFAULT
               ? fbp_cpu_level(flags)
               : names[kernel->precision == FBP_PRECISION_HALF][flags & FBP_CPU_AVX512 ? 2
                                                                : flags & FBP_CPU_AVX2 ? 1
                                                                                       : 0];
}

static bool choose(struct fbp_job *job, const char *name)
{
    for (size_t i = 0; i < N_KERNELS; i++) {
        const struct cpu_kernel *k = kernels[i];
        bool is_fastest = job->grid.n[2] >= k->least_slices;
        /* Kernel "rot180" is faster than "column" only if consecutive slices lie more than 4 rows
         * apart on the rotation axis (w = 1): "column" then gathers single samples. */
        if (k == &cpu_kernel_rot180)
            is_fastest = is_fastest && job->matrices[0][6] * job->grid.voxel_mm[2] > 4;
        /* Kernel "tilted" interpolates at other places than all other kernels and devices do. */
        if (k == &cpu_kernel_tilted)
            is_fastest = is_fastest && job->precision != FBP_PRECISION_EXACT;
        if (k->precision != FBP_PRECISION_DEFAULT && k->precision != job->precision)
            continue;
        if (k->precision == FBP_PRECISION_HALF && !(fbp_cpu_flags() & FBP_CPU_AVX2))
            continue;
        if (k->in_double != fbp_in_double(job) ||
            !(k->interpolates || job->epr.interpolation == FBP_INTERPOLATION_LINEAR) ||
            !(name ? strcmp(name, k->name) == 0 : is_fastest))
            continue;
        if ((job->facts.symmetry & k->symmetry) != k->symmetry ||
            (k->symmetry && !fbp_rows_run_up(job)) ||
            (k->symmetric_views > 1 && job->input.in_order) || (k->usable && !k->usable(job)))
            continue;
        job->selection.name = k->name;
        job->selection.isa = isa_of(k);
        job->selection.entry = k;
        job->selection.symmetric_views = k->symmetric_views;
        job->selection.boxes = k->boxes;
        job->selection.whole_views = k->precision != FBP_PRECISION_DEFAULT;
        job->selection.group_views = k->group_views;
        return true;
    }
    return false;
}

static const struct cpu_kernel *kernel_of(const struct fbp_job *job)
{
    return job->selection.entry;
}

/* Copy row y of slices [z0, z1) of one channel of a slab with layout [channel][z][y][x], scaled and
 * shifted: the default of cpu_kernel.fetch_row. */
static void fetch_plain_row(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                            size_t z1, size_t y, const void *volume, void *host)
{
    const size_t nx = slab->nx, ny = slab->ny;

    for (size_t z = z0; z < z1; z++)
        cpu_fetch(job, volume, ((z - slab->z0) * ny + y) * nx, 1, nx, host,
                  ((z - z0) * ny + y) * nx);
}

size_t cpu_rows_stride(const struct fbp_job *job)
{
    const size_t line = 64 / fbp_value_size(job);

    return cpu_tiles(FBP_PLANES_MARGIN + job->padded.panel.n_columns + FBP_PLANES_MARGIN, line) *
           line;
}

size_t cpu_rows_size(const struct fbp_job *job, size_t n_rows)
{
    return n_rows * cpu_rows_stride(job);
}

void cpu_rows_store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                    const void *rows, void *view)
{
    const size_t size = fbp_value_size(dev->job), row = dev->job->padded.panel.n_columns * size;
    const size_t stride = cpu_rows_stride(dev->job) * size;
    char *at = (char *)view + first * stride;
    const char *in = rows;

    (void)n_rows;
    for (size_t i = 0; i < n; i++, at += stride, in += row) {
        memset(at, 0, stride);
        memcpy(at + FBP_PLANES_MARGIN * size, in, row);
    }
}

static size_t filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    return n_views / job->selection.symmetric_views * kernel_of(job)->group_size(job, n_rows) *
           fbp_value_size(job);
}

static size_t volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab)
{
    const struct cpu_kernel *k = kernel_of(job);
    const size_t plain = fbp_channels(job) * slab->nz * fbp_slab_slice(slab);

    return (k->volume_size ? k->volume_size(job, slab) : plain) * fbp_value_size(job);
}

static size_t fixed_bytes(const struct fbp_job *job)
{
    const struct cpu_kernel *k = kernel_of(job);

    return cpu_filter_bytes(job, k) + (k->table_bytes ? k->table_bytes(job) : 0) +
           job->n_views * 2 * sizeof(double) + job->grid.n[1] * sizeof(struct fbp_statistics);
}

static void describe(int index, struct fbp_device_info *out)
{
    char model[96];

    (void)index;
    snprintf(out->text, sizeof out->text, "%s, %d cores, %s", fbp_cpu_model(model, sizeof model),
             fbp_core_count(), fbp_cpu_level(fbp_cpu_flags()));
    out->memory_bytes = fbp_available_bytes();
}

static void remark(const struct fbp_job *job, char *line, size_t n)
{
    if (kernel_of(job) == &cpu_kernel_tilted && job->precision == FBP_PRECISION_DEFAULT)
        snprintf(
            line, n,
            "kernel tilted: values differ from those of other kernels and devices, with the same "
            "accuracy; use --kernel matrix to get values like theirs");
    else if ((job->precision != FBP_PRECISION_FAST && job->precision != FBP_PRECISION_HALF) ||
             kernel_of(job)->precision == job->precision)
        line[0] = '\0';
    else if (job->selection.requested)
        snprintf(line, n, "precision exact is used: kernel %s of device cpu has no other",
                 kernel_of(job)->name);
    else
        snprintf(line, n, "precision exact is used: on device cpu, %s",
                 job->precision == FBP_PRECISION_HALF
                     ? "half needs kernel rot90, and AVX2 or AVX-512"
                     : "fast needs kernel hierarchical: 64 or more views that turn steadily, "
                       "without tilt, 16 or more slices, and a volume for which it is faster");
}

static void close_device(fbp_device **device)
{
    struct cpu_device *dev = cpu_device_of(*device);

    if (!dev)
        return;
    cpu_filter_close(dev);
    if (dev->kernel->close)
        dev->kernel->close(dev);
    free(dev->found);
    free(dev->principal);
    fbp_pool_destroy(&dev->pool);
    free(dev);
    *device = NULL;
}

static fbp_status open_device(fbp_device **out, int index, const struct fbp_job *job)
{
    struct cpu_device *dev = NULL;
    fbp_status st = FBP_OK;

    (void)index;
    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&dev, 1, sizeof *dev, "CPU device"));
    *out = (fbp_device *)(void *)dev;
    dev->job = job;
    dev->kernel = kernel_of(job);
    fbp_bp_dsp_init(&dev->dsp, fbp_cpu_flags());
    fbp_line_dsp_init(&dev->line, fbp_cpu_flags());
    FBP_TRY_GOTO(fbp_pool_create(&dev->pool, job->n_threads));

    FBP_TRY_GOTO(fbp_calloc((void **)&dev->principal, job->n_views, sizeof *dev->principal,
                            "principal points"));
    for (size_t k = 0; k < job->n_views; k++)
        fbp_principal_pixel(job, k, &dev->principal[k][0], &dev->principal[k][1]);
    FBP_TRY_GOTO(
        fbp_calloc((void **)&dev->found, job->grid.n[1], sizeof *dev->found, "statistics"));
    for (size_t y = 0; y < job->grid.n[1]; y++)
        dev->found[y] = FBP_NO_STATISTICS;
    FBP_TRY_GOTO(cpu_filter_open(dev));
    if (dev->kernel->open)
        FBP_TRY_GOTO(dev->kernel->open(dev));
    return FBP_OK;
fail:
    close_device(out);
    return st;
}

#ifdef FBP_HAS_EPR
static fbp_status meridian(fbp_device *device, const void *filtered,
                           const struct fbp_image_rows *picture, void *out)
{
    const struct cpu_device *dev = cpu_device_of(device);

    if (fbp_in_double(dev->job))
        cpu_meridian_double(dev, filtered, picture, out);
    else
        cpu_meridian_float(dev, filtered, picture, out);
    return FBP_OK;
}
#endif

/* Arguments of clear_block(), by which all threads clear a slab in blocks. */
struct clear_loop {
    char *volume;
    size_t bytes;
};

enum { CLEAR_BYTES = 1 << 20 };

static void clear_block(void *user, size_t item, int worker)
{
    const struct clear_loop *l = user;
    const size_t at = item * CLEAR_BYTES;

    (void)worker;
    memset(l->volume + at, 0, cpu_least(l->bytes - at, CLEAR_BYTES));
}

static fbp_status clear(fbp_device *device, const struct fbp_slab *slab, void *volume)
{
    const struct cpu_device *dev = cpu_device_of(device);
    struct clear_loop loop = {volume, volume_bytes(dev->job, slab)};

    fbp_pool_for(dev->pool, cpu_tiles(loop.bytes, CLEAR_BYTES), clear_block, &loop);
    return fbp_check_cancelled();
}

static fbp_status backproject(fbp_device *device, const struct fbp_batch *batch,
                              const void *filtered, const struct fbp_slab *slab, size_t z0,
                              size_t z1, void *volume)
{
    const struct cpu_device *dev = cpu_device_of(device);
    struct cpu_bp bp = {dev, batch, filtered, slab, z0, z1, volume};

    if (batch->n_rows > 0)
        fbp_pool_for(dev->pool, dev->kernel->items(&bp), dev->kernel->item, &bp);
    return fbp_check_cancelled();
}

struct fetch_loop {
    struct cpu_device *dev;
    const struct fbp_slab *slab;
    size_t z0, z1;
    const char *volume;
    char *host;
};

static void fetch_row(void *user, size_t y, int worker)
{
    const struct fetch_loop *l = user;
    const struct fbp_job *job = l->dev->job;
    const struct cpu_kernel *kernel = l->dev->kernel;
    const size_t nx = l->slab->nx, ny = l->slab->ny, size = fbp_value_size(job);

    (void)worker;
    for (size_t f = 0; f < fbp_channels(job); f++) {
        char *host = l->host + f * (l->z1 - l->z0) * ny * nx * size;
        (kernel->fetch_row ? kernel->fetch_row : fetch_plain_row)(
            job, l->slab, l->z0, l->z1, y, l->volume + f * l->slab->nz * ny * nx * size, host);
        for (size_t z = l->z0; z < l->z1; z++) /* the voxels are still in the cache */
            fbp_statistics_values(&l->dev->found[y], job, host + ((z - l->z0) * ny + y) * nx * size,
                                  nx);
    }
}

static fbp_status fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                        const void *volume, void *host)
{
    struct fetch_loop loop = {cpu_device_of(device), slab, z0, z1, volume, host};

    /* Rows of a finished slab are copied before other tasks of the thread pool, because the slab is
     * written to the output while the next slab is computed. */
    fbp_pool_for_first(loop.dev->pool, slab->ny, fetch_row, &loop);
    return fbp_check_cancelled();
}

static fbp_status statistics(fbp_device *device, struct fbp_statistics *out)
{
    struct cpu_device *dev = cpu_device_of(device);

    *out = FBP_NO_STATISTICS;
    for (size_t y = 0; y < dev->job->grid.n[1]; y++) {
        fbp_statistics_join(out, &dev->found[y]);
        dev->found[y] = FBP_NO_STATISTICS;
    }
    return FBP_OK;
}

static fbp_status set_bitmap(fbp_device *device, const struct fbp_row_bitmap *bitmap)
{
    cpu_device_of(device)->bitmap = *bitmap;
    return FBP_OK;
}

static fbp_status counts(fbp_device *device, struct fbp_prep_counts *out)
{
    const struct cpu_device *dev = cpu_device_of(device);

    *out = (struct fbp_prep_counts){0};
    for (int i = 0; i < dev->job->n_threads; i++)
        fbp_prep_counts_add(out, &dev->scratch[i].counts);
    return FBP_OK;
}

const struct fbp_backend fbp_backend_cpu = {
    .name = "cpu",
    .summary = "all cores of this machine",
    .discovery.describe = describe,
    .choose = choose,
    .filtered_bytes = filtered_bytes,
    .volume_bytes = volume_bytes,
    .fixed_bytes = fixed_bytes,
    .remark = remark,
    .can.precisions = true,
    .can.group_views = 8,
    .can.oversamples = true,
    .can.channels = true,
    .can.any_filter = true,
    .can.periodic = true,
    .can.interpolations = 1u << FBP_INTERPOLATION_NEAREST | 1u << FBP_INTERPOLATION_CUBIC,
    .can.doubles = true,
    .open = open_device,
    .close = close_device,
    .filter = cpu_filter,
    .filter_rows = cpu_filter_rows,
#ifdef FBP_HAS_EPR
    .meridian = meridian,
#endif
    .clear = clear,
    .backproject = backproject,
    .fetch = fetch,
    .statistics = statistics,
    .repair.set_bitmap = set_bitmap,
    .repair.counts = counts,
};
