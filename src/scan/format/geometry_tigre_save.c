/* Views as TIGRE's geometry: a source at (DSO, 0, 0) in a frame E of three angles, a panel turned
 * in it. */
#include "array/array.h"
#include "scan/file/scan_write.h"
#include "scan/format/geometry_tigre.h"

#include "base/base.h"
#include "base/text.h"
#include "base/math.h"
#include "geometry/view.h"

#include <string.h>

/* Numbers of views that differ by less are one number; relative. */
static const double SAME = 1e-13;
static const double SQUARE = 1e-9; /* rad, and relative pitch */

/* What TIGRE calls a view. */
struct pose {
    double dso[1], dsd[1], off[2], rot[3], angle[3];
};

/* Angles (a, b, c) with E = Rz(a) Ry(b) Rz(c). */
static void angles_zyz(const double E[9], double out[3])
{
    const double across = hypot(E[2], E[5]);

    if (across > 1e-14) {
        out[0] = atan2(E[5], E[2]);
        out[1] = atan2(across, E[8]);
        out[2] = atan2(E[7], -E[6]);
    } else {
        out[0] = E[8] > 0 ? atan2(E[3], E[0]) : atan2(-E[1], E[4]);
        out[1] = E[8] > 0 ? 0 : FBP_PI;
        out[2] = 0;
    }
}

/* Angles (x, y, z) with R = Rz Ry Rx. */
static void angles_zyx(const double R[9], double out[3])
{
    const double across = hypot(R[0], R[3]);

    out[1] = atan2(0 - R[6], across); /* 0, not -0 */
    if (across > 1e-14) {
        out[0] = atan2(R[7], R[8]);
        out[2] = atan2(R[3], R[0]);
    } else { /* one of two turns about the same line is enough */
        out[0] = 0;
        out[2] = atan2(-R[1], R[4]);
    }
}

/* Columns a, b, c. */
static void from_columns(const double a[3], const double b[3], const double c[3], double out[9])
{
    for (size_t i = 0; i < 3; i++) {
        out[3 * i] = a[i];
        out[3 * i + 1] = b[i];
        out[3 * i + 2] = c[i];
    }
}

static void transpose(const double A[9], double out[9])
{
    for (size_t i = 0; i < 9; i++)
        out[i] = A[3 * (i % 3) + i / 3];
}

static void unit(const double a[3], double out[3])
{
    memcpy(out, a, 3 * sizeof *out);
    fbp_normalise(out);
}

static fbp_status cannot(const char *path, size_t k, const char *what)
{
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "%s: view %zu: TIGRE cannot hold %s: write a scan file or matrices", path, k,
                    what);
}

static fbp_status check_panel(const char *path, const struct fbp_scan *scan, size_t k)
{
    const struct fbp_view *a = &scan->views[0], *b = &scan->views[k];
    const double pitch[2] = {fbp_norm(a->u), fbp_norm(a->v)};

    if (!(fabs(fbp_norm(b->u) - pitch[0]) <= SQUARE * pitch[0] &&
          fabs(fbp_norm(b->v) - pitch[1]) <= SQUARE * pitch[1]))
        return cannot(path, k, "a pitch that is not that of the first view");
    if (!(fabs(fbp_dot(b->u, b->v)) <= SQUARE * pitch[0] * pitch[1]))
        return cannot(path, k, "skewed rows and columns");
    return FBP_OK;
}

/* The panel is not turned; the frame is: its axes are those of the panel. */
static fbp_status parallel_pose(const char *path, const struct fbp_view *view, size_t k,
                                struct pose *out)
{
    double s[3], u[3], v[3], n[3], E[9];

    unit(view->s, s);
    unit(view->u, u);
    unit(view->v, v);
    fbp_cross(u, v, n);
    if (!(fbp_dot(n, s) > 1 - SQUARE * SQUARE - 1e-15))
        return cannot(path, k, "a parallel beam on a panel that is turned or mirrored");
    from_columns(s, u, v, E);
    angles_zyz(E, out->angle);
    out->off[0] = fbp_dot(view->d, v);
    out->off[1] = fbp_dot(view->d, u);
    out->dsd[0] = -fbp_dot(view->d, s);
    return FBP_OK;
}

static void cone_pose(const struct fbp_view *view, struct pose *out)
{
    double s[3], u[3], v[3], n[3], E[9], inverse[9], panel[9], R[9], d[3];

    unit(view->s, s);
    unit(view->u, u);
    unit(view->v, v);
    fbp_cross(u, v, n);
    out->angle[0] = atan2(s[1], s[0]);
    out->angle[1] = asin(fmin(fmax(0 - s[2], -1), 1));
    fbp_turn_zyz(out->angle, E);
    transpose(E, inverse);
    fbp_turned(inverse, view->d, d);
    from_columns(n, u, v, panel);
    fbp_matmul(inverse, panel, R);
    angles_zyx(R, out->rot);
    out->dso[0] = fbp_norm(view->s);
    out->dsd[0] = out->dso[0] - d[0];
    out->off[0] = d[2];
    out->off[1] = d[1];
}

static fbp_status pose_of(const char *path, const struct fbp_scan *scan, size_t k, struct pose *out)
{
    *out = (struct pose){.dso = {0}};
    FBP_TRY(check_panel(path, scan, k));
    if (!fbp_kind_has_source(scan->kind))
        return parallel_pose(path, &scan->views[k], k, out);
    cone_pose(&scan->views[k], out);
    if (!(out->dsd[0] > 0))
        return cannot(path, k, "a panel behind the source");
    return FBP_OK;
}

/* A member of all poses, `at` bytes into them: once if it is the same in all, else a list. */
static void put_member(struct fbp_writer *w, const char *key, const struct pose *poses, size_t n,
                       size_t at, size_t width)
{
    const double *first = (const double *)((const char *)poses + at);
    bool same = true;

    for (size_t k = 0; k < n; k++) {
        const double *v = (const double *)((const char *)&poses[k] + at);
        for (size_t i = 0; i < width; i++)
            same = same && fabs(v[i] - first[i]) <= SAME * fmax(1, fabs(first[i]));
    }
    fbp_put_key(w, key);
    if (same && width == 1) {
        fbp_put_number(w, first[0]);
        return;
    }
    if (same) {
        fbp_put_numbers(w, first, width);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        const double *v = (const double *)((const char *)&poses[k] + at);
        fputs(k == 0 ? "[" : (width == 1 && k % 8) ? ", " : ",\n    ", w->f);
        if (width == 1)
            fbp_put_number(w, v[0]);
        else
            fbp_put_numbers(w, v, width);
    }
    fputc(']', w->f);
}

/* One angle a view where the others are 0. */
static void put_angles(struct fbp_writer *w, const struct pose *poses, size_t n)
{
    bool plain = true;

    for (size_t k = 0; k < n; k++)
        plain = plain && fabs(poses[k].angle[1]) <= SAME && fabs(poses[k].angle[2]) <= SAME;
    fbp_put_key(w, "angles");
    for (size_t k = 0; k < n; k++) {
        fputs(k == 0 ? "[" : (plain && k % 8) ? ", " : ",\n    ", w->f);
        if (plain)
            fbp_put_number(w, poses[k].angle[0]);
        else
            fbp_put_numbers(w, poses[k].angle, 3);
    }
    fputc(']', w->f);
}

/* z, y, x */
static void put_reversed(struct fbp_writer *w, const char *key, const double *v, size_t n)
{
    double back[3];

    for (size_t i = 0; i < n; i++)
        back[i] = v[n - 1 - i];
    fbp_put_key(w, key);
    fbp_put_numbers(w, back, n);
}

static void put_sizes(struct fbp_writer *w, const char *name, const double *n, const double *d,
                      size_t count)
{
    double s[3];
    char key[24];

    for (size_t i = 0; i < count; i++)
        s[i] = n[i] * d[i];
    snprintf(key, sizeof key, "n%s", name);
    put_reversed(w, key, n, count);
    snprintf(key, sizeof key, "d%s", name);
    put_reversed(w, key, d, count);
    snprintf(key, sizeof key, "s%s", name);
    put_reversed(w, key, s, count);
}

static void put_scan(struct fbp_writer *w, const struct fbp_scan *scan, const struct pose *poses)
{
    const double pixels[2] = {(double)scan->panel.n_columns, (double)scan->panel.n_rows};
    const double pitch[2] = {fbp_norm(scan->views[0].u), fbp_norm(scan->views[0].v)};
    const struct fbp_grid *g = &scan->volume;
    const double voxels[3] = {(double)g->n[0], (double)g->n[1], (double)g->n[2]};
    const size_t n = scan->n_views;

    fbp_put_key(w, "mode");
    fbp_put_text(w, fbp_kind_has_source(scan->kind) ? "cone" : "parallel");
    put_member(w, "DSD", poses, n, offsetof(struct pose, dsd), 1);
    put_member(w, "DSO", poses, n, offsetof(struct pose, dso), 1);
    put_sizes(w, "Detector", pixels, pitch, 2);
    if (g->n[0]) {
        put_sizes(w, "Voxel", voxels, g->voxel_mm, 3);
        put_reversed(w, "offOrigin", g->centre_mm, 3);
    }
    put_member(w, "offDetector", poses, n, offsetof(struct pose, off), 2);
    put_member(w, "rotDetector", poses, n, offsetof(struct pose, rot), 3);
    put_angles(w, poses, n);
}

fbp_status fbp_tigre_save(const struct fbp_scan *scan, const char *path)
{
    struct pose *poses = NULL;
    struct fbp_writer w;
    fbp_status st;

    if (fbp_has_extension(path, ".mat"))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: TIGRE's MAT files are only read: name a .json file and give "
                        "--to-format tigre",
                        path);
    FBP_TRY(fbp_calloc((void **)&poses, scan->n_views, sizeof *poses, "poses"));
    for (size_t k = 0; k < scan->n_views; k++)
        FBP_TRY_GOTO(pose_of(path, scan, k, &poses[k]));
    FBP_TRY_GOTO(fbp_writer_open_json(&w, path));
    put_scan(&w, scan, poses);
    st = fbp_writer_close(&w, FBP_OK);
fail:
    free(poses);
    return st;
}
