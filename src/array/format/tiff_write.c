/* Writer of TIFF and BigTIFF (fbp_tiff_layout(), fbp_tiff_encode()), and writer and parser of
 * ImageJ's description of a stack (tiff.h). All directories come first, then the samples of all
 * pages, uncompressed, with one strip per page: slices can be written in any order. Directories
 * are created while they are written, because those of millions of slices need gigabytes.
 *
 * The first page has ImageJ's description. If the voxel size is known, each page has resolutions as
 * ImageJ counts them: pixels per mm, with the ResolutionUnit "none", because the unit of the
 * description is mm. ImageJ itself writes stacks beyond 4 GiB with one directory, in which other
 * readers find one slice; fbp writes them as BigTIFF.
 * Used by: optional.c, tiff.c. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/format/tiff.h"
#include "base/text.h"
#include "base/threads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- ImageJ's description */

static const char first[] = "ImageJ=";
static const char *const origins[] = {"xorigin", "yorigin", "zorigin"};

/* Append a line "key=x" to buf[n]. */
static void append(char *buf, size_t n, const char *key, double x)
{
    const size_t at = strlen(buf);
    char text[32];

    snprintf(buf + at, n - at, "%s=%s\n", key, fbp_number_text(text, x));
}

/* Number of ImageJ for a sample of 0: ImageJ adds 32768 to samples of int16. */
static double number_0(enum fbp_type type)
{
    return type == FBP_I16 ? 32768 : 0;
}

/* malloc'ed ImageJ description of a volume: numbers of images and slices; if known, unit of length,
 * spacing, origin (in voxels), scale of integers and unit of values; and, as "fbp=…", the line of
 * fbp_describe(), which other programs ignore. */
static char *describe(const struct fbp_array_info *i)
{
    char place[200] = "", scale[120] = "", unit[32] = "", *line = fbp_describe(i), *out;

    /* ImageJ's origin is the position of the point (0, 0, 0), in voxels. */
    if (i->spacing_mm[0] > 0) {
        snprintf(place, sizeof place, "unit=mm\n");
        append(place, sizeof place, "spacing", i->spacing_mm[2]);
        for (int k = 0; k < 3; k++)
            append(place, sizeof place, origins[k], 0 - i->origin_mm[k] / i->spacing_mm[k]);
    }
    if (i->scale != 0) { /* function 0 is a straight line */
        snprintf(scale, sizeof scale, "cf=0\n");
        append(scale, sizeof scale, "c0", i->offset - number_0(i->type) * i->scale);
        append(scale, sizeof scale, "c1", i->scale);
    }
    if (i->unit[0])
        snprintf(unit, sizeof unit, "vunit=%.15s\n", i->unit);
    out = line ? fbp_format("%s1.53t\nimages=%zu\nslices=%zu\nloop=false\n%s%s%sfbp=%s\n", first,
                            i->n[2], i->n[2], place, scale, unit, line)
               : NULL;
    free(line);
    return out;
}

/* Find the value of a line "key=value" in text[n]; *length: its length; NULL: no such line. */
static const char *value_of(const char *text, size_t n, const char *key, size_t *length)
{
    char line[16];
    const int size = snprintf(line, sizeof line, "\n%s=", key);
    const char *p = memmem(text, n, line, (size_t)size);

    if (!p)
        return NULL;
    p += size;
    const char *end = memchr(p, '\n', n - (size_t)(p - text));
    *length = (size_t)((end ? end : text + n) - p);
    return p;
}

static bool number_of(const char *text, size_t n, const char *key, double *out)
{
    char digits[40];
    size_t length = 0;
    const char *p = value_of(text, n, key, &length);
    char *end = NULL;

    if (!p || length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, p, length);
    digits[length] = '\0';
    const double x = fbp_number(digits, &end);
    if (end == digits || !isfinite(x))
        return false;
    *out = x;
    return true;
}

fbp_status fbp_imagej_described(const char *text, size_t n, const double per_unit[2],
                                struct fbp_array_info *info, size_t *slices)
{
    double mm, depth = 1, at, images, function = -1, c0 = 0, c1 = 0;
    size_t length = 0;
    bool ours = false, placed = true;

    *slices = 0;
    if (n < sizeof first || strncmp(text, first, sizeof first - 1) != 0)
        return FBP_OK;
    const bool several = number_of(text, n, "images", &images) && images > 1 && images < UINT32_MAX;
    *slices = several ? (size_t)images : 1;
    const char *line = value_of(text, n, "fbp", &length);
    if (line)
        FBP_TRY(fbp_parse_description(line, length, false, info, &ours));
    if (ours)
        return FBP_OK;

    /* Set spacing and origin, if ImageJ's unit is a length. */
    const char *unit = value_of(text, n, "unit", &length);
    mm = unit ? fbp_length_unit_mm(unit, length) : 0;
    (void)number_of(text, n, "spacing", &depth);
    const double spacing[3] = {mm / per_unit[0], mm / per_unit[1], mm * fabs(depth)};
    for (int k = 0; k < 3; k++)
        placed = placed && spacing[k] > 0 && isfinite(spacing[k]);
    for (int k = 0; k < 3 && placed; k++) {
        info->spacing_mm[k] = spacing[k];
        info->origin_mm[k] = number_of(text, n, origins[k], &at) ? 0 - at * spacing[k] : 0;
    }
    info->has_spacing |= placed;

    /* The scale of integers: ImageJ's calibration function, if it is linear. */
    if (info->type != FBP_F32 && info->type != FBP_F64 && number_of(text, n, "cf", &function) &&
        function == 0 && number_of(text, n, "c0", &c0) && number_of(text, n, "c1", &c1) &&
        c1 != 0) {
        info->scale = c1;
        info->offset = c0 + number_0(info->type) * c1;
    }
    unit = value_of(text, n, "vunit", &length);
    if (unit && length < sizeof info->unit)
        snprintf(info->unit, sizeof info->unit, "%.*s", (int)length, unit);
    return FBP_OK;
}

/* ---- directories */

enum { ALIGN = 64 };
enum { ASCII = 2, SHORT = 3, LONG = 4, RATIONAL = 5, LONG8 = 16 }; /* types of tags */
enum { MOST_ENTRIES = 15, PIECE = 8 + MOST_ENTRIES * 20 + 8 };

/* Bytes before the samples of a TIFF file: the file header, a directory, or a resolution. */
struct out {
    unsigned char to[PIECE];
    size_t n;
    bool big;
};

/* Contents and positions [bytes] of the parts of a TIFF file. Only the first directory has an entry
 * for the description. */
struct extras {
    char *text; /* description of the first page */
    size_t text_bytes;
    bool big;                                 /* BigTIFF */
    uint64_t first_at, second_at, page_bytes; /* directories */
    uint64_t resolution_at, text_at, samples_at;
    bool has_resolution;
    uint64_t resolution[2]; /* pixels per mm in x and y; see per_mm() */
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
    /* orientation 1: first row at the top; readers disagree on 4 (at the bottom) */
    entry(o, 274, SHORT, 1, 1);
    entry(o, 277, SHORT, 1, 1);
    entry(o, 278, LONG, 1, info->n[1]);
    entry(o, 279, place, 1, bytes);
    if (x->has_resolution) {
        entry(o, 282, RATIONAL, 1, o->big ? x->resolution[0] : x->resolution_at);
        entry(o, 283, RATIONAL, 1, o->big ? x->resolution[1] : x->resolution_at + 8);
        entry(o, 296, SHORT, 1, 1); /* the unit of the description */
    }
    entry(o, 339, SHORT, 1,
          info->type == FBP_F32 || info->type == FBP_F64 ? 3
          : info->type == FBP_I16                        ? 2
                                                         : 1);
    const uint64_t next = x->second_at + page * x->page_bytes;
    put(o, page + 1 < info->n[2] ? next : 0, o->big ? 8 : 4);
}

/* Approximate pixels per mm by a fraction of two 32-bit numbers, with the denominator in the upper
 * half: a convergent of the continued fraction (0.3 mm gives 10/3). */
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

static uint64_t directory_bytes(const struct extras *x, size_t page)
{
    return x->big ? 8 + 20 * n_entries(x, page) + 8 : 2 + 12 * n_entries(x, page) + 4;
}

/* Compute the positions of all parts of a TIFF file; the caller frees x->text. BigTIFF is used if
 * offsets of 32 bits cannot reach the samples and the directories. */
static fbp_status arrange(const struct fbp_array_info *info, struct extras *x)
{
    const uint64_t page = (uint64_t)info->n[0] * info->n[1] * fbp_type_size(info->type);

    *x = (struct extras){.text = describe(info),
                         .has_resolution = info->spacing_mm[0] > 0,
                         .big = (page + 400) * info->n[2] + 4096 > UINT32_MAX};
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

static fbp_status hand_on(struct out *o, struct fbp_write_buffer *to)
{
    const fbp_status st = fbp_write_buffer_put(to, o->to, o->n);

    o->n = 0;
    return st;
}

static fbp_status put_header(const struct fbp_array_info *info, struct fbp_write_buffer *to)
{
    static const char zeros[ALIGN];
    struct extras x;
    struct out o = {.n = 0};
    fbp_status st;

    FBP_TRY_GOTO(arrange(info, &x));
    o.big = x.big;
    put(&o, 0x4949, 2); /* little-endian */
    put(&o, o.big ? 43 : 42, 2);
    if (o.big)
        put(&o, 8, 4); /* bytes of an offset */
    put(&o, x.first_at, o.big ? 8 : 4);
    for (size_t page = 0; page < info->n[2]; page++) {
        if (page % 4096 == 0)
            FBP_TRY_GOTO(fbp_check_cancelled());
        FBP_TRY_GOTO(hand_on(&o, to));
        directory(&o, info, &x, page);
    }
    for (int i = 0; x.has_resolution && i < 2; i++) {
        FBP_TRY_GOTO(hand_on(&o, to));
        put(&o, x.resolution[i], 8);
    }
    FBP_TRY_GOTO(hand_on(&o, to));
    FBP_TRY_GOTO(fbp_write_buffer_put(to, x.text, x.text_bytes));
    st = fbp_write_buffer_put(to, zeros, (size_t)(x.samples_at - x.text_at) - x.text_bytes);
fail:
    free(x.text);
    return st;
}

fbp_status fbp_tiff_layout(const char *path, const struct fbp_array_info *info,
                           uint64_t compressed_bytes, struct fbp_layout *out)
{
    struct extras x;

    (void)compressed_bytes;
    FBP_TRY(fbp_layout_one(out, path));
    if (info->n[0] > INT32_MAX || info->n[1] > INT32_MAX)
        return FBP_INVALID("%s: %zu x %zu pixels are too many for TIFF; write MHA", path,
                           info->n[0], info->n[1]);
    FBP_TRY(arrange(info, &x));
    free(x.text);
    out->header_bytes = x.samples_at;
    out->put_header = put_header;
    return FBP_OK;
}

fbp_status fbp_tiff_encode(struct fbp_write_buffer *p, const struct fbp_array_info *slice,
                           const void *values, uint64_t *clipped)
{
    struct fbp_layout file = {0};
    fbp_status st;

    FBP_TRY_GOTO(fbp_tiff_layout(p->path, slice, 0, &file));
    FBP_TRY_GOTO(fbp_layout_put(&file, slice, p));
    st = fbp_write_buffer_put_values(p, slice, values, slice->n[0] * slice->n[1], clipped);
fail:
    fbp_layout_clear(&file);
    return st;
}
