/* RTK's geometry files, XML of versions 2 and 3, as a format of geometry. */
#include "scan/file/geometry_format.h"
#include "scan/format/geometry_rtk.h"

#include "array/file/bytes.h"
#include "array/format/optional.h"
#include "base/base.h"
#include "base/math.h"
#include "scan/file/scan_notes.h"
#include "scan/file/scan_write.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Axes that are orthogonal and pitches that are equal to this part of them count as such. */
static const double EQUAL = 1e-10;
static const double DEGREE = FBP_PI / 180;

/* Where a value belongs: into the parameters, which stay until they are given again. */
static const struct {
    const char *name;
    size_t offset;
    bool degrees;
} elements[] = {
    {"GantryAngle", offsetof(struct fbp_rtk, gantry_rad), true},
    {"Angle", offsetof(struct fbp_rtk, gantry_rad), true}, /* of version 1 */
    {"OutOfPlaneAngle", offsetof(struct fbp_rtk, out_of_plane_rad), true},
    {"InPlaneAngle", offsetof(struct fbp_rtk, in_plane_rad), true},
    {"SourceToIsocenterDistance", offsetof(struct fbp_rtk, sid_mm), false},
    {"SourceToDetectorDistance", offsetof(struct fbp_rtk, sdd_mm), false},
    {"SourceOffsetX", offsetof(struct fbp_rtk, source_mm[0]), false},
    {"SourceOffsetY", offsetof(struct fbp_rtk, source_mm[1]), false},
    {"ProjectionOffsetX", offsetof(struct fbp_rtk, projection_mm[0]), false},
    {"ProjectionOffsetY", offsetof(struct fbp_rtk, projection_mm[1]), false},
};
enum { N_ELEMENTS = sizeof elements / sizeof *elements };

#ifdef FBP_HAS_EXPAT
#    include <expat.h>

enum { MAX_BYTES = 1 << 28, MAX_TEXT = 4096 };

/* RTK's own tolerance, in the matrix's units. */
static const double MATRIX_TOLERANCE = 1e-3;

static const char *const jaw_names[4] = {"CollimationUInf", "CollimationUSup", "CollimationVInf",
                                         "CollimationVSup"};

/* The parser's state; the first failure ends it. */
struct reader {
    const char *path;
    XML_Parser parser;
    fbp_status status;
    char text[MAX_TEXT + 1]; /* of the element being read */
    size_t n_text;
    bool root;       /* the root element was seen, and is RTK's */
    double jaws[4];  /* of the collimator, each nearest to the middle; RTK's default is none */
    bool has_matrix; /* since the last projection */
    double matrix[12];
    struct fbp_rtk now; /* what was said last */
    struct fbp_rtk *list;
    size_t n, room;
};

static void stop(struct reader *r, fbp_status st)
{
    r->status = st;
    XML_StopParser(r->parser, XML_FALSE);
}

static size_t line_of(const struct reader *r)
{
    return (size_t)XML_GetCurrentLineNumber(r->parser);
}

/* n numbers and nothing else. */
static bool numbers(const char *text, double *out, size_t n)
{
    char *end = NULL;

    for (size_t i = 0; i < n; i++) {
        out[i] = fbp_number(text, &end);
        if (end == text || !isfinite(out[i]))
            return false;
        text = end;
    }
    return text[strspn(text, " \t\r\n")] == '\0';
}

static void check_root(struct reader *r, const char *name, const char **attributes)
{
    const char *version = "none";

    if (strcasecmp(name, "RTKThreeDCircularGeometry") != 0) {
        stop(r, fbp_fail(FBP_ERR_INVALID,
                         "%s: the root element is <%.60s>, not <RTKThreeDCircularGeometry>: give a "
                         "geometry of RTK's",
                         r->path, name));
        return;
    }
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], "version") == 0)
            version = attributes[1];
    if (strcmp(version, "2") != 0 && strcmp(version, "3") != 0)
        stop(r, fbp_fail(FBP_ERR_UNSUPPORTED,
                         "%s: version %.20s of RTK's geometry is not known (2 and 3 are): write it "
                         "again with a newer RTK",
                         r->path, version));
    r->root = true;
}

static void XMLCALL on_start(void *user, const char *name, const char **attributes)
{
    struct reader *r = user;

    r->n_text = 0;
    if (!r->root)
        check_root(r, name, attributes);
}

static void XMLCALL on_text(void *user, const char *text, int n)
{
    struct reader *r = user;
    const size_t room = MAX_TEXT - r->n_text, take = (size_t)n < room ? (size_t)n : room;

    memcpy(r->text + r->n_text, text, take);
    r->n_text += take;
    if (take < (size_t)n)
        r->text[0] = '?'; /* too long for any number: no number */
}

/* Entities have no business in numbers. */
static void XMLCALL on_entity(void *user, const char *name, int is_parameter, const char *value,
                              int n, const char *base, const char *system, const char *public_id,
                              const char *notation)
{
    struct reader *r = user;

    (void)name, (void)is_parameter, (void)value, (void)n, (void)base, (void)system;
    (void)public_id, (void)notation;
    stop(r, fbp_fail(FBP_ERR_INVALID, "%s: line %zu: declares an entity: remove it", r->path,
                     line_of(r)));
}

static fbp_status check_matrix(const struct reader *r)
{
    double expected[12];

    fbp_rtk_matrix(&r->now, expected);
    for (int i = 0; i < 12; i++)
        if (!(fabs(r->matrix[i] - expected[i]) <= MATRIX_TOLERANCE))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: projection %zu (line %zu): its matrix has %.9g in row %d, column "
                            "%d, its parameters give %.9g: remove the wrong ones",
                            r->path, r->n, line_of(r), r->matrix[i], i / 4, i % 4, expected[i]);
    return FBP_OK;
}

static fbp_status check_projection(const struct reader *r)
{
    const struct fbp_rtk *p = &r->now;

    if (!(p->sdd_mm >= 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: projection %zu (line %zu): SourceToDetectorDistance %g mm: it must be "
                        "positive, or 0 for parallel beams",
                        r->path, r->n, line_of(r), p->sdd_mm);
    if (p->sdd_mm > 0 && !(p->sid_mm > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: projection %zu (line %zu): SourceToIsocenterDistance %g mm: it must "
                        "be positive",
                        r->path, r->n, line_of(r), p->sid_mm);
    if (r->n > 0 && (p->sdd_mm > 0) != (r->list[0].sdd_mm > 0))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: projection %zu (line %zu): parallel and divergent beams in one "
                        "geometry: take them apart",
                        r->path, r->n, line_of(r));
    return r->has_matrix ? check_matrix(r) : FBP_OK;
}

static fbp_status add_projection(struct reader *r)
{
    FBP_TRY(check_projection(r));
    r->has_matrix = false;
    if (r->n == r->room) {
        const size_t room = r->room ? 2 * r->room : 64;
        struct fbp_rtk *list = realloc(r->list, room * sizeof *list);
        if (!list)
            return fbp_fail_nomem(room * sizeof *list, "projections");
        r->list = list;
        r->room = room;
    }
    r->list[r->n++] = r->now;
    return FBP_OK;
}

static fbp_status not_numbers(const struct reader *r, const char *name, const char *expected)
{
    return fbp_fail(FBP_ERR_INVALID, "%s: line %zu: %s: found \"%.40s\", expected %s", r->path,
                    line_of(r), name, r->text, expected);
}

static fbp_status take_matrix(struct reader *r)
{
    if (!numbers(r->text, r->matrix, 12))
        return not_numbers(r, "Matrix", "12 numbers");
    r->has_matrix = true;
    return FBP_OK;
}

static fbp_status take_radius(const struct reader *r)
{
    double radius = 0;

    if (!numbers(r->text, &radius, 1))
        return not_numbers(r, "RadiusCylindricalDetector", "a number");
    if (fabs(radius) > 0)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: line %zu: the detector is a cylinder of radius %g mm: only flat "
                        "panels can be read",
                        r->path, line_of(r), radius);
    return FBP_OK;
}

/* RTK sets what lies behind a jaw to 0 where it is told to; absent ones are at the largest double.
 */
static fbp_status take_jaw(struct reader *r, const char *name)
{
    double x = 0;

    for (int i = 0; i < 4; i++) {
        if (strcasecmp(name, jaw_names[i]) != 0)
            continue;
        if (!numbers(r->text, &x, 1))
            return not_numbers(r, jaw_names[i], "a number");
        r->jaws[i] = fmin(r->jaws[i], fabs(x));
    }
    return FBP_OK;
}

static fbp_status take_element(struct reader *r, const char *name)
{
    double x = 0;

    r->text[r->n_text] = '\0';
    if (strcasecmp(name, "Projection") == 0)
        return add_projection(r);
    if (strcasecmp(name, "Matrix") == 0)
        return take_matrix(r);
    if (strcasecmp(name, "RadiusCylindricalDetector") == 0)
        return take_radius(r);
    for (int i = 0; i < N_ELEMENTS; i++) {
        if (strcasecmp(name, elements[i].name) != 0)
            continue;
        if (!numbers(r->text, &x, 1))
            return not_numbers(r, elements[i].name, "a number");
        *(double *)(void *)((char *)&r->now + elements[i].offset) =
            elements[i].degrees ? x * DEGREE : x;
        return FBP_OK;
    }
    return take_jaw(r, name); /* or what files in the wild carry */
}

static void XMLCALL on_end(void *user, const char *name)
{
    struct reader *r = user;
    const fbp_status st = take_element(r, name);

    r->n_text = 0;
    if (st != FBP_OK)
        stop(r, st);
}

static fbp_status parse(struct reader *r, const char *text, size_t n)
{
    r->parser = XML_ParserCreate(NULL);
    if (!r->parser)
        return fbp_fail_nomem(n, "an XML parser");
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetEntityDeclHandler(r->parser, on_entity);
    if (XML_Parse(r->parser, text, (int)n, 1) != XML_STATUS_OK && r->status == FBP_OK)
        r->status = fbp_fail(FBP_ERR_INVALID, "%s: line %zu: not well-formed XML (%s): correct it",
                             r->path, line_of(r), XML_ErrorString(XML_GetErrorCode(r->parser)));
    XML_ParserFree(r->parser);
    return r->status;
}

/* The array's header has RTK's spacing and origin; a pitch that was given says that the panel is
 * centred. */
static fbp_status place(const char *path, const struct fbp_geometry_known *known,
                        const struct fbp_panel *panel, double pitch[2], double centre[2])
{
    const size_t n[2] = {panel->n_columns, panel->n_rows};

    centre[0] = centre[1] = 0;
    if (known->pitch_mm[0] > 0 || !(known->header_spacing_mm[0] > 0))
        return fbp_geometry_need_pitch(path, known, pitch);
    for (int i = 0; i < 2; i++) {
        pitch[i] = known->header_spacing_mm[i];
        centre[i] = known->header_origin_mm[i] + ((double)n[i] - 1) / 2 * pitch[i];
    }
    return FBP_OK;
}

static fbp_status views_of(struct fbp_scan *out, const struct reader *r,
                           const struct fbp_geometry_known *known)
{
    double pitch[2], centre[2];

    FBP_TRY(fbp_geometry_need_panel(r->path, known, &out->panel));
    FBP_TRY(place(r->path, known, &out->panel, pitch, centre));
    FBP_TRY(fbp_geometry_make_views(out, r->path, known, r->n));
    out->kind = r->list[0].sdd_mm > 0 ? FBP_CONE : FBP_PARALLEL;
    out->row_order = FBP_ROWS_BOTTOM_UP;
    for (size_t k = 0; k < r->n; k++)
        fbp_rtk_view(&r->list[k], pitch, centre, &out->views[k]);
    return FBP_OK;
}

static fbp_status note_jaws(struct fbp_scan *out, const struct reader *r)
{
    char value[40];

    for (int i = 0; i < 4; i++) {
        if (!(r->jaws[i] < 1e9))
            continue;
        snprintf(value, sizeof value, "%g", r->jaws[i]);
        FBP_TRY(fbp_scan_note_ignored(out, r->path, jaw_names[i], value,
                                      "pixels behind a collimator count as any others"));
    }
    return FBP_OK;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct reader r = {.path = path, .jaws = {INFINITY, INFINITY, INFINITY, INFINITY}};
    char *text = NULL;
    size_t n = 0;

    FBP_TRY(fbp_read_text(path, MAX_BYTES, &text, &n));
    fbp_status st = parse(&r, text, n);
    free(text);
    if (st == FBP_OK)
        st = views_of(out, &r, known);
    if (st == FBP_OK)
        st = note_jaws(out, &r);
    free(r.list);
    return st;
}

#else
static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    (void)out, (void)known;
    return fbp_no_library(path, "XML files of RTK", "libexpat1-dev", "FBP_EXPAT");
}
#endif

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    static const char root[] = "<RTKThreeDCircularGeometry";

    (void)path;
    return memmem(head, n, root, sizeof root - 1) != NULL;
}

/* What RTK's parameters, or an image's spacing, cannot hold. */
static fbp_status check_view(const struct fbp_scan *scan, const char *path, size_t k)
{
    const struct fbp_view *view = &scan->views[k], *first = &scan->views[0];
    const double u = fbp_norm(view->u), v = fbp_norm(view->v);
    double n[3], towards[3];

    if (!(fabs(u - fbp_norm(first->u)) <= EQUAL * u && fabs(v - fbp_norm(first->v)) <= EQUAL * v))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: view %zu has another pixel pitch than view 0, RTK has one for all: "
                        "write a scan file",
                        path, k);
    if (!(fabs(fbp_dot(view->u, view->v)) <= EQUAL * u * v))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: view %zu: rows and columns of the panel are not at right angles, "
                        "which RTK cannot hold: write a scan file",
                        path, k);
    fbp_cross(view->u, view->v, n);
    fbp_normalise(n);
    fbp_axpy(view->s, fbp_kind_has_source(scan->kind) ? -1 : 0, view->d, towards);
    if (!(fbp_dot(n, towards) > 0))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: view %zu: rows run downwards seen from the source with columns to "
                        "the right, RTK's run upwards: flip the projections' rows and the view's",
                        path, k);
    fbp_axpy(n, -1, view->s, towards);
    if (!fbp_kind_has_source(scan->kind) && !(fbp_norm(towards) <= EQUAL))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: view %zu: the panel is not perpendicular to the rays, which RTK "
                        "cannot hold for parallel beams: write a scan file",
                        path, k);
    return FBP_OK;
}

static void put_element(struct fbp_writer *w, const char *name, double x)
{
    fprintf(w->f, "    <%s>", name);
    fbp_put_number(w, x);
    fprintf(w->f, "</%s>\n", name);
}

static void put_projection(struct fbp_writer *w, const struct fbp_rtk *p)
{
    double M[12];

    fputs("  <Projection>\n", w->f);
    for (int i = 0; i < N_ELEMENTS; i++) {
        const double x = *(const double *)(const void *)((const char *)p + elements[i].offset);
        if (strcmp(elements[i].name, "Angle") != 0)
            put_element(w, elements[i].name, elements[i].degrees ? x / DEGREE : x);
    }
    fbp_rtk_matrix(p, M);
    fputs("    <Matrix>\n", w->f);
    for (int i = 0; i < 12; i++) {
        fputs(i % 4 == 0 ? "      " : " ", w->f);
        fbp_put_number(w, M[i]);
        fputs(i % 4 == 3 ? "\n" : "", w->f);
    }
    fputs("    </Matrix>\n  </Projection>\n", w->f);
}

static fbp_status save(const struct fbp_scan *scan, const char *path)
{
    struct fbp_writer w;
    struct fbp_rtk p;

    for (size_t k = 0; k < scan->n_views; k++)
        FBP_TRY(check_view(scan, path, k));
    FBP_TRY(fbp_writer_open(&w, path));
    fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE RTKGEOMETRY>\n"
          "<RTKThreeDCircularGeometry version=\"3\">\n",
          w.f);
    for (size_t k = 0; k < scan->n_views; k++) {
        fbp_rtk_of(&scan->views[k], scan->kind, &p);
        put_projection(&w, &p);
    }
    fputs("</RTKThreeDCircularGeometry>\n", w.f);
    return fbp_writer_close(&w, FBP_OK);
}

const struct fbp_geometry_format fbp_geometry_rtk = {
    .name = "rtk",
    .about = "RTK's ThreeDCircularGeometry XML",
    .extensions = ".xml",
    .detect = detect,
    .load = load,
    .save = save,
    .saves = FBP_KINDS_OF_LINES,
};
