/* A scan as LEAP's parameter file: the fewest parameters that hold it. */
#include "scan/file/geometry_upright.h"
#include "scan/format/geometry_leap.h"

#include "base/base.h"
#include "base/math.h"
#include "scan/file/scan_write.h"

#include <string.h>

/* Values of one geometry are one value if they agree to this part of its size. */
static const double SAME = 1e-13;
/* Axes that are orthogonal to this, pitches that are equal to this part of them count as such. */
static const double EQUAL = 1e-10;
/* LEAP's limit of tiltAngle. */
static const double MOST_TILT = 5 * FBP_PI / 180;

struct beam {
    enum fbp_leap_beam kind;
    struct fbp_upright first;
    double *phis; /* rad, without jumps; of all but modular beams */
    double pitch; /* of a helix, mm/rad */
};

static bool are_close(double a, double b, double size)
{
    return fabs(a - b) <= SAME * size;
}

static bool same_panel(const struct fbp_upright *a, const struct fbp_upright *b)
{
    const double size = a->sod + a->sdd + a->pitch[0];

    return are_close(a->sod, b->sod, size) && are_close(a->sdd, b->sdd, size) &&
           are_close(a->tau, b->tau, size) && are_close(a->shift[0], b->shift[0], size) &&
           are_close(a->shift[1], b->shift[1], size) && are_close(a->tilt_rad, b->tilt_rad, 1) &&
           are_close(a->pitch[0], b->pitch[0], a->pitch[0]) &&
           are_close(a->pitch[1], b->pitch[1], a->pitch[1]);
}

/* Do all angles go up, or down? */
static bool one_way(const double *phis, size_t n)
{
    for (size_t k = 1; k < n; k++)
        if (!(fabs(phis[k] - phis[k - 1]) > 0) || (phis[k] > phis[k - 1]) != (phis[1] > phis[0]))
            return false;
    return true;
}

/* Angles without jumps and the pitch of a helix whose middle is at height 0. */
static bool is_circle(const struct fbp_scan *scan, struct beam *b)
{
    const size_t n = scan->n_views;
    struct fbp_upright p;

    for (size_t k = 0; k < n; k++) {
        if (!fbp_upright_of(&scan->views[k], scan->kind, &p))
            return false;
        if (k == 0)
            b->first = p;
        if (!same_panel(&p, &b->first))
            return false;
        b->phis[k] = k ? fbp_near_angle(p.alpha_rad, b->phis[k - 1]) : p.alpha_rad;
    }
    const double height = scan->views[n - 1].s[2] - scan->views[0].s[2];
    if (fbp_kind_has_source(scan->kind) && n > 1)
        b->pitch = height / (b->phis[n - 1] - b->phis[0]);
    return one_way(b->phis, n);
}

/* The heights are those of LEAP's helix. */
static bool is_helix(const struct fbp_scan *scan, const struct beam *b)
{
    const size_t n = scan->n_views;
    const double middle = (b->phis[0] + b->phis[n - 1]) / 2;

    for (size_t k = 0; k < n; k++)
        if (!are_close(scan->views[k].s[2], b->pitch * (b->phis[k] - middle), b->first.sod))
            return false;
    return true;
}

/* A row in one plane with its source. */
static bool is_fan(const struct fbp_scan *scan, const struct beam *b)
{
    const double size = b->first.sod + b->first.sdd;

    for (size_t k = 0; k < scan->n_views; k++)
        if (!are_close(scan->views[k].s[2], scan->views[0].s[2], size))
            return false;
    return scan->panel.n_rows == 1 && are_close(b->first.shift[1], 0, size) &&
           are_close(b->first.tilt_rad, 0, 1);
}

static enum fbp_leap_beam beam_of(const struct fbp_scan *scan, struct beam *b)
{
    if (!is_circle(scan, b))
        return FBP_LEAP_MODULAR;
    if (!fbp_kind_has_source(scan->kind))
        return are_close(b->first.tilt_rad, 0, 1) ? FBP_LEAP_PARALLEL : FBP_LEAP_MODULAR;
    if (is_fan(scan, b))
        return FBP_LEAP_FAN;
    return is_helix(scan, b) && fabs(b->first.tilt_rad) <= MOST_TILT ? FBP_LEAP_CONE
                                                                     : FBP_LEAP_MODULAR;
}

static fbp_status check_modular(const struct fbp_scan *scan, const char *path)
{
    const double u = fbp_norm(scan->views[0].u), v = fbp_norm(scan->views[0].v);

    if (!fbp_kind_has_source(scan->kind))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: LEAP's parallel beams turn one way about z, with upright panels that "
                        "face the rays and one offset: write a scan file",
                        path);
    for (size_t k = 0; k < scan->n_views; k++) {
        const struct fbp_view *view = &scan->views[k];
        if (!(fabs(fbp_norm(view->u) - u) <= EQUAL * u && fabs(fbp_norm(view->v) - v) <= EQUAL * v))
            return fbp_fail(FBP_ERR_UNSUPPORTED,
                            "%s: view %zu has another pixel pitch than view 0, LEAP has one for "
                            "all: write a scan file",
                            path, k);
        if (!(fabs(fbp_dot(view->u, view->v)) <= EQUAL * u * v))
            return fbp_fail(FBP_ERR_UNSUPPORTED,
                            "%s: view %zu: rows and columns of the panel are not at right angles, "
                            "which LEAP cannot hold: write a scan file",
                            path, k);
    }
    return FBP_OK;
}

/* Slice k of a parallel or fan beam is row k: the detector says it, there is no choice. */
static struct fbp_grid slices_of_rows(const struct fbp_scan *scan, const struct beam *b)
{
    const struct fbp_upright *p = &b->first;
    const double voxel = p->pitch[0] * (fbp_kind_has_source(scan->kind) ? p->sod / p->sdd : 1);
    const size_t n = scan->panel.n_columns;
    const double z = fbp_kind_has_source(scan->kind) ? p->height : p->shift[1];

    return (struct fbp_grid){.n = {n, n, scan->panel.n_rows},
                             .voxel_mm = {voxel, voxel, p->pitch[1]},
                             .centre_mm = {0, 0, z}};
}

static fbp_status volume_of(const struct fbp_scan *scan, const struct beam *b, const char *path,
                            struct fbp_grid *out)
{
    const bool rows = b->kind <= FBP_LEAP_FAN;
    const struct fbp_grid slices = slices_of_rows(scan, b);

    *out = scan->volume;
    if (out->n[0] == 0 && rows)
        *out = slices;
    else if (out->n[0] == 0)
        FBP_TRY(fbp_grid_default(fbp_scan_views(scan), out));
    if (!(fabs(out->voxel_mm[0] - out->voxel_mm[1]) <= EQUAL * out->voxel_mm[0]))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: the volume's voxels are %g x %g mm along x and y, LEAP's are square: "
                        "change the scan's volume, or remove it",
                        path, out->voxel_mm[0], out->voxel_mm[1]);
    if (rows && (out->n[2] != slices.n[2] ||
                 !(fabs(out->voxel_mm[2] - slices.voxel_mm[2]) <= EQUAL * slices.voxel_mm[2]) ||
                 !(fabs(out->centre_mm[2] - slices.centre_mm[2]) <= EQUAL * slices.voxel_mm[2])))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: the volume's slices are not the detector's rows, as LEAP has them for "
                        "parallel and fan beams: change the scan's volume, or remove it",
                        path);
    return FBP_OK;
}

static void put(struct fbp_writer *w, enum fbp_leap_key key, double x)
{
    fprintf(w->f, "%s = ", fbp_leap_key(key));
    fbp_put_number(w, x);
    fputc('\n', w->f);
}

static void put_volume(struct fbp_writer *w, const struct fbp_grid *g, bool rows)
{
    static const enum fbp_leap_key sizes[] = {FBP_LEAP_NX, FBP_LEAP_NY, FBP_LEAP_NZ};
    static const enum fbp_leap_key centre[] = {FBP_LEAP_X, FBP_LEAP_Y, FBP_LEAP_Z};

    fputs("# CT volume parameters\n", w->f);
    for (int i = 0; i < 3; i++)
        fprintf(w->f, "%s = %zu\n", fbp_leap_key(sizes[i]), g->n[i]);
    put(w, FBP_LEAP_VOXEL_WIDTH, g->voxel_mm[0]);
    put(w, FBP_LEAP_VOXEL_HEIGHT, g->voxel_mm[2]);
    for (int i = 0; i < 3; i++)
        put(w, centre[i], rows && i == 2 ? 0 : g->centre_mm[i]);
}

static void put_panel(struct fbp_writer *w, const struct fbp_scan *scan, const struct beam *b)
{
    static const char *const names[] = {"parallel", "fan", "cone", "modular"};
    const struct fbp_view *view = &scan->views[0];
    const double pitch[2] = {fbp_norm(view->u), fbp_norm(view->v)};
    const bool modular = b->kind == FBP_LEAP_MODULAR;
    const double up = b->first.shift[1] + (b->kind == FBP_LEAP_FAN ? b->first.height : 0);

    fprintf(w->f, "\n# CT geometry parameters\n%s = %s\n", fbp_leap_key(FBP_LEAP_GEOMETRY),
            names[b->kind]);
    fprintf(w->f, "%s = %zu\n", fbp_leap_key(FBP_LEAP_ANGLES), scan->n_views);
    fprintf(w->f, "%s = %zu\n", fbp_leap_key(FBP_LEAP_ROWS), scan->panel.n_rows);
    fprintf(w->f, "%s = %zu\n", fbp_leap_key(FBP_LEAP_COLUMNS), scan->panel.n_columns);
    put(w, FBP_LEAP_PIXEL_HEIGHT, pitch[1]);
    put(w, FBP_LEAP_PIXEL_WIDTH, pitch[0]);
    put(w, FBP_LEAP_CENTER_ROW,
        ((double)scan->panel.n_rows - 1) / 2 - (modular ? 0 : up / pitch[1]));
    put(w, FBP_LEAP_CENTER_COLUMN,
        ((double)scan->panel.n_columns - 1) / 2 - (modular ? 0 : b->first.shift[0] / pitch[0]));
}

static void put_circle(struct fbp_writer *w, const struct fbp_scan *scan, const struct beam *b)
{
    fprintf(w->f, "%s = ", fbp_leap_key(FBP_LEAP_PHIS));
    for (size_t k = 0; k < scan->n_views; k++) {
        fputs(k ? ", " : "", w->f);
        fbp_put_number(w, b->phis[k] * 180 / FBP_PI);
    }
    fputc('\n', w->f);
    if (b->kind == FBP_LEAP_PARALLEL)
        return;
    put(w, FBP_LEAP_SOD, b->first.sod);
    put(w, FBP_LEAP_SDD, b->first.sdd);
    put(w, FBP_LEAP_TAU, b->first.tau);
    if (b->kind == FBP_LEAP_FAN)
        return;
    put(w, FBP_LEAP_TILT, b->first.tilt_rad * 180 / FBP_PI);
    put(w, FBP_LEAP_PITCH, b->pitch);
}

static void put_vectors(struct fbp_writer *w, const struct fbp_scan *scan, enum fbp_leap_key key,
                        double scale, size_t field)
{
    fprintf(w->f, "%s = ", fbp_leap_key(key));
    for (size_t k = 0; k < scan->n_views; k++) {
        const double *v = (const double *)(const void *)((const char *)&scan->views[k] + field);
        for (int i = 0; i < 3; i++) {
            fputs(k || i ? ", " : "", w->f);
            fbp_put_number(w, v[i] / scale);
        }
    }
    fputc('\n', w->f);
}

static void put_modules(struct fbp_writer *w, const struct fbp_scan *scan)
{
    const double u = fbp_norm(scan->views[0].u), v = fbp_norm(scan->views[0].v);

    put_vectors(w, scan, FBP_LEAP_SOURCES, 1, offsetof(struct fbp_view, s));
    put_vectors(w, scan, FBP_LEAP_CENTERS, 1, offsetof(struct fbp_view, d));
    put_vectors(w, scan, FBP_LEAP_ROW_VECTORS, v, offsetof(struct fbp_view, v));
    put_vectors(w, scan, FBP_LEAP_COLUMN_VECTORS, u, offsetof(struct fbp_view, u));
}

static fbp_status save(const struct fbp_scan *scan, const char *path, struct beam *b)
{
    struct fbp_writer w;
    struct fbp_grid volume;

    b->kind = beam_of(scan, b);
    if (b->kind == FBP_LEAP_MODULAR)
        FBP_TRY(check_modular(scan, path));
    FBP_TRY(volume_of(scan, b, path, &volume));
    FBP_TRY(fbp_writer_open(&w, path));
    put_volume(&w, &volume, b->kind <= FBP_LEAP_FAN);
    put_panel(&w, scan, b);
    if (b->kind == FBP_LEAP_MODULAR)
        put_modules(&w, scan);
    else
        put_circle(&w, scan, b);
    return fbp_writer_close(&w, FBP_OK);
}

fbp_status fbp_leap_save(const struct fbp_scan *scan, const char *path)
{
    struct beam b = {0};

    FBP_TRY(fbp_calloc((void **)&b.phis, scan->n_views, sizeof *b.phis, "angles"));
    const fbp_status st = save(scan, path, &b);
    free(b.phis);
    return st;
}
