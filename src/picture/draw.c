/* Three orthogonal pictures of a volume.  A volume is read a band of rows at a time, and every
 * voxel falls at once into a bin of the pictures it belongs to: memory does not grow with it. */
#include "fbp/array.h"
#include "fbp/picture.h"

#include "array/format/png/png_write.h"
#include "base/mem.h"
#include "base/range.h"
#include "base/sizes.h"
#include "base/stop.h"

#include <math.h>
#include <stdlib.h>

enum { GREATEST = 1024, LEAST = 256, GAP = 4, BACKGROUND = 48, BAND_BYTES = 1 << 20 };

/* One picture: bins along two axes of the volume, k[] voxels a bin. */
struct plane {
    int axis[2];    /* of the volume: to the right, up */
    size_t bins[2]; /* columns, rows; row 0 is the lowest */
    size_t w, h;    /* pixels */
    float *value;   /* [bins[1]][bins[0]] sums, then means; or greatest values */
};

struct viewer {
    fbp_source *src;
    const struct fbp_array_info *info;
    bool mip;
    size_t slice[3];
    size_t k[3];  /* voxels a bin, along x, y, z */
    double mm[3]; /* of a voxel */
    struct plane planes[3];
    size_t band_rows;
    float *band;
};

static const int plane_axes[3][2] = {{0, 1}, {0, 2}, {1, 2}};

/* Millimetres a pixel: the finest voxel, or a multiple of it if that makes too large a picture. */
static double choose_scale(const struct viewer *v, double *enlarge)
{
    double finest = INFINITY, longest = 0;

    for (int a = 0; a < 3; a++) {
        finest = fmin(finest, v->mm[a]);
        longest = fmax(longest, v->mm[a] * (double)v->info->n[a]);
    }
    const double step = fmax(1, ceil(longest / finest / GREATEST));
    *enlarge = fmax(1, ceil(LEAST * step * finest / longest));
    return finest * step;
}

static fbp_status layout(struct viewer *v)
{
    double enlarge;
    const double scale = choose_scale(v, &enlarge);
    size_t px[3];

    for (int a = 0; a < 3; a++) {
        const double size = v->mm[a] * (double)v->info->n[a];
        v->k[a] = (size_t)fmax(1, floor(scale / v->mm[a] + 1e-6));
        px[a] = (size_t)(fmax(1, round(size / scale)) * enlarge);
    }
    for (int i = 0; i < 3; i++) {
        struct plane *p = &v->planes[i];
        size_t bins;
        for (int j = 0; j < 2; j++) {
            const int a = p->axis[j] = plane_axes[i][j];
            p->bins[j] = (v->info->n[a] + v->k[a] - 1) / v->k[a];
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

static inline void put(float *bin, float value, bool mip)
{
    if (!mip)
        *bin += value;
    else if (value > *bin)
        *bin = value;
}

/* Row y of slice z into the bins of plane i; `from`, `to`: the columns that lie in it. */
static void put_row(struct viewer *v, int i, size_t y, size_t z, size_t from, size_t to,
                    const float *row)
{
    struct plane *p = &v->planes[i];
    const size_t up = i == 0 ? y / v->k[1] : z / v->k[2];
    float *bins = p->value + up * p->bins[0];

    for (size_t x = from; x < to; x++)
        put(&bins[i == 2 ? y / v->k[1] : x / v->k[0]], row[x], v->mip);
}

/* Row y of slice z into all planes that show something of it. */
static void place_row(struct viewer *v, size_t y, size_t z, const float *row)
{
    const size_t nx = v->info->n[0], x = v->slice[0];

    if (v->mip || z == v->slice[2])
        put_row(v, 0, y, z, 0, nx, row);
    if (v->mip || y == v->slice[1])
        put_row(v, 1, y, z, 0, nx, row);
    put_row(v, 2, y, z, v->mip ? 0 : x, v->mip ? nx : x + 1, row);
}

/* All rows of slice z once, in the order of the file: a packed one is unpacked from its start for
 * every step back. */
static fbp_status read_slice(struct viewer *v, size_t z)
{
    const size_t nx = v->info->n[0], ny = v->info->n[1];
    const bool down = v->info->row_order == FBP_ROWS_TOP_DOWN;

    for (size_t at = 0; at < ny; at += v->band_rows) {
        const size_t n = ny - at < v->band_rows ? ny - at : v->band_rows;
        FBP_TRY(fbp_go_on());
        FBP_TRY(fbp_source_read(v->src, z, 1, at, n, v->band));
        for (size_t r = 0; r < n; r++)
            place_row(v, down ? ny - 1 - at - r : at + r, z, v->band + r * nx);
    }
    return FBP_OK;
}

/* One pass over the volume; of slices only what the three pictures show is used. */
static fbp_status read_volume(struct viewer *v)
{
    for (size_t z = 0; z < v->info->n[2]; z++)
        FBP_TRY(read_slice(v, z));
    return FBP_OK;
}

/* Voxels in bin b along axis a: the last one may be short. */
static size_t in_bin(const struct viewer *v, int a, size_t b)
{
    const size_t first = b * v->k[a], left = v->info->n[a] - first;
    return left < v->k[a] ? left : v->k[a];
}

static void sums_to_means(const struct viewer *v, struct plane *p)
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
static fbp_status choose_window(const struct viewer *v, double *lo, double *hi)
{
    const size_t most = (size_t)1 << 18;
    size_t total = 0, n = 0;
    float *sample = NULL;

    for (int i = 0; i < 3; i++)
        total += v->planes[i].bins[0] * v->planes[i].bins[1];
    const size_t step = (total + most - 1) / most;
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

static void paint(const struct plane *p, double lo, double hi, size_t x0, size_t y0, size_t width,
                  uint8_t *pixels)
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

static fbp_status draw(const struct viewer *v, double lo, double hi, const char *path)
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

static fbp_status choose_slices(struct viewer *v, const struct fbp_picture_params *p,
                                const char *path)
{
    for (int a = 0; a < 3; a++) {
        v->slice[a] = p->at_slice ? p->slice[a] : v->info->n[a] / 2;
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

static fbp_status take_params(struct fbp_picture_params *own,
                              const struct fbp_picture_params *given)
{
    FBP_TRY(FBP_TAKE(picture_params, own, given));
    FBP_TRY(fbp_check_range(&fbp_range_value, "view: lo", own->lo));
    return fbp_check_range(&fbp_range_value, "view: hi", own->hi);
}

fbp_status fbp_picture_write_source(fbp_source *volume, const char *name, const char *png_path,
                                    const struct fbp_picture_params *params)
{
    struct fbp_picture_params p;
    struct viewer v = {.src = volume, .info = fbp_source_info(volume)};
    fbp_status st;

    fbp_message_clear();
    FBP_TRY(take_params(&p, params ? params : fbp_picture_params()));
    double lo = p.lo, hi = p.hi;
    v.mip = p.mip;
    if (!(lo <= hi))
        return fbp_fail(FBP_ERR_INVALID, "view: window %g to %g: give the lower end first", lo, hi);
    FBP_TRY_GOTO(choose_slices(&v, &p, name));
    FBP_TRY_GOTO(layout(&v));
    FBP_TRY_GOTO(read_volume(&v));
    for (int i = 0; !v.mip && i < 3; i++)
        sums_to_means(&v, &v.planes[i]);
    if (lo == hi)
        FBP_TRY_GOTO(choose_window(&v, &lo, &hi));
    if (lo == hi)
        hi = lo + 1;
    if (p.shown) {
        p.shown[0] = lo;
        p.shown[1] = hi;
    }
    FBP_TRY_GOTO(fbp_source_unchanged(volume));
    st = draw(&v, lo, hi, png_path);
fail:
    for (int i = 0; i < 3; i++)
        free(v.planes[i].value);
    fbp_free(v.band);
    return st;
}

fbp_status fbp_picture_write(const char *volume_path, const char *png_path,
                             const struct fbp_picture_params *params)
{
    struct fbp_picture_params own;
    fbp_source *volume = NULL;

    fbp_message_clear();
    FBP_TRY(take_params(&own, params ? params : fbp_picture_params()));
    FBP_TRY(fbp_source_open(&volume, volume_path, NULL));
    const fbp_status st = fbp_picture_write_source(volume, volume_path, png_path, &own);
    fbp_source_close(&volume);
    return st;
}
