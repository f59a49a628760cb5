/* TIFF and BigTIFF for sinks: all directories first, then the samples of all pages in one run, so
 * that slices can be written in any order.  One strip a page, not compressed.  Directories are made
 * as they are written, and never held: of 30 million slices they are 9 GiB.
 *
 * The first page has ImageJ's description, and resolutions as ImageJ counts them: pixels a mm, with
 * the ResolutionUnit "none", as the description's unit is mm.  ImageJ itself writes stacks beyond
 * 4 GiB with one directory, in which every other reader finds one slice; they are BigTIFF here. */
#include "array/file/format.h"
#include "array/format/optional.h"
#include "array/format/tiff/imagej.h"
#include "array/format/tiff/tiff.h"

#include "base/base.h"
#include "base/threads.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

enum { ALIGN = 64 };

/* Types of tags. */
enum { ASCII = 2, SHORT = 3, LONG = 4, RATIONAL = 5, LONG8 = 16 };

enum { MOST_ENTRIES = 15, PIECE = 8 + MOST_ENTRIES * 20 + 8 };

/* A piece of the header: a directory, or what stands before or behind all of them. */
struct out {
    unsigned char to[PIECE];
    size_t n;
    bool big;
};

static void put(struct out *o, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        o->to[o->n++] = (unsigned char)(value >> 8 * i);
}

static void entry(struct out *o, unsigned tag, unsigned type, uint64_t count, uint64_t value)
{
    put(o, tag, 2);
    put(o, type, 2);
    put(o, count, o->big ? 8 : 4);
    put(o, value, o->big ? 8 : 4);
}

/* What directories point to, and where they are: the first may have an entry more. */
struct extras {
    char *text; /* of the first page */
    size_t text_bytes;
    bool big;
    uint64_t first_at, second_at, page_bytes; /* directories */
    uint64_t resolution_at, text_at, samples_at;
    bool has_resolution;
    uint64_t resolution[2]; /* fractions: the lower half by the upper half */
};

static size_t n_entries(const struct extras *x, size_t page)
{
    return 11u + (page == 0 && x->text ? 1u : 0u) + (x->has_resolution ? 3u : 0u);
}

static void directory(struct out *o, const struct fbp_array_info *info, const struct extras *x,
                      size_t page)
{
    const size_t size = fbp_type_size(info->type), n = n_entries(x, page);
    const uint64_t bytes = (uint64_t)info->n[0] * info->n[1] * size;
    const unsigned place = o->big ? LONG8 : LONG;

    put(o, n, o->big ? 8 : 2);
    entry(o, 256, LONG, 1, info->n[0]);
    entry(o, 257, LONG, 1, info->n[1]);
    entry(o, 258, SHORT, 1, 8 * size);
    entry(o, 259, SHORT, 1, 1); /* not compressed */
    entry(o, 262, SHORT, 1, 1); /* 0 is black */
    if (page == 0 && x->text)
        entry(o, 270, ASCII, x->text_bytes, x->text_at);
    entry(o, 273, place, 1, x->samples_at + page * bytes);
    entry(o, 274, SHORT, 1, 1); /* rows as they are: ITK turns those of 4 round, others do not */
    entry(o, 277, SHORT, 1, 1);
    entry(o, 278, LONG, 1, info->n[1]);
    entry(o, 279, place, 1, bytes);
    if (x->has_resolution) {
        entry(o, 282, RATIONAL, 1, o->big ? x->resolution[0] : x->resolution_at);
        entry(o, 283, RATIONAL, 1, o->big ? x->resolution[1] : x->resolution_at + 8);
        entry(o, 296, SHORT, 1, 1); /* that of the description */
    }
    entry(o, 339, SHORT, 1, info->type == FBP_F32 || info->type == FBP_F64 ? 3 : 1);
    const uint64_t next = x->second_at + page * x->page_bytes;
    put(o, page + 1 < info->n[2] ? next : 0, o->big ? 8 : 4);
}

/* Pixels a mm as a fraction of two 32-bit numbers, the upper one below: a convergent of the
 * continued fraction, so that 0.3 mm is 10/3. */
static uint64_t per_mm(double spacing_mm)
{
    uint64_t mm = 1, pixels = 0, last_mm = 0, last_pixels = 1;
    double x = spacing_mm;

    for (int i = 0; i < 40 && x <= UINT32_MAX; i++) {
        const uint64_t a = (uint64_t)x, p = a * mm + last_mm, q = a * pixels + last_pixels;
        if (p > UINT32_MAX || q > UINT32_MAX)
            break;
        last_mm = mm;
        last_pixels = pixels;
        mm = p;
        pixels = q;
        if (fabs((double)mm / (double)pixels - spacing_mm) <= 1e-15 * spacing_mm)
            break;
        x = 1 / (x - (double)a);
    }
    return (pixels ? pixels : 1) | (mm ? mm : 1) << 32;
}

/* Samples and directories must be reached by offsets of 32 bits, or all is BigTIFF. */
static bool is_big(const struct fbp_array_info *info)
{
    const uint64_t a_page = (uint64_t)info->n[0] * info->n[1] * fbp_type_size(info->type);

    return (a_page + 400) * info->n[2] + 4096 > UINT32_MAX;
}

static uint64_t directory_bytes(const struct extras *x, size_t page)
{
    return x->big ? 8 + 20 * n_entries(x, page) + 8 : 2 + 12 * n_entries(x, page) + 4;
}

/* Places of everything; free(x->text). */
static fbp_status arrange(const struct fbp_array_info *info, struct extras *x)
{
    *x = (struct extras){.text = fbp_imagej_describe(info),
                         .has_resolution = info->spacing_mm[0] > 0,
                         .big = is_big(info)};
    if (!x->text)
        return fbp_fail_nomem(1, "a description");
    x->text_bytes = strlen(x->text) + 1;
    for (int i = 0; x->has_resolution && i < 2; i++)
        x->resolution[i] = per_mm(info->spacing_mm[i]);
    x->first_at = x->big ? 16 : 8;
    x->second_at = x->first_at + directory_bytes(x, 0);
    x->page_bytes = directory_bytes(x, 1);
    x->resolution_at = x->second_at + (info->n[2] - 1) * x->page_bytes;
    x->text_at = x->resolution_at + (x->has_resolution ? 16 : 0);
    x->samples_at = (x->text_at + x->text_bytes + ALIGN - 1) / ALIGN * ALIGN;
    return FBP_OK;
}

static fbp_status hand_on(struct out *o, struct fbp_piece *to)
{
    const fbp_status st = fbp_piece_put(to, o->to, o->n);

    o->n = 0;
    return st;
}

static fbp_status put_all(const struct fbp_array_info *info, const struct extras *x,
                          struct fbp_piece *to)
{
    static const char zeros[ALIGN];
    struct out o = {.big = x->big};

    put(&o, 0x4949, 2); /* little-endian */
    put(&o, o.big ? 43 : 42, 2);
    if (o.big)
        put(&o, 8, 4); /* bytes of an offset */
    put(&o, x->first_at, o.big ? 8 : 4);
    for (size_t page = 0; page < info->n[2]; page++) {
        if (page % 4096 == 0)
            FBP_TRY(fbp_go_on());
        FBP_TRY(hand_on(&o, to));
        directory(&o, info, x, page);
    }
    for (int i = 0; x->has_resolution && i < 2; i++) {
        FBP_TRY(hand_on(&o, to));
        put(&o, x->resolution[i], 8);
    }
    FBP_TRY(hand_on(&o, to));
    FBP_TRY(fbp_piece_put(to, x->text, x->text_bytes));
    return fbp_piece_put(to, zeros, (size_t)(x->samples_at - x->text_at) - x->text_bytes);
}

static fbp_status put_header(const struct fbp_array_info *info, struct fbp_piece *to)
{
    struct extras x;
    fbp_status st = arrange(info, &x);

    if (st == FBP_OK)
        st = put_all(info, &x, to);
    free(x.text);
    return st;
}

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    struct extras x;

    (void)compressed_bytes;
    FBP_TRY(fbp_layout_one(out, path));
    if (info->n[0] > INT32_MAX || info->n[1] > INT32_MAX)
        return fbp_fail(FBP_ERR_INVALID, "%s: %zu x %zu pixels are too many for TIFF: write MHA",
                        path, info->n[0], info->n[1]);
    FBP_TRY(arrange(info, &x));
    free(x.text);
    out->header_bytes = x.samples_at;
    out->put_header = put_header;
    return FBP_OK;
}

static fbp_status encode(struct fbp_piece *p, const struct fbp_array_info *slice,
                         const void *values, uint64_t *clipped)
{
    struct fbp_layout file = {0};
    fbp_status st;

    FBP_TRY_GOTO(layout(p->path, slice, 0, &file));
    FBP_TRY_GOTO(fbp_layout_put(&file, slice, p));
    st = fbp_piece_put_values(p, slice, values, slice->n[0] * slice->n[1], clipped);
fail:
    fbp_layout_clear(&file);
    return st;
}

const struct fbp_sink_format fbp_tiff_files[] = {{.extensions = FBP_TIFF_NAMES, .layout = layout},
                                                 {0}};
const struct fbp_slice_format fbp_tiff_slices = {.extensions = FBP_TIFF_NAMES, .encode = encode};
