/* TIGRE's numbers as views (its voxel_backprojection.cu says what they mean). */
#include "scan/format/geometry_tigre.h"

#include "base/base.h"
#include "base/math.h"
#include "geometry/view.h"

#include <string.h>

/* Angles below this are none [rad]. */
static const double NO_TURN = 1e-12;

void fbp_tigre_clear(struct fbp_tigre *t)
{
    struct fbp_tigre_list *const lists[] = {
        &t->dsd, &t->dso, &t->cor, &t->off_detector, &t->rot_detector, &t->off_origin, &t->angles};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->v);
    *t = (struct fbp_tigre){0};
}

/* Row k of a list; zeros if there is none. */
static void row_of(const struct fbp_tigre_list *list, size_t k, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (size_t i = 0; list->v && i < list->width; i++)
        out[i] = list->v[(list->n == 1 ? 0 : k) * list->width + i];
}

static fbp_status check_list(const char *path, const char *name, const struct fbp_tigre_list *list,
                             size_t n_views)
{
    if (!list->v || list->n == 1 || list->n == n_views)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: %s: has %zu entries, angles has %zu: give one for all or one a view", path,
                    name, list->n, n_views);
}

static fbp_status check_lists(const struct fbp_tigre *t, const char *path)
{
    const struct {
        const char *name;
        const struct fbp_tigre_list *list;
    } all[] = {{"DSD", &t->dsd},
               {"DSO", &t->dso},
               {"COR", &t->cor},
               {"offDetector", &t->off_detector},
               {"rotDetector", &t->rot_detector},
               {"offOrigin", &t->off_origin}};

    if (!t->angles.v)
        return fbp_fail(FBP_ERR_INVALID, "%s: angles is missing: give one a view, in radians",
                        path);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        FBP_TRY(check_list(path, all[i].name, all[i].list, t->angles.n));
    for (int i = 0; i < 2 && !t->parallel; i++)
        if (!all[i].list->v)
            return fbp_fail(FBP_ERR_INVALID, "%s: %s is missing: a cone beam needs it (mm)", path,
                            all[i].name);
    return FBP_OK;
}

/* One of n (count), d (pitch) and s (their product) may be missing; all must agree. */
static fbp_status complete(const char *path, const char *name, size_t size, const double *n,
                           const double *d, const double *s, double *pitch)
{
    for (size_t i = 0; i < size; i++) {
        pitch[i] = d[i] > 0 ? d[i] : s[i] / n[i];
        if (!(n[i] >= 1 && n[i] <= 1e9 && n[i] == floor(n[i])))
            return fbp_fail(FBP_ERR_INVALID, "%s: n%s: found %g, expected whole numbers from 1",
                            path, name, n[i]);
        if (!(pitch[i] > 0 && isfinite(pitch[i])))
            return fbp_fail(FBP_ERR_INVALID, "%s: d%s: found %g, expected positive numbers (mm)",
                            path, name, pitch[i]);
        if (s[i] > 0 && !(fabs(n[i] * pitch[i] - s[i]) <= 1e-6 * s[i]))
            return fbp_fail(FBP_ERR_INVALID, "%s: s%s: %g is not n%s times d%s, %g: correct one",
                            path, name, s[i], name, name, n[i] * pitch[i]);
    }
    return FBP_OK;
}

static bool is_zero(const double a[3])
{
    return fabs(a[0]) <= NO_TURN && fabs(a[1]) <= NO_TURN && fabs(a[2]) <= NO_TURN;
}

/* What TIGRE itself computes in two ways, forwards and backwards. */
static fbp_status check_meaning(const struct fbp_tigre *t, const char *path, size_t k, double cor,
                                const double rot[3], const double angle[3])
{
    if (t->parallel && !is_zero(rot))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: view %zu: rotDetector is ambiguous in a parallel beam: turn the views "
                        "by three angles each instead",
                        path, k);
    if (fabs(cor) > 0 && !is_zero(rot))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: view %zu: COR with rotDetector is ambiguous, TIGRE's projector and "
                        "backprojector disagree about it: put the shift into offDetector or the "
                        "views into a scan file",
                        path, k);
    if (fabs(cor) > 0 && fmax(fabs(angle[1]), fabs(angle[2])) > NO_TURN)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: view %zu: COR with a second or third angle is ambiguous, TIGRE's "
                        "projector and backprojector disagree about it: put the shift into "
                        "offDetector",
                        path, k);
    return FBP_OK;
}

static fbp_status view_of(const struct fbp_tigre *t, const char *path, size_t k,
                          const double pitch[2], struct fbp_view *out)
{
    double angle[3], rot[3], off[3], origin[3], origin0[3], one[3], E[9], R[9], ER[9];

    row_of(&t->angles, k, angle);
    row_of(&t->rot_detector, k, rot);
    row_of(&t->off_detector, k, off);
    row_of(&t->off_origin, k, origin);
    row_of(&t->off_origin, 0, origin0);
    row_of(&t->cor, k, one);
    const double cor = one[0];
    row_of(&t->dso, k, one);
    const double dso = one[0];
    row_of(&t->dsd, k, one);
    const double dsd = one[0];
    FBP_TRY(check_meaning(t, path, k, cor, rot, angle));
    if (!t->parallel && !(dso > 0 && dsd > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: view %zu: DSO %g, DSD %g: expected positive distances (mm)", path, k,
                        dso, dsd);
    fbp_turn_zyz(angle, E);
    fbp_turn_zyx(rot, R);
    fbp_matmul(E, R, ER);
    fbp_turned(E, (double[3]){t->parallel ? 1 : dso, t->parallel ? 0 : cor, 0}, out->s);
    fbp_turned(E, (double[3]){dso - dsd, off[1] + cor, off[0]}, out->d);
    fbp_turned(ER, (double[3]){0, pitch[1], 0}, out->u);
    fbp_turned(ER, (double[3]){0, 0, pitch[0]}, out->v);
    for (int i = 0; i < 3; i++) { /* the volume moves about: the scan does so the other way */
        const double shift = origin[2 - i] - origin0[2 - i];
        out->d[i] -= shift;
        if (!t->parallel)
            out->s[i] -= shift;
    }
    return FBP_OK;
}

static fbp_status volume_of(const struct fbp_tigre *t, const char *path, struct fbp_grid *out)
{
    double voxel[3], centre[3];

    if (!(t->n_voxel[0] > 0) || !(t->d_voxel[0] > 0 || t->s_voxel[0] > 0))
        return FBP_OK;
    FBP_TRY(complete(path, "Voxel", 3, t->n_voxel, t->d_voxel, t->s_voxel, voxel));
    row_of(&t->off_origin, 0, centre);
    for (int i = 0; i < 3; i++) {
        out->n[i] = (size_t)t->n_voxel[2 - i];
        out->voxel_mm[i] = voxel[2 - i];
        out->centre_mm[i] = centre[2 - i];
    }
    return FBP_OK;
}

fbp_status fbp_tigre_to_scan(const struct fbp_tigre *t, const char *path,
                             const struct fbp_geometry_known *known, struct fbp_scan *out)
{
    double pitch[2];

    FBP_TRY(check_lists(t, path));
    FBP_TRY(complete(path, "Detector", 2, t->n_detector, t->d_detector, t->s_detector, pitch));
    out->kind = t->parallel ? FBP_PARALLEL : FBP_CONE;
    out->panel = (struct fbp_panel){(size_t)t->n_detector[1], (size_t)t->n_detector[0]};
    out->row_order = FBP_ROWS_BOTTOM_UP; /* its arrays, whatever file they lie in */
    FBP_TRY(fbp_geometry_make_views(out, path, known, t->angles.n));
    for (size_t k = 0; k < out->n_views; k++)
        FBP_TRY(view_of(t, path, k, pitch, &out->views[k]));
    return volume_of(t, path, &out->volume);
}
