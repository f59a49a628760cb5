/* TIFF and BigTIFF for sinks: all directories first, then the samples of all pages in one run, so
 * that slices can be written in any order.  One strip a page, not compressed.
 *
 * The first page has ImageJ's description, and resolutions as ImageJ counts them: pixels a mm, with
 * the ResolutionUnit "none", as the description's unit is mm.  ImageJ itself writes stacks beyond
 * 4 GiB with one directory, in which every other reader finds one slice; they are BigTIFF here. */
#include "io/format.h"
#include "io/imagej.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

enum { ALIGN = 64 };

/* Types of tags. */
enum { ASCII = 2, SHORT = 3, LONG = 4, RATIONAL = 5, LONG8 = 16 };

/* A header that is being written; without `to`, only measured. */
struct out {
    unsigned char *to;
    size_t at;
    bool big;
};

static void put(struct out *o, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++, o->at++)
        if (o->to)
            o->to[o->at] = (unsigned char)(value >> 8 * i);
}

static void entry(struct out *o, unsigned tag, unsigned type, uint64_t count, uint64_t value)
{
    put(o, tag, 2);
    put(o, type, 2);
    put(o, count, o->big ? 8 : 4);
    put(o, value, o->big ? 8 : 4);
}

/* What directories point to. */
struct extras {
    const char *text; /* of the first page */
    uint64_t text_at, resolution_at, samples_at;
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
        entry(o, 270, ASCII, strlen(x->text) + 1, x->text_at);
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
    entry(o, 339, SHORT, 1, info->type == FBP_F32 ? 3 : 1);
    const uint64_t next = o->at + (o->big ? 8 : 4);
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

/* The whole header; first to measure, then with the places that were found. */
static void write_all(struct out *o, const struct fbp_array_info *info, struct extras *x)
{
    put(o, 0x4949, 2); /* little-endian */
    put(o, o->big ? 43 : 42, 2);
    if (o->big)
        put(o, 8, 4); /* bytes of an offset */
    put(o, o->big ? 16 : 8, o->big ? 8 : 4);
    for (size_t page = 0; page < info->n[2]; page++)
        directory(o, info, x, page);
    x->resolution_at = o->at;
    if (x->has_resolution) {
        put(o, x->resolution[0], 8);
        put(o, x->resolution[1], 8);
    }
    x->text_at = o->at;
    for (const char *p = x->text; p && (p == x->text || p[-1]); p++)
        put(o, (unsigned char)*p, 1);
    while (o->at % ALIGN)
        put(o, 0, 1);
    x->samples_at = o->at;
}

/* Samples and directories must be reached by offsets of 32 bits, or all is BigTIFF. */
static bool is_big(const struct fbp_array_info *info)
{
    const uint64_t a_page = (uint64_t)info->n[0] * info->n[1] * fbp_type_size(info->type);

    return (a_page + 400) * info->n[2] + 4096 > UINT32_MAX;
}

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    char *text = fbp_imagej_describe(info);
    struct extras x = {.text = text, .has_resolution = info->spacing_mm[0] > 0};
    struct out o = {.big = is_big(info)};
    fbp_status st = FBP_OK;

    (void)compressed_bytes;
    out->data_path = fbp_strdup(path);
    if (!text || !out->data_path) {
        st = fbp_fail_nomem(strlen(path), "a path");
        goto fail;
    }
    if (info->n[0] > INT32_MAX || info->n[1] > INT32_MAX) {
        st = fbp_fail(FBP_ERR_INVALID, "%s: %zu x %zu pixels are too many for TIFF: write MHA",
                      path, info->n[0], info->n[1]);
        goto fail;
    }
    for (int i = 0; x.has_resolution && i < 2; i++)
        x.resolution[i] = per_mm(info->spacing_mm[i]);
    write_all(&o, info, &x); /* measures */
    FBP_TRY_GOTO(fbp_calloc((void **)&out->header, o.at, 1, "TIFF directories"));
    out->header_bytes = o.at;
    o = (struct out){.to = (unsigned char *)out->header, .big = o.big};
    write_all(&o, info, &x);
fail:
    free(text);
    return st;
}

const struct fbp_sink_format fbp_sink_tiff = {
    .name = "tiff", .extensions = ".tif .tiff", .layout = layout};
