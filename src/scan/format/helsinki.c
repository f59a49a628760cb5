/* Importer of whole fan-beam scans of the University of Helsinki in MAT files
 * (fbp_geometry_helsinki): a struct with .sinogram and .parameters, as in the Helsinki Tomography
 * Challenge 2022, doi:10.5281/zenodo.6984868.
 * Used by: scan/geometry_file.c. */
#include "scan/format/importers.h"

#include "array/format/mat.h"
#include "base/base.h"
#include "base/math.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const double QUARTER_TURN_DEG = 90;

/* Parameters of a scan in a file; load() converts angles_deg to radians and frees the list. */
struct parameters {
    double sod_mm, sdd_mm, pitch_mm;
    double columns; /* 0: not stated */
    double *angles_deg;
    size_t n_angles;
};

static const struct fbp_mat_array *find_struct(const struct fbp_mat *mat)
{
    size_t n;
    const struct fbp_mat_array *v = fbp_mat_list(mat, &n);

    for (size_t i = 0; i < n; i++)
        if (fbp_mat_field(&v[i], "sinogram") &&
            fbp_mat_field(fbp_mat_field(&v[i], "parameters"), "distanceSourceOrigin"))
            return &v[i];
    return NULL;
}

static fbp_status positive(const char *path, const struct fbp_mat_array *parameters,
                           const char *name, double *out)
{
    double *value = NULL;
    size_t n = 0;

    FBP_TRY(fbp_mat_numbers(path, name, fbp_mat_field(parameters, name), &value, &n));
    *out = value[0];
    free(value);
    if (n == 1 && *out > 0 && isfinite(*out))
        return FBP_OK;
    return FBP_INVALID("%s: parameters.%s: expected one positive number", path, name);
}

static fbp_status read_parameters(const char *path, const struct fbp_mat_array *p,
                                  struct parameters *f)
{
    /* Check that lengths are in mm and angles in degrees, and that the beam is not parallel. */
    static const struct {
        const char *name, *starts, *needed;
        bool excluded; /* whether texts that begin with `starts` are refused; false: all other texts
                          are */
    } words[] = {
        {"distanceUnit", "mm", "mm", false},
        {"pixelSizeUnit", "mm", "mm", false},
        {"pixelSizePostUnit", "mm", "mm", false},
        {"angleUnit", "deg", "degrees", false},
        {"anglesUnit", "deg", "degrees", false},
        {"geometryType", "par", "a beam with a source", true},
    };
    char text[40];

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        fbp_mat_text_of(fbp_mat_field(p, words[i].name), text, sizeof text);
        const bool starts = strncasecmp(text, words[i].starts, strlen(words[i].starts)) == 0;
        if (text[0] && starts == words[i].excluded)
            return FBP_UNSUPPORTED("%s: parameters.%s is \"%s\", expected %s; convert the file",
                                   path, words[i].name, text, words[i].needed);
    }
    FBP_TRY(positive(path, p, "distanceSourceOrigin", &f->sod_mm));
    FBP_TRY(positive(path, p, "distanceSourceDetector", &f->sdd_mm));
    /* pixelSizePost is the pixel size after binning, as in the sinogram */
    FBP_TRY(positive(path, p, fbp_mat_field(p, "pixelSizePost") ? "pixelSizePost" : "pixelSize",
                     &f->pitch_mm));
    if (fbp_mat_field(p, "numDetectorsPost"))
        FBP_TRY(positive(path, p, "numDetectorsPost", &f->columns));
    FBP_TRY(fbp_mat_numbers(path, "parameters.angles", fbp_mat_field(p, "angles"), &f->angles_deg,
                            &f->n_angles));
    for (size_t i = 0; i < f->n_angles; i++)
        if (!isfinite(f->angles_deg[i]))
            return FBP_INVALID("%s: angle %zu is not a number; correct the file", path, i);
    return FBP_OK;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct parameters f = {.n_angles = 0};
    struct fbp_mat_array *parameters = NULL;
    struct fbp_mat *mat = NULL;
    fbp_source *source = NULL;
    char member[FBP_MAT_NAME + 16];
    fbp_status st;

    FBP_TRY(fbp_mat_open(path, &mat));
    const struct fbp_mat_array *top = find_struct(mat);
    if (!top)
        FBP_TRY_GOTO(
            FBP_INVALID("%s: has neither a struct with .sinogram and "
                        ".parameters.distanceSourceOrigin, nor P, B and G of an EPR image; name "
                        "its array in a scan file, \"projections\": \"FILE:VARIABLE\"",
                        path));
    snprintf(member, sizeof member, "%s.parameters", top->name);
    FBP_TRY_GOTO(fbp_mat_read(mat, member, &parameters));
    FBP_TRY_GOTO(read_parameters(path, parameters, &f));

    FBP_TRY_GOTO(
        fbp_scan_path(&out->projections, NULL, "%s:%s.sinogram?sinogram", path, top->name));
    FBP_TRY_GOTO(fbp_source_open(&source, out->projections, NULL));
    const size_t *n = fbp_source_info(source)->n, n_views = n[2];
    out->panel = (struct fbp_panel){n[0], n[1]};
    fbp_source_close(&source);
    if (f.columns > 0 && fabs(f.columns - (double)out->panel.n_columns) > 0.5)
        FBP_TRY_GOTO(
            FBP_INVALID("%s: parameters.numDetectorsPost is %g, but the sinogram has %zu columns, "
                        "so their position on the detector is unknown; correct the file",
                        path, f.columns, out->panel.n_columns));
    if (n_views != f.n_angles)
        FBP_TRY_GOTO(
            FBP_INVALID("%s: has %zu angles, but the sinogram has %zu views; correct the file",
                        path, f.n_angles, n_views));

    /* An angle in the file is that of the source plus a quarter turn. */
    for (size_t i = 0; i < f.n_angles; i++)
        f.angles_deg[i] = (f.angles_deg[i] - QUARTER_TURN_DEG) * FBP_PI / 180;
    const struct fbp_circle c = {.struct_size = sizeof c,
                                 .kind = FBP_CONE,
                                 .n_views = f.n_angles,
                                 .angles_rad = f.angles_deg,
                                 .sod_mm = &f.sod_mm,
                                 .sdd_mm = &f.sdd_mm,
                                 .n_sod = 1,
                                 .n_sdd = 1,
                                 .pitch_mm = {f.pitch_mm, f.pitch_mm}};
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, f.n_angles));
    st = fbp_circle_views(&c, out->views);
fail:
    fbp_mat_free(parameters);
    fbp_mat_close(mat);
    free(f.angles_deg);
    return st;
}

/* Other programs also store geometries in MAT files: a struct with .sinogram and .parameters
 * identifies this format. */
static fbp_status probe(const char *path, const unsigned char *head, size_t n, bool *is)
{
    struct fbp_mat *mat;

    if (!fbp_mat_detect(path, head, n))
        return FBP_OK;
    FBP_TRY(fbp_mat_open(path, &mat));
    *is = find_struct(mat) != NULL;
    fbp_mat_close(mat);
    return FBP_OK;
}

const struct fbp_geometry_format fbp_geometry_helsinki = {
    .name = "helsinki",
    .about = "MAT file of a fan-beam scan, Helsinki Tomography Challenge",
    .extensions = ".mat",
    .probe = probe,
    .load = load,
};
