/* Functions that the importers and exporters of this folder share: facts that a file does not
 * contain (fbp_geometry_need_panel(), fbp_geometry_need_pitch(), fbp_geometry_make_views()), views
 * with upright panels as a few parameters (fbp_upright_view(), fbp_upright_of()), and panel and
 * ignored keys of text files (fbp_ini_panel(), fbp_ini_note_ignored()).
 * Used by: scan/, scan/format/. */
#include "scan/format/importers.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "array/names.h"
#include "base/math.h"
#include "geometry/ranges.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const double SAME = 1e-13;
static const double EQUAL = 1e-10; /* relative tolerance of equal pitches and right angles */

fbp_status fbp_geometry_need_panel(const char *path, const struct fbp_geometry_known *known,
                                   struct fbp_panel *out)
{
    if (known->panel.n_columns == 0 || known->panel.n_rows == 0)
        return FBP_INVALID("%s: the number of detector pixels is missing; give --detector CxR (in "
                           "a scan file, it follows from the projections)",
                           path);
    *out = known->panel;
    return FBP_OK;
}

fbp_status fbp_geometry_need_pitch(const char *path, const struct fbp_geometry_known *known,
                                   double out[2])
{
    if (!(known->pitch_mm[0] > 0 && known->pitch_mm[1] > 0))
        return FBP_INVALID("%s: the pixel pitch is missing; give --pitch U,V in mm (in a scan "
                           "file, detector.pitch_mm)",
                           path);
    out[0] = known->pitch_mm[0];
    out[1] = known->pitch_mm[1];
    return FBP_OK;
}

fbp_status fbp_geometry_make_views(struct fbp_scan *out, const char *path,
                                   const struct fbp_geometry_known *known, size_t n)
{
    if ((double)n > FBP_VIEWS_MAX)
        return fbp_error_context(path, fbp_check_range(&fbp_range_views, "views", (double)n));
    if (n == 0)
        return FBP_INVALID("%s: contains no views; check that it is the right file", path);
    if (known->n_views && n != known->n_views)
        return FBP_INVALID(
            "%s: has %zu views, but the projections have %zu; give files that belong together",
            path, n, known->n_views);
    out->n_views = n;
    return fbp_calloc((void **)&out->views, n, sizeof *out->views, "views");
}

void fbp_matrix_from_corner(double P[12])
{
    for (int i = 0; i < 4; i++) {
        P[i] -= 0.5 * P[8 + i];
        P[4 + i] -= 0.5 * P[8 + i];
    }
}

fbp_status fbp_geometry_check_square(const struct fbp_scan *scan, const char *path, size_t k,
                                     const char *program)
{
    const struct fbp_view *view = &scan->views[k], *first = &scan->views[0];
    const double u = fbp_norm(view->u), v = fbp_norm(view->v);
    const double u0 = fbp_norm(first->u), v0 = fbp_norm(first->v);

    if (!(fabs(u - u0) <= EQUAL * u0 && fabs(v - v0) <= EQUAL * v0))
        return FBP_UNSUPPORTED("%s: view %zu has another pixel pitch than view 0, but %s stores "
                               "one pitch for all; write a scan file",
                               path, k, program);
    if (!(fabs(fbp_dot(view->u, view->v)) <= EQUAL * u * v))
        return FBP_UNSUPPORTED("%s: view %zu: rows and columns of the panel are not at right "
                               "angles, which %s cannot store; write a scan file",
                               path, k, program);
    return FBP_OK;
}

struct axes {
    double e[3], t[3], u[3], v[3];
};

static void axes_of(const struct fbp_upright *p, struct axes *out)
{
    const double ca = cos(p->alpha_rad), sa = sin(p->alpha_rad);
    const double ct = cos(p->tilt_rad), st = sin(p->tilt_rad);

    *out = (struct axes){.e = {sa, -ca, 0},
                         .t = {ca, sa, 0},
                         .u = {ct * ca, ct * sa, st},
                         .v = {-st * ca, -st * sa, ct}};
}

void fbp_upright_view(const struct fbp_upright *p, enum fbp_kind kind, struct fbp_view *out)
{
    const bool source = fbp_kind_has_source(kind);
    struct axes a;

    axes_of(p, &a);
    for (int i = 0; i < 3; i++) {
        const double aside = source ? -p->tau * a.t[i] + (i == 2 ? p->height : 0) : 0;
        out->s[i] = source ? p->sod * a.e[i] + aside : a.e[i];
        out->d[i] = (source ? (p->sod - p->sdd) * a.e[i] : 0) + aside + p->shift[0] * a.u[i] +
                    p->shift[1] * a.v[i];
        out->u[i] = p->pitch[0] * a.u[i];
        out->v[i] = p->pitch[1] * a.v[i];
    }
}

bool fbp_upright_of(const struct fbp_view *view, enum fbp_kind kind, struct fbp_upright *out)
{
    const bool source = fbp_kind_has_source(kind);
    struct fbp_view again;
    struct axes a;
    double n[3], q[3];

    fbp_cross(view->u, view->v, n);
    *out = (struct fbp_upright){.alpha_rad = atan2(n[0], -n[1]),
                                .pitch = {fbp_norm(view->u), fbp_norm(view->v)}};
    axes_of(out, &a);
    out->tilt_rad = atan2(view->u[2], fbp_dot(view->u, a.t));
    axes_of(out, &a);

    /* q: component of d (parallel beam) or d - s (cone beam) perpendicular to the central ray */
    fbp_axpy(view->d, -fbp_dot(view->d, a.e), a.e, q);
    if (source) {
        fbp_axpy(q, -1, view->s, q);
        fbp_axpy(q, fbp_dot(view->s, a.e), a.e, q);
    }
    out->shift[0] = fbp_dot(q, a.u);
    out->shift[1] = fbp_dot(q, a.v);
    if (source) {
        out->sod = fbp_dot(view->s, a.e);
        out->sdd = out->sod - fbp_dot(view->d, a.e);
        out->tau = 0 - fbp_dot(view->s, a.t);
        out->height = view->s[2];
    }

    fbp_upright_view(out, kind, &again);
    if (!source) /* for parallel beams, the panel's position along the rays does not matter */
        fbp_axpy(again.d, fbp_dot(view->d, a.e), a.e, again.d);
    const double size = fbp_norm(view->s) + fbp_norm(view->d);
    const double *const pairs[4][2] = {
        {again.s, view->s}, {again.d, view->d}, {again.u, view->u}, {again.v, view->v}};
    const double sizes[4] = {size, size, out->pitch[0], out->pitch[1]};
    bool same = true;
    for (int k = 0; k < 4; k++) {
        fbp_axpy(pairs[k][0], -1, pairs[k][1], q);
        same = same && fbp_norm(q) <= SAME * sizes[k];
    }
    return same;
}

bool fbp_is_close(double a, double b, double size)
{
    return fabs(a - b) <= SAME * size;
}

bool fbp_upright_same(const struct fbp_upright *a, const struct fbp_upright *b)
{
    const double size = a->sod + a->sdd + a->pitch[0];

    return fbp_is_close(a->sod, b->sod, size) && fbp_is_close(a->sdd, b->sdd, size) &&
           fbp_is_close(a->tau, b->tau, size) && fbp_is_close(a->shift[0], b->shift[0], size) &&
           fbp_is_close(a->shift[1], b->shift[1], size) &&
           fbp_is_close(a->tilt_rad, b->tilt_rad, 1) &&
           fbp_is_close(a->pitch[0], b->pitch[0], a->pitch[0]) &&
           fbp_is_close(a->pitch[1], b->pitch[1], a->pitch[1]);
}

double fbp_near_angle(double angle, double before)
{
    return angle - 2 * FBP_PI * round((angle - before) / (2 * FBP_PI));
}

fbp_status fbp_ini_panel(const struct fbp_ini *ini, const char *section, const char *columns,
                         const char *rows, const char *projections,
                         const struct fbp_geometry_known *known, struct fbp_panel *out)
{
    const bool both = fbp_ini_text(ini, section, columns) && fbp_ini_text(ini, section, rows);
    char *first = projections ? fbp_stack_name(projections, 0) : NULL;
    fbp_source *source = NULL;

    *out = (struct fbp_panel){0, 0};
    if (!both && known->panel.n_columns > 0)
        *out = known->panel;
    else if (!both && first && access(first, F_OK) == 0 &&
             fbp_source_open(&source, first, NULL) == FBP_OK)
        *out = (struct fbp_panel){fbp_source_info(source)->n[0], fbp_source_info(source)->n[1]};
    fbp_source_close(&source);
    free(first);
    if (out->n_columns == 0 || fbp_ini_text(ini, section, columns))
        FBP_TRY(fbp_ini_count(ini, section, columns, &out->n_columns));
    if (out->n_rows == 0 || fbp_ini_text(ini, section, rows))
        FBP_TRY(fbp_ini_count(ini, section, rows, &out->n_rows));
    return FBP_OK;
}

/* Compare keys without regard to case, blanks, '-' and '_': "Post alignment" is "Postalignment". */
static bool same_key(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " -_");
        b += strspn(b, " -_");
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

fbp_status fbp_ini_note_ignored(const struct fbp_ini *ini, const struct fbp_ini_ignored *table,
                                size_t n, struct fbp_scan *out)
{
    for (size_t i = 0; i < ini->n; i++) {
        const struct fbp_ini_item *item = &ini->items[i];
        for (size_t k = 0; k < n && *item->value; k++) {
            const struct fbp_ini_ignored *key = &table[k];
            char *end = NULL;
            if (strcasecmp(item->section, key->section) != 0 || !same_key(item->key, key->key))
                continue;
            const double x = fbp_number(item->value, &end);
            const bool neutral =
                key->neutral_text
                    ? strncasecmp(item->value, key->neutral_text, strlen(key->neutral_text)) == 0
                    : end != item->value && fabs(x - key->neutral) < 1e-9;
            if (!neutral)
                FBP_TRY(fbp_scan_note_ignored(out, ini->path, item->key, item->value, key->remedy));
        }
    }
    return FBP_OK;
}
