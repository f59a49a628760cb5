/* ASTRA's projection geometries as JSON: the dictionary of create_proj_geom(), with lists for
 * arrays.  ASTRA, python/astra/creators.py and functions.py (geom_2vec). */
#include "scan/format/geometry_astra.h"
#include "scan/file/geometry_upright.h"

#include "base/base.h"
#include "base/math.h"
#include "scan/file/scan_json.h"
#include "scan/file/scan_write.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum fbp_kind kind;
    bool flat, vectors;
} types[] = {
    {"cone", FBP_CONE, false, false},      {"parallel3d", FBP_PARALLEL, false, false},
    {"cone_vec", FBP_CONE, false, true},   {"parallel3d_vec", FBP_PARALLEL, false, true},
    {"fanflat", FBP_CONE, true, false},    {"parallel", FBP_PARALLEL, true, false},
    {"fanflat_vec", FBP_CONE, true, true}, {"parallel_vec", FBP_PARALLEL, true, true},
};
enum { CONE, PARALLEL3D, CONE_VEC, PARALLEL3D_VEC, N_TYPES = sizeof types / sizeof *types };

/* Values of one geometry are one value if they agree to this part of its size. */
static const double SAME = 1e-13;

static fbp_status need_number(const struct fbp_json *o, const char *key,
                              const struct fbp_range *range, double *out)
{
    size_t n = 0;

    FBP_TRY(fbp_json_numbers(o, key, range, 1, 1, out, &n));
    return n ? FBP_OK : fbp_json_missing(o, key, "create_proj_geom() puts it there");
}

static fbp_status read_panel(const struct fbp_json *o, bool flat, struct fbp_panel *out)
{
    double columns = 0, rows = 1;

    FBP_TRY(need_number(o, flat ? "DetectorCount" : "DetectorColCount", &fbp_range_side, &columns));
    if (!flat)
        FBP_TRY(need_number(o, "DetectorRowCount", &fbp_range_side, &rows));
    *out = (struct fbp_panel){(size_t)columns, (size_t)rows};
    return FBP_OK;
}

static fbp_status read_circle(const struct fbp_json *o, enum fbp_kind kind, bool flat,
                              struct fbp_upright *out)
{
    const struct fbp_range to_axis = {0, FBP_DISTANCE_MM_MAX, false,
                                      "a number from 0 to 1e12 (mm)"};
    double to_panel = 0;

    FBP_TRY(need_number(o, flat ? "DetectorWidth" : "DetectorSpacingX", &fbp_range_pitch,
                        &out->pitch[0]));
    out->pitch[1] = out->pitch[0];
    if (!flat)
        FBP_TRY(need_number(o, "DetectorSpacingY", &fbp_range_pitch, &out->pitch[1]));
    if (!fbp_kind_has_source(kind))
        return FBP_OK;
    FBP_TRY(need_number(o, "DistanceOriginSource", &fbp_range_distance, &out->sod));
    FBP_TRY(need_number(o, "DistanceOriginDetector", &to_axis, &to_panel));
    out->sdd = out->sod + to_panel;
    return FBP_OK;
}

static fbp_status circle_views(const struct fbp_json *o, bool flat, struct fbp_scan *out,
                               const struct fbp_geometry_known *known)
{
    struct fbp_upright p = {0};
    double *angles = NULL;
    size_t n = 0;

    FBP_TRY(read_circle(o, out->kind, flat, &p));
    FBP_TRY(fbp_json_list(o, "ProjectionAngles", &fbp_range_finite, &angles, &n));
    fbp_status st = fbp_geometry_make_views(out, o->file, known, n);
    for (size_t k = 0; st == FBP_OK && k < n; k++) {
        p.alpha_rad = angles[k];
        fbp_upright_view(&p, out->kind, &out->views[k]);
    }
    free(angles);
    return st;
}

/* Source or ray, panel, step from column to column in the plane z = 0, two numbers each.  The one
 * row is as high as columns are wide. */
static void lift(const double flat[6], double out[12])
{
    memset(out, 0, 12 * sizeof *out);
    for (size_t i = 0; i < 6; i++)
        out[i / 2 * 3 + i % 2] = flat[i];
    out[11] = hypot(flat[4], flat[5]);
}

static fbp_status read_vectors(const struct fbp_json *o, bool flat, double **out, size_t *n)
{
    double *narrow = NULL;

    if (!flat)
        return fbp_json_table(o, "Vectors", 12, out, n);
    FBP_TRY(fbp_json_table(o, "Vectors", 6, &narrow, n));
    const fbp_status st = fbp_calloc((void **)out, *n, 12 * sizeof **out, "vectors");
    for (size_t k = 0; st == FBP_OK && k < *n; k++)
        lift(narrow + 6 * k, *out + 12 * k);
    free(narrow);
    return st;
}

static fbp_status vector_views(const struct fbp_json *o, bool flat, struct fbp_scan *out,
                               const struct fbp_geometry_known *known)
{
    double *vectors = NULL;
    size_t n = 0;

    FBP_TRY(read_vectors(o, flat, &vectors, &n));
    const fbp_status st = fbp_astra_views(out, o->file, known, vectors, n);
    free(vectors);
    return st;
}

static fbp_status read(const struct fbp_json *o, struct fbp_scan *out,
                       const struct fbp_geometry_known *known)
{
    const char *names[N_TYPES];
    size_t type = N_TYPES;

    for (size_t i = 0; i < N_TYPES; i++)
        names[i] = types[i].name;
    if (!cJSON_IsObject(o->object))
        return fbp_fail(FBP_ERR_INVALID, "%s: expected an object in braces: save the dictionary",
                        o->file);
    FBP_TRY(fbp_json_choice(o, "type", names, N_TYPES, &type));
    if (type == N_TYPES)
        return fbp_json_missing(o, "type", "create_proj_geom() puts it there");
    out->kind = types[type].kind;
    out->row_order = FBP_ROWS_BOTTOM_UP;
    FBP_TRY(read_panel(o, types[type].flat, &out->panel));
    return types[type].vectors ? vector_views(o, types[type].flat, out, known)
                               : circle_views(o, types[type].flat, out, known);
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    cJSON *root = NULL;

    FBP_TRY(fbp_json_read(path, &root));
    const struct fbp_json o = {path, "", root};
    const fbp_status st = read(&o, out, known);
    cJSON_Delete(root);
    return st;
}

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    static const char *const keys[] = {"\"DetectorColCount\"", "\"DetectorRowCount\"",
                                       "\"DetectorSpacingX\"", "\"DetectorCount\"",
                                       "\"ProjectionAngles\""};

    (void)path;
    for (size_t i = 0; n > 0 && i < sizeof keys / sizeof *keys; i++)
        if (memmem(head, n, keys[i], strlen(keys[i])))
            return true;
    return false;
}

static bool are_close(double a, double b, double size)
{
    return fabs(a - b) <= SAME * size;
}

/* Is the scan one of ASTRA's circles?  FDK there works with these alone. */
static bool is_circle(const struct fbp_scan *scan, struct fbp_upright *first)
{
    for (size_t k = 0; k < scan->n_views; k++) {
        struct fbp_upright p;
        if (!fbp_upright_of(&scan->views[k], scan->kind, &p))
            return false;
        if (k == 0)
            *first = p;
        const double size = p.sod + p.sdd + p.pitch[0];
        if (!(are_close(p.sod, first->sod, size) && are_close(p.sdd, first->sdd, size) &&
              are_close(p.tau, 0, size) && are_close(p.height, 0, size) &&
              are_close(p.shift[0], 0, size) && are_close(p.shift[1], 0, size) &&
              are_close(p.tilt_rad, 0, 1) && are_close(p.pitch[0], first->pitch[0], p.pitch[0]) &&
              are_close(p.pitch[1], first->pitch[1], p.pitch[1])))
            return false;
    }
    return !fbp_kind_has_source(scan->kind) || first->sdd >= first->sod;
}

static void put_circle(struct fbp_writer *w, const struct fbp_scan *scan,
                       const struct fbp_upright *p)
{
    fbp_put_key(w, "DetectorSpacingX");
    fbp_put_number(w, p->pitch[0]);
    fbp_put_key(w, "DetectorSpacingY");
    fbp_put_number(w, p->pitch[1]);
    if (fbp_kind_has_source(scan->kind)) {
        fbp_put_key(w, "DistanceOriginSource");
        fbp_put_number(w, p->sod);
        fbp_put_key(w, "DistanceOriginDetector");
        fbp_put_number(w, p->sdd - p->sod);
    }
    fbp_put_key(w, "ProjectionAngles");
    double angle = p->alpha_rad;
    for (size_t k = 0; k < scan->n_views; k++) {
        struct fbp_upright view;
        fbp_upright_of(&scan->views[k], scan->kind, &view);
        angle = fbp_near_angle(view.alpha_rad, angle);
        fputs(k == 0 ? "[\n    " : k % 4 ? ", " : ",\n    ", w->f);
        fbp_put_number(w, angle);
    }
    fputs("\n  ]", w->f);
}

static void put_vectors(struct fbp_writer *w, const struct fbp_scan *scan)
{
    double v[12];

    fbp_put_key(w, "Vectors");
    for (size_t k = 0; k < scan->n_views; k++) {
        fbp_astra_vector(&scan->views[k], v);
        fputs(k ? ",\n    " : "[\n    ", w->f);
        fbp_put_numbers(w, v, 12);
    }
    fputs("\n  ]", w->f);
}

static fbp_status save(const struct fbp_scan *scan, const char *path)
{
    const bool source = fbp_kind_has_source(scan->kind);
    struct fbp_upright first = {0};
    struct fbp_writer w;

    const bool circle = is_circle(scan, &first);
    FBP_TRY(fbp_writer_open_json(&w, path));
    fbp_put_key(&w, "type");
    fbp_put_text(&w, types[(circle ? CONE : CONE_VEC) + (source ? 0 : 1)].name);
    fbp_put_key(&w, "DetectorRowCount");
    fprintf(w.f, "%zu", scan->panel.n_rows);
    fbp_put_key(&w, "DetectorColCount");
    fprintf(w.f, "%zu", scan->panel.n_columns);
    if (circle)
        put_circle(&w, scan, &first);
    else
        put_vectors(&w, scan);
    return fbp_writer_close(&w, FBP_OK);
}

const struct fbp_geometry_format fbp_geometry_astra = {
    .name = "astra",
    .about = "ASTRA's projection geometry, a dictionary as JSON",
    .extensions = ".json",
    .detect = detect,
    .load = load,
    .save = save,
    .saves = FBP_KINDS_OF_LINES,
};
