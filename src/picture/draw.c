/* Pictures of a volume as PNG: views from three sides, and contact sheets. */
#include "fbp/picture.h"

#include "array/file/format.h"
#include "array/format/png.h"
#include "picture/viewer.h"

#include "base/base.h"
#include "base/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows from the top; bit 4 is the left column. */
static const uint8_t glyphs[128][7] = {
    [' '] = {0},
    ['0'] = {0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E},
    ['1'] = {0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E},
    ['2'] = {0x0E, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1F},
    ['3'] = {0x1F, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0E},
    ['4'] = {0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02},
    ['5'] = {0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E},
    ['6'] = {0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E},
    ['7'] = {0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08},
    ['8'] = {0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E},
    ['9'] = {0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C},
    ['A'] = {0x0E, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11},
    ['B'] = {0x1E, 0x11, 0x11, 0x1E, 0x11, 0x11, 0x1E},
    ['C'] = {0x0E, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0E},
    ['D'] = {0x1C, 0x12, 0x11, 0x11, 0x11, 0x12, 0x1C},
    ['E'] = {0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x1F},
    ['F'] = {0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x10},
    ['G'] = {0x0E, 0x11, 0x10, 0x17, 0x11, 0x11, 0x0F},
    ['H'] = {0x11, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11},
    ['I'] = {0x0E, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0E},
    ['J'] = {0x07, 0x02, 0x02, 0x02, 0x02, 0x12, 0x0C},
    ['K'] = {0x11, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11},
    ['L'] = {0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1F},
    ['M'] = {0x11, 0x1B, 0x15, 0x15, 0x11, 0x11, 0x11},
    ['N'] = {0x11, 0x11, 0x19, 0x15, 0x13, 0x11, 0x11},
    ['O'] = {0x0E, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0E},
    ['P'] = {0x1E, 0x11, 0x11, 0x1E, 0x10, 0x10, 0x10},
    ['Q'] = {0x0E, 0x11, 0x11, 0x11, 0x15, 0x12, 0x0D},
    ['R'] = {0x1E, 0x11, 0x11, 0x1E, 0x14, 0x12, 0x11},
    ['S'] = {0x0F, 0x10, 0x10, 0x0E, 0x01, 0x01, 0x1E},
    ['T'] = {0x1F, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04},
    ['U'] = {0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0E},
    ['V'] = {0x11, 0x11, 0x11, 0x11, 0x11, 0x0A, 0x04},
    ['W'] = {0x11, 0x11, 0x11, 0x15, 0x15, 0x15, 0x0A},
    ['X'] = {0x11, 0x11, 0x0A, 0x04, 0x0A, 0x11, 0x11},
    ['Y'] = {0x11, 0x11, 0x11, 0x0A, 0x04, 0x04, 0x04},
    ['Z'] = {0x1F, 0x01, 0x02, 0x04, 0x08, 0x10, 0x1F},
    ['.'] = {0x00, 0x00, 0x00, 0x00, 0x00, 0x0C, 0x0C},
    [','] = {0x00, 0x00, 0x00, 0x00, 0x0C, 0x04, 0x08},
    ['-'] = {0x00, 0x00, 0x00, 0x1F, 0x00, 0x00, 0x00},
    ['+'] = {0x00, 0x04, 0x04, 0x1F, 0x04, 0x04, 0x00},
    ['='] = {0x00, 0x00, 0x1F, 0x00, 0x1F, 0x00, 0x00},
    ['/'] = {0x00, 0x01, 0x02, 0x04, 0x08, 0x10, 0x00},
    ['%'] = {0x18, 0x19, 0x02, 0x04, 0x08, 0x13, 0x03},
    ['('] = {0x02, 0x04, 0x08, 0x08, 0x08, 0x04, 0x02},
    [')'] = {0x08, 0x04, 0x02, 0x02, 0x02, 0x04, 0x08},
    ['['] = {0x0E, 0x08, 0x08, 0x08, 0x08, 0x08, 0x0E},
    [']'] = {0x0E, 0x02, 0x02, 0x02, 0x02, 0x02, 0x0E},
    ['_'] = {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1F},
    ['?'] = {0x0E, 0x11, 0x01, 0x02, 0x04, 0x00, 0x04},
    ['|'] = {0x04, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04},
    [':'] = {0x00, 0x0C, 0x0C, 0x00, 0x0C, 0x0C, 0x00},
};

static const uint8_t *glyph_of(char c)
{
    const unsigned char u = (unsigned char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);

    if (u >= sizeof glyphs / sizeof *glyphs)
        return glyphs['?'];
    for (int row = 0; row < 7; row++)
        if (glyphs[u][row])
            return glyphs[u];
    return u == ' ' ? glyphs[u] : glyphs['?'];
}

static void dot_at(const struct fbp_canvas *c, size_t x, size_t y, size_t dot, const uint8_t rgb[3])
{
    for (size_t j = y; j < y + dot && j < c->h; j++)
        for (size_t i = x; i < x + dot && i < c->w; i++)
            for (int k = 0; k < 3; k++)
                c->rgb[3 * (j * c->w + i) + (size_t)k] = rgb[k];
}

void fbp_font_write(const struct fbp_canvas *c, size_t x, size_t y, size_t end, size_t dot,
                    const uint8_t rgb[3], const char *text)
{
    for (; *text && x + 5 * dot <= end; text++, x += FBP_GLYPH_WIDTH * dot) {
        const uint8_t *glyph = glyph_of(*text);
        for (size_t row = 0; row < 7; row++)
            for (size_t column = 0; column < 5; column++)
                if (glyph[row] >> (4 - column) & 1)
                    dot_at(c, x + column * dot, y + row * dot, dot, rgb);
    }
}

/* Voxels into the bins of pictures. */

static inline void put(float *bin, float value, bool mip)
{
    if (!mip)
        *bin += value;
    else if (value > *bin)
        *bin = value;
}

/* Row y of slice z into the bins of plane i; `from`, `to`: the columns that lie in it. */
static void put_row(struct fbp_viewer *v, int i, size_t y, size_t z, size_t from, size_t to,
                    const float *row)
{
    struct fbp_plane *p = &v->planes[i];
    const size_t up = i == 0 ? y / v->k[1] : z / v->k[2];
    float *bins = p->value + up * p->bins[0];

    for (size_t x = from; x < to; x++)
        put(&bins[i == 2 ? y / v->k[1] : x / v->k[0]], row[x], v->mip);
}

/* Row y of slice z into all planes that show something of it. */
static void place_row(struct fbp_viewer *v, size_t y, size_t z, const float *row)
{
    const size_t nx = v->n[0], x = v->slice[0];

    if (v->mip || z == v->slice[2])
        put_row(v, 0, y, z, 0, nx, row);
    if (v->mip || y == v->slice[1])
        put_row(v, 1, y, z, 0, nx, row);
    put_row(v, 2, y, z, v->mip ? 0 : x, v->mip ? nx : x + 1, row);
}

/* Row y of slice z as it is read: into the planes, or kept until its slice can be turned. */
static void take_row(struct fbp_viewer *v, size_t y, size_t z, const float *row)
{
    const size_t nx = v->info->n[0], ny = v->info->n[1];

    if (v->turn)
        memcpy(v->slices + (z % v->at_once * ny + y) * nx, row, nx * sizeof *row);
    else
        place_row(v, y, z, row);
}

/* All rows of slice z once, in the order of the file: a packed one is unpacked from its start for
 * every step back. */
static fbp_status read_slice(struct fbp_viewer *v, size_t z)
{
    const size_t nx = v->info->n[0], ny = v->info->n[1];
    const bool down = v->info->row_order == FBP_ROWS_TOP_DOWN;

    for (size_t at = 0; at < ny; at += v->band_rows) {
        const size_t n = ny - at < v->band_rows ? ny - at : v->band_rows;
        FBP_TRY(fbp_go_on());
        FBP_TRY(fbp_source_read(v->src, v->z0 + z, 1, at, n, v->band));
        for (size_t r = 0; r < n; r++)
            take_row(v, down ? ny - 1 - at - r : at + r, z, v->band + r * nx);
    }
    return FBP_OK;
}

static fbp_status turn_slice(struct fbp_viewer *v, size_t z)
{
    fbp_turn_prepare(v->turn, v->slices);
    for (size_t y = 0; y < v->n[1]; y++) {
        FBP_TRY(fbp_go_on());
        fbp_turn_row(v->turn, v->slices, y, v->row);
        place_row(v, y, z, v->row);
    }
    return FBP_OK;
}

/* Greatest values along one axis into row `up` of a plane, k of them a bin. */
static void put_line(struct fbp_plane *p, size_t up, size_t k, const float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put(&p->value[up * p->bins[0] + i / k], values[i], true);
}

/* Slices [z0, z0 + n), by the projector. */
static fbp_status project_slices(struct fbp_viewer *v, size_t z0, size_t n)
{
    FBP_TRY(v->projector->project(v->device, v->slices, n, v->front, v->side));
    for (size_t i = 0; i < n; i++) {
        const size_t up = (z0 + i) / v->k[2];
        put_line(&v->planes[1], up, v->k[0], v->front + i * v->n[0], v->n[0]);
        put_line(&v->planes[2], up, v->k[1], v->side + i * v->n[1], v->n[1]);
    }
    return FBP_OK;
}

static fbp_status fetch_top(struct fbp_viewer *v)
{
    for (size_t at = 0; at < v->n[1]; at += v->rows) {
        const size_t n = v->n[1] - at < v->rows ? v->n[1] - at : v->rows;
        FBP_TRY(v->projector->top(v->device, at, n, v->row));
        for (size_t r = 0; r < n; r++)
            put_line(&v->planes[0], (at + r) / v->k[1], v->k[0], v->row + r * v->n[0], v->n[0]);
    }
    return FBP_OK;
}

fbp_status fbp_viewer_read(struct fbp_viewer *v)
{
    const size_t n = v->info->n[2];

    for (size_t z = 0; z < n; z++) {
        FBP_TRY(read_slice(v, z));
        if (v->turn && !v->device)
            FBP_TRY(turn_slice(v, z));
        if (v->device && ((z + 1) % v->at_once == 0 || z + 1 == n))
            FBP_TRY(project_slices(v, z / v->at_once * v->at_once, z % v->at_once + 1));
    }
    return v->device ? fetch_top(v) : FBP_OK;
}

/* Three orthogonal pictures of a volume.  A volume is read a band of rows at a time, and every
 * voxel falls at once into a bin of the pictures it belongs to: memory does not grow with it. */

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

/* A contact sheet: pictures of one grey window side by side, each with a label. */

enum {
    MOST = 384,
    SHEET_LEAST = 128,
    MARGIN = 12,
    FRAME = 3,
    SHEET_BACKGROUND = 24,
    SAMPLE = 1 << 18
};

static const uint8_t plain_colour[3] = {200, 200, 200}, marked_colour[3] = {255, 196, 0};

struct sheet {
    const struct fbp_tile *tiles;
    size_t n_tiles;
    const struct fbp_sheet_params *p;
    double lo, hi;
    size_t reduce, enlarge; /* values a pixel, or pixels a value; one of them is 1 */
    size_t w, h;            /* pixels of a picture */
    size_t columns, rows;
    size_t lines, letters; /* of the longest label */
    size_t dot;            /* of letters */
    size_t title;          /* height of the title */
    struct fbp_canvas canvas;
};

static int sheet_compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The range of all pictures without 0.5 % at either end, from values spread over them. */
static fbp_status sheet_choose_window(struct sheet *s)
{
    const size_t each = s->p->n[0] * s->p->n[1];
    const size_t step = (each * s->n_tiles + SAMPLE - 1) / SAMPLE;
    float *sample = NULL;
    size_t n = 0;

    s->lo = s->p->lo;
    s->hi = s->p->hi;
    if (s->hi > s->lo)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&sample, s->n_tiles * (each / step + 1), sizeof *sample,
                       "a grey window"));
    for (size_t i = 0; i < s->n_tiles; i++)
        for (size_t k = 0; k < each; k += step)
            if (isfinite(s->tiles[i].values[k]))
                sample[n++] = s->tiles[i].values[k];
    qsort(sample, n, sizeof *sample, sheet_compare_floats);
    s->lo = n ? (double)sample[n / 200] : 0;
    s->hi = n ? (double)sample[n - 1 - n / 200] : 1;
    if (!(s->hi > s->lo))
        s->hi = s->lo + 1;
    free(sample);
    return FBP_OK;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Lines of the longest label, and letters of the longest line. */
static void measure_labels(struct sheet *s)
{
    for (size_t i = 0; i < s->n_tiles; i++) {
        const char *text = s->tiles[i].label;
        for (size_t lines = 1;; lines++) {
            const size_t n = strcspn(text, "\n");
            s->letters = larger(s->letters, n);
            s->lines = larger(s->lines, lines);
            if (!text[n])
                break;
            text += n + 1;
        }
    }
}

/* Pixels of a picture with its label. */
static size_t tile_width(const struct sheet *s)
{
    return larger(s->w, s->letters * FBP_GLYPH_WIDTH * s->dot);
}

static size_t label_height(const struct sheet *s)
{
    return s->lines * FBP_GLYPH_HEIGHT * s->dot;
}

/* Distance from picture to picture. */
static void step_of(const struct sheet *s, size_t step[2])
{
    step[0] = tile_width(s) + MARGIN;
    step[1] = s->h + FRAME + label_height(s) + MARGIN;
}

static void sheet_layout(struct sheet *s)
{
    const size_t nx = s->p->n[0], ny = s->p->n[1], longest = nx > ny ? nx : ny;
    size_t step[2], title;

    s->reduce = (longest + MOST - 1) / MOST;
    s->enlarge = longest < SHEET_LEAST ? SHEET_LEAST / longest : 1;
    s->w = (nx + s->reduce - 1) / s->reduce * s->enlarge;
    s->h = (ny + s->reduce - 1) / s->reduce * s->enlarge;
    s->dot = s->w >= larger(s->letters, 10) * FBP_GLYPH_WIDTH * 2 ? 2 : 1;
    s->title = s->p->title ? (FBP_GLYPH_HEIGHT + 3) * s->dot : 0;
    title = s->p->title ? strlen(s->p->title) * FBP_GLYPH_WIDTH * s->dot + MARGIN : 0;
    step_of(s, step);
    s->columns = (size_t)ceil(sqrt((double)(s->n_tiles * step[1]) / (double)step[0]));
    s->columns = s->columns > s->n_tiles ? s->n_tiles : s->columns;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): there is a tile */
    s->rows = (s->n_tiles + s->columns - 1) / s->columns;
    s->canvas.w = MARGIN + larger(s->columns * step[0], title);
    s->canvas.h = MARGIN + s->title + s->rows * step[1];
}

static fbp_status start_canvas(struct sheet *s)
{
    size_t pixels;

    FBP_TRY(fbp_mul(s->canvas.w, s->canvas.h, "a contact sheet", &pixels));
    FBP_TRY(fbp_mul(pixels, 3, "a contact sheet", &pixels));
    FBP_TRY(fbp_calloc((void **)&s->canvas.rgb, pixels, 1, "a contact sheet"));
    memset(s->canvas.rgb, SHEET_BACKGROUND, pixels);
    return FBP_OK;
}

size_t fbp_sheet_bytes(size_t n_tiles, size_t label_lines, const struct fbp_sheet_params *params)
{
    FBP_GIVEN_ELSE(0, params);
    struct sheet s = {.n_tiles = n_tiles, .p = params, .lines = label_lines};
    const size_t sample = sizeof(float) * 2 * SAMPLE,
                 png = (1 << 20) + FBP_PIECE_BYTES; /* at most, roughly */

    sheet_layout(&s);
    return 3 * s.canvas.w * s.canvas.h + sample + png;
}

/* Mean of the values that fall on a pixel; those that are not finite count as the window's end. */
static double value_at(const struct sheet *s, const float *values, size_t x, size_t y)
{
    const size_t nx = s->p->n[0], ny = s->p->n[1];
    double sum = 0;
    size_t n = 0;

    for (size_t j = y * s->reduce; j < (y + 1) * s->reduce && j < ny; j++)
        for (size_t i = x * s->reduce; i < (x + 1) * s->reduce && i < nx; i++, n++)
            sum += isfinite(values[j * nx + i]) ? (double)values[j * nx + i] : s->lo;
    return sum / (double)n;
}

static void fill(const struct fbp_canvas *c, size_t x0, size_t y0, size_t w, size_t h,
                 const uint8_t rgb[3])
{
    for (size_t y = y0; y < y0 + h; y++)
        for (size_t x = x0; x < x0 + w; x++)
            memcpy(c->rgb + 3 * (y * c->w + x), rgb, 3);
}

static void draw_picture(const struct sheet *s, const struct fbp_tile *tile, size_t x0, size_t y0)
{
    for (size_t y = 0; y < s->h; y++)
        for (size_t x = 0; x < s->w; x++) {
            const double value =
                value_at(s, tile->values, x / s->enlarge, (s->h - 1 - y) / s->enlarge);
            const double grey = 255 * (value - s->lo) / (s->hi - s->lo);
            const uint8_t g = grey >= 255 ? 255 : grey > 0 ? (uint8_t)lrint(grey) : 0;
            memset(s->canvas.rgb + 3 * ((y0 + y) * s->canvas.w + x0 + x), g, 3);
        }
}

static void draw_label(const struct sheet *s, const struct fbp_tile *tile, size_t x, size_t y)
{
    const uint8_t *colour = tile->marked ? marked_colour : plain_colour;
    const char *text = tile->label;
    char line[80];

    while (true) {
        const size_t n = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        fbp_font_write(&s->canvas, x, y, x + tile_width(s), s->dot, colour, line);
        if (!text[n])
            return;
        text += n + 1;
        y += FBP_GLYPH_HEIGHT * s->dot;
    }
}

static void sheet_draw(const struct sheet *s)
{
    size_t step[2];

    step_of(s, step);
    if (s->p->title)
        fbp_font_write(&s->canvas, MARGIN, MARGIN, s->canvas.w, s->dot, plain_colour, s->p->title);
    for (size_t i = 0; i < s->n_tiles; i++) {
        const size_t x = MARGIN + i % s->columns * step[0];
        const size_t y = MARGIN + s->title + i / s->columns * step[1];
        if (s->tiles[i].marked)
            fill(&s->canvas, x - FRAME, y - FRAME, s->w + (size_t)2 * FRAME,
                 s->h + (size_t)2 * FRAME, marked_colour);
        draw_picture(s, &s->tiles[i], x, y);
        draw_label(s, &s->tiles[i], x, y + s->h + FRAME + s->dot);
    }
}

static fbp_status take_params(struct fbp_sheet_params *own, const struct fbp_sheet_params *given)
{
    FBP_TRY(FBP_TAKE(sheet_params, own, given));
    FBP_TRY(fbp_check_range(&fbp_range_side, "sheet: n[0]", (double)own->n[0]));
    FBP_TRY(fbp_check_range(&fbp_range_side, "sheet: n[1]", (double)own->n[1]));
    FBP_TRY(fbp_check_range(&fbp_range_value, "sheet: lo", own->lo));
    return fbp_check_range(&fbp_range_value, "sheet: hi", own->hi);
}

fbp_status fbp_sheet_write(const char *png_path, const struct fbp_tile *tiles, size_t n_tiles,
                           const struct fbp_sheet_params *params)
{
    FBP_GIVEN(png_path, tiles);
    struct fbp_sheet_params own;
    struct sheet s = {.tiles = tiles, .n_tiles = n_tiles, .p = &own};
    fbp_status st;

    fbp_message_clear();
    FBP_TRY(take_params(&own, params));
    if (n_tiles == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: a contact sheet needs pictures", png_path);
    FBP_TRY_GOTO(sheet_choose_window(&s));
    measure_labels(&s);
    sheet_layout(&s);
    FBP_TRY_GOTO(start_canvas(&s));
    sheet_draw(&s);
    st = fbp_png_write(png_path, s.canvas.w, s.canvas.h, 3, s.canvas.rgb);
fail:
    free(s.canvas.rgb);
    return st;
}
