/* Corrections of measured views (zingers, beam hardening, rings, phase retrieval after Paganin
 * 2002) as properties of a scan: fbp_scan_correct() sets them, and checks their parameters;
 * fbp_corrections_rings() parses a method of ring removal such as "wavelet:5,1,db9" (both public).
 * Also descriptions, and the value at which the beam hardening polynomial begins to decrease
 * (fbp_corrections_turn()).
 * Used by: cli/, analysis/, pipeline/, prep/, scan/, scan/file/. */
#include "scan/file/scan.h"

#include "array/file/bytes.h"
#include "geometry/kind.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* Greatest magnitude of a coefficient of beam hardening; a larger one is a typing error. */
static const double MOST_COEFFICIENT = 1e9;

fbp_status fbp_corrections_of(const struct fbp_scan *scan, struct fbp_corrections *out)
{
    *out = (struct fbp_corrections){.struct_size = sizeof *out};
    return scan->corrections ? FBP_COPY_IN(corrections, out, scan->corrections) : FBP_OK;
}

size_t fbp_corrections_terms(const struct fbp_corrections *c)
{
    size_t n = FBP_HARDENING_TERMS;

    while (n > 0 && !(fabs(c->beam_hardening[n - 1]) > 0))
        n--;
    return n;
}

bool fbp_corrections_need_prepass(const struct fbp_corrections *c)
{
    return c->rings != FBP_RINGS_NONE || c->paganin_delta_beta > 0;
}

bool fbp_corrections_none(const struct fbp_corrections *c)
{
    return fbp_corrections_terms(c) == 0 && !fbp_corrections_need_prepass(c) && c->zingers <= 0;
}

static fbp_status check_hardening(const char *file, const struct fbp_corrections *c)
{
    for (size_t i = 0; i < FBP_HARDENING_TERMS; i++)
        if (!(fabs(c->beam_hardening[i]) <= MOST_COEFFICIENT))
            return FBP_INVALID(
                "%s: beam_hardening: coefficient %zu is %g, expected a number from -1e9 to 1e9",
                file, i + 1, c->beam_hardening[i]);
    if (fbp_corrections_terms(c) > 0 && !(c->beam_hardening[0] > 0))
        return FBP_INVALID(
            "%s: beam_hardening: the first coefficient, the factor of p, is %g, expected a number "
            "above 0 (1 leaves the values of thin objects unchanged)",
            file, c->beam_hardening[0]);
    return FBP_OK;
}

static fbp_status check_paganin(const char *file, const struct fbp_corrections *c,
                                const struct fbp_scan *scan)
{
    const bool source = fbp_kind_has_source(scan->kind), far = fabs(c->paganin_mm) > 0;

    if (!(fabs(c->paganin_delta_beta) > 0) && !(fabs(c->paganin_kev) > 0) && !far)
        return FBP_OK;
    if (!(c->paganin_delta_beta >= 1e-3 && c->paganin_delta_beta <= 1e6))
        return FBP_INVALID("%s: paganin: delta / beta is %g, expected a number from 1e-3 to 1e6",
                           file, c->paganin_delta_beta);
    if (!(c->paganin_kev >= 1e-2 && c->paganin_kev <= 1e4))
        return FBP_INVALID("%s: paganin: the energy is %g keV, expected a number from 0.01 to 1e4",
                           file, c->paganin_kev);
    if (source && far)
        return FBP_INVALID("%s: paganin: for cone beams, the distance follows from source, axis "
                           "and detector; omit distance_mm",
                           file);
    if (!source && !(c->paganin_mm >= 1e-6 && c->paganin_mm <= 1e9))
        return FBP_INVALID("%s: paganin: the distance from object to detector is %g mm, expected a "
                           "number from 1e-6 to 1e9",
                           file, c->paganin_mm);
    return FBP_OK;
}

fbp_status fbp_corrections_check(const char *file, const struct fbp_corrections *c,
                                 const struct fbp_scan *scan)
{
    const char *what = c->rings                          ? "rings"
                       : fabs(c->paganin_delta_beta) > 0 ? "paganin"
                       : c->zingers > 0                  ? "zingers"
                                                         : "beam_hardening";

    for (size_t i = 0; i < FBP_HARDENING_TERMS; i++)
        if (isnan(c->beam_hardening[i]))
            return check_hardening(file, c);
    if (!(c->zingers >= 0 && c->zingers <= 1e6))
        return FBP_INVALID("%s: zingers: found %g, expected a number of standard deviations from 0 "
                           "to 1e6",
                           file, c->zingers);
    if (fbp_corrections_none(c))
        return check_paganin(file, c, scan);
    if (fbp_kind_of(scan->kind)->integral != FBP_OVER_LINES)
        return FBP_UNSUPPORTED("%s: %s: applies to line integrals of an attenuation, but the views "
                               "are of kind %s; omit it",
                               file, what, fbp_kind_name(scan->kind));
    if (scan->filtered)
        return FBP_UNSUPPORTED("%s: %s: the views are already weighted and filtered; omit it, or "
                               "give the measured views",
                               file, what);
    FBP_TRY(check_hardening(file, c));
    FBP_TRY(check_paganin(file, c, scan));
    if (c->zingers > 0 && scan->n_views < 2)
        return FBP_UNSUPPORTED("%s: zingers: a scan of one view has no other view to compare with; "
                               "omit zingers",
                               file);

    const size_t nc = scan->panel.n_columns;
    const bool halves = c->rings == FBP_RINGS_WAVELET;
    const size_t views = halves ? FBP_RING_WAVELET_LEAST : FBP_RING_VIEWS_LEAST;
    const size_t columns = halves ? FBP_RING_WAVELET_LEAST : FBP_RING_COLUMNS_LEAST;
    if ((unsigned)c->rings > FBP_RINGS_FLUCTUATING)
        return FBP_INVALID("%s: rings: found method %d, expected a value of enum fbp_ring_removal",
                           file, (int)c->rings);
    if (c->rings == FBP_RINGS_NONE)
        return FBP_OK;
    if (halves && c->ring_size)
        return FBP_INVALID(
            "%s: rings: the number of columns does not apply to the method wavelet; omit it", file);
    if (!halves && (c->ring_levels || c->ring_wavelet || fabs(c->ring_sigma) > 0))
        return FBP_INVALID(
            "%s: rings: levels, sigma and wavelet apply to the method wavelet only; omit them",
            file);
    if (c->ring_levels > FBP_RING_LEVELS_MOST)
        return FBP_INVALID("%s: rings: found %zu levels, expected 1 to %d", file, c->ring_levels,
                           FBP_RING_LEVELS_MOST);
    if (c->ring_wavelet > FBP_RING_WAVELETS)
        return FBP_INVALID("%s: rings: found db%u, expected db1 to db%d", file, c->ring_wavelet,
                           FBP_RING_WAVELETS);
    if (!(c->ring_sigma >= 0 && c->ring_sigma <= 1e6))
        return FBP_INVALID("%s: rings: sigma is %g, expected a number above 0, up to 1e6", file,
                           c->ring_sigma);
    if (scan->n_views < views || nc < columns)
        return FBP_UNSUPPORTED(
            "%s: rings: sinograms of %zu views and %zu columns are too small to distinguish rings "
            "from the object (at least %zu and %zu are needed); omit rings",
            file, scan->n_views, nc, views, columns);
    if (!halves && c->ring_size && (c->ring_size < 3 || c->ring_size > nc))
        return FBP_INVALID("%s: rings: found a width of %zu columns, expected 3 to %zu, the "
                           "number of detector columns",
                           file, c->ring_size, nc);
    return FBP_OK;
}

fbp_status fbp_scan_correct(struct fbp_scan *given, const struct fbp_corrections *corrections)
{
    struct fbp_corrections all = {0}, *copy = NULL;
    struct fbp_scan own, *const scan = &own;

    fbp_message_clear();
    FBP_TRY(FBP_COPY_IN(scan, scan, given));
    FBP_TRY(fbp_check_kind("scan.kind", scan->kind));
    if (corrections)
        FBP_TRY(FBP_COPY_IN(corrections, &all, corrections));
    FBP_TRY(fbp_corrections_check(scan->path ? scan->path : "scan", &all, scan));
    if (!fbp_corrections_none(&all)) {
        FBP_TRY(fbp_calloc((void **)&copy, 1, sizeof *copy, "corrections"));
        *copy = all;
        copy->struct_size = sizeof *copy;
    }
    free(scan->corrections);
    scan->corrections = copy;
    FBP_COPY_OUT(scan, given, scan);
    return FBP_OK;
}

void fbp_corrections_describe(const struct fbp_corrections *c, char *buf, size_t n)
{
    buf[0] = '\0';
    for (size_t i = 0; i < fbp_corrections_terms(c); i++) {
        const double a = c->beam_hardening[i];
        if (i == 0 && fabs(a) > 0)
            fbp_text_add(buf, n, "", "beam hardening %.6g p", a);
        else if (fabs(a) > 0)
            fbp_text_add(buf, n, "", " %c %.6g p^%zu", a < 0 ? '-' : '+', fabs(a), i + 1);
    }
}

double fbp_corrections_turn(const struct fbp_corrections *c, double most)
{
    enum { STEPS = 1000 };

    for (int i = 0; i <= STEPS && fbp_corrections_terms(c) > 1; i++) {
        const double p = most * i / STEPS;
        double slope = 0;
        for (size_t k = FBP_HARDENING_TERMS; k-- > 0;)
            slope = slope * p + (double)(k + 1) * c->beam_hardening[k];
        if (!(slope > 0))
            return p > 0 ? p : most / STEPS;
    }
    return 0;
}

/* Read a number up to a comma or the end, and move *text behind the comma; false: no number. */
static bool number(const char **text, double *out)
{
    char *end;

    if (!isdigit((unsigned char)**text) && **text != '.')
        return false;
    errno = 0;
    *out = fbp_number(*text, &end);
    if (end == *text || errno || (*end && *end != ','))
        return false;
    *text = *end ? end + 1 : end;
    return !*end || end[1]; /* a comma must be followed by something */
}

static bool whole(const char **text, size_t *out)
{
    double x;

    if (!number(text, &x) || !(x >= 1 && x <= 1e9) || x > floor(x))
        return false;
    *out = (size_t)x;
    return true;
}

const char *fbp_ring_removal_name(enum fbp_ring_removal method)
{
    static const char *const names[] = {"none", "sorting", "wavelet", "offsets", "fluctuating"};

    return names[method];
}

/* Parse a method of ring removal: none, wavelet[:LEVELS[,SIGMA[,dbN]]], or the name of another
 * method with [:COLUMNS]; false: other text. */
static bool parse_rings(const char *text, struct fbp_corrections *c)
{
    const size_t length = strcspn(text, ":");
    const bool more = text[length] == ':';
    const char *rest = text + length + more;
    size_t n = 0;

    for (;; c->rings++) {
        if ((unsigned)c->rings > FBP_RINGS_FLUCTUATING)
            return false;
        const char *name = fbp_ring_removal_name(c->rings);
        if (strlen(name) == length && strncmp(text, name, length) == 0)
            break;
    }
    if (!more || c->rings == FBP_RINGS_NONE)
        return !more;
    if (c->rings != FBP_RINGS_WAVELET)
        return whole(&rest, &c->ring_size) && !*rest;
    if (!whole(&rest, &c->ring_levels))
        return false;
    if (!*rest)
        return true;
    if (!number(&rest, &c->ring_sigma) || !(c->ring_sigma > 0))
        return false;
    if (!*rest)
        return true;
    if (strncmp(rest, "db", 2) != 0)
        return false;
    rest += 2;
    if (!whole(&rest, &n) || *rest)
        return false;
    c->ring_wavelet = (unsigned)n;
    return true;
}

fbp_status fbp_corrections_rings(struct fbp_corrections *out, const char *text)
{
    FBP_REQUIRE(text);
    struct fbp_corrections own;

    fbp_message_clear();
    FBP_TRY(FBP_COPY_IN(corrections, &own, out));
    own.rings = FBP_RINGS_NONE;
    own.ring_wavelet = 0;
    own.ring_size = own.ring_levels = 0;
    own.ring_sigma = 0;
    if (!parse_rings(text, &own))
        return FBP_INVALID("rings: found \"%.60s\", expected none, sorting[:COLUMNS], "
                           "offsets[:COLUMNS], fluctuating[:COLUMNS] or "
                           "wavelet[:LEVELS[,SIGMA[,dbN]]]",
                           text);
    FBP_COPY_OUT(corrections, out, &own);
    return FBP_OK;
}
