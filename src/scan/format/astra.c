/* Importer and exporter of ASTRA's projection geometries (fbp_geometry_astra, and
 * fbp_geometry_astra_cone, fbp_geometry_astra_parallel for vectors), in two forms. JSON: the
 * dictionary of create_proj_geom(), with lists for arrays. NPY or plain text: vectors, 12 numbers
 * per view: the source (parallel: the rays' direction), the panel's centre, the steps from column
 * to column and from row to row. A file of vectors does not show whether it contains 3x4 matrices,
 * nor the kind of beam: its format must be named. Reference: ASTRA, python/astra/creators.py and
 * functions.py (geom_2vec), src/ConeVecProjectionGeometry3D.cpp,
 * src/ParallelVecProjectionGeometry3D.cpp.
 * Used by: scan/geometry_file.c. */
#include "scan/format/importers.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "base/math.h"
#include "base/text.h"
#include "scan/file/text.h"

#include <string.h>

enum { WIDTH = 12 };
_Static_assert(sizeof(struct fbp_view) == WIDTH * sizeof(double), "s, d, u, v of a view");

/* Make views from ASTRA's vectors[n][12]: source (parallel: ray direction of any length), centre of
 * the panel, steps to the next column and to the next row. out->kind must be set before. */
static fbp_status make_views(struct fbp_scan *out, const char *path,
                             const struct fbp_geometry_known *known, const double *vectors,
                             size_t n)
{
    FBP_TRY(fbp_geometry_make_views(out, path, known, n));
    for (size_t k = 0; k < n; k++) {
        struct fbp_view *view = &out->views[k];
        const double *v = vectors + WIDTH * k;
        memcpy(view, v, sizeof *view);
        for (int i = 0; i < WIDTH; i++)
            if (!isfinite(v[i]))
                return FBP_INVALID("%s: view %zu: number %d is not finite; correct it", path, k, i);
        if (!fbp_kind_has_source(out->kind) && !(fbp_normalise(view->s) > 0))
            return FBP_INVALID("%s: view %zu: the ray direction is 0; correct it", path, k);
    }
    return FBP_OK;
}

/* JSON. */

static const struct {
    const char *name;
    enum fbp_kind kind;
    bool flat, vectors; /* flat: one row in the plane z = 0 */
} types[] = {
    {"cone", FBP_CONE, false, false},      {"parallel3d", FBP_PARALLEL, false, false},
    {"cone_vec", FBP_CONE, false, true},   {"parallel3d_vec", FBP_PARALLEL, false, true},
    {"fanflat", FBP_CONE, true, false},    {"parallel", FBP_PARALLEL, true, false},
    {"fanflat_vec", FBP_CONE, true, true}, {"parallel_vec", FBP_PARALLEL, true, true},
};
enum { CONE, PARALLEL3D, CONE_VEC, PARALLEL3D_VEC, N_TYPES = N_OF(types) };

static fbp_status need_number(const struct fbp_json *o, const char *key,
                              const struct fbp_range *range, double *out)
{
    size_t n = 0;

    FBP_TRY(fbp_json_numbers(o, key, range, 1, 1, out, &n));
    return n ? FBP_OK : fbp_json_missing(o, key, "save the dictionary of create_proj_geom()");
}

static fbp_status circle_views(const struct fbp_json *o, bool flat, struct fbp_scan *out,
                               const struct fbp_geometry_known *known)
{
    const struct fbp_range to_axis = {0, FBP_DISTANCE_MM_MAX, false,
                                      "a number from 0 to 1e12 (mm)"};
    struct fbp_upright p = {0};
    double *angles = NULL, to_panel = 0;
    size_t n = 0;

    FBP_TRY(
        need_number(o, flat ? "DetectorWidth" : "DetectorSpacingX", &fbp_range_pitch, &p.pitch[0]));
    p.pitch[1] = p.pitch[0];
    if (!flat)
        FBP_TRY(need_number(o, "DetectorSpacingY", &fbp_range_pitch, &p.pitch[1]));
    if (fbp_kind_has_source(out->kind)) {
        FBP_TRY(need_number(o, "DistanceOriginSource", &fbp_range_distance, &p.sod));
        FBP_TRY(need_number(o, "DistanceOriginDetector", &to_axis, &to_panel));
        p.sdd = p.sod + to_panel;
    }
    FBP_TRY(fbp_json_list(o, "ProjectionAngles", &fbp_range_finite, &angles, &n));
    fbp_status st = fbp_geometry_make_views(out, o->file, known, n);
    for (size_t k = 0; st == FBP_OK && k < n; k++) {
        p.alpha_rad = angles[k];
        fbp_upright_view(&p, out->kind, &out->views[k]);
    }
    free(angles);
    return st;
}

static fbp_status vector_views(const struct fbp_json *o, bool flat, struct fbp_scan *out,
                               const struct fbp_geometry_known *known)
{
    const size_t width = flat ? 6 : WIDTH;
    double *list = NULL, *vectors = NULL;
    size_t n = 0;
    fbp_status st;

    FBP_TRY(fbp_json_table(o, "Vectors", width, &list, &n));
    /* Fan and flat parallel beams have 6 numbers per view: x and y of source or ray, of the panel's
     * centre, and of the step to the next column; pixels are taken as square. */
    FBP_TRY_GOTO(fbp_calloc((void **)&vectors, n, WIDTH * sizeof *vectors, "vectors"));
    for (size_t k = 0; k < n; k++) {
        const double *from = list + width * k;
        double *to = vectors + WIDTH * k;
        for (size_t i = 0; i < width; i++)
            to[flat ? i / 2 * 3 + i % 2 : i] = from[i];
        if (flat)
            to[11] = hypot(from[4], from[5]);
    }
    st = make_views(out, o->file, known, vectors, n);
fail:
    free(vectors);
    free(list);
    return st;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    const char *names[N_TYPES];
    size_t type = N_TYPES;
    double columns = 0, rows = 1;
    cJSON *root = NULL;
    fbp_status st;

    for (size_t i = 0; i < N_TYPES; i++)
        names[i] = types[i].name;
    FBP_TRY(fbp_json_read(path, &root));
    const struct fbp_json o = {path, "", root};
    if (!cJSON_IsObject(root))
        FBP_TRY_GOTO(FBP_INVALID("%s: expected an object in braces; save the dictionary", path));
    FBP_TRY_GOTO(fbp_json_choice(&o, "type", names, N_TYPES, &type));
    if (type == N_TYPES)
        FBP_TRY_GOTO(fbp_json_missing(&o, "type", "save the dictionary of create_proj_geom()"));
    const bool flat = types[type].flat;
    out->kind = types[type].kind;
    out->row_order = FBP_ROWS_BOTTOM_UP;
    FBP_TRY_GOTO(
        need_number(&o, flat ? "DetectorCount" : "DetectorColCount", &fbp_range_side, &columns));
    if (!flat)
        FBP_TRY_GOTO(need_number(&o, "DetectorRowCount", &fbp_range_side, &rows));
    out->panel = (struct fbp_panel){(size_t)columns, (size_t)rows};
    st = types[type].vectors ? vector_views(&o, flat, out, known)
                             : circle_views(&o, flat, out, known);
fail:
    cJSON_Delete(root);
    return st;
}

/* True if ASTRA can store the scan as distances and angles, so it needs no vectors: an upright
 * panel on a circle, without offset. *first: parameters of the first view. */
static bool is_circle(const struct fbp_scan *scan, struct fbp_upright *first)
{
    for (size_t k = 0; k < scan->n_views; k++) {
        struct fbp_upright p;
        if (!fbp_upright_of(&scan->views[k], scan->kind, &p))
            return false;
        if (k == 0)
            *first = p;
        const struct fbp_upright ideal = {
            .sod = first->sod, .sdd = first->sdd, .pitch = {first->pitch[0], first->pitch[1]}};
        if (!fbp_upright_same(&p, &ideal) || !fbp_is_close(p.height, 0, p.sod + p.sdd + p.pitch[0]))
            return false;
    }
    return !fbp_kind_has_source(scan->kind) || first->sdd >= first->sod;
}

static fbp_status save(const struct fbp_scan *scan, const char *path)
{
    const bool source = fbp_kind_has_source(scan->kind);
    struct fbp_upright p = {0}, view;
    struct fbp_writer w;

    const bool circle = is_circle(scan, &p);
    FBP_TRY(fbp_writer_open_json(&w, path));
    fbp_put_key_text(&w, "type", types[(circle ? CONE : CONE_VEC) + (source ? 0 : 1)].name);
    fbp_put_key_number(&w, "DetectorRowCount", (double)scan->panel.n_rows);
    fbp_put_key_number(&w, "DetectorColCount", (double)scan->panel.n_columns);
    if (circle) {
        fbp_put_key_number(&w, "DetectorSpacingX", p.pitch[0]);
        fbp_put_key_number(&w, "DetectorSpacingY", p.pitch[1]);
        if (source) {
            fbp_put_key_number(&w, "DistanceOriginSource", p.sod);
            fbp_put_key_number(&w, "DistanceOriginDetector", p.sdd - p.sod);
        }
    }
    fbp_put_key(&w, circle ? "ProjectionAngles" : "Vectors");
    double angle = p.alpha_rad;
    for (size_t k = 0; k < scan->n_views; k++) {
        if (!circle) {
            fbp_put_row(&w, k, (const double *)(const void *)&scan->views[k], WIDTH);
            continue;
        }
        fbp_upright_of(&scan->views[k], scan->kind, &view);
        angle = fbp_near_angle(view.alpha_rad, angle);
        fputs(k == 0 ? "[\n    " : k % 4 ? ", " : ",\n    ", w.f);
        fbp_put_number(&w, angle);
    }
    fputs("\n  ]", w.f);
    return fbp_writer_close(&w, FBP_OK);
}

const struct fbp_geometry_format fbp_geometry_astra = {
    .name = "astra",
    .about = "ASTRA's projection geometry, a dictionary as JSON",
    .extensions = ".json",
    .words = {"\"DetectorColCount\"", "\"DetectorRowCount\"", "\"DetectorSpacingX\"",
              "\"DetectorCount\"", "\"ProjectionAngles\""},
    .load = load,
    .save = save,
    .saves = FBP_KINDS_OF_LINES,
};

/* Vectors in NPY or plain text. */

static fbp_status load_vectors(struct fbp_scan *out, const char *path,
                               const struct fbp_geometry_known *known)
{
    double *vectors = NULL;
    size_t n = 0;

    FBP_TRY(fbp_geometry_need_panel(path, known, &out->panel));
    out->row_order = FBP_ROWS_BOTTOM_UP;
    if (fbp_has_extension(path, ".npy"))
        FBP_TRY(fbp_number_table_load(path, WIDTH, "an array of views x 12 numbers", &vectors, &n));
    else
        FBP_TRY(fbp_matrices_load(path, &vectors, &n));
    const fbp_status st = make_views(out, path, known, vectors, n);
    free(vectors);
    return st;
}

static fbp_status save_vectors(const struct fbp_scan *scan, const char *path)
{
    const bool npy = fbp_has_extension(path, ".npy");
    const char *separator = fbp_has_extension(path, ".csv") ? "," : " ";
    struct fbp_writer w;
    double v[WIDTH];

    FBP_TRY(fbp_writer_open(&w, path));
    /* An NPY file starts with 10 bytes and a header up to byte 128, which aligns the samples. */
    if (npy) {
        char header[128];
        memset(header, ' ', sizeof header);
        const int n = snprintf(header, sizeof header,
                               "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, 12), }",
                               scan->n_views);
        header[n] = ' ';
        header[117] = '\n';
        fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, w.f);
        fwrite(header, 1, 118, w.f);
    }
    for (size_t k = 0; k < scan->n_views; k++) {
        memcpy(v, &scan->views[k], sizeof v);
        for (int i = 0; i < WIDTH; i++) {
            w.not_finite = w.not_finite || !isfinite(v[i]);
            if (npy)
                continue;
            fputs(i ? separator : "", w.f);
            fbp_put_number(&w, v[i]);
        }
        if (npy && fbp_is_foreign(false))
            fbp_swap_bytes(v, sizeof *v, WIDTH);
        if (npy)
            fwrite(v, sizeof *v, WIDTH, w.f);
        else
            fputc('\n', w.f);
    }
    return fbp_writer_close(&w, FBP_OK);
}

const struct fbp_geometry_format fbp_geometry_astra_cone = {
    .name = "astra-cone-vec",
    .about = "ASTRA's cone_vec, 12 numbers per view",
    .extensions = ".npy .csv .txt",
    .by_name_only = true,
    .load = load_vectors,
    .save = save_vectors,
    .saves = FBP_KIND_BIT(FBP_CONE),
    .instead = {[FBP_PARALLEL] = "the beam is parallel; write astra-parallel-vec"},
};

const struct fbp_geometry_format fbp_geometry_astra_parallel = {
    .name = "astra-parallel-vec",
    .about = "ASTRA's parallel3d_vec, 12 numbers per view",
    .extensions = ".npy .csv .txt",
    .by_name_only = true,
    .kind = FBP_PARALLEL,
    .load = load_vectors,
    .save = save_vectors,
    .saves = FBP_KIND_BIT(FBP_PARALLEL),
    .instead = {[FBP_CONE] = "the beam is a cone; write astra-cone-vec"},
};
