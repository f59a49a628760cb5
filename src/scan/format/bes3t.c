/* Importer of EPR images of Bruker's spectrometers (fbp_geometry_bes3t; BES3T, read by
 * array/format/bes3t.c) as scans of plane integrals: field sweeps under gradients G (cos a sin b,
 * sin a sin b, cos b), with the angles a = first_alpha (1 + 2 i) and b = first_beta (1 + 2 j); a
 * changes faster. Resonance needs a fixed sum of the swept field and the field of the gradient:
 * samples of increasing swept field have decreasing positions along the gradient.
 * Used by: scan/geometry_file.c.
 */
#include "scan/format/importers.h"

#include "array/array.h"
#include "array/format/bes3t.h"
#include "base/base.h"
#include "base/math.h"

#include <string.h>
#include <strings.h>

static const char gradients[] = "grdUnit"; /* the device */

struct image {
    size_t n_alpha, n_beta;
    double first_alpha, first_beta; /* degrees */
    double gradient;                /* G/cm */
    double step;                    /* G */
};

/* Get the step of the field axis [G]: equal steps over the width XWID, or positions in a file. */
static fbp_status read_field(struct fbp_scan *out, const struct fbp_ini *d,
                             const struct fbp_bes3t_samples *s, double *step)
{
    static const struct {
        const char *name;
        double gauss;
    } units[] = {{"G", 1}, {"mT", 10}, {"T", 1e4}};
    const char *type = fbp_ini_text(d, "DESC", "XTYP"), *unit = fbp_ini_text(d, "DESC", "XUNI");
    const bool listed = type && strcmp(type, "IGD") == 0;
    const size_t n = s->n[0];
    size_t u = 0;

    if (type && !listed && strcmp(type, "IDX") != 0)
        return FBP_UNSUPPORTED("%s: XTYP: found \"%.20s\", expected IDX or IGD, a field axis; give "
                               "the directions and \"spacing_mm\" in a scan file",
                               d->path, type);
    if (!unit)
        return fbp_ini_missing(d, "DESC", "XUNI");
    while (u < sizeof units / sizeof *units && strcmp(unit, units[u].name) != 0)
        u++;
    if (u == sizeof units / sizeof *units)
        return FBP_UNSUPPORTED("%s: XUNI: found \"%.20s\", expected a field in G, mT or T; give "
                               "the directions and \"spacing_mm\" in a scan file",
                               d->path, unit);

    if (listed) {
        struct fbp_axis axis = {0};
        double *places = NULL;
        char *file = NULL;
        fbp_status st;
        FBP_TRY_GOTO(fbp_calloc((void **)&places, n, sizeof *places, "an axis"));
        FBP_TRY_GOTO(fbp_bes3t_positions(d, s, &file, places));
        FBP_TRY_GOTO(fbp_scan_add_file(out, file));
        st = fbp_preparation_places(d->path, "the axis in its .XGF", out->preparation, places, n,
                                    &axis);
        *step = axis.step;
    fail:
        free(places);
        free(file);
        FBP_TRY(st);
    } else {
        double first = 0, width = 0;
        FBP_TRY(fbp_ini_need(d, "DESC", "XMIN", &first));
        FBP_TRY(fbp_ini_need(d, "DESC", "XWID", &width));
        if (n < 2 || !(fabs(width) > 0))
            return FBP_INVALID("%s: found XPTS %zu and XWID %g, expected two points or more and a "
                               "width other than 0",
                               d->path, n, width);
        *step = width / (double)(n - 1);
    }
    *step *= units[u].gauss;
    return FBP_OK;
}

static fbp_status read_image(struct fbp_scan *scan, const struct fbp_ini *d,
                             const struct fbp_bes3t_samples *s, struct image *out)
{
    const char *type = fbp_ini_text(d, gradients, "ImageType");
    const bool spl = fbp_ini_text(d, "SPL", "GRAD") != NULL;

    if (!type)
        type = fbp_ini_text(d, "SPL", "IMTY");
    if (!type)
        return FBP_INVALID("%s: has no ImageType (device grdUnit), so it is not an image; name it "
                           "as an array in a scan file, \"projections\": \"FILE:sinogram\"",
                           d->path);
    if (strcasecmp(type, "3D") != 0)
        return FBP_UNSUPPORTED("%s: ImageType: found \"%.20s\", expected 3D, because gradients in "
                               "one plane do not determine a volume",
                               d->path, type);
    FBP_TRY(read_field(scan, d, s, &out->step));
    FBP_TRY(fbp_ini_need(d, spl ? "SPL" : gradients, spl ? "GRAD" : "AnglePsi", &out->gradient));
    if (!(out->gradient > 0))
        return FBP_INVALID(
            "%s: %s: found a gradient of %g G/cm, expected one above 0; correct the file", d->path,
            spl ? "GRAD" : "AnglePsi", out->gradient);

    /* Read the gradient angles alpha and beta in degrees.  For beta, which changes more slowly, the
     * file usually contains only the number of angles. */
    FBP_TRY(fbp_ini_count(d, gradients, "NrOfAlpha", &out->n_alpha));
    FBP_TRY(fbp_ini_count(d, gradients, "NrOfBeta", &out->n_beta));
    FBP_TRY(fbp_ini_need(d, gradients, "FirstAlpha", &out->first_alpha));
    out->first_beta = out->n_beta == out->n_alpha ? out->first_alpha : 90 / (double)out->n_beta;
    FBP_TRY(fbp_ini_number(d, gradients, "FirstBeta", &out->first_beta));
    if (!(fabs(out->first_alpha) > 0 && fabs(out->first_beta) > 0))
        return FBP_INVALID(
            "%s: FirstAlpha is %g and FirstBeta %g degrees, expected half a step; correct the file",
            d->path, out->first_alpha, out->first_beta);
    if (out->n_alpha * out->n_beta != s->n[1] * s->n[2])
        return FBP_INVALID("%s: NrOfAlpha x NrOfBeta are %zu x %zu gradients, but YPTS x ZPTS are "
                           "%zu x %zu spectra; check that the measurement is complete",
                           d->path, out->n_alpha, out->n_beta, s->n[1], s->n[2]);
    return FBP_OK;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct fbp_ini d = {.path = path};
    struct fbp_bes3t_samples samples;
    struct image image = {0};
    fbp_source *source = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_bes3t_load(&d));
    FBP_TRY_GOTO(fbp_bes3t_samples(&d, &samples));
    FBP_TRY_GOTO(fbp_preparation_copy(&out->preparation, known->preparation));
    FBP_TRY_GOTO(read_image(out, &d, &samples, &image));
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, samples.n[1] * samples.n[2]));
    out->kind = FBP_PLANES;
    out->panel = (struct fbp_panel){samples.n[0], 1};
    if (out->preparation) {
        out->preparation->n_samples = samples.n[0];
        FBP_TRY_GOTO(fbp_preparation_check(path, out->preparation, samples.n[0]));
        if (out->preparation->fft > 0)
            FBP_TRY_GOTO(FBP_UNSUPPORTED(
                "%s: prepare: fft: a field sweep consists of spectra, not time traces; omit fft",
                path));
    }

    const double degree = FBP_PI / 180, sign = image.step > 0 ? -1 : 1;
    const double spacing = 10 * fabs(image.step) / image.gradient; /* mm */
    const double first = -((double)out->panel.n_columns - 1) / 2 * spacing;
    for (size_t k = 0; k < out->n_views; k++) {
        const size_t i = k % image.n_alpha, j = k / image.n_alpha;
        const double a = degree * image.first_alpha * (double)(1 + 2 * i),
                     b = degree * image.first_beta * (double)(1 + 2 * j);
        const double n[3] = {sign * cos(a) * sin(b), sign * sin(a) * sin(b), sign * cos(b)};
        fbp_plane_view(n, spacing, first, out->panel.n_columns, &out->views[k]);
    }

    /* Get the volume for which the image was measured, a cube, if the file contains the number of
     * voxels per side and the length of a side. */
    const char *field = fbp_ini_text(&d, gradients, "FieldOfView");
    if (fbp_ini_text(&d, gradients, "NPixel") && field) {
        const char *unit = field + strcspn(field, " \t");
        double side = 0;
        size_t n = 0;
        FBP_TRY_GOTO(fbp_ini_count(&d, gradients, "NPixel", &n));
        FBP_TRY_GOTO(fbp_ini_number(&d, gradients, "FieldOfView", &side));
        unit += strspn(unit, " \t");
        side *= strncmp(unit, "cm", 2) == 0 ? 10 : 1;
        if (!(side > 0) || (strncmp(unit, "mm", 2) != 0 && strncmp(unit, "cm", 2) != 0))
            FBP_TRY_GOTO(FBP_INVALID(
                "%s: FieldOfView: found \"%.20s\", expected a length in mm or cm", path, field));
        for (int i = 0; i < 3; i++) {
            out->volume.n[i] = n;
            out->volume.voxel_mm[i] = side / (double)n;
        }
    }
    FBP_TRY_GOTO(fbp_scan_path(&out->projections, NULL, "%s:sinogram", path));
    FBP_TRY_GOTO(fbp_source_open(&source, out->projections, NULL)); /* the samples can be read */
    fbp_source_close(&source);
    st = fbp_scan_assume(out, path, "reference", "none",
                         "spectra of a field sweep are divided by the one without a gradient");
fail:
    fbp_ini_clear(&d);
    return st;
}

const struct fbp_geometry_format fbp_geometry_bes3t = {
    .name = "bes3t",
    .about = "EPR image of Bruker's spectrometers: gradients, field axis, spectra",
    .extensions = ".dsc",
    .detect = fbp_bes3t_detect,
    .load = load,
};
