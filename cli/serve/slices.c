/* Implementation of slices.h: reads full slices of a volume from its file (slices_get()), with a
 * cache of neighbouring slices per plane, and serves them with the volume's page
 * (volume_server_…()), for `fbp view --serve` and `fbp tune`.
 * Used by: cli/cmd_tune.c, cli/cmd_view.c. */
#include "serve/slices.h"
#include "cli.h"

#include "array/file/format.h"
#include "pipeline/view_step.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 << 20, BAND_BYTES = 1 << 20, NEIGHBOURS = 32 };

void slices_open(struct slices *s, const struct reduced *r)
{
    *s = (struct slices){.r = r};
    pthread_mutex_init(&s->lock, NULL);
}

void slices_close(struct slices *s)
{
    for (int i = 0; i < 3; i++)
        free(s->blocks[i].values);
    pthread_mutex_destroy(&s->lock);
}

static size_t samples_of(const struct reduced *r, int plane)
{
    return r->n[reduced_axes[plane][0]] * r->n[reduced_axes[plane][1]];
}

/* Read rows [y, y + n) of slice z into out [n][nx], the lowest first: y counts upwards. */
static fbp_status read_rows(const struct reduced *r, size_t z, size_t y, size_t n, float *out)
{
    const size_t row = r->down ? r->n[1] - y - n : y;
    const fbp_status st = fbp_source_read(r->source, z, 1, row, n, FBP_F32, out);

    if (st == FBP_OK && r->down)
        fbp_turn_rows(out, n, r->n[0]);
    return st;
}

/* Read neighbouring slices of one plane (0 xy, 1 xz, 2 yz) from the file: xy: one slice of the
 * file; xz: b->n rows of every slice; yz: b->n columns of all rows. */
static fbp_status read_block(const struct reduced *r, int plane, const struct slice_block *b)
{
    const size_t nx = r->n[0], ny = r->n[1], nz = r->n[2], row = nx * sizeof(float);
    const size_t band_rows = plane == 1 ? b->n : BAND_BYTES / row < 1 ? 1 : BAND_BYTES / row;
    const size_t first = plane == 1 ? b->first : 0, end = plane == 1 ? b->first + b->n : ny;

    if (plane == 0)
        return read_rows(r, b->frame * nz + b->first, 0, ny, b->values);
    // NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): no row is empty
    float *band = malloc(band_rows * row);
    fbp_status st = band ? FBP_OK : FBP_ERR_NOMEM;
    for (size_t z = 0; z < nz; z++)
        for (size_t y = first; y < end && st == FBP_OK; y += band_rows) {
            const size_t n = end - y < band_rows ? end - y : band_rows;
            st = read_rows(r, b->frame * nz + z, y, n, band);
            for (size_t i = 0; i < b->n && st == FBP_OK; i++)
                if (plane == 1)
                    memcpy(b->values + (i * nz + z) * nx, band + i * nx, row);
                else
                    for (size_t k = 0; k < n; k++)
                        b->values[(i * nz + z) * ny + y + k] = band[k * nx + b->first + i];
        }
    free(band);
    return st;
}

/* Load into blocks[plane] the block of slices with slice `index`, unless it is cached. */
static fbp_status hold_block(struct slices *s, int plane, size_t index, size_t frame)
{
    struct slice_block *b = &s->blocks[plane];
    const int through = 3 - reduced_axes[plane][0] - reduced_axes[plane][1];
    const size_t n = s->r->n[through],
                 fit = BLOCK_BYTES / (samples_of(s->r, plane) * sizeof(float));
    /* greatest number of slices that are read together: neighbouring yz slices lie in the same rows
     * of the file, neighbouring xz slices in neighbouring rows */
    const size_t most = plane == 0 || fit < 1 ? 1 : fit < NEIGHBOURS ? fit : NEIGHBOURS;

    if (b->n && b->frame == frame && index >= b->first && index < b->first + b->n)
        return FBP_OK;
    b->n = 0;
    if (!b->values)
        b->values = malloc(most * samples_of(s->r, plane) * sizeof *b->values);
    if (!b->values)
        return FBP_ERR_NOMEM;
    struct slice_block next = {frame, index / most * most, most, b->values};
    if (next.n > n - next.first)
        next.n = n - next.first;
    const fbp_status st = read_block(s->r, plane, &next);
    if (st == FBP_OK)
        *b = next;
    return st;
}

float *slices_get(struct slices *s, int plane, size_t index, size_t frame, size_t *n)
{
    const size_t samples = samples_of(s->r, plane), bytes = samples * sizeof(float);
    float *out = NULL;

    *n = samples;
    pthread_mutex_lock(&s->lock);
    if (fbp_source_unchanged(s->r->source) == FBP_OK &&
        hold_block(s, plane, index, frame) == FBP_OK) {
        const struct slice_block *b = &s->blocks[plane];
        out = malloc(bytes);
        if (out)
            memcpy(out, b->values + (index - b->first) * samples, bytes);
    }
    pthread_mutex_unlock(&s->lock);
    return out;
}

/* ---- The page, and its server ---- */

int volume_server_open(struct volume_server *v, const char *title, const char *program,
                       struct page_wish *wish)
{
    struct page page = {.title = title, .server = program};

    if (fbp_source_open(&v->volume, wish->volume.name, NULL) != FBP_OK)
        return cli_fail();
    const struct fbp_array_info *i = fbp_source_info(v->volume);
    const uint64_t row = i->n[0] * fbp_type_size(i->type);
    const uint64_t nz = i->n[2] / (i->time_points > 1 ? i->time_points : 1);
    wish->slice_cost[0] = row * i->n[1];
    wish->slice_cost[1] = row * nz;
    wish->slice_cost[2] = row * i->n[1] * nz;
    int rc = page_view(&page, v->volume, wish, &v->reduced);
    if (rc == 0)
        page_put(&v->text, &page);
    page_clear(&page);
    if (rc == 0 && v->text.failed)
        rc = cli_error("%s: out of memory for the page; give a smaller --page-size",
                       wish->volume.name);
    if (rc == 0)
        slices_open(&v->slices, &v->reduced);
    return rc;
}

void volume_server_close(struct volume_server *v)
{
    if (v->slices.r)
        slices_close(&v->slices);
    markup_clear(&v->text);
    reduced_clear(&v->reduced);
    fbp_source_close(&v->volume);
    memset(v, 0, sizeof *v);
}

void volume_server_answer(struct volume_server *v, const char *path, const char *query,
                          struct answer *out)
{
    const struct reduced *r = v->slices.r;
    size_t plane, index, frame, n;

    if (!*path) { /* a copy, because the volume may be closed while the page is being sent */
        char *page = malloc(v->text.n);
        if (!page) {
            answer_text(out, 500, "out of memory\n");
            return;
        }
        memcpy(page, v->text.bytes, v->text.n);
        *out = (struct answer){.status = 200,
                               .type = "text/html; charset=utf-8",
                               .bytes = page,
                               .n = v->text.n,
                               .release = answer_free,
                               .user = page};
        return;
    }
    if (strcmp(path, "slice") != 0) {
        answer_text(out, 404, "No such page.\n");
        return;
    }
    if (!http_number(query, "plane", 2, &plane) ||
        !http_number(query, "frame", r->frames - 1, &frame) ||
        !http_number(query, "index", r->n[3 - reduced_axes[plane][0] - reduced_axes[plane][1]] - 1,
                     &index)) {
        answer_text(out, 400,
                    "Expected slice?plane=P&index=I&frame=F, with numbers inside the volume.\n");
        return;
    }
    float *values = slices_get(&v->slices, (int)plane, index, r->first_frame + frame, &n);
    if (!values) {
        answer_text(out, 500, "%s\n", *fbp_message() ? fbp_message() : "out of memory");
        return;
    }
    *out = (struct answer){.status = 200,
                           .type = "application/octet-stream",
                           .bytes = values,
                           .n = n * sizeof *values,
                           .release = answer_free,
                           .user = values};
}
