/* Writes the samples of a page as deflated base64 text in <script> elements.  viewer.c calls
 * packed_put(). */
#include "page/packed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { CHUNK_SAMPLES = 1 << 20, NO_VALUE = 65535 };

size_t packed_layers(const struct reduced *r)
{
    const size_t layer = r->bins[0] * r->bins[1], n = CHUNK_SAMPLES / layer;

    return n < 1 ? 1 : n < r->bins[2] ? n : r->bins[2];
}

/* Extend a range by the finite ones of n values. */
static void extend(double range[2], const float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i])) {
            range[0] = fmin(range[0], (double)values[i]);
            range[1] = fmax(range[1], (double)values[i]);
        }
}

/* Scale from a range of values to numbers 0 to 65534. */
static struct packed_scale scale_of_range(const double range[2])
{
    struct packed_scale s = {.scale = 1, .none = NO_VALUE};

    if (range[0] <= range[1])
        s.offset = range[0];
    if (range[0] < range[1])
        s.scale = (range[1] - range[0]) / (NO_VALUE - 1);
    return s;
}

static bool is_integer(const struct fbp_array_info *i)
{
    return i->type != FBP_F32 && i->type != FBP_F64 && fbp_type_size(i->type) <= 2;
}

/* Scale of arrays of integers: the least value of their type becomes number 0, without rounding. */
static struct packed_scale scale_of_type(const struct fbp_array_info *i)
{
    const double scale = fabs(i->scale) > 0 ? i->scale : 1;
    const double offset = fabs(i->scale) > 0 ? i->offset : 0;
    const double least = i->type == FBP_I8 ? -128 : i->type == FBP_I16 ? -32768 : 0;

    return (struct packed_scale){.scale = scale, .offset = offset + scale * least, .none = -1};
}

static uint16_t number_of(float value, const struct packed_scale *s)
{
    const double place = ((double)value - s->offset) / s->scale;

    if (!isfinite(value))
        return s->none < 0 ? 0 : (uint16_t)s->none;
    return place <= 0 ? 0 : place >= NO_VALUE ? NO_VALUE : (uint16_t)lrint(place);
}

/* Convert n values to numbers of 8 bits or, if `wide`, to 16-bit differences within rows of `row`
 * numbers: first all low bytes, then all high bytes. */
static void take_numbers(uint8_t *out, const float *values, size_t n, size_t row, bool wide,
                         const struct packed_scale *s)
{
    unsigned before = 0;

    for (size_t i = 0; i < n; i++) {
        const unsigned number = number_of(values[i], s);
        const unsigned d = !wide ? number : number - (i % row ? before : 0);
        out[i] = (uint8_t)(d & 255);
        if (wide)
            out[n + i] = (uint8_t)(d >> 8 & 255);
        before = number;
    }
}

static void take_floats(uint8_t *out, const float *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (size_t b = 0; b < 4; b++)
            out[b * n + i] = (uint8_t)(bits >> (8 * b) & 255);
    }
}

/* Append n bytes, deflated and base64, as a <script> element of a class. */
static void put_element(struct markup *page, const char *class, const uint8_t *bytes, size_t n)
{
    uLongf size = compressBound(n);
    uint8_t *packed = malloc(size);

    if (!packed || compress2(packed, &size, bytes, n, 6) != Z_OK) {
        page->failed = true;
        free(packed);
        return;
    }
    markup_printf(page, "<script type=\"application/octet-stream\" class=\"%s\">", class);
    markup_base64(page, packed, size);
    markup_put(page, "</script>\n");
    free(packed);
}

static void put_values(struct markup *page, const char *class, const float *values, size_t n,
                       size_t row, enum reduced_type type, const struct packed_scale *s)
{
    const size_t bytes = n * (type == REDUCED_U8 ? 1 : type == REDUCED_U16 ? 2 : 4);
    uint8_t *out = malloc(bytes);

    if (!out) {
        page->failed = true;
        return;
    }
    if (type == REDUCED_F32)
        take_floats(out, values, n);
    else
        take_numbers(out, values, n, row, type == REDUCED_U16, s);
    put_element(page, class, out, bytes);
    free(out);
}

static void put_samples(struct markup *page, const struct reduced *r, const struct packed_scale *s)
{
    const size_t layer = r->bins[0] * r->bins[1], most = packed_layers(r);

    for (size_t f = 0; f < r->frames; f++)
        for (size_t z = 0; z < r->bins[2]; z += most) {
            const size_t n = r->bins[2] - z < most ? r->bins[2] - z : most;
            put_values(page, "samples", r->values + (f * r->bins[2] + z) * layer, n * layer,
                       r->bins[0], r->type, s);
        }
}

static void put_greatest(struct markup *page, const struct reduced *r, const struct packed_scale *s)
{
    for (size_t f = 0; f < r->frames; f++)
        for (int i = 0; i < 3; i++) {
            const size_t n = reduced_plane(r, i);
            put_values(page, "greatest", r->greatest[i] + f * n, n, r->bins[reduced_axes[i][0]],
                       REDUCED_U16, s);
        }
}

static struct packed_scale scale_of_samples(const struct reduced *r)
{
    double range[2] = {INFINITY, -INFINITY};

    if (r->type == REDUCED_F32)
        return (struct packed_scale){.scale = 1, .none = -1};
    if (reduced_is_whole(r) && is_integer(r->info))
        return scale_of_type(r->info);
    extend(range, r->values, r->frames * r->bins[0] * r->bins[1] * r->bins[2]);
    return scale_of_range(range);
}

/* One scale for the greatest values in all three planes. */
static struct packed_scale scale_of_greatest(const struct reduced *r)
{
    double range[2] = {INFINITY, -INFINITY};

    if (is_integer(r->info))
        return scale_of_type(r->info);
    for (int i = 0; i < 3; i++)
        extend(range, r->greatest[i], r->frames * reduced_plane(r, i));
    return scale_of_range(range);
}

void packed_put(struct markup *page, const struct reduced *r, struct packed_scale *samples,
                struct packed_scale *greatest)
{
    *samples = scale_of_samples(r);
    *greatest = scale_of_greatest(r);
    put_samples(page, r, samples);
    put_greatest(page, r, greatest);
}
