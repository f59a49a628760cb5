/* A scan in memory: what is assumed, what is to be noted, what it implies; and its end. */
#include "scan/file/scan_notes.h"
#include "scan/file/images.h"
#include "scan/file/preparation.h"

#include "base/base.h"
#include "base/text.h"
#include "base/math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void clear_one(struct fbp_assumed *a)
{
    free(a->key);
    free(a->value);
    free(a->why);
    free(a->file);
}

static void clear_assumed(struct fbp_scan *scan)
{
    for (size_t i = 0; i < scan->n_assumed; i++)
        clear_one(&scan->assumed[i]);
    free(scan->assumed);
    scan->assumed = NULL;
    scan->n_assumed = 0;
}

void fbp_scan_free(struct fbp_scan *scan)
{
    free(scan->views);
    free(scan->path);
    free(scan->projections);
    free(scan->dark);
    free(scan->flat);
    free(scan->bad_pixels);
    free(scan->depths);
    free(scan->plane_weights);
    free(scan->reference);
    fbp_preparation_free(scan->preparation);
    free(scan->corrections);
    fbp_images_free(scan->images);
    free(scan->note);
    for (size_t i = 0; i < scan->n_files; i++)
        free(scan->files[i]);
    free(scan->files);
    clear_assumed(scan);
    *scan = (struct fbp_scan){.struct_size = sizeof *scan};
}

/* A size of 0 is that of a scan which was never used. */
void fbp_scan_clear(struct fbp_scan *scan)
{
    struct fbp_scan own;

    if (!scan || scan->struct_size == 0 || FBP_TAKE(scan, &own, scan) != FBP_OK)
        return;
    fbp_scan_free(&own);
    FBP_GIVE(scan, scan, &own);
}

fbp_status fbp_scan_assume(struct fbp_scan *scan, const char *file, const char *key,
                           const char *value, const char *why)
{
    struct fbp_assumed *list =
        realloc(scan->assumed, (scan->n_assumed + 1) * sizeof *scan->assumed);
    struct fbp_assumed one = {fbp_strdup(key), value ? fbp_strdup(value) : NULL, fbp_strdup(why),
                              fbp_strdup(file)};

    if (list)
        scan->assumed = list;
    if (!list || !one.key || !one.why || !one.file || (value && !one.value)) {
        clear_one(&one);
        return fbp_fail_nomem(strlen(key) + strlen(why), "what is assumed");
    }
    scan->assumed[scan->n_assumed++] = one;
    return FBP_OK;
}

fbp_status fbp_scan_note(struct fbp_scan *scan, const char *note)
{
    char *both = fbp_format("%s%s%s", scan->note ? scan->note : "", scan->note ? "; " : "", note);

    if (!both)
        return fbp_fail_nomem(strlen(note), "a note");
    free(scan->note);
    scan->note = both;
    return FBP_OK;
}

fbp_status fbp_scan_note_ignored(struct fbp_scan *scan, const char *file, const char *key,
                                 const char *value, const char *remedy)
{
    char *note = fbp_format("%s: %s = %.60s is not applied: %s", file, key, value, remedy);
    const fbp_status st = note ? fbp_scan_note(scan, note) : fbp_fail_nomem(strlen(file), "a note");

    free(note);
    return st;
}

void fbp_scan_settle(struct fbp_scan *scan, const char *key)
{
    size_t kept = 0;

    for (size_t i = 0; i < scan->n_assumed; i++)
        if (strcmp(scan->assumed[i].key, key) == 0)
            clear_one(&scan->assumed[i]);
        else
            scan->assumed[kept++] = scan->assumed[i];
    scan->n_assumed = kept;
}

void fbp_scan_confirm(struct fbp_scan *scan, const char *key)
{
    FBP_GIVEN_ELSE(, key);
    struct fbp_scan own;

    fbp_message_clear();
    if (FBP_TAKE(scan, &own, scan) != FBP_OK)
        return;
    fbp_scan_settle(&own, key);
    FBP_GIVE(scan, scan, &own);
}

struct fbp_views fbp_scan_views(const struct fbp_scan *scan)
{
    FBP_GIVEN_ELSE(((struct fbp_views){.n = 0}), scan);
    return (struct fbp_views){scan->kind, scan->n_views, scan->panel, scan->views};
}

bool fbp_scan_is_intensity(const struct fbp_scan *given)
{
    struct fbp_scan whole, *const scan = &whole;

    if (FBP_TAKE(scan, scan, given) != FBP_OK)
        return false;
    return fbp_scan_has_image(scan, FBP_IMAGE_DARK) || fbp_scan_has_image(scan, FBP_IMAGE_FLAT) ||
           scan->i0 > 0;
}

/* Along x and y: the middle of the farther side, from the axis.  That the corners of a square lie
 * outside a round field of view is usual and no reason to warn. */
static double side_reach(const struct fbp_grid *g, const double axis[3])
{
    double reach = 0;

    for (int i = 0; i < 2; i++)
        reach = fmax(reach, fmax(fabs(fbp_grid_coordinate(g, i, 0) - axis[i]),
                                 fabs(fbp_grid_coordinate(g, i, (double)g->n[i] - 1) - axis[i])));
    return reach;
}

/* What is wrong with the volume, or with given weights, in buf; "": nothing. */
static void scan_words(const struct fbp_scan *scan, const struct fbp_geometry_facts *f,
                       const struct fbp_grid *g, int which, char *buf, size_t n)
{
    struct fbp_grid usual;
    double sum = 0;

    buf[0] = '\0';
    for (size_t k = 0; scan->plane_weights && k < scan->n_views; k++)
        sum += scan->plane_weights[k] / (2 * FBP_PI);
    if (which == 2 && scan->plane_weights && fabs(sum - 1) > 1e-6)
        snprintf(buf, n, "the weights add up to %.6g of 2 pi: values come out so much too large",
                 sum);
    if (which == 2 || !g || fbp_grid_default(fbp_scan_views(scan), &usual) != FBP_OK)
        return;
    const double *z = f->fov_half_height_mm, slack = 0.51 * g->voxel_mm[2];
    const double lo = fbp_grid_coordinate(g, 2, 0),
                 hi = lo + (double)(g->n[2] - 1) * g->voxel_mm[2];
    const double *const axis = usual.centre_mm, reach = side_reach(g, axis);
    const double most = fmax(f->fov_radius_mm, side_reach(&usual, axis));
    const double end = (double)usual.n[2] / 2 * usual.voxel_mm[2];
    const double first = fmin(z[0], usual.centre_mm[2] - end);
    const double last = fmax(z[1], usual.centre_mm[2] + end);
    if (which == 0 && reach > most + 0.51 * fmax(g->voxel_mm[0], g->voxel_mm[1]))
        snprintf(buf, n,
                 "the volume reaches %.5g mm from the axis, the field of view %.5g mm: values "
                 "beyond it are not right: give a smaller volume, or --mask 0",
                 reach, f->fov_radius_mm);
    if (which == 1 && scan->panel.n_rows > 1 && (lo < first - slack || hi > last + slack))
        snprintf(buf, n,
                 "the volume has slices from z = %.5g to %.5g mm, but all views see the axis from "
                 "%.5g to %.5g mm: slices beyond are not right: give a smaller volume, or --mask 0",
                 lo, hi, z[0], z[1]);
}

bool fbp_scan_remark(const struct fbp_scan *given, const struct fbp_geometry_facts *given_facts,
                     const struct fbp_grid *volume, size_t i, char *buf, size_t n)
{
    FBP_GIVEN_ELSE(false, buf);
    struct fbp_scan own, *const scan = &own;
    struct fbp_geometry_facts whole, *const facts = &whole;

    if (FBP_TAKE(scan, scan, given) != FBP_OK ||
        FBP_TAKE(geometry_facts, facts, given_facts) != FBP_OK)
        return false;
    for (int which = 0; which < 3; which++) {
        scan_words(scan, facts, volume, which, buf, n);
        if (buf[0] && i-- == 0)
            return true;
    }
    return !scan->filtered && fbp_geometry_remark(facts, i, buf, n);
}
