/* Importer and exporter of RTK's ThreeDCircularProjectionGeometry (fbp_geometry_rtk): reads XML
 * files of versions 2 and 3, writes version 3, and converts RTK's parameters of a
 * projection to a view (fbp_rtk_view()) or a matrix (fbp_rtk_matrix()), and a view to parameters
 * (fbp_rtk_of()).
 * Used by: linac.c, scan/geometry_file.c. */
#include "scan/format/importers.h"

#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/math.h"
#include "scan/file/text.h"

#include <string.h>
#include <strings.h>

/* Source-to-isocentre distance (SID) that is written for parallel projections [mm]; RTK writes the
 * same value, and no result depends on it. */
static const double PARALLEL_SID = 1000;
/* Parallel beam: the panel counts as perpendicular to the rays if its unit normal and the direction
 * to the source differ by at most this length. */
static const double EQUAL = 1e-10;
static const double DEGREE = FBP_PI / 180;

/* R = Rz(-i) Rx(-o) Ry(-g), row by row; i, o, g: in-plane, out-of-plane and gantry angle. */
static void rotation(const struct fbp_rtk *p, double R[3][3])
{
    const double cg = cos(p->gantry_rad), sg = -sin(p->gantry_rad);
    const double co = cos(p->out_of_plane_rad), so = -sin(p->out_of_plane_rad);
    const double ci = cos(p->in_plane_rad), si = -sin(p->in_plane_rad);
    const double x[3] = {cg, 0, sg}, y[3] = {so * sg, co, -so * cg};

    for (int k = 0; k < 3; k++) {
        R[0][k] = ci * x[k] - si * y[k];
        R[1][k] = si * x[k] + ci * y[k];
    }
    R[2][0] = -co * sg;
    R[2][1] = so;
    R[2][2] = co * cg;
}

/* R^T x, in the axes of fbp. */
static void to_world(double R[3][3], double a, double b, double c, double out[3])
{
    double x[3];

    for (int k = 0; k < 3; k++)
        x[k] = a * R[0][k] + b * R[1][k] + c * R[2][k];
    out[0] = x[0];
    out[1] = -x[2];
    out[2] = x[1];
}

void fbp_rtk_view(const struct fbp_rtk *p, const double pitch[2], const double centre[2],
                  struct fbp_view *out)
{
    const bool cone = fabs(p->sdd_mm) > 0;
    double R[3][3];

    rotation(p, R);
    if (cone)
        to_world(R, p->source_mm[0], p->source_mm[1], p->sid_mm, out->s);
    else
        to_world(R, 0, 0, 1, out->s);
    to_world(R, p->projection_mm[0] + centre[0], p->projection_mm[1] + centre[1],
             cone ? p->sid_mm - p->sdd_mm : 0, out->d);
    to_world(R, pitch[0], 0, 0, out->u);
    to_world(R, 0, pitch[1], 0, out->v);
}

static void to_rtk(const double x[3], double out[3])
{
    out[0] = x[0];
    out[1] = x[2];
    out[2] = -x[1];
}

void fbp_rtk_of(const struct fbp_view *view, enum fbp_kind kind, struct fbp_rtk *out)
{
    double s[3], d[3], R[3][3], upright[3][3];
    struct fbp_rtk angles = {0};

    to_rtk(view->s, s);
    to_rtk(view->d, d);
    to_rtk(view->u, R[0]);
    to_rtk(view->v, R[1]);
    fbp_cross(R[0], R[1], R[2]);
    for (int i = 0; i < 3; i++)
        fbp_normalise(R[i]);

    /* The in-plane angle is the rotation that remains when the other two rotations are undone. This
     * computation is well-conditioned even at an out-of-plane angle of 90 degrees, at which the
     * gantry angle is not determined. */
    const double *n = R[2];
    angles.gantry_rad = -atan2(-n[0], n[2]);
    angles.out_of_plane_rad = -atan2(n[1], hypot(n[0], n[2]));
    rotation(&angles, upright);
    angles.in_plane_rad = -atan2(fbp_dot(R[1], upright[0]), fbp_dot(R[0], upright[0]));
    if (angles.gantry_rad < 0)
        angles.gantry_rad += 2 * FBP_PI;

    *out = angles;
    out->sid_mm = PARALLEL_SID;
    for (int i = 0; i < 2; i++)
        out->projection_mm[i] = fbp_dot(d, R[i]);
    if (!fbp_kind_has_source(kind))
        return;
    for (int i = 0; i < 2; i++)
        out->source_mm[i] = fbp_dot(s, R[i]);
    out->sid_mm = fbp_dot(s, R[2]);
    out->sdd_mm = out->sid_mm - fbp_dot(d, R[2]);
}

/* Cone beam: a point q, in the panel's axes, is projected to the image coordinates x, y of
 * source_mm + sdd_mm / (sid_mm - q_z) (q - source_mm) - projection_mm. */
void fbp_rtk_matrix(const struct fbp_rtk *p, double M[12])
{
    const bool cone = fabs(p->sdd_mm) > 0;
    double R[3][3];

    rotation(p, R);
    for (int i = 0; i < 2; i++) {
        const double shift = p->source_mm[i] - p->projection_mm[i];
        for (int k = 0; k < 3; k++)
            M[4 * i + k] = cone ? -p->sdd_mm * R[i][k] + shift * R[2][k] : R[i][k];
        M[4 * i + 3] =
            cone ? p->sdd_mm * p->source_mm[i] - p->sid_mm * shift : -p->projection_mm[i];
    }
    memset(M + 8, 0, 4 * sizeof *M);
    if (cone)
        memcpy(M + 8, R[2], sizeof R[2]);
    M[11] = cone ? -p->sid_mm : 1;
}

/* XML elements of a projection, and the parameters that they set.  A parameter keeps its value in
 * the next projections until an element changes it. */
static const struct {
    const char *name;
    size_t offset; /* in struct fbp_rtk */
    bool degrees;
} elements[] = {{"GantryAngle", offsetof(struct fbp_rtk, gantry_rad), true},
                {"Angle", offsetof(struct fbp_rtk, gantry_rad), true}, /* older name */
                {"OutOfPlaneAngle", offsetof(struct fbp_rtk, out_of_plane_rad), true},
                {"InPlaneAngle", offsetof(struct fbp_rtk, in_plane_rad), true},
                {"SourceToIsocenterDistance", offsetof(struct fbp_rtk, sid_mm), false},
                {"SourceToDetectorDistance", offsetof(struct fbp_rtk, sdd_mm), false},
                {"SourceOffsetX", offsetof(struct fbp_rtk, source_mm[0]), false},
                {"SourceOffsetY", offsetof(struct fbp_rtk, source_mm[1]), false},
                {"ProjectionOffsetX", offsetof(struct fbp_rtk, projection_mm[0]), false},
                {"ProjectionOffsetY", offsetof(struct fbp_rtk, projection_mm[1]), false}};

/* Tolerated difference between a matrix in the file and that of its parameters; as in RTK. */
static const double MATRIX_TOLERANCE = 1e-3;

static const char *const jaw_names[4] = {"CollimationUInf", "CollimationUSup", "CollimationVInf",
                                         "CollimationVSup"};

struct reader {
    struct fbp_xml xml;
    /* Per jaw of the collimator: least distance from the middle [mm]; more than 1e9: no jaw. */
    double jaws[4];
    bool has_matrix; /* the present projection has a matrix */
    double matrix[12];
    struct fbp_rtk now; /* parameters of the present projection */
    struct fbp_rtk *list;
    size_t n, room;
};

static fbp_status on_root(struct fbp_xml *xml, const char *name, const char **attributes)
{
    const char *version = "none";

    if (strcasecmp(name, "RTKThreeDCircularGeometry") != 0)
        return FBP_INVALID("%s: the root element is <%.60s>, not <RTKThreeDCircularGeometry>; "
                           "give a geometry file of RTK",
                           xml->path, name);
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], "version") == 0)
            version = attributes[1];
    if (strcmp(version, "2") != 0 && strcmp(version, "3") != 0)
        return FBP_UNSUPPORTED("%s: version %.20s of RTK's geometry is unknown (2 and 3 are "
                               "supported); write the file with another version of RTK",
                               xml->path, version);
    return FBP_OK;
}

static fbp_status on_element(struct fbp_xml *xml, const char *name)
{
    struct reader *r = (struct reader *)(void *)xml;
    const struct fbp_rtk *p = &r->now;
    double x = 0, matrix[12];

    if (strcasecmp(name, "Projection") == 0) {
        if (!(p->sdd_mm >= 0))
            return FBP_INVALID("%s: projection %zu (line %zu): SourceToDetectorDistance is %g mm, "
                               "expected a positive number, or 0 for parallel beams",
                               xml->path, r->n, xml->line, p->sdd_mm);
        if (p->sdd_mm > 0 && !(p->sid_mm > 0))
            return FBP_INVALID("%s: projection %zu (line %zu): SourceToIsocenterDistance is %g mm, "
                               "expected a positive number",
                               xml->path, r->n, xml->line, p->sid_mm);
        if (r->n > 0 && (p->sdd_mm > 0) != (r->list[0].sdd_mm > 0))
            return FBP_UNSUPPORTED("%s: projection %zu (line %zu): parallel and divergent beams in "
                                   "one geometry; write separate files",
                                   xml->path, r->n, xml->line);
        fbp_rtk_matrix(p, matrix);
        for (int i = 0; r->has_matrix && i < 12; i++)
            if (!(fabs(r->matrix[i] - matrix[i]) <= MATRIX_TOLERANCE))
                return FBP_INVALID("%s: projection %zu (line %zu): the matrix has %.9g in row %d, "
                                   "column %d, but the parameters give %.9g; remove the wrong ones",
                                   xml->path, r->n, xml->line, r->matrix[i], i / 4, i % 4,
                                   matrix[i]);
        r->has_matrix = false;
        FBP_TRY(fbp_reserve((void **)&r->list, sizeof *r->list, r->n + 1, &r->room, "projections"));
        r->list[r->n++] = r->now;
        return FBP_OK;
    }
    if (strcasecmp(name, "Matrix") == 0) {
        FBP_TRY(fbp_xml_numbers(xml, "Matrix", r->matrix, 12));
        r->has_matrix = true;
        return FBP_OK;
    }
    if (strcasecmp(name, "RadiusCylindricalDetector") == 0) {
        FBP_TRY(fbp_xml_numbers(xml, "RadiusCylindricalDetector", &x, 1));
        if (fabs(x) > 0)
            return FBP_UNSUPPORTED(
                "%s: line %zu: the detector is a cylinder of radius %g mm, but only flat panels "
                "are supported; resample the projections to a flat panel",
                xml->path, xml->line, x);
        return FBP_OK;
    }
    for (size_t i = 0; i < N_OF(elements); i++) {
        if (strcasecmp(name, elements[i].name) != 0)
            continue;
        FBP_TRY(fbp_xml_numbers(xml, elements[i].name, &x, 1));
        *(double *)(void *)((char *)&r->now + elements[i].offset) =
            elements[i].degrees ? x * DEGREE : x;
        return FBP_OK;
    }
    /* Position of a collimator jaw: RTK can set pixels behind the jaw to 0, and writes the greatest
     * double if there is no jaw.  Other elements are ignored. */
    for (int i = 0; i < 4; i++) {
        if (strcasecmp(name, jaw_names[i]) != 0)
            continue;
        FBP_TRY(fbp_xml_numbers(xml, jaw_names[i], &x, 1));
        r->jaws[i] = fmin(r->jaws[i], fabs(x));
    }
    return FBP_OK;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct reader r = {.xml = {path, .root = on_root, .element = on_element},
                       .jaws = {INFINITY, INFINITY, INFINITY, INFINITY}};
    double pitch[2], centre[2] = {0, 0};
    char value[40];
    fbp_status st;

    FBP_TRY_GOTO(fbp_xml_read(&r.xml, "XML files of RTK"));
    FBP_TRY_GOTO(fbp_geometry_need_panel(path, known, &out->panel));
    const size_t sides[2] = {out->panel.n_columns, out->panel.n_rows};
    /* If the caller gives a pitch, the panel is centred on the origin of RTK's image coordinates.
     * Otherwise its pitch and centre are those in the header of the projections (RTK's spacing and
     * origin). */
    if (known->pitch_mm[0] > 0 || !(known->header_spacing_mm[0] > 0))
        FBP_TRY_GOTO(fbp_geometry_need_pitch(path, known, pitch));
    else
        for (int i = 0; i < 2; i++) {
            pitch[i] = known->header_spacing_mm[i];
            centre[i] = known->header_origin_mm[i] + ((double)sides[i] - 1) / 2 * pitch[i];
        }
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, r.n));
    out->kind = r.list[0].sdd_mm > 0 ? FBP_CONE : FBP_PARALLEL;
    out->row_order = FBP_ROWS_BOTTOM_UP;
    for (size_t k = 0; k < r.n; k++)
        fbp_rtk_view(&r.list[k], pitch, centre, &out->views[k]);
    for (int i = 0; i < 4; i++) {
        if (!(r.jaws[i] < 1e9))
            continue;
        snprintf(value, sizeof value, "%g", r.jaws[i]);
        FBP_TRY_GOTO(fbp_scan_note_ignored(out, path, jaw_names[i], value,
                                           "pixels behind a collimator are used like all others"));
    }
fail:
    free(r.list);
    return st;
}

static fbp_status save(const struct fbp_scan *scan, const char *path)
{
    struct fbp_writer w;
    const bool source = fbp_kind_has_source(scan->kind);
    struct fbp_rtk p;
    double M[12], n[3], towards[3];

    /* refuse views that RTK's parameters cannot hold */
    for (size_t k = 0; k < scan->n_views; k++) {
        const struct fbp_view *view = &scan->views[k];
        FBP_TRY(fbp_geometry_check_square(scan, path, k, "RTK"));
        fbp_cross(view->u, view->v, n);
        fbp_normalise(n);
        fbp_axpy(view->s, source ? -1 : 0, view->d, towards);
        if (!(fbp_dot(n, towards) > 0))
            return FBP_UNSUPPORTED("%s: view %zu: seen from the source with columns to the right, "
                                   "rows run downwards, but RTK needs rows that run upwards; "
                                   "reverse the rows of the projections and of the view",
                                   path, k);
        fbp_axpy(n, -1 / fbp_norm(view->s), view->s, towards);
        if (!source && !(fbp_norm(towards) <= EQUAL))
            return FBP_UNSUPPORTED("%s: view %zu: the panel is not perpendicular to the rays, "
                                   "which RTK cannot store for parallel beams; write a scan file",
                                   path, k);
    }
    FBP_TRY(fbp_writer_open(&w, path));
    fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE RTKGEOMETRY>\n"
          "<RTKThreeDCircularGeometry version=\"3\">\n",
          w.f);
    for (size_t k = 0; k < scan->n_views; k++) {
        fbp_rtk_of(&scan->views[k], scan->kind, &p);
        fputs("  <Projection>\n", w.f);
        for (size_t i = 0; i < N_OF(elements); i++) {
            const double x = *(const double *)(const void *)((const char *)&p + elements[i].offset);
            if (strcmp(elements[i].name, "Angle") == 0)
                continue;
            fprintf(w.f, "    <%s>", elements[i].name);
            fbp_put_number(&w, elements[i].degrees ? x / DEGREE : x);
            fprintf(w.f, "</%s>\n", elements[i].name);
        }
        fbp_rtk_matrix(&p, M);
        fputs("    <Matrix>\n", w.f);
        for (int i = 0; i < 12; i++) {
            fputs(i % 4 == 0 ? "      " : " ", w.f);
            fbp_put_number(&w, M[i]);
            fputs(i % 4 == 3 ? "\n" : "", w.f);
        }
        fputs("    </Matrix>\n  </Projection>\n", w.f);
    }
    fputs("</RTKThreeDCircularGeometry>\n", w.f);
    return fbp_writer_close(&w, FBP_OK);
}

const struct fbp_geometry_format fbp_geometry_rtk = {
    .name = "rtk",
    .about = "RTK's ThreeDCircularGeometry XML",
    .extensions = ".xml",
    .words = {"<RTKThreeDCircularGeometry"},
    .load = load,
    .save = save,
    .saves = FBP_KINDS_OF_LINES,
};
