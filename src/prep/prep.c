#include "prep/prep.h"

#include "array/array.h"
#include "base/cache.h"
#include "base/mem.h"
#include "base/text.h"
#include "prep/bad_pixels.h"
#include "scan/file/corrections.h"
#include "scan/file/images.h"
#include "scan/reduce.h"

#include <math.h>
#include <string.h>

/* The mean over the slices of an image file; must fit the (stored) panel. */
static fbp_status read_mean(const struct fbp_scan *scan, const struct fbp_panel *panel,
                            const char *path, double *mean, char **missing)
{
    const size_t nc = panel->n_columns, nr = panel->n_rows;
    struct fbp_raw raw = scan->raw;
    fbp_source *source = NULL;
    fbp_status st = FBP_OK;

    /* Headerless images have the pixels of the projections; their file says how many they are. */
    raw.n[2] = 0;
    FBP_TRY_GOTO(fbp_source_open(&source, path, &raw));
    const struct fbp_array_info *info = fbp_source_info(source);
    if (info->n[0] != nc || info->n[1] != nr || info->n[2] == 0) {
        st =
            fbp_fail(FBP_ERR_INVALID,
                     "%s: has %zu columns and %zu rows, the projections %zu and %zu: use the image "
                     "that belongs to this scan",
                     path, info->n[0], info->n[1], nc, nr);
        goto fail;
    }
    FBP_TRY_GOTO(fbp_source_mean(source, mean));
    *missing = info->missing[0] ? fbp_strdup(info->missing) : NULL;
fail:
    fbp_source_close(&source);
    return st;
}

/* Can counts be scaled by it? */
static bool is_span(double bright_less_dark)
{
    return bright_less_dark > 0 && isfinite(bright_less_dark);
}

/* 1 / (bright - dark); pixels where that is not a positive number are bad.  0 for all bad ones,
 * so that what they say is neither clipped nor counted. */
static void invert(const double *bright, const double *dark, float *gain, unsigned char *bad,
                   size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double span = bright[i] - (dark ? dark[i] : 0);
        bad[i] |= !is_span(span);
        gain[i] = bad[i] ? 0 : (float)(1 / span);
    }
}

struct images {
    double *dark, *bright, *mask;
    unsigned char *bad;
};

/* Rows upwards, from the order in which views are stored. */
static void turn_over(const struct fbp_panel *panel, double *image)
{
    const size_t nc = panel->n_columns;

    for (size_t low = 0, high = panel->n_rows - 1; low < high; low++, high--)
        for (size_t c = 0; c < nc; c++) {
            const double x = image[low * nc + c];
            image[low * nc + c] = image[high * nc + c];
            image[high * nc + c] = x;
        }
}

/* One picture, from memory or from its file, rows upwards; NULL: there is none. */
static fbp_status read_image(double **out, const struct fbp_scan *scan, enum fbp_image which,
                             const struct fbp_panel *panel, bool top_down, char **missing)
{
    const char *const files[] = {scan->dark, scan->flat, scan->bad_pixels};
    const double *kept = fbp_scan_image(scan, which);
    const size_t bytes = panel->n_columns * panel->n_rows * sizeof **out;

    if (!kept && !files[which])
        return FBP_OK;
    if (kept && !fbp_images_fit(scan->images, panel))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the picture in memory is of another panel than the views: set it "
                        "after the panel",
                        fbp_image_name(which));
    FBP_TRY(fbp_alloc((void **)out, bytes, "an image"));
    if (kept)
        memcpy(*out, kept, bytes);
    else
        FBP_TRY(read_mean(scan, panel, files[which], *out, missing));
    if (top_down)
        turn_over(panel, *out);
    return FBP_OK;
}

static fbp_status read_images(struct images *m, const struct fbp_scan *scan,
                              const struct fbp_panel *panel, bool top_down, char *missing[3])
{
    const size_t n = panel->n_columns * panel->n_rows;

    FBP_TRY(fbp_calloc((void **)&m->bad, n, 1, "a mask of bad pixels"));
    FBP_TRY(read_image(&m->dark, scan, FBP_IMAGE_DARK, panel, top_down, &missing[0]));
    FBP_TRY(read_image(&m->bright, scan, FBP_IMAGE_FLAT, panel, top_down, &missing[1]));
    FBP_TRY(read_image(&m->mask, scan, FBP_IMAGE_BAD_PIXELS, panel, top_down, &missing[2]));
    for (size_t i = 0; m->mask && i < n; i++)
        m->bad[i] = !(m->mask[i] == 0); /* a NaN is no good pixel either */
    return FBP_OK;
}

/* Images as those of larger pixels; what is bad is left out of them, as of the views. */
static fbp_status join_pixels(struct fbp_prep *p, struct images *m, double i0,
                              const struct fbp_reduction *r)
{
    const size_t n = r->stored.n_columns * r->stored.n_rows;

    for (size_t i = 0; (m->bright || m->dark) && i < n; i++)
        m->bad[i] |= !is_span((m->bright ? m->bright[i] : i0) - (m->dark ? m->dark[i] : 0));
    p->n_stored = n;
    for (size_t i = 0; i < n; i++)
        p->n_left_out += m->bad[i] != 0;
    if (p->n_left_out) {
        FBP_TRY(fbp_calloc((void **)&p->left_out, n, 1, "a mask of bad pixels"));
        memcpy(p->left_out, m->bad, n);
    }
    if (m->dark)
        fbp_reduce_image(r, p->left_out, m->dark);
    if (m->bright)
        fbp_reduce_image(r, p->left_out, m->bright);
    fbp_reduce_mask(r, m->bad);
    return FBP_OK;
}

/* Dark and gain as the rows will want them. */
static fbp_status tabulate(struct fbp_prep *p, struct images *m, const struct fbp_scan *scan)
{
    const size_t n = p->panel.n_columns * p->panel.n_rows;

    if (!p->intensity)
        return FBP_OK;
    if (!m->bright && !(scan->i0 > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: a dark image alone does not give transmissions: add "
                        "\"flat\" or \"i0\"",
                        scan->path ? scan->path : "scan");
    p->inverse_i0 = scan->i0 > 0 ? (float)(1 / scan->i0) : 0;
    if (m->dark) {
        FBP_TRY(fbp_alloc((void **)&p->dark, n * sizeof(float), "dark image"));
        for (size_t i = 0; i < n; i++)
            p->dark[i] = (float)m->dark[i];
    }
    if (!m->bright && !m->dark && !m->mask)
        return FBP_OK;
    if (!m->bright) {
        FBP_TRY(fbp_alloc((void **)&m->bright, n * sizeof(double), "an image"));
        for (size_t i = 0; i < n; i++)
            m->bright[i] = scan->i0;
    }
    FBP_TRY(fbp_alloc((void **)&p->gain, n * sizeof(float), "gain image"));
    invert(m->bright, m->dark, p->gain, m->bad, n);
    return FBP_OK;
}

static fbp_status take_hardening(struct fbp_hardening *out, const struct fbp_scan *scan)
{
    struct fbp_corrections c;

    FBP_TRY(fbp_corrections_of(scan, &c));
    out->n = (unsigned)fbp_corrections_terms(&c);
    for (size_t i = 0; i < out->n; i++)
        out->a[i] = (float)c.beam_hardening[i];
    return FBP_OK;
}

bool fbp_prep_is_asked_for(const struct fbp_scan *scan)
{
    return fbp_scan_is_intensity(scan) || scan->find_bad_pixels ||
           fbp_scan_has_image(scan, FBP_IMAGE_BAD_PIXELS);
}

fbp_status fbp_prep_create(struct fbp_prep *out, const struct fbp_scan *scan, bool top_down)
{
    struct images m = {0};
    struct fbp_reduction r;
    fbp_status st = FBP_OK;

    *out = (struct fbp_prep){.panel = scan->panel, .intensity = fbp_scan_is_intensity(scan)};
    FBP_TRY(take_hardening(&out->hardening, scan));
    if (!fbp_prep_is_asked_for(scan))
        return FBP_OK;
    fbp_reduction_of(scan, &r);
    FBP_TRY_GOTO(read_images(&m, scan, &r.stored, top_down, out->missing));
    if (fbp_reduction_joins(&r))
        FBP_TRY_GOTO(join_pixels(out, &m, scan->i0, &r));
    FBP_TRY_GOTO(tabulate(out, &m, scan));
    FBP_TRY_GOTO(fbp_bridges_find(out, m.bad));
fail:
    fbp_free(m.dark);
    fbp_free(m.bright);
    fbp_free(m.mask);
    free(m.bad);
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

static void take_logarithms(float *x, size_t n)
{
    for (size_t c = 0; c < n; c++)
        x[c] = -logf(x[c]);
}

/* BRIDGE replaces what is not finite by the line between its finite neighbours; FINITE asks whether
 * there is any: 0 x is NaN for what is not finite, and sums of zeros, lanes side by side, are quick
 * to take. */
#define MEND(T, BRIDGE, FINITE)                                                                    \
    static size_t BRIDGE(T x[], size_t n)                                                          \
    {                                                                                              \
        size_t mended = 0, last = n; /* the last finite sample; n = none yet */                    \
                                                                                                   \
        for (size_t c = 0; c < n; c++) {                                                           \
            if (!isfinite(x[c]))                                                                   \
                continue;                                                                          \
            const size_t first = last == n ? 0 : last + 1;                                         \
            for (size_t i = first; i < c; i++, mended++)                                           \
                x[i] =                                                                             \
                    last == n ? x[c] : x[last] + (x[c] - x[last]) * (T)(i - last) / (T)(c - last); \
            last = c;                                                                              \
        }                                                                                          \
        const T tail = last == n ? 0 : x[last];                                                    \
        for (size_t i = last == n ? 0 : last + 1; i < n; i++, mended++)                            \
            x[i] = tail;                                                                           \
        return mended;                                                                             \
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
        take_logarithms(samples, nc);
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
    take_logarithms(samples, nc); /* which lie on lines */
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
