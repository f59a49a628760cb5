/* Limits of single buffers, textures and storage blocks, checked by plans and allocations. */
#include "backend/gl/limits.h"

#include "backend/gl/buffer.h"
#include "backend/gl/plant.h"
#include "backend/gpu/host.h"
#include "backend/gpu/tables.h"

#include <stdio.h>

/* Shared memory for a row of the transforms that every renderer has.  Renderers in software count
 * only if there are no others, as they have little. */
static size_t row_bytes(void)
{
    int least = 0;

    for (int i = 0; i < gl_renderers_listed(); i++) {
        const struct gl_renderer *r = gl_renderer_at(i);
        if (!r->reason[0] && r->software == gl_renderer_at(0)->software &&
            (least == 0 || r->shared_bytes < least))
            least = r->shared_bytes;
    }
    return least > GL_BESIDE_ROW ? (size_t)least - GL_BESIDE_ROW : 0;
}

static bool has_fft(void)
{
    return true;
}

const struct gpu_offer gl_offer = {row_bytes, has_fft};

/* Write the message to `why`; returns false. */
static bool refuse(char *why, size_t n, const struct gl_renderer *r, const char *what,
                   const char *where, uint64_t needs, uint64_t has)
{
    const double mib = 1048576;

    snprintf(why, n,
             "%s takes %.4g MiB at once, and %s of %.60s holds %.4g MiB: use --device cpu or "
             "another GPU",
             what, (double)needs / mib, where, r->name, (double)has / mib);
    return false;
}

/* Bytes that can be bound at any offset of a buffer. */
static uint64_t room_of(const struct gl_renderer *r)
{
    return r->block_bytes > r->alignment ? r->block_bytes - r->alignment : 0;
}

static bool block_holds(const struct gl_renderer *r, const char *what, uint64_t bytes, char *why,
                        size_t n)
{
    return bytes <= room_of(r) || refuse(why, n, r, what, "a storage block", bytes, room_of(r));
}

/* Tables are bound whole. */
static bool holds_tables(const struct gl_renderer *r, const struct fbp_job *job, char *why,
                         size_t n)
{
    const struct fbp_prep *p = job->prep;
    const bool weighs = !job->filtered,
               products = weighs && gpu_host->weights_separable(job->weights);
    const uint64_t image = job->panel.n_rows * job->panel.n_columns * sizeof(float);
    const uint64_t lines = job->n_views * job->panel.n_columns * sizeof(float);
    const struct fbp_pad *pad = job->pad;
    struct gpu_tables t;

    gpu_tables_lay_out(job, &gl_offer, &t);
    const struct {
        const char *what;
        uint64_t bytes;
    } all[] = {
        {"an image of the detector", p->dark || p->gain || products ? image : 0},
        {"a table of weights", products || job->facts.per_ray ? lines : 0},
        {"a table of weights", weighs ? job->n_views * sizeof(struct fbp_ray_view) : 0},
        {"a table of bad pixels", p->n_bridges * sizeof(struct gpu_bridge)},
        {"a row of the filter", (size_t)t.row_length * 2 * sizeof(float)},
        {"a table of padding",
         pad ? (size_t)2 * pad->rule.n_lengths * pad->n_columns * sizeof(float) : 0},
        {"a table of rows", fbp_ledger_words(job->n_views, job->panel.n_rows) * sizeof(unsigned)},
        {"a table of what voxels are", GPU_FOUND * sizeof(struct gpu_found)},
        {"a table of the region",
         job->region
             ? gpu_cells(job->grid.n[0]) * gpu_cells(job->grid.n[1]) * sizeof(struct gpu_wanted)
             : 0},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!block_holds(r, all[i].what, all[i].bytes, why, n))
            return false;
    return t.bytes <= r->buffer_bytes ||
           refuse(why, n, r, "what the filter needs", "a buffer", t.bytes, r->buffer_bytes);
}

static bool holds_texture(const struct gl_renderer *r, const struct fbp_job *job,
                          const struct fbp_buffer *b, char *why, size_t n)
{
    const struct gl_texture t =
        gl_texture_of(job, gl_groups_of(job, b->n_views), b->n_rows ? b->n_rows : 1);
    const uint64_t bytes = gl_filtered_bytes(job, b->n_views, b->n_rows ? b->n_rows : 1);

    if (t.width > (size_t)r->texture_size || t.height > (size_t)r->texture_size ||
        t.layers > (size_t)r->layers) {
        snprintf(why, n,
                 "a texture of %zu x %zu x %zu would hold the views, and those of %.60s are %d x "
                 "%d x %d at most: use --device cpu or another GPU",
                 t.width, t.height, t.layers, r->name, r->texture_size, r->texture_size, r->layers);
        return false;
    }
    return bytes <= r->texture_bytes ||
           refuse(why, n, r, "a batch of filtered views", "a texture", bytes, r->texture_bytes);
}

/* Views in plain memory are bound one by one. */
static bool holds_views(const struct gl_renderer *r, const struct fbp_job *job,
                        const struct fbp_buffer *b, char *why, size_t n)
{
    const bool raw = b->purpose == FBP_FOR_RAW;
    const size_t rows = b->n_rows ? b->n_rows : 1;
    const uint64_t view = raw ? rows * job->wide.n_columns * sizeof(float)
                              : gpu_kernel_of(job)->views_bytes(job, 1, rows);

    return block_holds(r, raw ? "a view" : "a filtered view", view, why, n);
}

bool gl_holds(int index, const struct fbp_job *job, const struct fbp_buffer *b, char *why, size_t n)
{
    static const char *const what[] = {"a batch of views", "a batch of filtered views",
                                       "a slab of the volume"};
    const struct gl_renderer *r = gl_renderer_at(index);

    if (!b)
        return holds_tables(r, job, why, n);
    if (b->purpose == FBP_FOR_FILTERED && gpu_kernel_of(job)->channels)
        return holds_texture(r, job, b, why, n);
    if (b->bytes > r->buffer_bytes)
        return refuse(why, n, r, what[b->purpose], "a buffer", b->bytes, r->buffer_bytes);
    return b->purpose == FBP_FOR_VOLUME || holds_views(r, job, b, why, n);
}

bool gl_binds_slices(const struct fbp_job *job)
{
    const size_t *n = job->grid.n;
    const uint64_t slice = (n[0] + 2) * (n[1] + 2) * sizeof(float);

    for (int i = 0; i < gl_renderers_listed(); i++)
        if (!gl_renderer_at(i)->reason[0] && slice > room_of(gl_renderer_at(i)))
            return false;
    return true;
}

static uint64_t lower(uint64_t own, uint64_t wanted)
{
    return wanted > 0 && wanted < own ? wanted : own;
}

/* The limits are lowered from the original ones. */
void gl_limits_plant(void)
{
    static struct gl_renderer own[GL_MOST_RENDERERS];
    static bool known;

    for (int i = 0; i < gl_renderers_listed(); i++) {
        struct gl_renderer *r = (struct gl_renderer *)(uintptr_t)gl_renderer_at(i);
        if (!known)
            own[i] = *r;
        r->block_bytes = lower(own[i].block_bytes, gl_plant.block_bytes);
        r->buffer_bytes = lower(own[i].buffer_bytes, gl_plant.buffer_bytes);
        r->texture_bytes = lower(own[i].texture_bytes, gl_plant.texture_bytes);
        r->layers = (int)lower((uint64_t)own[i].layers, (uint64_t)gl_plant.layers);
        r->software = own[i].software && !gl_plant.hardware;
    }
    known = true;
}
