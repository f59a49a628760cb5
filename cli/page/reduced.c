/* Implementation of reduced.h: reduces a volume to samples that fit into an HTML page
 * (reduced_make()). Chooses the blocks of voxels (bins) that are joined to one sample, then reads
 * the volume once for means, greatest values and histogram.
 * Used by: cli/cmd_view.c, viewer.c, cli/report.c, cli/serve/slices.c. */
#include "page/reduced.h"
#include "cli.h"
#include "say.h"

#include "array/file/format.h"
#include "base/system.h"
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Double the range of a histogram upwards (up) or downwards: join pairs of bins. */
static void grow(struct histogram *h, bool up)
{
    uint64_t pairs[HISTOGRAM_BINS / 2];

    for (size_t i = 0; i < HISTOGRAM_BINS / 2; i++)
        pairs[i] = h->counts[2 * i] + h->counts[2 * i + 1];
    memset(h->counts, 0, sizeof h->counts);
    memcpy(h->counts + (up ? 0 : HISTOGRAM_BINS / 2), pairs, sizeof pairs);
    if (!up)
        h->lo -= h->width * HISTOGRAM_BINS;
    h->width *= 2;
}

static void cover(struct histogram *h, double least, double greatest)
{
    while (greatest >= h->lo + h->width * HISTOGRAM_BINS)
        grow(h, true);
    while (least < h->lo)
        grow(h, false);
}

/* Find the least and the greatest finite value among n; returns the number of finite values. */
static size_t range_of(const float *values, size_t n, double *least, double *greatest)
{
    float lo = INFINITY, hi = -INFINITY;
    size_t finite = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i])) {
            lo = values[i] < lo ? values[i] : lo;
            hi = values[i] > hi ? values[i] : hi;
            finite++;
        }
    *least = (double)lo;
    *greatest = (double)hi;
    return finite;
}

void histogram_add(struct histogram *h, const float *values, size_t n)
{
    double least, greatest;
    const size_t finite = range_of(values, n, &least, &greatest);

    if (finite == 0)
        return;
    if (h->width == 0) { /* fine bins about the first value, which are joined as the range grows */
        h->width = h->step > 0 ? h->step : fmax(fabs(least) * 0x1p-24, (double)FLT_MIN);
        h->lo = least - h->width * (HISTOGRAM_BINS + 1) / 2;
    }
    cover(h, least, greatest);
    const double lo = h->lo, scale = 1 / h->width;
    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i])) {
            const double place = ((double)values[i] - lo) * scale;
            const size_t bin = place > 0 ? (size_t)place : 0;
            h->counts[bin < HISTOGRAM_BINS ? bin : HISTOGRAM_BINS - 1]++;
        }
}

size_t histogram_tell(const struct histogram *h, size_t most, double *lo, double *width,
                      uint64_t *counts)
{
    size_t first = 0, end = HISTOGRAM_BINS;

    if (h->width == 0)
        return 0;
    while (h->counts[first] == 0)
        first++;
    while (h->counts[end - 1] == 0)
        end--;
    const size_t join = (end - first + most - 1) / most, n = (end - first + join - 1) / join;
    memset(counts, 0, n * sizeof *counts);
    for (size_t i = first; i < end; i++)
        counts[(i - first) / join] += h->counts[i];
    *lo = h->lo + (double)first * h->width;
    *width = h->width * (double)join;
    return n;
}

enum { BAND_BYTES = 1 << 20 };

const int reduced_axes[3][2] = {{0, 1}, {0, 2}, {1, 2}};

size_t reduced_plane(const struct reduced *r, int i)
{
    return r->bins[reduced_axes[i][0]] * r->bins[reduced_axes[i][1]];
}

bool reduced_is_whole(const struct reduced *r)
{
    return r->k[0] == 1 && r->k[1] == 1 && r->k[2] == 1;
}

/* Size of all samples of a page as base64 text, before compression [bytes]; each: bytes per mean.
 * The result is a double, which cannot overflow. */
static double bytes_as_text(const struct reduced *r, size_t each)
{
    const double x = (double)r->bins[0], y = (double)r->bins[1], z = (double)r->bins[2];
    const double samples = x * y * z * (double)each + (x * y + x * z + y * z) * 2;

    return samples * (double)r->frames * 4 / 3;
}

/* Enlarge the bins (blocks of joined voxels) by one voxel along the axis on which they are shortest
 * [mm]; false: no axis has more than one bin. */
static bool join_more(struct reduced *r)
{
    int best = -1;

    for (int a = 0; a < 3; a++)
        if (r->bins[a] > 1 &&
            (best < 0 || fabs(r->mm[a]) * (double)r->k[a] < fabs(r->mm[best]) * (double)r->k[best]))
            best = a;
    if (best < 0)
        return false;
    r->k[best]++;
    r->bins[best] = (r->n[best] + r->k[best] - 1) / r->k[best];
    return true;
}

/* Check frame and slice of the request, and set frames, sizes and positions. Index y counts
 * upwards, whatever the order of rows in the file. */
static int look(struct reduced *r, const struct reduced_wish *wish)
{
    const struct fbp_array_info *i = r->info;
    const size_t frames = i->time_points > 1 ? i->time_points : 1;

    if (wish->frame != SIZE_MAX && wish->frame >= frames)
        return cli_error("%s: frame %zu does not exist; the file has frames 0 to %zu", wish->name,
                         wish->frame, frames - 1);
    r->first_frame = wish->frame == SIZE_MAX ? 0 : wish->frame;
    r->frames = wish->frame == SIZE_MAX ? frames : 1;
    r->down = i->row_order == FBP_ROWS_TOP_DOWN;
    for (int a = 0; a < 3; a++) {
        r->n[a] = a == 2 ? i->n[2] / frames : i->n[a];
        r->mm[a] = i->has_spacing ? i->spacing_mm[a] : 1;
        r->origin[a] = i->has_spacing ? i->origin_mm[a] : 0;
        if (r->n[a] == 0 || !(fabs(r->mm[a]) > 0 && isfinite(r->mm[a]) && isfinite(r->origin[a])))
            return cli_error("%s: %zu voxels of %g mm from %g mm on along an axis are invalid; "
                             "correct the header",
                             wish->name, r->n[a], r->mm[a], r->origin[a]);
        if (wish->slice && wish->slice[a] >= r->n[a])
            return cli_error("%s: slice %c = %zu does not exist; the volume has slices 0 to %zu",
                             wish->name, "xyz"[a], wish -> slice[a], r -> n[a] - 1);
    }
    if (r->down && i->has_spacing) {
        r->origin[1] += r->mm[1] * (double)(r->n[1] - 1);
        r->mm[1] = -r->mm[1];
    }
    return 0;
}

/* Sums over a layer of bins (blocks of joined voxels), and state of the pass. */
struct layer {
    double *sums;    /* [bins[1]][bins[0]] sums of the finite voxels of each bin */
    uint32_t *count; /* [bins[1]][bins[0]] number of finite voxels of each bin */
    float *band;     /* [band_rows][n[0]] buffer for rows that are read from the file at once */
    size_t band_rows;
    /* total, squares: sums of value - shift and of its square; shift: first finite value */
    double total, squares, shift;
    double drawn; /* time when the progress line was last printed [s] */
};

static bool make_room(struct reduced *r, struct layer *l)
{
    const size_t bins = r->bins[0] * r->bins[1], row = r->n[0] * sizeof(float);
    bool all = true;

    l->band_rows = BAND_BYTES / row > r->n[1] ? r->n[1] : BAND_BYTES / row;
    l->band_rows += l->band_rows == 0;
    // NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): no side is 0
    r->values = calloc(r->frames * bins * r->bins[2], sizeof *r->values);
    for (int i = 0; i < 3; i++) {
        const size_t n = r->frames * reduced_plane(r, i);
        r->greatest[i] = malloc(n * sizeof(float));
        for (size_t k = 0; r->greatest[i] && k < n; k++)
            r->greatest[i][k] = -INFINITY;
        all = all && r->greatest[i];
    }
    l->sums = malloc(bins * sizeof *l->sums);
    l->count = malloc(bins * sizeof *l->count);
    l->band = malloc(l->band_rows * row);
    return all && r->values && l->sums && l->count && l->band;
}

static inline float higher(float a, float b)
{
    return b > a ? b : a; /* a if b is NaN */
}

/* Add the voxels of row y of slice z to their bins, and to the greatest values. */
static void take_row(struct reduced *r, struct layer *l, size_t frame, size_t y, size_t z,
                     const float *row)
{
    const size_t by = y / r->k[1], bz = z / r->k[2], nx = r->bins[0], k = r->k[0];
    double *sums = l->sums + by * nx;
    uint32_t *count = l->count + by * nx;
    float *along_z = r->greatest[0] + (frame * r->bins[1] + by) * nx;
    float *along_y = r->greatest[1] + (frame * r->bins[2] + bz) * nx;
    float *along_x = r->greatest[2] + (frame * r->bins[2] + bz) * r->bins[1] + by;

    for (size_t b = 0; b < nx; b++) {
        const size_t end = (b + 1) * k < r->n[0] ? (b + 1) * k : r->n[0];
        float most = -INFINITY;
        double sum = 0;
        uint32_t n = 0;
        for (size_t x = b * k; x < end; x++)
            if (isfinite(row[x])) {
                most = higher(most, row[x]);
                sum += (double)row[x];
                n++;
            }
        sums[b] += sum;
        count[b] += n;
        along_z[b] = higher(along_z[b], most);
        along_y[b] = higher(along_y[b], most);
        *along_x = higher(*along_x, most);
    }
}

/* Update range, sums and counts of the whole volume by the values of one row. */
static void take_numbers(struct reduced *r, struct layer *l, const float *row)
{
    for (size_t x = 0; x < r->n[0]; x++) {
        const double v = (double)row[x];
        if (!isfinite(v)) {
            r->not_finite++;
            continue;
        }
        if (r->finite++ == 0)
            l->shift = r->least = r->most = v;
        r->least = v < r->least ? v : r->least;
        r->most = v > r->most ? v : r->most;
        l->total += v - l->shift;
        l->squares += (v - l->shift) * (v - l->shift);
    }
}

static fbp_status take_slice(struct reduced *r, struct layer *l, size_t frame, size_t z)
{
    const size_t slice = (r->first_frame + frame) * r->n[2] + z;

    for (size_t at = 0; at < r->n[1]; at += l->band_rows) {
        const size_t n = r->n[1] - at < l->band_rows ? r->n[1] - at : l->band_rows;
        FBP_TRY(fbp_source_read(r->source, slice, 1, at, n, FBP_F32, l->band));
        histogram_add(&r->histogram, l->band, n * r->n[0]);
        for (size_t i = 0; i < n; i++) {
            const float *row = l->band + i * r->n[0];
            take_row(r, l, frame, r->down ? r->n[1] - 1 - at - i : at + i, z, row);
            take_numbers(r, l, row);
        }
    }
    return FBP_OK;
}

static void say_progress(struct layer *l, bool quiet, size_t done, size_t all)
{
    char line[80];
    const double now = quiet || !isatty(STDERR_FILENO) ? 0 : fbp_seconds();

    if (now < l->drawn + 0.2)
        return;
    snprintf(line, sizeof line, "reading slice %zu/%zu", done + 1, all);
    say_bar(done + 1 == all ? "" : line);
    l->drawn = now;
}

static fbp_status read_all(struct reduced *r, struct layer *l, bool quiet)
{
    const size_t bins = r->bins[0] * r->bins[1], all = r->frames * r->n[2];

    for (size_t i = 0; i < all; i++) {
        const size_t frame = i / r->n[2], z = i % r->n[2];
        for (size_t b = 0; z % r->k[2] == 0 && b < bins; b++) {
            l->sums[b] = 0;
            l->count[b] = 0;
        }
        FBP_TRY(take_slice(r, l, frame, z));
        if ((z + 1) % r->k[2] == 0 || z + 1 == r->n[2])
            for (size_t b = 0; b < bins; b++)
                r->values[(frame * r->bins[2] + z / r->k[2]) * bins + b] =
                    l->count[b] ? (float)(l->sums[b] / (double)l->count[b]) : NAN;
        say_progress(l, quiet, i, all);
    }
    if (l->drawn > 0)
        say_bar("");
    return fbp_source_unchanged(r->source);
}

int reduced_make(struct reduced *r, fbp_source *source, const struct reduced_wish *wish)
{
    struct layer l = {0};
    char text[24];

    *r = (struct reduced){.source = source, .info = fbp_source_info(source)};
    if (look(r, wish) != 0)
        return 1;
    /* If all voxels fit the page with the type of the file (at most float32), keep them; else store
     * 16-bit numbers, and join voxels. stored: bytes per voxel in the first case. */
    const enum fbp_type type = r->info->type;
    const bool is_real = type == FBP_F32 || type == FBP_F64;
    const size_t size = fbp_type_size(type), stored = is_real || size > 2 ? 4 : size;
    for (int a = 0; a < 3; a++) {
        r->k[a] = 1;
        r->bins[a] = r->n[a];
    }
    r->type = stored == 1 ? REDUCED_U8 : stored == 2 ? REDUCED_U16 : REDUCED_F32;
    if (bytes_as_text(r, stored) > (double)wish->bytes)
        r->type = REDUCED_U16;
    while (bytes_as_text(r, r->type == REDUCED_U16 ? 2 : stored) > (double)wish->bytes)
        if (!join_more(r))
            return cli_error(
                "%s: even one voxel of each volume (%zu of the series) does not fit into a page of "
                "%s; choose one volume with --frame, or give a larger --page-size",
                wish->name, r->frames, fbp_bytes_text(text, sizeof text, wish->bytes));
    if (!is_real)
        r->histogram.step = fabs(r->info->scale) > 0 ? fabs(r->info->scale) : 1;
    int rc = make_room(r, &l)
                 ? 0
                 : cli_error("%s: out of memory; give a smaller --page-size", wish->name);
    if (rc == 0 && read_all(r, &l, wish->quiet) != FBP_OK)
        rc = cli_fail();
    const double n = (double)r->finite, mean = n > 0 ? l.total / n : 0;
    r->mean = l.shift + mean;
    r->sd = n > 0 ? sqrt(fmax(0, l.squares / n - mean * mean)) : 0;
    free(l.sums);
    free(l.count);
    free(l.band);
    return rc;
}

void reduced_drop(struct reduced *r)
{
    free(r->values);
    r->values = NULL;
    for (int i = 0; i < 3; i++) {
        free(r->greatest[i]);
        r->greatest[i] = NULL;
    }
}

void reduced_clear(struct reduced *r)
{
    reduced_drop(r);
    *r = (struct reduced){0};
}
