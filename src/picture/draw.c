/* Draws PNG pictures: fbp_viewer_draw(), three orthogonal slices or maximum intensity projections
 * (MIP) of a volume; fbp_sheet_write(), contact sheets of several labelled images;
 * fbp_font_write(), text in letters of 5 x 7 dots.
 * Used by: bench/papers/qiao2015/pictures.c, cli/page/viewer.c, cli/sweep.c, pipeline/picture.c. */
#include "picture/draw.h"

#include "array/file/format.h"
#include "array/file/outfile.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

/* Letters of 5 x 7 dots by ASCII code: 7 rows from the top; bit 4 of a row is its left dot. */
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

void fbp_font_write(const struct fbp_canvas *canvas, size_t x, size_t y, size_t end, size_t dot,
                    const uint8_t rgb[3], const char *text)
{
    for (; *text && x + 5 * dot <= end; text++, x += FBP_GLYPH_WIDTH * dot) {
        const unsigned char c =
            (unsigned char)(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text);
        const uint8_t *glyph = glyphs['?'];
        for (int row = 0; c < sizeof glyphs / sizeof *glyphs && row < 7; row++)
            if (glyphs[c][row] || c == ' ')
                glyph = glyphs[c];
        for (size_t j = 0; j < 7 * dot && y + j < canvas->h; j++)
            for (size_t i = 0; i < 5 * dot && x + i < canvas->w; i++)
                if (glyph[j / dot] >> (4 - i / dot) & 1)
                    memcpy(canvas->rgb + 3 * ((y + j) * canvas->w + x + i), rgb, 3);
    }
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Approximate greatest number of values from which a grey window is computed. */
enum { SAMPLE = 1 << 18 };

void fbp_grey_window(float *sample, size_t n, size_t part, double *lo, double *hi)
{
    qsort(sample, n, sizeof *sample, compare_floats);
    *lo = n ? (double)sample[n / part] : 0;
    *hi = n ? (double)sample[n - 1 - n / part] : 1;
    if (!(*hi > *lo))
        *hi = *lo + 1;
    free(sample);
}

static uint8_t grey_of(double value, double lo, double hi)
{
    const double grey = 255 * (value - lo) / (hi - lo);

    return grey >= 255 ? 255 : grey > 0 ? (uint8_t)lrint(grey) : 0;
}

/* Pictures of a volume in three planes: xy, xz and yz. The volume is read once, a few rows at a
 * time, and each voxel is added to the bins of all pictures that show it. Only a rotated volume
 * needs memory for whole slices. */

enum { GREATEST = 1024, LEAST = 256, GAP = 4, BACKGROUND = 48, BAND_BYTES = 1 << 20 };

/* One picture: a grid of bins along two axes, each of viewer.k[a] voxels along axis a. */
struct plane {
    int axis[2];    /* axes of the volume to the right and up */
    size_t bins[2]; /* columns, rows; row 0 is the lowest */
    size_t w, h;    /* pixels */
    /* [bins[1]][bins[0]] sum, later mean, of the drawn voxels in a bin; projections: their maximum
     */
    float *value;
};

struct viewer {
    fbp_source *src;
    const struct fbp_array_info *info;
    size_t z0;
    bool mip;
    size_t slice[3]; /* voxel x, y, z through which slices are drawn; projections: not used */
    size_t n[3];     /* voxels of the volume as shown, rotated */
    double mm[3];    /* size of these voxels [mm] */
    size_t k[3];     /* voxels per bin, along x, y, z */
    struct plane planes[3];
    size_t band_rows;                      /* rows per read */
    float *band;                           /* [band_rows][nx] */
    const struct fbp_turn *turn;           /* NULL: the volume is not rotated */
    const struct fbp_projector *projector; /* NULL: the host rotates */
    void *device;                          /* device of the projector */
    size_t at_once;                        /* slices that are rotated per call */
    float *slices;                         /* [at_once][ny][nx], not rotated */
    size_t rows;                           /* number of rows in `row` */
    float *row;                            /* [rows][n[0]] of a rotated slice */
    float *front, *side; /* [at_once][n[0]], [at_once][n[1]]: projections along y and along x, from
                            the projector */
};

/* Add a value to a bin or (mip) replace the bin by a greater value. */
static inline void put(float *bin, float value, bool mip)
{
    if (!mip)
        *bin += value;
    else if (value > *bin)
        *bin = value;
}

/* Add row y of slice z of the volume as shown to the bins of all pictures that show it. */
static void place_row(struct viewer *v, size_t y, size_t z, const float *row)
{
    const size_t nx = v->n[0];

    for (int i = 0; i < 3; i++) {
        struct plane *p = &v->planes[i];
        const bool side = i == 2;
        const size_t from = side && !v->mip ? v->slice[0] : 0;
        const size_t to = side && !v->mip ? from + 1 : nx;
        float *bins = p->value + (i == 0 ? y / v->k[1] : z / v->k[2]) * p->bins[0];
        if (!side && !v->mip && (i == 0 ? z != v->slice[2] : y != v->slice[1]))
            continue;
        for (size_t x = from; x < to; x++)
            put(&bins[side ? y / v->k[1] : x / v->k[0]], row[x], v->mip);
    }
}

/* Merge n projected values into row `up` (from the bottom) of the bins of a picture, k values per
 * bin; a bin stores the greatest value. */
static void put_line(struct plane *p, size_t up, size_t k, const float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put(&p->value[up * p->bins[0] + i / k], values[i], true);
}

/* Read the volume once, and add its voxels to the bins of the pictures. */
static fbp_status read_volume(struct viewer *v)
{
    const size_t nx = v->info->n[0], ny = v->info->n[1], nz = v->info->n[2];
    const bool down = v->info->row_order == FBP_ROWS_TOP_DOWN;

    for (size_t z = 0; z < nz; z++) {
        /* Rows are read in the order of the file: to read an earlier row of a compressed file, it
         * must be decompressed again from its start. */
        for (size_t at = 0; at < ny; at += v->band_rows) {
            const size_t n = ny - at < v->band_rows ? ny - at : v->band_rows;
            FBP_TRY(fbp_check_cancelled());
            FBP_TRY(fbp_source_read(v->src, v->z0 + z, 1, at, n, FBP_F32, v->band));
            for (size_t r = 0; r < n; r++) {
                const size_t y = down ? ny - 1 - at - r : at + r;
                const float *row = v->band + r * nx;
                if (v->turn) /* collect the rows of a slice before it is rotated */
                    memcpy(v->slices + (z % v->at_once * ny + y) * nx, row, nx * sizeof *row);
                else
                    place_row(v, y, z, row);
            }
        }
        if (v->turn && !v->device) {
            fbp_turn_prepare(v->turn, v->slices);
            for (size_t y = 0; y < v->n[1]; y++) {
                FBP_TRY(fbp_check_cancelled());
                fbp_turn_row(v->turn, v->slices, y, v->row);
                place_row(v, y, z, v->row);
            }
        }
        if (v->device && ((z + 1) % v->at_once == 0 || z + 1 == nz)) {
            const size_t z0 = z / v->at_once * v->at_once, n = z % v->at_once + 1;
            FBP_TRY(v->projector->project(v->device, v->slices, n, v->front, v->side));
            for (size_t i = 0; i < n; i++) {
                const size_t up = (z0 + i) / v->k[2];
                put_line(&v->planes[1], up, v->k[0], v->front + i * v->n[0], v->n[0]);
                put_line(&v->planes[2], up, v->k[1], v->side + i * v->n[1], v->n[1]);
            }
        }
    }
    for (size_t at = 0; v->device && at < v->n[1]; at += v->rows) {
        const size_t n = v->n[1] - at < v->rows ? v->n[1] - at : v->rows;
        FBP_TRY(v->projector->top(v->device, at, n, v->row));
        for (size_t r = 0; r < n; r++)
            put_line(&v->planes[0], (at + r) / v->k[1], v->k[0], v->row + r * v->n[0], v->n[0]);
    }
    return FBP_OK;
}

/* Choose the numbers of voxels per bin and of pixels per picture; allocate the bins, and the buffer
 * for the rows of the volume that one call reads. */
static fbp_status layout(struct viewer *v)
{
    static const int plane_axes[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    double finest = INFINITY, longest = 0;
    size_t px[3];

    for (int a = 0; a < 3; a++) {
        finest = fmin(finest, v->mm[a]);
        longest = fmax(longest, v->mm[a] * (double)v->n[a]);
    }
    /* Size of a pixel before enlargement [mm]: the smallest edge of a voxel or, for large volumes,
     * a multiple of it. */
    const double step = fmax(1, ceil(longest / finest / GREATEST)), scale = finest * step;
    const double enlarge = fmax(1, ceil(LEAST * step * finest / longest));
    for (int a = 0; a < 3; a++) {
        const double size = v->mm[a] * (double)v->n[a];
        v->k[a] = (size_t)fmax(1, floor(scale / v->mm[a] + 1e-6));
        px[a] = (size_t)(fmax(1, round(size / scale)) * enlarge);
    }
    for (int i = 0; i < 3; i++) {
        struct plane *p = &v->planes[i];
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

/* If the volume is rotated: open the projector's device, if any, and allocate memory for slices. */
static fbp_status make_room(struct viewer *v, int index)
{
    const size_t slice = v->info->n[0] * v->info->n[1] * sizeof(float);
    size_t row_bytes, bytes;

    v->at_once = 1;
    if (!v->turn)
        return FBP_OK;
    if (v->projector)
        FBP_TRY(v->projector->open(&v->device, index, v->turn, v->info->n[2], &v->at_once));
    FBP_TRY(fbp_mul(v->n[0], sizeof(float), "a turned slice", &row_bytes));
    v->rows = v->device && BAND_BYTES / row_bytes > 1 ? BAND_BYTES / row_bytes : 1;
    FBP_TRY(fbp_alloc((void **)&v->row, v->rows * row_bytes, "rows of a turned slice"));
    FBP_TRY(fbp_mul(slice, v->at_once, "slices that are turned", &bytes));
    FBP_TRY(fbp_alloc((void **)&v->slices, bytes, "slices that are turned"));
    FBP_TRY(fbp_alloc((void **)&v->front, v->at_once * row_bytes, "projections"));
    return fbp_alloc((void **)&v->side, v->at_once * v->n[1] * sizeof(float), "projections");
}

/* Number of voxels along axis a in bin b of a picture; the last bin may have fewer. */
static size_t in_bin(const struct viewer *v, int a, size_t b)
{
    const size_t first = b * v->k[a], left = v->n[a] - first;
    return left < v->k[a] ? left : v->k[a];
}

/* Write the pictures side by side as one PNG file, with grey window [lo, hi]. */
static fbp_status draw(const struct viewer *v, double lo, double hi, const char *path)
{
    /* Draw only picture xy of a volume of a single slice, because the two others would be lines. */
    const int shown = v->info->n[2] == 1 ? 1 : 3;
    size_t w = 0, h = 0, x0 = 0, pixels_n;
    uint8_t *pixels = NULL;

    for (int i = 0; i < shown; i++) {
        w += v->planes[i].w + (i ? GAP : 0);
        h = v->planes[i].h > h ? v->planes[i].h : h;
    }
    FBP_TRY(fbp_mul(w, h, "picture", &pixels_n));
    FBP_TRY(fbp_calloc((void **)&pixels, pixels_n, 1, "picture"));
    memset(pixels, BACKGROUND, pixels_n);
    for (int i = 0; i < shown; i++) {
        const struct plane *p = &v->planes[i];
        for (size_t y = 0; y < p->h; y++) {
            const float *bins = p->value + (p->h - 1 - y) * p->bins[1] / p->h * p->bins[0];
            uint8_t *out = pixels + ((h - p->h) / 2 + y) * w + x0;
            for (size_t x = 0; x < p->w; x++)
                out[x] = grey_of((double)bins[x * p->bins[0] / p->w], lo, hi);
        }
        x0 += p->w + GAP;
    }
    const fbp_status st = fbp_png_write(path, w, h, 1, pixels);
    free(pixels);
    return st;
}

fbp_status fbp_viewer_draw(fbp_source *volume, const char *name, const char *png_path,
                           const struct fbp_picture_params *p,
                           const struct fbp_projector *projector, int index)
{
    struct fbp_turn turn = {0};
    struct fbp_array_info one = *fbp_source_info(volume);
    const size_t frames = fbp_array_frames(&one);
    one.n[2] = fbp_frame_slices(&one);
    struct viewer v = {.src = volume,
                       .info = &one,
                       .z0 = p->time_point * one.n[2],
                       .mip = p->mip,
                       .projector = projector};
    double lo = p->lo, hi = p->hi;
    fbp_status st;

    if (p->time_point >= frames)
        FBP_TRY_GOTO(FBP_INVALID("%s: frame %zu does not exist; the file has frames 0 to %zu", name,
                                 p->time_point, frames - 1));
    for (int a = 0; a < 3; a++) {
        v.slice[a] = p->at_slice ? p->slice[a] : one.n[a] / 2;
        v.n[a] = one.n[a];
        v.mm[a] = one.has_spacing ? fabs(one.spacing_mm[a]) : 1;
        if (one.n[a] == 0 || !(v.mm[a] > 0 && isfinite(v.mm[a])))
            FBP_TRY_GOTO(
                FBP_INVALID("%s: %zu voxels of %g mm along an axis are invalid; correct the header",
                            name, one.n[a], v.mm[a]));
        if (v.slice[a] >= one.n[a])
            FBP_TRY_GOTO(
                FBP_INVALID("%s: slice %c = %zu does not exist; the volume has slices 0 to %zu",
                            name, "xyz"[a], v.slice[a], one.n[a] - 1));
    }
    /* The pictures show the rotated volume. On the host, a rotation by 0 degrees is omitted; a
     * device needs the tables of a rotation in any case. */
    if (projector || fmod(p->turn_deg, 360) != 0) {
        FBP_TRY_GOTO(fbp_turn_make(&turn, v.n, v.mm, p->turn_deg));
        v.turn = &turn;
        for (int a = 0; a < 2; a++) {
            v.n[a] = turn.turned[a];
            v.mm[a] = turn.mm[a];
        }
    }
    FBP_TRY_GOTO(layout(&v));
    FBP_TRY_GOTO(make_room(&v, index));
    FBP_TRY_GOTO(read_volume(&v));
    for (int i = 0; !v.mip && i < 3; i++) { /* sums to means */
        struct plane *q = &v.planes[i];
        for (size_t r = 0; r < q->bins[1]; r++)
            for (size_t c = 0; c < q->bins[0]; c++)
                q->value[r * q->bins[0] + c] /=
                    (float)(in_bin(&v, q->axis[0], c) * in_bin(&v, q->axis[1], r));
    }
    if (lo == hi) { /* no grey window is given: omit the lowest and the highest 0.1 % of the bins */
        size_t total = 0, n = 0;
        float *sample = NULL;
        for (int i = 0; i < 3; i++)
            total += v.planes[i].bins[0] * v.planes[i].bins[1];
        const size_t step = total > SAMPLE ? (total + SAMPLE - 1) / SAMPLE : 1;
        FBP_TRY_GOTO(fbp_calloc((void **)&sample, total / step + 3, sizeof *sample, "grey window"));
        for (int i = 0; i < 3; i++)
            for (size_t b = 0; b < v.planes[i].bins[0] * v.planes[i].bins[1]; b += step)
                if (isfinite(v.planes[i].value[b]))
                    sample[n++] = v.planes[i].value[b];
        fbp_grey_window(sample, n, 1000, &lo, &hi);
    }
    if (p->shown) {
        p->shown[0] = lo;
        p->shown[1] = hi;
    }
    FBP_TRY_GOTO(fbp_source_unchanged(volume));
    st = draw(&v, lo, hi, png_path);
fail:
    for (int i = 0; i < 3; i++)
        free(v.planes[i].value);
    fbp_free(v.band);
    fbp_free(v.slices);
    fbp_free(v.row);
    fbp_free(v.front);
    fbp_free(v.side);
    if (v.device)
        projector->close(&v.device);
    fbp_turn_clear(&turn);
    return st;
}

/* A contact sheet: images in rows and columns, with a common grey window, each with a label. */

enum { SHEET_LEAST = 128, MARGIN = 12, FRAME = 3, SHEET_BACKGROUND = 24 };

static const uint8_t plain_colour[3] = {200, 200, 200}, marked_colour[3] = {255, 196, 0};

struct sheet {
    size_t n_tiles;
    const struct fbp_sheet_params *p;
    double lo, hi;
    size_t enlarge; /* number of pixels per value along x and y */
    size_t w, h;    /* pixels of a picture */
    size_t columns, rows;
    /* lines: number of lines of the label with most lines; letters: number of letters of the
     * longest line of all labels */
    size_t lines, letters;
    size_t dot;           /* pixels per dot of letters */
    size_t tile, step[2]; /* tile: width of an image with its label; step: distances between the
                             corners of neighbouring images along x and y [pixels] */
    size_t title;         /* height of the title [pixels] */
    struct fbp_canvas canvas;
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Compute the layout of a contact sheet: size of the images, distances between them, numbers of
 * columns and rows, size of the sheet. */
static void sheet_layout(struct sheet *s)
{
    const size_t nx = s->p->n[0], ny = s->p->n[1], longest = nx > ny ? nx : ny;

    s->enlarge = longest < SHEET_LEAST ? SHEET_LEAST / longest : 1;
    s->w = nx * s->enlarge;
    s->h = ny * s->enlarge;
    s->dot = s->w >= larger(s->letters, 10) * FBP_GLYPH_WIDTH * 2 ? 2 : 1;
    s->title = s->p->title ? (FBP_GLYPH_HEIGHT + 3) * s->dot : 0;
    const size_t title = s->p->title ? strlen(s->p->title) * FBP_GLYPH_WIDTH * s->dot + MARGIN : 0;
    s->tile = larger(s->w, s->letters * FBP_GLYPH_WIDTH * s->dot);
    s->step[0] = s->tile + MARGIN;
    s->step[1] = s->h + FRAME + s->lines * FBP_GLYPH_HEIGHT * s->dot + MARGIN;
    s->columns = (size_t)ceil(sqrt((double)(s->n_tiles * s->step[1]) / (double)s->step[0]));
    s->columns = s->columns > s->n_tiles ? s->n_tiles : s->columns;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): n_tiles > 0 */
    s->rows = (s->n_tiles + s->columns - 1) / s->columns;
    s->canvas.w = MARGIN + larger(s->columns * s->step[0], title);
    s->canvas.h = MARGIN + s->title + s->rows * s->step[1];
}

size_t fbp_sheet_bytes(size_t n_tiles, size_t label_lines, const struct fbp_sheet_params *params)
{
    struct sheet s = {.n_tiles = n_tiles, .p = params, .lines = label_lines};
    /* png: rough upper limit of the PNG writer's memory [bytes] */
    const size_t sample = sizeof(float) * 2 * SAMPLE, png = (1 << 20) + FBP_WRITE_BUFFER_BYTES;

    sheet_layout(&s);
    return 3 * s.canvas.w * s.canvas.h + sample + png;
}

/* Draw an image of a contact sheet; a value that is not finite is drawn black. */
static void draw_picture(const struct sheet *s, const struct fbp_tile *tile, size_t x0, size_t y0)
{
    for (size_t y = 0; y < s->h; y++)
        for (size_t x = 0; x < s->w; x++) {
            const size_t i = x / s->enlarge, j = (s->h - 1 - y) / s->enlarge;
            const float value = tile->values[j * s->p->n[0] + i];
            memset(s->canvas.rgb + 3 * ((y0 + y) * s->canvas.w + x0 + x),
                   grey_of(isfinite(value) ? (double)value : s->lo, s->lo, s->hi), 3);
        }
}

fbp_status fbp_sheet_write(const char *png_path, const struct fbp_tile *tiles, size_t n_tiles,
                           const struct fbp_sheet_params *p)
{
    struct sheet s = {.n_tiles = n_tiles, .p = p};
    struct fbp_canvas *const canvas = &s.canvas;
    size_t bytes;
    fbp_status st;

    fbp_message_clear();
    /* The grey window contains all values without the lowest and the highest 0.5 %. */
    const size_t each = p->n[0] * p->n[1], every = (each * n_tiles + SAMPLE - 1) / SAMPLE;
    float *sample = NULL;
    size_t n_sample = 0;
    FBP_TRY(fbp_calloc((void **)&sample, n_tiles * (each / every + 1), sizeof *sample,
                       "a grey window"));
    for (size_t i = 0; i < n_tiles; i++)
        for (size_t k = 0; k < each; k += every)
            if (isfinite(tiles[i].values[k]))
                sample[n_sample++] = tiles[i].values[k];
    fbp_grey_window(sample, n_sample, 200, &s.lo, &s.hi);
    for (size_t i = 0; i < n_tiles; i++) { /* the longest label and line */
        const char *text = tiles[i].label;
        for (size_t lines = 1;; lines++) {
            const size_t n = strcspn(text, "\n");
            s.letters = larger(s.letters, n);
            s.lines = larger(s.lines, lines);
            if (!text[n])
                break;
            text += n + 1;
        }
    }
    sheet_layout(&s);
    FBP_TRY_GOTO(fbp_mul(canvas->w, canvas->h, "a contact sheet", &bytes));
    FBP_TRY_GOTO(fbp_mul(bytes, 3, "a contact sheet", &bytes));
    FBP_TRY_GOTO(fbp_calloc((void **)&canvas->rgb, bytes, 1, "a contact sheet"));
    memset(canvas->rgb, SHEET_BACKGROUND, bytes);
    if (p->title)
        fbp_font_write(canvas, MARGIN, MARGIN, canvas->w, s.dot, plain_colour, p->title);
    for (size_t i = 0; i < n_tiles; i++) {
        const size_t x0 = MARGIN + i % s.columns * s.step[0];
        const size_t y0 = MARGIN + s.title + i / s.columns * s.step[1];
        if (tiles[i].marked) /* a frame */
            for (size_t y = y0 - FRAME; y < y0 + s.h + FRAME; y++)
                for (size_t x = x0 - FRAME; x < x0 + s.w + FRAME; x++)
                    memcpy(canvas->rgb + 3 * (y * canvas->w + x), marked_colour, 3);
        draw_picture(&s, &tiles[i], x0, y0);

        size_t y = y0 + s.h + FRAME + s.dot;
        for (const char *text = tiles[i].label;; y += FBP_GLYPH_HEIGHT * s.dot) {
            const size_t n = strcspn(text, "\n");
            char line[80];
            snprintf(line, sizeof line, "%.*s", (int)n, text);
            fbp_font_write(canvas, x0, y, x0 + s.tile, s.dot,
                           tiles[i].marked ? marked_colour : plain_colour, line);
            if (!text[n])
                break;
            text += n + 1;
        }
    }
    st = fbp_png_write(png_path, canvas->w, canvas->h, 3, canvas->rgb);
fail:
    free(canvas->rgb);
    return st;
}
