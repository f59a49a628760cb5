/* Three orthogonal pictures of a volume.  A volume is read a band of rows at a time, and every
 * voxel falls at once into a bin of the pictures it belongs to: memory does not grow with it. */
#include "picture/viewer.h"

#include "array/file/frames.h"
#include "array/format/png/png_write.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { GREATEST = 1024, LEAST = 256, GAP = 4, BACKGROUND = 48, BAND_BYTES = 1 << 20 };

static const int plane_axes[3][2] = {{0, 1}, {0, 2}, {1, 2}};

/* Millimetres a pixel: the finest voxel, or a multiple of it if that makes too large a picture. */
static double choose_scale(const struct fbp_viewer *v, double *enlarge)
{
    double finest = INFINITY, longest = 0;

    for (int a = 0; a < 3; a++) {
        finest = fmin(finest, v->mm[a]);
        longest = fmax(longest, v->mm[a] * (double)v->n[a]);
    }
    const double step = fmax(1, ceil(longest / finest / GREATEST));
    *enlarge = fmax(1, ceil(LEAST * step * finest / longest));
    return finest * step;
}

static fbp_status layout(struct fbp_viewer *v)
{
    double enlarge;
    const double scale = choose_scale(v, &enlarge);
    size_t px[3];

    for (int a = 0; a < 3; a++) {
        const double size = v->mm[a] * (double)v->n[a];
        v->k[a] = (size_t)fmax(1, floor(scale / v->mm[a] + 1e-6));
        px[a] = (size_t)(fmax(1, round(size / scale)) * enlarge);
    }
    for (int i = 0; i < 3; i++) {
        struct fbp_plane *p = &v->planes[i];
        size_t bins;
        for (int j = 0; j < 2; j++) {
            const int a = p->axis[j] = plane_axes[i][j];
            p->bins[j] = (v->n[a] + v->k[a] - 1) / v->k[a];
        }
        p->w = px[p->axis[0]];
        p->h = px[p->axis[1]];
        FBP_TRY(fbp_mul(p->bins[0], p->bins[1], "picture", &bins));
        FBP_TRY(fbp_calloc((void **)&p->value, bins, sizeof *p->value, "picture"));
        for (size_t b = 0; v->mip && b < bins; b++)
            p->value[b] = -INFINITY;
    }
    const size_t row_bytes = v->info->n[0] * sizeof(float);
    v->band_rows = BAND_BYTES / row_bytes;
    v->band_rows = v->band_rows < 1 ? 1 : v->band_rows;
    v->band_rows = v->band_rows > v->info->n[1] ? v->info->n[1] : v->band_rows;
    return fbp_alloc((void **)&v->band, v->band_rows * row_bytes, "rows of the volume");
}

/* Memory for slices that are turned. */
static fbp_status make_room(struct fbp_viewer *v)
{
    const size_t slice = v->info->n[0] * v->info->n[1] * sizeof(float);
    size_t row_bytes, bytes;

    v->at_once = 1;
    if (!v->turn)
        return FBP_OK;
    if (v->projector)
        FBP_TRY(v->projector->open(&v->device, v->index, v->turn, v->info->n[2], &v->at_once));
    FBP_TRY(fbp_mul(v->n[0], sizeof(float), "a turned slice", &row_bytes));
    v->rows = v->device && BAND_BYTES / row_bytes > 1 ? BAND_BYTES / row_bytes : 1;
    FBP_TRY(fbp_alloc((void **)&v->row, v->rows * row_bytes, "rows of a turned slice"));
    FBP_TRY(fbp_mul(slice, v->at_once, "slices that are turned", &bytes));
    FBP_TRY(fbp_alloc((void **)&v->slices, bytes, "slices that are turned"));
    FBP_TRY(fbp_alloc((void **)&v->front, v->at_once * row_bytes, "projections"));
    return fbp_alloc((void **)&v->side, v->at_once * v->n[1] * sizeof(float), "projections");
}

/* Voxels in bin b along axis a: the last one may be short. */
static size_t in_bin(const struct fbp_viewer *v, int a, size_t b)
{
    const size_t first = b * v->k[a], left = v->n[a] - first;
    return left < v->k[a] ? left : v->k[a];
}

static void sums_to_means(const struct fbp_viewer *v, struct fbp_plane *p)
{
    for (size_t r = 0; r < p->bins[1]; r++)
        for (size_t c = 0; c < p->bins[0]; c++)
            p->value[r * p->bins[0] + c] /=
                (float)(in_bin(v, p->axis[0], c) * in_bin(v, p->axis[1], r));
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The range without the 0.1 % at either end, from at most 2^18 values spread over the pictures. */
static fbp_status choose_window(const struct fbp_viewer *v, double *lo, double *hi)
{
    const size_t most = (size_t)1 << 18;
    size_t total = 0, n = 0;
    float *sample = NULL;

    for (int i = 0; i < 3; i++)
        total += v->planes[i].bins[0] * v->planes[i].bins[1];
    const size_t step = total > most ? (total + most - 1) / most : 1;
    FBP_TRY(fbp_calloc((void **)&sample, total / step + 3, sizeof *sample, "grey window"));
    for (int i = 0; i < 3; i++)
        for (size_t b = 0; b < v->planes[i].bins[0] * v->planes[i].bins[1]; b += step)
            if (isfinite(v->planes[i].value[b]))
                sample[n++] = v->planes[i].value[b];
    qsort(sample, n, sizeof *sample, compare_floats);
    const size_t cut = n / 1000;
    *lo = n ? (double)sample[cut] : 0;
    *hi = n ? (double)sample[n - 1 - cut] : 1;
    free(sample);
    return FBP_OK;
}

static void paint(const struct fbp_plane *p, double lo, double hi, size_t x0, size_t y0,
                  size_t width, uint8_t *pixels)
{
    for (size_t y = 0; y < p->h; y++) {
        const size_t bin_y = (p->h - 1 - y) * p->bins[1] / p->h;
        uint8_t *out = pixels + (y0 + y) * width + x0;
        for (size_t x = 0; x < p->w; x++) {
            const double value = (double)p->value[bin_y * p->bins[0] + x * p->bins[0] / p->w];
            const double grey = 255 * (value - lo) / (hi - lo);
            out[x] = grey >= 255 ? 255 : grey > 0 ? (uint8_t)lrint(grey) : 0;
        }
    }
}

static fbp_status draw(const struct fbp_viewer *v, double lo, double hi, const char *path)
{
    const int shown = v->info->n[2] == 1 ? 1 : 3; /* lines of one slice are no pictures */
    size_t w = 0, h = 0, x = 0, pixels_n;
    uint8_t *pixels = NULL;

    for (int i = 0; i < shown; i++) {
        w += v->planes[i].w + (i ? GAP : 0);
        h = v->planes[i].h > h ? v->planes[i].h : h;
    }
    FBP_TRY(fbp_mul(w, h, "picture", &pixels_n));
    FBP_TRY(fbp_calloc((void **)&pixels, pixels_n, 1, "picture"));
    for (size_t i = 0; i < pixels_n; i++)
        pixels[i] = BACKGROUND;
    for (int i = 0; i < shown; i++) {
        paint(&v->planes[i], lo, hi, x, (h - v->planes[i].h) / 2, w, pixels);
        x += v->planes[i].w + GAP;
    }
    const fbp_status st = fbp_png_write(path, w, h, 1, pixels);
    free(pixels);
    return st;
}

static fbp_status choose_slices(struct fbp_viewer *v, const struct fbp_picture_params *p,
                                const char *path)
{
    for (int a = 0; a < 3; a++) {
        v->slice[a] = p->at_slice ? p->slice[a] : v->info->n[a] / 2;
        v->n[a] = v->info->n[a];
        v->mm[a] = v->info->has_spacing ? fabs(v->info->spacing_mm[a]) : 1;
        if (v->info->n[a] == 0 || !(v->mm[a] > 0 && isfinite(v->mm[a])))
            return fbp_fail(FBP_ERR_INVALID, "%s: %zu voxels of %g mm: not a volume", path,
                            v->info->n[a], v->mm[a]);
        const char axis = "xyz"[a];
        if (v->slice[a] >= v->info->n[a])
            return fbp_fail(FBP_ERR_INVALID, "%s: slice %c = %zu: the volume has 0 to %zu", path,
                            axis, v->slice[a], v->info->n[a] - 1);
    }
    return FBP_OK;
}

/* What is shown is as large as the turned volume.  The host leaves one alone that is not turned. */
static fbp_status turn_volume(struct fbp_viewer *v, struct fbp_turn *turn, double degrees)
{
    if (!v->projector && fmod(degrees, 360) == 0)
        return FBP_OK;
    FBP_TRY(fbp_turn_make(turn, v->n, v->mm, degrees));
    v->turn = turn;
    for (int a = 0; a < 2; a++) {
        v->n[a] = turn->turned[a];
        v->mm[a] = turn->mm[a];
    }
    return FBP_OK;
}

/* The grey window: as asked for, or that of the pictures; and what is told of it. */
static fbp_status find_window(const struct fbp_viewer *v, const struct fbp_picture_params *p,
                              double *lo, double *hi)
{
    *lo = p->lo;
    *hi = p->hi;
    if (*lo == *hi)
        FBP_TRY(choose_window(v, lo, hi));
    if (*lo == *hi)
        *hi = *lo + 1;
    if (p->shown) {
        p->shown[0] = *lo;
        p->shown[1] = *hi;
    }
    return FBP_OK;
}

static void clear(struct fbp_viewer *v, struct fbp_turn *turn)
{
    for (int i = 0; i < 3; i++)
        free(v->planes[i].value);
    fbp_free(v->band);
    fbp_free(v->slices);
    fbp_free(v->row);
    fbp_free(v->front);
    fbp_free(v->side);
    if (v->device)
        v->projector->close(&v->device);
    fbp_turn_clear(turn);
}

fbp_status fbp_viewer_draw(fbp_source *volume, const char *name, const char *png_path,
                           const struct fbp_picture_params *p,
                           const struct fbp_projector *projector, int index)
{
    struct fbp_turn turn = {0};
    struct fbp_array_info one = *fbp_source_info(volume);
    const size_t frames = fbp_array_frames(&one);
    one.n[2] = fbp_frame_slices(&one);
    struct fbp_viewer v = {.src = volume,
                           .info = &one,
                           .z0 = p->frame * one.n[2],
                           .mip = p->mip,
                           .projector = projector,
                           .index = index};
    double lo, hi;
    fbp_status st;

    if (p->frame >= frames)
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_INVALID, "%s: frame %zu: it has 0 to %zu", name, p->frame,
                              frames - 1));
    FBP_TRY_GOTO(choose_slices(&v, p, name));
    FBP_TRY_GOTO(turn_volume(&v, &turn, p->turn_deg));
    FBP_TRY_GOTO(layout(&v));
    FBP_TRY_GOTO(make_room(&v));
    FBP_TRY_GOTO(fbp_viewer_read(&v));
    for (int i = 0; !v.mip && i < 3; i++)
        sums_to_means(&v, &v.planes[i]);
    FBP_TRY_GOTO(find_window(&v, p, &lo, &hi));
    FBP_TRY_GOTO(fbp_source_unchanged(volume));
    st = draw(&v, lo, hi, png_path);
fail:
    clear(&v, &turn);
    return st;
}
