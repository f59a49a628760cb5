/* Slices that follow changes of geometry, corrections and filter (preview.h).  Each slice is a
 * volume of one slice: the columns of the projection matrices are exchanged, so that the slice's
 * rows lie along x, and kernel "matrix" computes all planes from the same filtered views.
 * Used by: cli/cmd_tune.c. */
#include "analysis/preview.h"
#include "analysis/calibrate.h"

#include "array/array.h"
#include "backend/device.h"
#include "backend/slab.h"
#include "base/cache.h"
#include "base/threads.h"
#include "geometry/kind.h"
#include "pipeline/job.h"
#include "pipeline/view_step.h"
#include "scan/file/scan.h"

#include <math.h>
#include <string.h>

enum {
    CHUNKS = 8,       /* least number of chunks into which views are divided */
    CHUNK_VIEWS = 256 /* greatest number of views per chunk */
};

/* Axes of each plane: along its rows, across them, and normal to it. */
static const int axes[3][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}};

/* Tables for one geometry and filter. */
struct geometry {
    struct fbp_scan scan;   /* of line integrals, its views in the order of the preview */
    struct fbp_view *views; /* [n_views] */
    struct fbp_job_tables tables;
    uint64_t filter; /* hash of everything that filtered rows depend on, except weights */
};

struct chunk {
    size_t first, n; /* views, in the order of the preview */
    void *filtered;
    /* line integrals on a device with its own memory, from which views are filtered again; NULL:
     * not kept, for lack of memory, or because `integrals` are in the device's memory */
    void *kept;
};

struct plane {
    struct fbp_job job;
    struct fbp_prep prep;
    double (*matrices)[12];
    fbp_device *dev;
    void *volume;
    float *values; /* [rows][columns] */
    size_t voxels; /* of the buffers `volume` and `values` */
    size_t index;  /* of the slice along its normal */
    size_t added;  /* number of chunks that were added */
};

struct fbp_preview {
    const struct fbp_backend *backend;
    int device;
    struct fbp_recon_params params; /* of fbp_preview_create() */
    size_t n_views, view;           /* number of views; samples per view */
    size_t *order;                  /* [n_views] view of the scan at each place */
    uint64_t read;              /* hash of corrections and bad pixels with which views were read */
    float *integrals;           /* [n_views][row][column], row 0 at the bottom; NULL: none */
    struct geometry *filtering; /* geometry with which the views are filtered */
    struct geometry *shown;     /* geometry of the planes; may be the same */
    fbp_device *dev;            /* device that filters */
    void *raw;                  /* views of a chunk on the device */
    struct chunk *chunks;
    size_t n_chunks, n_filtered, n_kept;
    size_t chunk_bytes; /* filtered views of the first chunk */
    struct plane planes[3];
    bool has_read, has_filtered;
};

uint64_t fbp_preview_bytes(const struct fbp_scan *scan)
{
    return (uint64_t)scan->n_views * scan->panel.n_rows * scan->panel.n_columns * sizeof(float) *
           9 / 4; /* line integrals, filtered views, and one chunk of views */
}

fbp_status fbp_preview_create(fbp_preview **out, const struct fbp_recon_params *params)
{
    int devices[FBP_MOST_DEVICES];
    size_t n = 0;
    fbp_preview *p;
    fbp_status st;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&p, 1, sizeof *p, "a preview"));
    p->params = *params;
    FBP_TRY_GOTO(
        fbp_devices_find(params->device ? params->device : "auto", &p->backend, devices, &n));
    /* the devices of the planes read buffers that another device has allocated */
    if (p->backend->can.own_memory && !p->backend->memory.of_caller->alloc)
        FBP_TRY_GOTO(fbp_devices_find("cpu", &p->backend, devices, &n));
    p->device = devices[0];
    *out = p;
    return FBP_OK;
fail:
    free(p);
    return st;
}

/* Close the device of a plane; its buffers stay. */
static void close_plane(const struct fbp_preview *p, struct plane *plane)
{
    if (plane->dev) {
        (void)!fbp_device_settle_all(p->backend, plane->dev);
        p->backend->close(&plane->dev);
    }
    free(plane->matrices);
    plane->matrices = NULL;
    plane->added = 0;
}

/* Free the buffers of planes and chunks, for which the device that filters must be open. */
static void drop_buffers(fbp_preview *p)
{
    const struct fbp_backend *b = p->backend;

    for (int i = 0; i < 3; i++) {
        struct plane *plane = &p->planes[i];
        fbp_device_put(b, p->dev, FBP_FOR_VOLUME, plane->volume);
        fbp_host_put(b, p->dev, plane->values);
        *plane = (struct plane){.index = plane->index};
    }
    for (size_t i = 0; i < p->n_chunks; i++) {
        fbp_device_put(b, p->dev, FBP_FOR_FILTERED, p->chunks[i].filtered);
        fbp_device_put(b, p->dev, FBP_FOR_RAW, p->chunks[i].kept);
    }
    fbp_device_put(b, p->dev, FBP_FOR_RAW, p->raw);
    free(p->chunks);
    p->raw = NULL;
    p->chunks = NULL;
    p->n_chunks = p->n_filtered = p->n_kept = 0;
}

static void geometry_free(struct geometry *g)
{
    if (!g)
        return;
    fbp_job_clear(&g->tables);
    free(g->views);
    free(g);
}

/* Close the devices and free the tables; buffers stay, if the device that filters stays open. */
static void drop_geometries(fbp_preview *p)
{
    for (int i = 0; i < 3; i++)
        close_plane(p, &p->planes[i]);
    if (p->shown != p->filtering)
        geometry_free(p->shown);
    p->shown = NULL;
    if (p->dev)
        p->backend->close(&p->dev);
    geometry_free(p->filtering);
    p->filtering = NULL;
}

void fbp_preview_destroy(fbp_preview **preview)
{
    fbp_preview *p = *preview;

    if (!p)
        return;
    if (p->dev)
        drop_buffers(p);
    drop_geometries(p);
    fbp_free(p->integrals);
    free(p->order);
    free(p);
    *preview = NULL;
}

/* ---- Views ---- */

/* Order the views by bit reversal, so that the first n views are spread over the arc, for every n.
 */
static fbp_status order_views(fbp_preview *p, size_t n)
{
    size_t bits = 0, count = 0;

    while ((size_t)1 << bits < n)
        bits++;
    free(p->order);
    p->order = NULL;
    FBP_TRY(fbp_calloc((void **)&p->order, n, sizeof *p->order, "views"));
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        size_t view = 0;
        for (size_t b = 0; b < bits; b++)
            view |= (i >> b & 1) << (bits - 1 - b);
        if (view < n)
            p->order[count++] = view;
    }
    p->n_views = n;
    return FBP_OK;
}

/* Hash of everything that line integrals depend on: rings, phases, bad pixels. */
static uint64_t hash_of_reading(const struct fbp_scan *scan, const struct fbp_corrections *c)
{
    struct fbp_corrections same = *c;
    uint64_t h;

    memset(same.beam_hardening, 0, sizeof same.beam_hardening);
    h = fbp_hash(fbp_corrections_need_prepass(c), &same, sizeof same);
    h = fbp_hash(h, scan->bad_pixels ? scan->bad_pixels : "",
                 scan->bad_pixels ? strlen(scan->bad_pixels) : 0);
    return fbp_hash(h, &scan->find_bad_pixels, sizeof scan->find_bad_pixels);
}

/* Work of the threads that read views. */
struct reading {
    fbp_preview *p;
    struct fbp_panel panel;
    struct fbp_view_reader reader;
    fbp_source *corrected; /* source without rings, or with phases; NULL: the views of `reader` */
    float *work;           /* [thread][floats] */
    size_t floats;
    size_t *place; /* [n_views] place of each view in the preview */
};

static fbp_status read_view(void *user, size_t view, int worker)
{
    struct reading *r = user;
    const size_t nr = r->panel.n_rows;
    float *out = r->p->integrals + r->place[view] * r->p->view;

    FBP_TRY(fbp_check_cancelled());
    if (!r->corrected)
        return fbp_view_reader_rows(&r->reader, view, 0, nr, r->work + (size_t)worker * r->floats,
                                    out);
    FBP_TRY(fbp_source_read(r->corrected, view, 1, 0, nr, FBP_F32, out));
    if (r->reader.top_down)
        fbp_turn_rows(out, nr, r->panel.n_columns);
    return FBP_OK;
}

/* Read all views as line integrals, without the correction of beam hardening, which is part of the
 * filter. */
static fbp_status read_views(fbp_preview *p, const struct fbp_scan *scan,
                             const struct fbp_corrections *wanted)
{
    const int cores = p->params.n_threads > 0 ? p->params.n_threads : fbp_core_count();
    struct fbp_corrections corrections = *wanted;
    struct fbp_scan plain = *scan;
    struct reading r = {.p = p, .panel = scan->panel};
    struct fbp_view_step *step = NULL;
    fbp_pool *pool = NULL;
    fbp_status st;

    memset(corrections.beam_hardening, 0, sizeof corrections.beam_hardening);
    plain.corrections = &corrections;
    fbp_free(p->integrals);
    p->integrals = NULL;
    p->view = scan->panel.n_rows * scan->panel.n_columns;
    FBP_TRY_GOTO(order_views(p, scan->n_views));
    FBP_TRY_GOTO(fbp_view_reader_open(&r.reader, &plain, p->params.input.source));
    if (r.reader.images) /* the mask of the bad pixels that the reader has found */
        plain.images = r.reader.images;
    struct fbp_view_step_request request = {.scan = &plain,
                                            .params = &p->params,
                                            .backend = p->backend,
                                            .top_down = r.reader.top_down,
                                            .measured = true};
    FBP_TRY_GOTO(fbp_corrections_step_create(&step, &request));
    if (step) {
        fbp_corrections_divide(step->corrections, UINT64_MAX, NULL, cores);
        FBP_TRY_GOTO(fbp_source_wrap(&r.corrected, step->set_up, &step, r.reader.views, false));
    }
    FBP_TRY_GOTO(
        fbp_alloc((void **)&p->integrals, p->n_views * p->view * sizeof(float), "all views"));
    r.floats = p->view + 2 * r.reader.prep.margin_rows * scan->panel.n_columns;
    FBP_TRY_GOTO(
        fbp_alloc((void **)&r.work, (size_t)cores * r.floats * sizeof(float), "rows of a view"));
    FBP_TRY_GOTO(fbp_calloc((void **)&r.place, p->n_views, sizeof *r.place, "views"));
    for (size_t i = 0; i < p->n_views; i++)
        r.place[p->order[i]] = i;
    if (!fbp_source_in_order(r.reader.views)) /* else one thread reads in the order of the file */
        FBP_TRY_GOTO(fbp_pool_create(&pool, cores));
    FBP_TRY_GOTO(fbp_pool_try(pool, p->n_views, read_view, &r));
fail:
    fbp_pool_destroy(&pool);
    fbp_free(r.work);
    free(r.place);
    fbp_source_close(&r.corrected);
    if (step)
        step->destroy(step);
    fbp_view_reader_close(&r.reader);
    if (st != FBP_OK) {
        fbp_free(p->integrals);
        p->integrals = NULL;
    }
    return st;
}

/* ---- Geometry ---- */

static uint64_t hash_of_filter(const struct geometry *g)
{
    const struct fbp_job *job = &g->tables.job;
    const struct fbp_filter_design *f = &g->tables.filter;
    uint64_t h = fbp_hash(0, f->response, (f->n_fft / 2 + 1) * sizeof *f->response);

    h = fbp_hash(h, &f->half_width, sizeof f->half_width);
    h = fbp_hash(h, &job->padded.left, sizeof job->padded.left);
    h = fbp_hash(h, &job->padded.panel, sizeof job->padded.panel);
    if (job->filtering.columns)
        h = fbp_hash(h, g->tables.columns.kernel,
                     (g->tables.columns.half_width + 1) * sizeof(double));
    if (job->filtering.pad)
        h = fbp_hash(h, g->tables.pad->tables, fbp_pad_floats(g->tables.pad) * sizeof(float));
    return fbp_prep_hash(h, &g->tables.prep);
}

static fbp_status geometry_create(const fbp_preview *p, struct geometry **out,
                                  const struct fbp_scan *scan,
                                  const struct fbp_recon_params *params)
{
    struct geometry *g;
    fbp_status st;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&g, 1, sizeof *g, "tables"));
    g->scan = fbp_scan_of_integrals(scan);
    FBP_TRY_GOTO(fbp_calloc((void **)&g->views, p->n_views, sizeof *g->views, "views"));
    for (size_t i = 0; i < p->n_views; i++)
        g->views[i] = scan->views[p->order[i]];
    g->scan.views = g->views;
    FBP_TRY_GOTO(fbp_job_create(&g->tables, &g->scan, params, false));
    g->tables.job.input.type = FBP_F32;
    g->tables.job.selection.requested = "matrix";
    FBP_TRY_GOTO(fbp_job_arrange(&g->tables.job, p->backend));
    g->filter = hash_of_filter(g);
    *out = g;
    return FBP_OK;
fail:
    geometry_free(g);
    return st;
}

/* Greatest difference of two geometries' weights in a few rows, relative to the greatest weight;
 * INFINITY on failure. */
static double weights_differ(const struct geometry *a, const struct geometry *b)
{
    const struct fbp_panel *panel = &a->tables.job.panel;
    const size_t nc = panel->n_columns, n_views = a->tables.job.n_views;
    double *w = malloc(2 * nc * sizeof *w), most = 0, greatest = 0;

    for (size_t i = 0; w && i < 24; i++) {
        const size_t view = i / 3 * (n_views - 1) / 7, row = i % 3 * (panel->n_rows - 1) / 2;
        fbp_weights_row(a->tables.weights, view, row, w);
        fbp_weights_row(b->tables.weights, view, row, w + nc);
        for (size_t c = 0; c < nc; c++) {
            most = fmax(most, fabs(w[c] - w[nc + c]));
            greatest = fmax(greatest, fabs(w[c]));
        }
    }
    free(w);
    return w ? most / greatest : INFINITY;
}

/* Allocate buffers for the filtered views of all chunks, and for one chunk of views. */
static fbp_status make_chunks(fbp_preview *p)
{
    const struct fbp_backend *b = p->backend;
    const struct fbp_job *job = &p->filtering->tables.job;
    const size_t group = fbp_group_views(b, job), n_rows = job->panel.n_rows;
    size_t n = (p->n_views + CHUNKS - 1) / CHUNKS;

    n = ((n < CHUNK_VIEWS ? n : CHUNK_VIEWS) + group - 1) / group * group;
    const size_t n_chunks = (p->n_views + n - 1) / n;
    const struct fbp_buffer raw = {FBP_FOR_RAW, n * p->view * sizeof(float), n, n_rows};
    FBP_TRY(fbp_calloc((void **)&p->chunks, n_chunks, sizeof *p->chunks, "chunks of views"));
    for (size_t i = 0; i < n_chunks; i++) {
        const size_t left = p->n_views - i * n, count = left < n ? left : n;
        const struct fbp_buffer buffer = {FBP_FOR_FILTERED, b->filtered_bytes(job, count, n_rows),
                                          count, n_rows};
        p->chunks[i] = (struct chunk){.first = i * n, .n = count};
        p->n_chunks = i + 1;
        FBP_TRY(b->memory.alloc(p->dev, &buffer, &p->chunks[i].filtered));
    }
    p->chunk_bytes = b->filtered_bytes(job, p->chunks[0].n, n_rows);
    FBP_TRY(b->memory.alloc(p->dev, &raw, &p->raw));
    /* failure to keep views is no failure of the preview */
    for (size_t i = 0; b->can.own_memory && i < n_chunks; i++) {
        void *kept = NULL;
        if (b->memory.alloc(p->dev, &raw, &kept) == FBP_OK &&
            b->memory.reaches(p->dev, kept, raw.bytes)) {
            p->chunks[i].kept = kept;
            continue;
        }
        fbp_device_put(b, p->dev, FBP_FOR_RAW, kept);
        fbp_message_clear();
        break;
    }
    return FBP_OK;
}

/* Make `next` the geometry with which the views are filtered, and which the planes show.  Buffers
 * are allocated again only if their sizes change. */
static fbp_status open_filter(fbp_preview *p, struct geometry *next)
{
    const struct fbp_backend *b = p->backend;
    const struct fbp_job *job = &next->tables.job;
    fbp_device *dev = NULL;
    const fbp_status st = b->open(&dev, p->device, job);

    if (st != FBP_OK) {
        geometry_free(next);
        return st;
    }
    drop_geometries(p);
    p->dev = dev;
    p->shown = p->filtering = next;
    p->has_filtered = true;
    p->n_filtered = 0;
    if (p->n_chunks > 0 &&
        p->chunk_bytes == b->filtered_bytes(job, p->chunks[0].n, job->panel.n_rows))
        return FBP_OK;
    drop_buffers(p);
    return make_chunks(p);
}

/* The grid of a slice: x and y are the axes in the plane, z its normal. */
static struct fbp_grid grid_of(const struct fbp_grid *g, int plane, size_t index)
{
    const int *a = axes[plane];

    return (struct fbp_grid){.n = {g->n[a[0]], g->n[a[1]], 1},
                             .voxel_mm = {g->voxel_mm[a[0]], g->voxel_mm[a[1]], g->voxel_mm[a[2]]},
                             .centre_mm = {g->centre_mm[a[0]], g->centre_mm[a[1]],
                                           fbp_grid_coordinate(g, a[2], (double)index)}};
}

static fbp_status open_plane(fbp_preview *p, int i, size_t index)
{
    const struct fbp_backend *b = p->backend;
    const struct fbp_job *job = &p->shown->tables.job;
    struct plane *plane = &p->planes[i];

    close_plane(p, plane);
    fbp_job_of_rows(job, &plane->prep, &plane->job);
    plane->job.grid = grid_of(&job->grid, i, index);
    plane->index = index;
    FBP_TRY(fbp_calloc((void **)&plane->matrices, p->n_views, sizeof *plane->matrices, "matrices"));
    for (size_t k = 0; k < p->n_views; k++)
        for (int row = 0; row < 12; row += 4) {
            for (int a = 0; a < 3; a++)
                plane->matrices[k][row + a] = job->matrices[k][row + axes[i][a]];
            plane->matrices[k][row + 3] = job->matrices[k][row + 3];
        }
    plane->job.matrices = plane->matrices;
    plane->job.facts.symmetry = 0;
    FBP_TRY(fbp_job_arrange(&plane->job, b));
    FBP_TRY(b->open(&plane->dev, p->device, &plane->job));
    const struct fbp_slab slab = fbp_slab_whole(&plane->job, 0, 1);
    const struct fbp_buffer buffer = {FBP_FOR_VOLUME, b->volume_bytes(&plane->job, &slab), 0, 0};
    if (plane->voxels != fbp_slab_slice(&slab)) {
        fbp_device_put(b, plane->dev, FBP_FOR_VOLUME, plane->volume);
        fbp_host_put(b, plane->dev, plane->values);
        plane->volume = NULL;
        plane->values = NULL;
        plane->voxels = 0;
        FBP_TRY(b->memory.alloc(plane->dev, &buffer, &plane->volume));
        FBP_TRY(b->memory.host_alloc(plane->dev, fbp_slab_slice(&slab) * sizeof(float), "a slice",
                                     (void **)&plane->values));
        plane->voxels = fbp_slab_slice(&slab);
    }
    return b->clear(plane->dev, &slab, plane->volume);
}

fbp_status fbp_preview_set(fbp_preview *p, const struct fbp_scan *scan,
                           const struct fbp_recon_params *params, const size_t at[3])
{
    struct fbp_recon_params own;
    struct fbp_corrections corrections;
    struct geometry *next;
    bool moved = true;

    fbp_message_clear();
    p->has_read = p->has_filtered = false;
    FBP_TRY(fbp_take_params(&own, params));
    FBP_TRY(fbp_corrections_of(scan, &corrections));
    const uint64_t read = hash_of_reading(scan, &corrections);
    if (!p->integrals || read != p->read || scan->n_views != p->n_views ||
        scan->panel.n_columns * scan->panel.n_rows != p->view) {
        if (p->dev)
            drop_buffers(p);
        drop_geometries(p);
        FBP_TRY(read_views(p, scan, &corrections));
        p->read = read;
        p->has_read = true;
    }
    FBP_TRY(geometry_create(p, &next, scan, &own));
    if (p->shown && next->filter == p->filtering->filter &&
        weights_differ(p->filtering, next) <= FBP_PREVIEW_KEPT) {
        const struct fbp_job *before = &p->shown->tables.job, *now = &next->tables.job;
        moved = memcmp(before->matrices, now->matrices, p->n_views * sizeof *now->matrices) != 0 ||
                memcmp(&before->grid, &now->grid, sizeof now->grid) != 0;
        for (int i = 0; moved && i < 3; i++)
            close_plane(p, &p->planes[i]);
        struct geometry *unused = moved ? p->shown : next;
        if (unused != p->filtering)
            geometry_free(unused);
        p->shown = moved ? next : p->shown;
    } else {
        FBP_TRY(open_filter(p, next));
    }
    for (int i = 0; i < 3; i++)
        if (moved || !p->planes[i].dev || p->planes[i].index != at[axes[i][2]])
            FBP_TRY(open_plane(p, i, at[axes[i][2]]));
    return FBP_OK;
}

/* ---- Slices ---- */

static fbp_status filter_chunk(fbp_preview *p, struct chunk *c)
{
    const struct fbp_backend *b = p->backend;
    const struct fbp_job *job = &p->filtering->tables.job;
    const size_t n_rows = job->panel.n_rows, n = c->n * p->view;
    const struct fbp_batch batch = {
        .view0 = c->first, .n_views = c->n, .n_rows = n_rows, .load_rows = n_rows};
    float *views = p->integrals + c->first * p->view;
    void *raw = p->raw;

    if (b->can.own_memory) {
        if (c->kept && (size_t)(c - p->chunks) == p->n_kept) {
            FBP_TRY(b->memory.upload(p->dev, c->kept, views, n));
            p->n_kept++;
        }
        FBP_TRY(b->memory.upload(p->dev, raw, c->kept ? c->kept : views, n));
        FBP_TRY(fbp_device_settle(b, p->dev, FBP_STAGE_IN));
    } else if (job->filtering.prep->hardening.n > 0 || job->filtering.columns) {
        memcpy(raw, views, n * sizeof *views);
    } else {
        raw = views; /* the filter leaves finite line integrals as they are */
    }
    FBP_TRY(b->filter(p->dev, &batch, raw, c->filtered));
    return fbp_device_settle(b, p->dev, FBP_STAGE_FILTER);
}

fbp_status fbp_preview_step(fbp_preview *p, bool *more)
{
    size_t least = p->n_chunks;

    fbp_message_clear();
    for (int i = 0; i < 3; i++)
        least = p->planes[i].added < least ? p->planes[i].added : least;
    *more = false;
    if (least == p->n_chunks)
        return FBP_OK;
    struct chunk *c = &p->chunks[least];
    if (least == p->n_filtered) {
        FBP_TRY(filter_chunk(p, c));
        p->n_filtered++;
    }
    for (int i = 0; i < 3; i++) {
        struct plane *plane = &p->planes[i];
        const struct fbp_slab slab = fbp_slab_whole(&plane->job, 0, 1);
        const struct fbp_batch batch = {
            .view0 = c->first, .n_views = c->n, .n_rows = plane->job.panel.n_rows};
        if (plane->added == least) {
            FBP_TRY(p->backend->backproject(plane->dev, &batch, c->filtered, &slab, 0, 1,
                                            plane->volume));
            plane->added++;
        }
        *more |= plane->added < p->n_chunks;
    }
    return FBP_OK;
}

static size_t views_of(const fbp_preview *p, const struct plane *plane)
{
    return plane->added == 0 ? 0
                             : p->chunks[plane->added - 1].first + p->chunks[plane->added - 1].n;
}

fbp_status fbp_preview_slice(fbp_preview *p, int i, const float **out, float range[2])
{
    struct plane *plane = &p->planes[i];
    const struct fbp_slab slab = fbp_slab_whole(&plane->job, 0, 1);
    const size_t n = fbp_slab_slice(&slab), done = views_of(p, plane);
    const float shift = (float)plane->job.shift, up = (float)p->n_views / (float)(done ? done : 1);
    struct fbp_statistics found;

    fbp_message_clear();
    FBP_TRY(fbp_device_settle(p->backend, plane->dev, FBP_STAGE_BP));
    FBP_TRY(p->backend->statistics(plane->dev, &found)); /* resets them */
    FBP_TRY(p->backend->fetch(plane->dev, &slab, 0, 1, plane->volume, plane->values));
    FBP_TRY(fbp_device_settle(p->backend, plane->dev, FBP_STAGE_OUT));
    FBP_TRY(p->backend->statistics(plane->dev, &found));
    if (!p->backend->can.statistics)
        fbp_statistics_add(&found, plane->values, n);
    range[0] = (float)found.min;
    range[1] = (float)found.max;
    if (done < p->n_views) {
        for (size_t k = 0; k < n; k++)
            plane->values[k] = (plane->values[k] - shift) * up + shift;
        for (int k = 0; k < 2; k++)
            range[k] = (range[k] - shift) * up + shift;
    }
    *out = plane->values;
    return FBP_OK;
}

void fbp_preview_state(const fbp_preview *p, struct fbp_preview_state *out)
{
    *out = (struct fbp_preview_state){.device = p->backend->name,
                                      .n_views = p->n_views,
                                      .has_read = p->has_read,
                                      .has_filtered = p->has_filtered};
    for (int i = 0; i < 3; i++)
        out->done[i] = views_of(p, &p->planes[i]);
}
