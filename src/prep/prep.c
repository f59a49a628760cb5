/* Conversion of detector rows from intensities to line integrals: dark and flat images, logarithm,
 * beam hardening, and interpolation of bad pixels and of values that are not finite.
 * fbp_prep_create() reads the images of a scan into tables; fbp_prep_row() and the other functions
 * use the tables.
 * Used by: analysis/, backend/cpu/, backend/ref/, pipeline/, prep/. */
#include "prep/prep.h"

#include "array/array.h"
#include "base/cache.h"
#include "base/text.h"
#include "scan/file/scan.h"

#include <math.h>
#include <string.h>

/* True if the difference of unattenuated intensity and dark is positive and finite, so that
 * intensities can be divided by it. */
static bool is_span(double bright_less_dark)
{
    return bright_less_dark > 0 && isfinite(bright_less_dark);
}

fbp_status fbp_prep_image(double **out, const struct fbp_scan *scan, enum fbp_image which,
                          const struct fbp_panel *panel, bool top_down, char **missing)
{
    const char *const files[] = {scan->dark, scan->flat, scan->bad_pixels};
    const char *path = files[which];
    const double *kept = fbp_scan_image(scan, which);
    const size_t nc = panel->n_columns, nr = panel->n_rows;

    if (!kept && !path)
        return FBP_OK;
    if (kept && !fbp_images_fit(scan->images, panel))
        return FBP_INVALID("%s: the image in memory and the panel differ in size; set the panel "
                           "first, then the image",
                           fbp_image_name(which));
    FBP_TRY(fbp_alloc((void **)out, nc * nr * sizeof **out, "an image"));
    double *image = *out;
    if (kept) {
        memcpy(image, kept, nc * nr * sizeof *image);
    } else {
        struct fbp_raw raw = scan->raw;
        fbp_source *source = NULL;
        /* number of images 0: it follows from the size of the file, if the file has no header */
        raw.n[1] = nr; /* not that of sinograms */
        raw.n[2] = 0;
        FBP_TRY(fbp_source_open(&source, path, &raw));
        const struct fbp_array_info *info = fbp_source_info(source);
        fbp_status st;
        if (info->n[0] != nc || info->n[1] != nr || info->n[2] == 0)
            st = FBP_INVALID("%s: the image has %zu columns and %zu rows, but the projections have "
                             "%zu and %zu; use the image that belongs to this scan",
                             path, info->n[0], info->n[1], nc, nr);
        else
            st = fbp_source_mean(source, image);
        if (st == FBP_OK)
            *missing = info->missing[0] ? fbp_strdup(info->missing) : NULL;
        fbp_source_close(&source);
        FBP_TRY(st);
    }
    for (size_t low = 0, high = nr - 1; top_down && low < high; low++, high--)
        for (size_t c = 0; c < nc; c++) {
            const double x = image[low * nc + c];
            image[low * nc + c] = image[high * nc + c];
            image[high * nc + c] = x;
        }
    return FBP_OK;
}

bool fbp_prep_is_needed(const struct fbp_scan *scan)
{
    return fbp_scan_is_intensity(scan) || scan->find_bad_pixels ||
           fbp_scan_has_image(scan, FBP_IMAGE_BAD_PIXELS);
}

fbp_status fbp_prep_create(struct fbp_prep *out, const struct fbp_scan *scan, bool top_down)
{
    double *dark = NULL, *bright = NULL, *mask = NULL; /* rows bottom-up; NULL: the scan has none */
    double **const images[] = {&dark, &bright, &mask}; /* in the order of enum fbp_image */
    unsigned char *bad = NULL;
    struct fbp_corrections c;
    struct fbp_reduction r;
    fbp_status st = FBP_OK;

    *out = (struct fbp_prep){.panel = scan->panel, .intensity = fbp_scan_is_intensity(scan)};
    FBP_TRY(fbp_corrections_of(scan, &c));
    out->hardening.n = (unsigned)fbp_corrections_terms(&c);
    for (size_t i = 0; i < out->hardening.n; i++)
        out->hardening.a[i] = (float)c.beam_hardening[i];
    if (!fbp_prep_is_needed(scan))
        return FBP_OK;
    fbp_reduction_of(scan, &r);
    const size_t n = r.stored.n_columns * r.stored.n_rows;
    FBP_TRY_GOTO(fbp_calloc((void **)&bad, n, 1, "a mask of bad pixels"));
    for (int i = 0; i <= FBP_IMAGE_LAST; i++)
        FBP_TRY_GOTO(fbp_prep_image(images[i], scan, (enum fbp_image)i, &r.stored, top_down,
                                    &out->missing[i]));
    for (size_t i = 0; mask && i < n; i++)
        bad[i] = !(mask[i] == 0); /* NaN is bad, too */
    /* the scan is binned: reduce the dark and the flat image like the views, each pixel to the mean
     * of the good ones among the stored pixels that it joins */
    if (fbp_reduction_joins(&r)) {
        for (size_t i = 0; (bright || dark) && i < n; i++)
            bad[i] |= !is_span((bright ? bright[i] : scan->i0) - (dark ? dark[i] : 0));
        out->n_stored = n;
        for (size_t i = 0; i < n; i++)
            out->n_left_out += bad[i] != 0;
        if (out->n_left_out) {
            FBP_TRY_GOTO(fbp_calloc((void **)&out->left_out, n, 1, "a mask of bad pixels"));
            memcpy(out->left_out, bad, n);
        }
        if (dark)
            fbp_reduce_image(&r, out->left_out, dark);
        if (bright)
            fbp_reduce_image(&r, out->left_out, bright);
        fbp_reduce_mask(&r, bad);
    }
    const size_t n_pixels = out->panel.n_columns * out->panel.n_rows;
    if (out->intensity) {
        if (!bright && !(scan->i0 > 0))
            FBP_TRY_GOTO(FBP_INVALID("%s: a dark image needs a flat or i0 to compute "
                                     "transmissions; add \"flat\" or \"i0\"",
                                     scan->path ? scan->path : "scan"));
        out->inverse_i0 = scan->i0 > 0 ? (float)(1 / scan->i0) : 0;
    }
    if (out->intensity && dark) {
        FBP_TRY_GOTO(fbp_alloc((void **)&out->dark, n_pixels * sizeof(float), "dark image"));
        for (size_t i = 0; i < n_pixels; i++)
            out->dark[i] = (float)dark[i];
    }
    if (out->intensity && (bright || dark || mask)) {
        FBP_TRY_GOTO(fbp_alloc((void **)&out->gain, n_pixels * sizeof(float), "gain image"));
        for (size_t i = 0; i < n_pixels; i++) {
            const double span = (bright ? bright[i] : scan->i0) - (dark ? dark[i] : 0);
            bad[i] |= !is_span(span);
            out->gain[i] = bad[i] ? 0 : (float)(1 / span);
        }
    }
    FBP_TRY_GOTO(fbp_bridges_find(out, bad));
fail:
    fbp_free(dark);
    fbp_free(bright);
    fbp_free(mask);
    free(bad);
    if (st != FBP_OK)
        fbp_prep_clear(out);
    return st;
}

void fbp_prep_clear(struct fbp_prep *prep)
{
    fbp_free(prep->dark);
    fbp_free(prep->gain);
    free(prep->bridges);
    free(prep->left_out);
    for (int i = 0; i < 3; i++)
        free(prep->missing[i]);
    *prep = (struct fbp_prep){0};
}

uint64_t fbp_prep_hash(uint64_t h, const struct fbp_prep *p)
{
    const size_t pixels = p->panel.n_columns * p->panel.n_rows;

    if (p->hardening.n)
        h = fbp_hash(h, p->hardening.a, p->hardening.n * sizeof(float));
    if (p->dark)
        h = fbp_hash(h, p->dark, pixels * sizeof(float));
    if (p->gain)
        h = fbp_hash(h, p->gain, pixels * sizeof(float));
    if (p->left_out)
        h = fbp_hash(h, p->left_out, p->n_stored);
    for (size_t i = 0; i < p->n_bridges; i++)
        h = fbp_hash(h, &p->bridges[i].pixel, sizeof(size_t));
    return h;
}

/* Convert a row of intensities to transmissions; returns the number clipped at 1e-6. */
static size_t take_transmissions(const struct fbp_prep *p, size_t row, float *x)
{
    const size_t nc = p->panel.n_columns;
    const float *dark = p->dark ? p->dark + row * nc : NULL;
    const float *gain = p->gain ? p->gain + row * nc : NULL;
    size_t clipped = 0;

    for (size_t c = 0; c < nc; c++)
        x[c] = fbp_transmission(x[c], dark ? dark[c] : 0, gain ? gain[c] : p->inverse_i0, gain,
                                &clipped);
    return clipped;
}

/* BRIDGE defines a function that interpolates values that are not finite along a row, between
 * finite neighbours, and returns their number.  FINITE defines a function that returns true if all
 * values of a row are finite: 0 x is NaN for other values x, and the sum of the products, in
 * several lanes, is fast. */
#define MEND(T, BRIDGE, FINITE)                                                                    \
    static size_t BRIDGE(T x[], size_t n)                                                          \
    {                                                                                              \
        size_t repaired = 0, last = n; /* index of the last finite sample; n: none */              \
                                                                                                   \
        for (size_t c = 0; c < n; c++) {                                                           \
            if (!isfinite(x[c]))                                                                   \
                continue;                                                                          \
            const size_t first = last == n ? 0 : last + 1;                                         \
            for (size_t i = first; i < c; i++, repaired++)                                         \
                x[i] =                                                                             \
                    last == n ? x[c] : x[last] + (x[c] - x[last]) * (T)(i - last) / (T)(c - last); \
            last = c;                                                                              \
        }                                                                                          \
        const T tail = last == n ? 0 : x[last];                                                    \
        for (size_t i = last == n ? 0 : last + 1; i < n; i++, repaired++)                          \
            x[i] = tail;                                                                           \
        return repaired;                                                                           \
    }                                                                                              \
                                                                                                   \
    static bool FINITE(const T *x, size_t n)                                                       \
    {                                                                                              \
        enum { LANES = 16 };                                                                       \
        T lane[LANES] = {0}, sum = 0;                                                              \
        size_t i = 0;                                                                              \
                                                                                                   \
        for (; i + LANES <= n; i += LANES)                                                         \
            for (size_t k = 0; k < LANES; k++)                                                     \
                lane[k] += 0 * x[i + k];                                                           \
        for (; i < n; i++)                                                                         \
            sum += 0 * x[i];                                                                       \
        for (size_t k = 0; k < LANES; k++)                                                         \
            sum += lane[k];                                                                        \
        return sum == 0;                                                                           \
    }

MEND(float, bridge_row, all_finite)
MEND(double, bridge_row_double, all_finite_double)

void fbp_prep_row(const struct fbp_prep *p, size_t row, float *samples,
                  struct fbp_prep_counts *counts)
{
    const size_t nc = p->panel.n_columns;

    if (p->intensity) {
        counts->clipped += take_transmissions(p, row, samples);
        for (size_t c = 0; c < nc; c++)
            samples[c] = -logf(samples[c]);
    }
    for (size_t c = 0; p->hardening.n > 0 && c < nc; c++)
        samples[c] = fbp_harden(&p->hardening, samples[c]);
    if (!all_finite(samples, nc))
        counts->not_finite += bridge_row(samples, nc);
}

void fbp_prep_transmissions(const struct fbp_prep *p, size_t row, float *samples,
                            struct fbp_prep_counts *counts)
{
    const size_t nc = p->panel.n_columns;

    counts->clipped += take_transmissions(p, row, samples);
    if (all_finite(samples, nc))
        return;
    for (size_t c = 0; c < nc; c++) /* logarithms are interpolated */
        samples[c] = -logf(samples[c]);
    counts->not_finite += bridge_row(samples, nc);
    for (size_t c = 0; c < nc; c++)
        samples[c] = expf(-samples[c]);
}

void fbp_prep_row_double(const struct fbp_prep *p, double *samples, struct fbp_prep_counts *counts)
{
    const size_t nc = p->panel.n_columns;

    if (!all_finite_double(samples, nc))
        counts->not_finite += bridge_row_double(samples, nc);
}

void fbp_prep_bridge(const struct fbp_prep *p, size_t first_row, size_t r0, size_t r1,
                     float *samples)
{
    const size_t nc = p->panel.n_columns, shift = first_row * nc;

    for (size_t i = 0; i < p->n_bridges; i++) {
        const struct fbp_bridge *b = &p->bridges[i];
        float sum = 0;
        if (b->pixel / nc < r0 || b->pixel / nc >= r1)
            continue;
        for (int k = 0; k < 4; k++)
            sum += b->weight[k] * samples[b->from[k] - shift];
        samples[b->pixel - shift] = sum;
    }
}

void fbp_prep_bridge_transmissions(const struct fbp_prep *p, float *samples)
{
    for (size_t i = 0; i < p->n_bridges; i++) {
        const struct fbp_bridge *b = &p->bridges[i];
        float sum = 0;
        for (int k = 0; k < 4; k++)
            sum += b->weight[k] * logf(samples[b->from[k]]);
        samples[b->pixel] = expf(sum);
    }
}
