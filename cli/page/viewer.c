/* Composes the viewer of an HTML page (page_view()): samples of the volume as deflated base64 text,
 * facts about the volume as JSON for the scripts and as text for readers.
 * Used by: cli/cmd_view.c, cli/report.c, cli/serve/slices.c. */
#include "cli.h"
#include "page/page.h"

#include "array/file/bytes.h"
#include "base/text.h"
#include "picture/draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/** value = scale * number + offset; none: the number that means "not finite", or -1. */
struct packed_scale {
    double scale, offset;
    long none;
};

enum { CHUNK_SAMPLES = 1 << 20, NO_VALUE = 65535 };

static size_t packed_layers(const struct reduced *r)
{
    const size_t layer = r->bins[0] * r->bins[1], n = CHUNK_SAMPLES / layer;

    return n < 1 ? 1 : n < r->bins[2] ? n : r->bins[2];
}

/* Extend a range (least, greatest) by those of n values that are finite. */
static void extend(double range[2], const float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i])) {
            range[0] = fmin(range[0], (double)values[i]);
            range[1] = fmax(range[1], (double)values[i]);
        }
}

/* Scale and offset by which a range of values becomes the numbers 0 to 65534. */
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

/* Exact scale and offset for integers of 8 or 16 bits: the type's least value is stored as 0. */
static struct packed_scale scale_of_type(const struct fbp_array_info *i)
{
    const double scale = fabs(i->scale) > 0 ? i->scale : 1;
    const double offset = fabs(i->scale) > 0 ? i->offset : 0;
    const double least = i->type == FBP_I8 ? -128 : i->type == FBP_I16 ? -32768 : 0;

    return (struct packed_scale){.scale = scale, .offset = offset + scale * least, .none = -1};
}

/* Write n values to `out` as numbers of 8 bits or, if wide, as differences (16 bits) between
 * neighbours in rows of `row` numbers: first all low bytes, then all high bytes. */
static void take_numbers(uint8_t *out, const float *values, size_t n, size_t row, bool wide,
                         const struct packed_scale *s)
{
    unsigned before = 0;

    for (size_t i = 0; i < n; i++) {
        const double place = ((double)values[i] - s->offset) / s->scale;
        const unsigned number = !isfinite(values[i]) ? (s->none < 0 ? 0 : (unsigned)s->none)
                                : place <= 0         ? 0
                                : place >= NO_VALUE  ? NO_VALUE
                                                     : (unsigned)lrint(place);
        const unsigned d = !wide ? number : number - (i % row ? before : 0);
        out[i] = (uint8_t)(d & 255);
        if (wide)
            out[n + i] = (uint8_t)(d >> 8 & 255);
        before = number;
    }
}

/* Append a <script> element with n values: as whole numbers or float32, deflated and in base64. */
static void put_numbers(struct markup *page, const char *class, const float *values, size_t n,
                        size_t row, enum reduced_type type, const struct packed_scale *s)
{
    const size_t bytes = n * (type == REDUCED_U8 ? 1 : type == REDUCED_U16 ? 2 : 4);
    uLongf size = compressBound(bytes);
    uint8_t *out = malloc(bytes), *packed = malloc(size);

    if (out && type != REDUCED_F32)
        take_numbers(out, values, n, row, type == REDUCED_U16, s);
    for (size_t i = 0; out && type == REDUCED_F32 && i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (size_t b = 0; b < 4; b++)
            out[b * n + i] = (uint8_t)(bits >> (8 * b) & 255);
    }
    if (!out || !packed || compress2(packed, &size, out, bytes, 6) != Z_OK) {
        page->failed = true;
    } else {
        markup_printf(page, "<script type=\"application/octet-stream\" class=\"%s\">", class);
        markup_base64(page, packed, size);
        markup_put(page, "</script>\n");
    }
    free(packed);
    free(out);
}

/* Append the samples of a page as <script> elements that contain data, no script: class "samples":
 * the means, frame by frame in chunks of whole layers of bins; class "greatest": three planes of
 * greatest values per frame. *samples, *greatest: receive the scales. */
static void packed_put(struct markup *page, const struct reduced *r, struct packed_scale *samples,
                       struct packed_scale *greatest)
{
    const size_t layer = r->bins[0] * r->bins[1], most = packed_layers(r);
    double means[2] = {INFINITY, -INFINITY}, range[2] = {INFINITY, -INFINITY};

    if (r->type == REDUCED_F32) {
        *samples = (struct packed_scale){.scale = 1, .none = -1};
    } else if (reduced_is_whole(r) && is_integer(r->info)) {
        *samples = scale_of_type(r->info);
    } else {
        extend(means, r->values, r->frames * layer * r->bins[2]);
        *samples = scale_of_range(means);
    }
    for (int i = 0; i < 3; i++)
        extend(range, r->greatest[i], r->frames * reduced_plane(r, i));
    *greatest = is_integer(r->info) ? scale_of_type(r->info) : scale_of_range(range);
    for (size_t f = 0; f < r->frames; f++)
        for (size_t z = 0; z < r->bins[2]; z += most) {
            const size_t n = r->bins[2] - z < most ? r->bins[2] - z : most;
            put_numbers(page, "samples", r->values + (f * r->bins[2] + z) * layer, n * layer,
                        r->bins[0], r->type, samples);
        }
    for (size_t f = 0; f < r->frames; f++)
        for (int i = 0; i < 3; i++) {
            const size_t n = reduced_plane(r, i);
            put_numbers(page, "greatest", r->greatest[i] + f * n, n, r->bins[reduced_axes[i][0]],
                        REDUCED_U16, greatest);
        }
}

enum { BINS = 512, SAMPLE = 1 << 18 };

/* Choose a grey window: the range of at most 2^18 shown values (means, or with mip greatest values)
 * without 0.1 % at either end. False: out of memory. */
static bool find_window(const struct reduced *r, bool mip, double window[2])
{
    float *sample = malloc(SAMPLE * sizeof *sample);
    size_t n = 0;

    if (!sample)
        return false;
    for (int i = 0; i < (mip ? 3 : 1); i++) {
        const float *values = mip ? r->greatest[i] : r->values;
        const size_t all =
            r->frames * (mip ? reduced_plane(r, i) : r->bins[0] * r->bins[1] * r->bins[2]);
        const size_t step = all / (mip ? SAMPLE / 3 : SAMPLE) + 1;
        for (size_t k = 0; k < all; k += step)
            if (isfinite(values[k]))
                sample[n++] = values[k];
    }
    fbp_grey_window(sample, n, 1000, &window[0], &window[1]);
    return true;
}

static void tell_scale(cJSON *out, const struct packed_scale *s)
{
    cli_json_add(out, {"scale", s->scale}, {"offset", s->offset}, {"none", (double)s->none});
}

static void tell_histogram(cJSON *root, const struct histogram *h)
{
    uint64_t counts[BINS];
    cJSON *out = cJSON_AddObjectToObject(root, "histogram");
    double lo = 0, width = 1;
    const size_t n = histogram_tell(h, BINS, &lo, &width, counts);
    cJSON *list = cJSON_AddArrayToObject(out, "counts");

    cJSON_AddNumberToObject(out, "lo", lo);
    cJSON_AddNumberToObject(out, "width", width);
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)counts[i]));
}

static void tell_numbers(cJSON *root, const struct reduced *r)
{
    cli_json_add(root, {"frames", (double)r->frames}, {"first_frame", (double)r->first_frame});
    cli_json_sizes(root, "size", r->n, 3);
    cli_json_sizes(root, "join", r->k, 3);
    cli_json_sizes(root, "bins", r->bins, 3);
    cli_json_numbers(root, "mm", r->mm, 3);
    cli_json_numbers(root, "origin", r->origin, 3);
    cJSON_AddBoolToObject(root, "has_mm", r->info->has_spacing);
    cli_json_add(root, {"layers", (double)packed_layers(r)}, {"min", r->least}, {"max", r->most},
                 {"mean", r->mean}, {"sd", r->sd}, {"finite", (double)r->finite},
                 {"not_finite", (double)r->not_finite});
}

/* Add to a JSON object a text from a file, with control characters as visible escapes. */
static void tell_text(cJSON *root, const char *key, const char *text)
{
    char safe[1024];

    fbp_printable(safe, sizeof safe, text, strlen(text), "");
    cJSON_AddStringToObject(root, key, safe);
}

/* Add to a JSON object the grey window (values of black and white) that the user requested or, if
 * it is NaN, that of find_window(); false: out of memory. */
static bool tell_window(cJSON *root, const char *key, const struct reduced *r,
                        const struct page_wish *wish, bool mip)
{
    double window[2] = {wish->window[0], wish->window[1]};
    const bool found = !isnan(window[0]) || find_window(r, mip, window);

    cli_json_numbers(root, key, window, 2);
    return found;
}

/* Describe the volume as a JSON object for the scripts of the page; NULL: out of memory. */
static cJSON *describe(const struct reduced *r, const struct page_wish *wish, bool served,
                       const struct packed_scale scales[2])
{
    static const char *const types[] = {"u8", "u16", "f32"};
    cJSON *root = cJSON_CreateObject();
    bool all = tell_window(root, "window", r, wish, false);
    size_t at[3];

    tell_text(root, "name", wish->volume.name);
    tell_text(root, "unit", r->info->unit);
    tell_numbers(root, r);
    cJSON_AddStringToObject(root, "type", types[r->type]);
    tell_scale(root, &scales[0]);
    tell_scale(cJSON_AddObjectToObject(root, "greatest"), &scales[1]);
    all = tell_window(root, "window_mip", r, wish, true) && all;
    tell_histogram(root, &r->histogram);
    for (int a = 0; a < 3; a++)
        at[a] = wish->volume.slice ? wish->volume.slice[a] : r->n[a] / 2;
    cli_json_sizes(root, "start", at, 3);
    cJSON_AddBoolToObject(root, "mip", wish->mip);
    if (served) {
        const size_t cost[] = {wish->slice_cost[0], wish->slice_cost[1], wish->slice_cost[2]};
        cli_json_sizes(root, "slice_cost", cost, 3);
    }
    if (all)
        return root;
    cJSON_Delete(root);
    return NULL;
}

/* Append sizes: "512 x 512 x 300 voxels of 0.2 mm, 3 frames; 1/mm, stored as float32 (mha)". */
static void put_size(struct markup *m, const struct reduced *r)
{
    const struct fbp_array_info *i = r->info;
    const struct fbp_grid grid = {.n = {r->n[0], r->n[1], r->n[2]},
                                  .voxel_mm = {fabs(r->mm[0]), fabs(r->mm[1]), fabs(r->mm[2])}};
    char text[160];

    if (i->has_spacing)
        markup_escaped(m, cli_grid(text, sizeof text, &grid));
    else
        markup_say(m, "%zu x %zu x %zu voxels; the file does not contain the voxel size", r->n[0],
                   r->n[1], r->n[2]);
    if (i->time_points > 1 && r->frames == i->time_points)
        markup_say(m, ", %zu frames", r->frames);
    else if (i->time_points > 1)
        markup_say(m, ", frame %zu of %zu", r->first_frame, i->time_points);
    markup_say(m, "; %s, stored as %s (%s)", *i->unit ? i->unit : "unit unknown",
               fbp_type_name(i->type), i->format);
}

/* Append a sentence: whether samples are voxels or their means, and how they are rounded. */
static void put_truth(struct markup *m, const struct reduced *r, const struct packed_scale *s,
                      bool served)
{
    const size_t *k = r->k;
    const bool rounded = r->type == REDUCED_U16 && s->none >= 0;

    if (reduced_is_whole(r))
        markup_put(m, "All voxels are in this page");
    else
        markup_printf(m,
                      "<strong>Reduced:</strong> each sample of this page is the mean of %zu x %zu "
                      "x %zu voxels (%zu x %zu x %zu samples)",
                      k[0], k[1], k[2], r->bins[0], r->bins[1], r->bins[2]);
    if (rounded)
        markup_printf(m, ", rounded to 16 bits (an error of at most %.2g)", s->scale / 2);
    else if (reduced_is_whole(r) && r->type == REDUCED_F32 && r->info->type != FBP_F32)
        markup_put(m, ", rounded to float32");
    else if (reduced_is_whole(r))
        markup_put(m, ", as they are stored");
    markup_put(m, ". Range, mean, histogram and greatest values (MIP) are those of all voxels");
    if (reduced_is_whole(r))
        markup_put(m, ".");
    else
        markup_put(
            m, served ? ", and so are slices marked <em>full</em>, which are read from the file."
                      : "; <code>fbp view --serve</code> shows slices in full.");
}

int page_view(struct page *page, fbp_source *volume, const struct page_wish *wish,
              struct reduced *r)
{
    struct packed_scale scales[2];
    struct markup size = {0}, truth = {0}, meta = {0};

    if (reduced_make(r, volume, &wish->volume) != 0)
        return 1;
    markup_reserve(&page->data, wish->volume.bytes);
    packed_put(&page->data, r, &scales[0], &scales[1]);
    put_size(&size, r);
    put_truth(&truth, r, &scales[0], page->server != NULL);
    markup_json(&meta, describe(r, wish, page->server != NULL, scales));
    reduced_drop(r);
    const struct page_slot slots[] = {{"size", &size}, {"truth", &truth}, {"meta", &meta}, {0}};
    page_fill(&page->viewer, page_text_of("viewer.html")->text, slots);
    markup_clear(&size);
    markup_clear(&truth);
    markup_clear(&meta);
    return 0;
}
