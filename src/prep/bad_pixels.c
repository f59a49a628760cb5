/* Bad pixels of the detector: search for dead, stuck, hot and saturated pixels in a few views of a
 * scan (fbp_check_samples(), fbp_bad_pixels_find()), and choice of the good pixels from which each
 * bad one is interpolated (fbp_bridges_find()).
 * Used by: analysis/sinogram.c, pipeline/plan.c, pipeline/plan_run.c, prep.c. */
#include "prep/prep.h"

#include "array/array.h"
#include "base/threads.h"
#include "geometry/kind.h"
#include "scan/file/scan.h"

#include <math.h>
#include <string.h>

enum {
    REACH = 8, /* greatest distance of a good pixel for comparison [pixels] */
    LEAST_VIEWS = 4,
    BAND_BYTES = 8 << 20,
    TYPICAL_SAMPLES = 2048
};

/* Flags of pixels. */
enum { LISTED = 1, CONSTANT = 2, EXTREME = 4, FOUND = 8 };

static const float CLIPPED = 13.8F; /* line integral of a transmission of 1e-6 */
/* Scans of line integrals: greatest line integral of a good pixel, as a multiple of the greatest
 * one of pixels that vary between views. */
static const float FAR = 2;
static const float HOT = 0.1F; /* least difference of a hot pixel from its neighbours, as line
                                  integral: a factor of 1.1 in intensity */
/* Samples count as noisy if less than this part of all pixels is constant in all views. */
static const double NOISY = 0.05;
static const float DIFFERS = 0.1F; /* least difference of a stuck pixel from its neighbours, as part
                                      of the mean line integral */
/* Without noise, a constant pixel is stuck only if both neighbours vary between views by more than
 * this part of the mean difference between the pixel and its neighbours. */
static const float VARIES = 0.01F;
static const float BELOW_AIR = 0.98F; /* transmission of saturated air */

/* Rows of some views, as stored. */
struct band {
    struct fbp_sample_check *check;
    size_t row0, n_rows, n_columns, n_views;
    float *x;             /* [view][row][column] */
    unsigned char *flags; /* [row][column] */
    float typical, most;  /* mean and greatest line integral of pixels that vary between views */
    bool noisy;
};

static size_t view_size(const struct band *b)
{
    return b->n_rows * b->n_columns;
}

static float transmission(const struct band *b, size_t k, size_t i)
{
    const struct fbp_prep *p = b->check->prep;
    const size_t nc = b->n_columns, r = b->row0 + i / nc, nr = p->panel.n_rows;
    const size_t pixel = (b->check->top_down ? nr - 1 - r : r) * nc + i % nc;
    size_t ignored = 0;

    return fbp_transmission(b->x[k * view_size(b) + i], p->dark ? p->dark[pixel] : 0,
                            p->gain ? p->gain[pixel] : p->inverse_i0, p->gain, &ignored);
}

static float line_integral(const struct band *b, size_t k, size_t i)
{
    return b->check->prep->intensity ? -logf(transmission(b, k, i)) : b->x[k * view_size(b) + i];
}

/* Return whether pixel i has, in the first view, a value that no good pixel has: an intensity not
 * above the dark image, or a line integral far above those of pixels that vary between views. */
static bool is_far(const struct band *b, size_t i)
{
    const float p = line_integral(b, 0, i);

    return b->check->prep->intensity ? p > CLIPPED : fabsf(p) > FAR * b->most;
}

static float least_error(const struct band *b)
{
    return HOT * (b->check->prep->intensity ? 1 : fmaxf(1, b->typical));
}

/* Flag pixels that are equal in all views (CONSTANT), and pixels that are above both neighbours in
 * their row in all views, or below both (EXTREME); compute the mean and the greatest line integral
 * of varying pixels. */
static void flag_pixels(struct band *b)
{
    const size_t n = view_size(b), nc = b->n_columns;
    size_t n_constant = 0, n_typical = 0;
    double sum = 0;

    b->most = 0;
    for (size_t i = 0; i < n; i++) {
        const bool inner = i % nc > 0 && i % nc + 1 < nc;
        bool same = true, above = inner, below = inner;
        for (size_t k = 0; k < b->n_views && (same || above || below); k++) {
            const float *x = b->x + k * n + i;
            same = same && *x == b->x[i];
            above = above && *x > x[-1] && *x > x[1];
            below = below && *x < x[-1] && *x < x[1];
        }
        b->flags[i] |= same ? CONSTANT : above || below ? EXTREME : 0;
        n_constant += b->flags[i] == CONSTANT;
    }
    const size_t step = n * b->n_views / TYPICAL_SAMPLES + 1;
    for (size_t at = 0; at < n * b->n_views; at += step) {
        const float p = line_integral(b, at / n, at % n);
        if (b->flags[at % n] & (LISTED | CONSTANT) || !isfinite(p))
            continue;
        sum += fabs((double)p);
        b->most = fmaxf(b->most, fabsf(p));
        n_typical++;
    }
    b->typical = n_typical > 0 ? (float)(sum / (double)n_typical) : 0;
    if (n_typical < TYPICAL_SAMPLES / 64)
        b->most = INFINITY;
    b->noisy = (double)n_constant < NOISY * (double)n;
}

/* Find the nearest good pixel in a direction, at most REACH pixels away; NONE: there is none; EDGE:
 * the panel ends before one is found. */
enum { NONE = -1, EDGE = -2 };

static ptrdiff_t good_pixel(const struct band *b, size_t i, int dc, int dr, bool far)
{
    ptrdiff_t c = (ptrdiff_t)(i % b->n_columns), r = (ptrdiff_t)(i / b->n_columns);

    for (int s = 0; s < REACH; s++) {
        c += dc;
        r += dr;
        if (c < 0 || r < 0 || c >= (ptrdiff_t)b->n_columns || r >= (ptrdiff_t)b->n_rows)
            return EDGE;
        const size_t at = (size_t)r * b->n_columns + (size_t)c;
        if (b->flags[at] & LISTED)
            continue;
        if (!(b->flags[at] & CONSTANT) || (far && !is_far(b, at)))
            return (ptrdiff_t)at;
    }
    return NONE;
}

/* Return whether constant pixel i lies, in at least half of the views, outside the range of two
 * good pixels lo and hi by more than 3 times their median difference; without noise, also by more
 * than a least difference, and lo and hi must vary between views, because air at the edge of an
 * object is constant, too. */
static bool lies_outside(const struct band *b, size_t i, size_t lo, size_t hi)
{
    float least[FBP_CHECK_VIEWS], most[FBP_CHECK_VIEWS], apart[FBP_CHECK_VIEWS];
    float lo_range[2] = {INFINITY, -INFINITY}, hi_range[2] = {INFINITY, -INFINITY}, sum = 0;
    const float p = line_integral(b, 0, i);
    const bool far = is_far(b, i);
    size_t n = 0;

    for (size_t k = 0; k < b->n_views; k++) {
        const float from = line_integral(b, k, lo), to = line_integral(b, k, hi);
        least[k] = fminf(from, to);
        most[k] = fmaxf(from, to);
        apart[k] = most[k] - least[k];
        lo_range[0] = fminf(lo_range[0], from);
        lo_range[1] = fmaxf(lo_range[1], from);
        hi_range[0] = fminf(hi_range[0], to);
        hi_range[1] = fmaxf(hi_range[1], to);
        if (!isfinite(apart[k]) || (far && fmaxf(fabsf(from), fabsf(to)) > fabsf(p) / 2))
            return false;
    }
    const float least_off = b->noisy ? 0 : fmaxf(DIFFERS * b->typical, least_error(b));
    const float limit = fmaxf(least_off, 3 * fbp_median(apart, b->n_views));
    for (size_t k = 0; k < b->n_views; k++) {
        const float off = fmaxf(least[k] - p, p - most[k]);
        n += off > limit;
        sum += off > limit ? off : 0;
    }
    const float vary = fminf(lo_range[1] - lo_range[0], hi_range[1] - hi_range[0]);
    return 2 * n >= b->n_views && (far || b->noisy || vary > VARIES * sum / (float)n);
}

/* Return whether lies_outside() is true for a pixel and the nearest good pixels on both sides along
 * a row or column; `sure`: at the panel's edge, a good pixel on one side suffices. */
static bool differs_along(const struct band *b, size_t i, int dc, int dr, bool far, bool sure)
{
    ptrdiff_t lo = good_pixel(b, i, -dc, -dr, far), hi = good_pixel(b, i, dc, dr, far);

    if (sure && lo == EDGE)
        lo = hi;
    if (sure && hi == EDGE)
        hi = lo;
    return lo >= 0 && hi >= 0 && lies_outside(b, i, (size_t)lo, (size_t)hi);
}

/* True if a constant pixel differs from good pixels in its row.  Good pixels of the column are
 * compared only if the row has none: a row of air between two objects is constant, too. */
static bool is_stuck(const struct band *b, size_t i)
{
    const bool far = is_far(b, i), sure = b->noisy || far;

    if (differs_along(b, i, 1, 0, far, sure))
        return true;
    return (sure || fabsf(line_integral(b, 0, i)) > DIFFERS * b->typical) &&
           good_pixel(b, i, -1, 0, far) < 0 && good_pixel(b, i, 1, 0, far) < 0 &&
           differs_along(b, i, 0, 1, far, sure);
}

/* Return whether a pixel is hot: above its four neighbours in all views, or below them, by the
 * differences that prep.h states. */
static bool is_hot(const struct band *b, size_t i)
{
    const size_t nc = b->n_columns, r = i / nc, c = i % nc;
    const size_t beside[] = {i - 1, i + 1, r > 0 ? i - nc : i + nc,
                             r + 1 < b->n_rows ? i + nc : i - nc};
    const float least = least_error(b);
    size_t n = 0;

    if (b->n_rows < 2 || b->n_views < FBP_CHECK_VIEWS || c == 0 || c + 1 == nc)
        return false;
    const bool up = line_integral(b, 0, i) > line_integral(b, 0, i - 1);
    for (size_t k = 0; k < b->n_views; k++) {
        const float p = line_integral(b, k, i);
        float lo = INFINITY, hi = -INFINITY;
        for (int j = 0; j < 4; j++) {
            const float q = line_integral(b, k, beside[j]);
            lo = fminf(lo, q);
            hi = fmaxf(hi, q);
        }
        const float apart = up ? p - hi : lo - p;
        if (!(apart > 0))
            return false;
        n += apart > least && apart > 2 * (hi - lo);
    }
    return 4 * n >= 3 * b->n_views;
}

/* Count the samples of pixels [first, end) in all views of the band that are equal to the greatest
 * sample (saturation), if they are at least 2 % below the intensity of air, and at least half of
 * them follow another such sample in the row. */
static void count_flat_top(struct band *b, size_t first, size_t end)
{
    struct fbp_sample_check *c = b->check;
    size_t n = 0, pairs = 0;
    float most = -INFINITY;

    for (size_t k = 0; k < b->n_views; k++)
        for (size_t i = first; i < end; i++) {
            const float x = b->x[k * view_size(b) + i];
            if (!(x >= most) || b->flags[i] & (LISTED | FOUND))
                continue;
            if (x > most)
                n = pairs = 0;
            most = x;
            if (!(transmission(b, k, i) < BELOW_AIR))
                continue;
            n++;
            pairs += i > first && b->x[k * view_size(b) + i - 1] == x;
        }
    c->n_samples += b->n_views * (end - first);
    if ((double)most < c->flat_top || 2 * pairs < n)
        n = 0;
    c->n_flat = (double)most > c->flat_top ? n : c->n_flat + n;
    c->flat_top = fmax(c->flat_top, (double)most);
}

fbp_status fbp_check_samples(struct fbp_sample_check *c)
{
    const size_t nc = c->prep->panel.n_columns, nr = c->prep->panel.n_rows;
    const size_t stored = fbp_source_info(c->source)->n[2];
    const size_t first = c->top_down ? nr - c->row0 - c->n_rows : c->row0, end = first + c->n_rows;
    struct band b = {.check = c, .n_columns = nc};
    fbp_status st = FBP_OK;

    b.n_views = stored < FBP_CHECK_VIEWS ? stored : FBP_CHECK_VIEWS;
    FBP_TRY(fbp_calloc((void **)&c->bad, nr * nc, 1, "a mask of bad pixels"));
    for (size_t i = 0; i < c->prep->n_bridges; i++) {
        const size_t pixel = c->prep->bridges[i].pixel, r = pixel / nc;
        c->bad[(c->top_down ? nr - 1 - r : r) * nc + pixel % nc] = LISTED;
    }
    if (b.n_views < LEAST_VIEWS)
        return FBP_OK;

    /* Read blocks: `own` rows to check, and up to REACH rows on both sides for comparison. */
    const size_t fit = BAND_BYTES / (b.n_views * nc * sizeof(float));
    const size_t wanted = fit > 4 * REACH ? fit - 2 * REACH : 2 * REACH;
    const size_t own = wanted < c->n_rows ? wanted : c->n_rows;
    const size_t most = own + 2 * REACH < nr ? own + 2 * REACH : nr;
    FBP_TRY_GOTO(fbp_alloc((void **)&b.x, b.n_views * most * nc * sizeof *b.x, "some views"));
    FBP_TRY_GOTO(fbp_alloc((void **)&b.flags, most * nc, "some views"));
    for (size_t r = first; r < end; r += own) {
        const size_t last = r + own < end ? r + own : end;
        b.row0 = r > REACH ? r - REACH : 0;
        b.n_rows = (last + REACH < nr ? last + REACH : nr) - b.row0;
        for (size_t k = 0; k < b.n_views; k++) {
            /* The few views to check are spread over the scan by the golden section, so that they
             * match no period of the scan. */
            const double part = (double)k * 0.6180339887498949;
            const size_t view =
                stored <= FBP_CHECK_VIEWS ? k : (size_t)((part - floor(part)) * (double)stored);
            FBP_TRY_GOTO(fbp_check_cancelled());
            FBP_TRY_GOTO(fbp_source_read(c->source, view, 1, b.row0, b.n_rows, FBP_F32,
                                         b.x + k * view_size(&b)));
        }
        memcpy(b.flags, c->bad + b.row0 * nc, view_size(&b));
        flag_pixels(&b);
        const size_t i0 = (r - b.row0) * nc, i1 = (last - b.row0) * nc;
        for (size_t i = i0; i < i1; i++) {
            if (b.flags[i] & LISTED || !(b.flags[i] & (CONSTANT | EXTREME)))
                continue;
            if (!(b.flags[i] & CONSTANT && is_stuck(&b, i)) && !is_hot(&b, i))
                continue;
            b.flags[i] |= FOUND;
            c->n_bad++;
            c->bad[b.row0 * nc + i] = LISTED;
        }
        if (c->prep->intensity)
            count_flat_top(&b, i0, i1);
    }
    if (100 * c->n_flat < c->n_samples)
        c->n_flat = 0;
fail:
    fbp_free(b.x);
    fbp_free(b.flags);
    return st;
}

fbp_status fbp_bad_pixels_find(struct fbp_scan *scan, fbp_source *source, bool top_down,
                               struct fbp_images **images)
{
    struct fbp_prep prep = {0};
    struct fbp_sample_check check = {.prep = &prep, .source = source, .top_down = top_down};
    struct fbp_scan stored = *scan;
    struct fbp_reduction r;
    fbp_status st = FBP_OK;

    if (!scan->find_bad_pixels)
        return FBP_OK;
    if (!fbp_kind_has_lines(scan->kind) || scan->filtered)
        return FBP_UNSUPPORTED("bad_pixels: auto needs unfiltered line integrals or intensities; "
                               "omit bad_pixels auto");
    fbp_reduction_of(scan, &r);
    stored.panel = r.stored;
    stored.every = stored.bin = 0;
    stored.selected = NULL;
    FBP_TRY(fbp_prep_create(&prep, &stored, top_down));
    check.n_rows = r.stored.n_rows;
    FBP_TRY_GOTO(fbp_check_samples(&check));
    if (check.n_bad > 0) { /* the mask becomes an image of the scan */
        const size_t n = prep.panel.n_rows * prep.panel.n_columns;
        FBP_TRY_GOTO(fbp_images_copy(images, scan->images));
        if (!*images)
            FBP_TRY_GOTO(fbp_calloc((void **)images, 1, sizeof **images, "images"));
        (*images)->panel = prep.panel;
        double **mask = &(*images)->pixels[FBP_IMAGE_BAD_PIXELS];
        if (!*mask)
            FBP_TRY_GOTO(fbp_alloc((void **)mask, n * sizeof **mask, "a mask of bad pixels"));
        for (size_t i = 0; i < n; i++)
            (*mask)[i] = check.bad[i];
        scan->images = *images;
        scan->bad_pixels = NULL;
    }
fail:
    free(check.bad);
    fbp_prep_clear(&prep);
    return st;
}

/* Number of steps from pixel (c, r) to the next good pixel in direction (dc, dr); 0: none. */
static size_t reach(const struct fbp_panel *panel, const unsigned char *bad, size_t c, size_t r,
                    int dc, int dr)
{
    for (size_t steps = 1;; steps++) {
        c += (size_t)dc;
        r += (size_t)dr;
        if (c >= panel->n_columns || r >= panel->n_rows) /* values below 0 have wrapped around */
            return 0;
        if (!bad[r * panel->n_columns + c])
            return steps;
    }
}

/* Add a good pixel, `steps` pixels away, to the interpolation of a bad pixel; steps 0: none. */
static void use(struct fbp_bridge *b, int *n, size_t pixel, size_t steps)
{
    if (steps == 0)
        return;
    b->from[*n] = pixel;
    b->weight[(*n)++] = 1 / (float)steps;
}

fbp_status fbp_bridges_find(struct fbp_prep *p, const unsigned char *bad)
{
    /* If the row has a good pixel at most this many columns away, use no pixels of other rows. */
    enum { NEAR = 3 };
    const size_t nc = p->panel.n_columns, n_pixels = nc * p->panel.n_rows;
    size_t n_bad = 0;

    for (size_t i = 0; i < n_pixels; i++)
        n_bad += bad[i] != 0;
    if (n_bad == 0)
        return FBP_OK;
    if (n_bad == n_pixels)
        return FBP_INVALID("bad pixels: every pixel is marked bad, or its flat is not above its "
                           "dark; check mask, flat and dark");
    FBP_TRY(fbp_calloc((void **)&p->bridges, n_bad, sizeof *p->bridges, "bad pixels"));
    for (size_t i = 0; i < n_pixels; i++) {
        if (!bad[i])
            continue;
        FBP_TRY(fbp_check_cancelled());
        const size_t c = i % nc, r = i / nc;
        const size_t left = reach(&p->panel, bad, c, r, -1, 0);
        const size_t right = reach(&p->panel, bad, c, r, 1, 0);
        struct fbp_bridge *b = &p->bridges[p->n_bridges++];
        float sum = 0;
        int n = 0;
        b->pixel = i;
        use(b, &n, i - left, left);
        use(b, &n, i + right, right);
        if (!(left && left <= NEAR) && !(right && right <= NEAR)) {
            const size_t below = reach(&p->panel, bad, c, r, 0, -1);
            const size_t above = reach(&p->panel, bad, c, r, 0, 1);
            use(b, &n, i - below * nc, below);
            use(b, &n, i + above * nc, above);
            if (below > p->margin_rows)
                p->margin_rows = below;
            if (above > p->margin_rows)
                p->margin_rows = above;
        }
        if (n == 0)
            return FBP_INVALID("bad pixels: the pixel (column %zu, row %zu) has no good pixel in "
                               "its row or column; check mask, flat and dark",
                               c, r);
        for (int k = 0; k < n; k++)
            sum += b->weight[k];
        for (int k = 0; k < 4;
             k++) { /* unused elements of from[] repeat the first, with weight 0 */
            if (k >= n)
                b->from[k] = b->from[0];
            b->weight[k] = k < n ? b->weight[k] / sum : 0;
        }
    }
    return FBP_OK;
}
