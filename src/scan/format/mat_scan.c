/* Whole fan-beam scans of the University of Helsinki in MAT files: a struct with .sinogram and
 * .parameters, as of the Helsinki Tomography Challenge 2022, doi:10.5281/zenodo.6984868. */
#include "array/format/mat/mat_lib.h"
#include "scan/file/geometry_format.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const double QUARTER_TURN_DEG = 90;

/* What a child finds; n_angles doubles in degrees follow. */
struct found {
    char name[80]; /* of the struct */
    double sod_mm, sdd_mm, pitch_mm;
    double columns; /* 0: not said */
    size_t n_angles;
};

/* The struct of a scan among the variables of a file; false: there is none. */
static bool find_struct(mat_t *mat, char name[80])
{
    matvar_t *v;

    name[0] = '\0';
    while (!name[0] && (v = fbp_mat_next(mat))) {
        if (v->name && strlen(v->name) < 80 && fbp_mat_field(v, "sinogram") &&
            fbp_mat_field(fbp_mat_field(v, "parameters"), "distanceSourceOrigin"))
            snprintf(name, 80, "%s", v->name);
        Mat_VarFree(v);
    }
    return name[0];
}

static fbp_status one(const char *path, matvar_t *parameters, const char *name, double *out)
{
    double *value = NULL;
    size_t n = 0;

    FBP_TRY(fbp_mat_numbers(path, name, fbp_mat_field(parameters, name), &value, &n));
    *out = value[0];
    free(value);
    if (n == 1 && *out > 0 && isfinite(*out))
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID, "%s: parameters.%s: expected one positive number", path, name);
}

/* Text of one or two bytes a letter; "" if there is none. */
static void text_of(const matvar_t *v, char *out, size_t n)
{
    const size_t size = v && v->data_size > 0 ? (size_t)v->data_size : 1;
    size_t i = 0;

    if (v && v->class_type == MAT_C_CHAR && v->data)
        for (; i + 1 < n && i < v->nbytes / size; i++)
            out[i] = ((const char *)v->data)[i * size];
    out[i] = '\0';
}

/* Members that say in words what is read here as mm, degrees and a beam with a source. */
static fbp_status check_words(const char *path, matvar_t *parameters)
{
    static const struct {
        const char *name, *starts, *needed;
        bool others; /* this one alone is wrong, not all others */
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
        text_of(fbp_mat_field(parameters, words[i].name), text, sizeof text);
        const bool starts = strncasecmp(text, words[i].starts, strlen(words[i].starts)) == 0;
        if (text[0] && starts == words[i].others)
            return fbp_fail(FBP_ERR_UNSUPPORTED,
                            "%s: parameters.%s is \"%s\", expected %s: convert the file", path,
                            words[i].name, text, words[i].needed);
    }
    return FBP_OK;
}

static fbp_status read_struct(const char *path, matvar_t *top, double **angles,
                              struct fbp_blob *reply)
{
    matvar_t *p = top ? fbp_mat_field(top, "parameters") : NULL;
    struct found f = {0};

    if (!p)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: has neither a struct with .sinogram and "
                        ".parameters.distanceSourceOrigin, nor P, B and G of an EPR image: "
                        "name its array in a scan file: \"projections\": \"FILE:VARIABLE\"",
                        path);
    snprintf(f.name, sizeof f.name, "%s", top->name);
    FBP_TRY(check_words(path, p));
    FBP_TRY(one(path, p, "distanceSourceOrigin", &f.sod_mm));
    FBP_TRY(one(path, p, "distanceSourceDetector", &f.sdd_mm));
    /* Of the pixels that the sinogram has, where they were binned. */
    FBP_TRY(one(path, p, fbp_mat_field(p, "pixelSizePost") ? "pixelSizePost" : "pixelSize",
                &f.pitch_mm));
    if (fbp_mat_field(p, "numDetectorsPost"))
        FBP_TRY(one(path, p, "numDetectorsPost", &f.columns));
    FBP_TRY(fbp_mat_numbers(path, "parameters.angles", fbp_mat_field(p, "angles"), angles,
                            &f.n_angles));
    for (size_t i = 0; i < f.n_angles; i++)
        if (!isfinite((*angles)[i]))
            return fbp_fail(FBP_ERR_INVALID, "%s: angle %zu is not a number: correct the file",
                            path, i);
    FBP_TRY(fbp_blob_put(reply, &f, sizeof f));
    return fbp_blob_put(reply, *angles, f.n_angles * sizeof **angles);
}

/* In a child. */
static fbp_status find_scan(void *arg, struct fbp_blob *reply)
{
    double *angles = NULL;
    char name[80];
    mat_t *mat;

    FBP_TRY(fbp_mat_open(arg, &mat));
    matvar_t *top = find_struct(mat, name) ? fbp_mat_read(mat, name) : NULL;
    const fbp_status st = read_struct(arg, top, &angles, reply);
    free(angles);
    Mat_VarFree(top);
    Mat_Close(mat);
    return st;
}

static fbp_status look(struct fbp_scan *out)
{
    fbp_source *source = NULL;

    FBP_TRY(fbp_source_open(&source, out->projections, NULL));
    const size_t *n = fbp_source_info(source)->n;
    out->panel = (struct fbp_panel){n[0], n[1]};
    out->n_views = n[2];
    fbp_source_close(&source);
    return FBP_OK;
}

/* Their angle is that of the ray, a quarter turn ahead of the source's place. */
static fbp_status make_views(struct fbp_scan *out, const char *path,
                             const struct fbp_geometry_known *known, const struct found *f,
                             double *angles)
{
    const struct fbp_circle c = {.struct_size = sizeof c,
                                 .kind = FBP_CONE,
                                 .n_views = f->n_angles,
                                 .angles_rad = angles,
                                 .sod_mm = &f->sod_mm,
                                 .sdd_mm = &f->sdd_mm,
                                 .n_sod = 1,
                                 .n_sdd = 1,
                                 .pitch_mm = {f->pitch_mm, f->pitch_mm}};

    if (out->n_views != f->n_angles)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: has %zu angles, but a sinogram of %zu views: correct the file", path,
                        f->n_angles, out->n_views);
    for (size_t i = 0; i < f->n_angles; i++)
        angles[i] = (angles[i] - QUARTER_TURN_DEG) * FBP_PI / 180;
    FBP_TRY(fbp_geometry_make_views(out, path, known, f->n_angles));
    return fbp_circle_views(&c, out->views);
}

static fbp_status take(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known, const struct fbp_blob *reply)
{
    struct found f;
    double *angles = NULL;
    size_t at = 0;
    fbp_status st;

    if (!fbp_blob_take(reply, &at, &f, sizeof f))
        return fbp_fail(FBP_ERR_IO, "%s: its description did not come back", path);
    out->projections = fbp_format("%s:%s.sinogram?sinogram", path, f.name);
    if (!out->projections)
        return fbp_fail_nomem(strlen(path), "a path");
    FBP_TRY(look(out));
    if (f.columns > 0 && fabs(f.columns - (double)out->panel.n_columns) > 0.5)
        return fbp_fail(
            FBP_ERR_INVALID,
            "%s: parameters.numDetectorsPost is %g, the sinogram has %zu columns: which "
            "part of the detector they are is not known: correct the file",
            path, f.columns, out->panel.n_columns);
    FBP_TRY_GOTO(fbp_calloc((void **)&angles, f.n_angles, sizeof *angles, "angles"));
    (void)!fbp_blob_take(reply, &at, angles, f.n_angles * sizeof *angles);
    st = make_views(out, path, known, &f, angles);
fail:
    free(angles);
    return st;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct fbp_blob reply = {0};
    fbp_status st = fbp_mat_ask(path, find_scan, &reply);

    if (st == FBP_OK)
        st = take(out, path, known, &reply);
    free(reply.bytes);
    return st;
}

static fbp_status is_one(void *arg, struct fbp_blob *reply)
{
    char name[80];
    mat_t *mat;

    FBP_TRY(fbp_mat_open_to_look(arg, &mat));
    const bool found = find_struct(mat, name);
    Mat_Close(mat);
    return fbp_blob_put(reply, &found, sizeof found);
}

/* Other programs keep geometries in MAT files, too: only the struct tells. */
static fbp_status look_inside(const char *path, const unsigned char *head, size_t n, bool *is)
{
    return fbp_mat_look(path, head, n, is_one, is);
}

const struct fbp_geometry_format fbp_geometry_helsinki = {
    .name = "helsinki",
    .about = "MAT file of a fan-beam scan, Helsinki Tomography Challenge",
    .extensions = ".mat",
    .look = look_inside,
    .load = load,
};
