/* Loads the scan (recon_load()) and makes the plan (recon_prepare()) that the options of fbp recon
 * and fbp plan request; option values replace those of the scan file. Also --centre auto
 * (centre_find()), and the headings of --help.
 * Used by: bench/papers/okitsu2008/, bench/pipeline/, bench/predict/, cli/. */
#include "recon.h"
#include "cli.h"
#include "say.h"

#include "base/base.h"
#include "geometry/ranges.h"
#include "scan/file/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct opt_group recon_groups[] = {
    {"Output", "output output-type output-range preview report resume force", "compress timeline"},
    {"Input", "every bin follow", "views skip follow-timeout"},
    {"Geometry", "centre sod sdd pitch flip-u flip-v reverse sweep",
     "offset tilt angular-weights score curve"},
    {"Corrections", "bad-pixels rings beam-hardening paganin", "zingers"},
    {"Filter", "filter cutoff pad", "refine cutoff-v spatial half-width"},
    {"Volume", "size voxel slice roi region hu", "volume-centre hu-from-roi unit mask"},
    {"Device and memory", "device precision threads memory scratch",
     "device-memory kernel slab batch"},
    {"EPR imaging (scans of plane integrals)", "",
     "prepare reference wiener response interpolation oversampling periodic stages "
     "picture-oversampling angles angular quadrature"},
    {"Several processes", "part", "view-ranks"},
    {"Printing", "plan json quiet", NULL},
    {0}};

int recon_name_scan(struct recon_args *a, char **kept)
{
    const int rc = cli_scan_in_folder(a->scan, a->quiet, kept);

    if (*kept)
        a->scan = *kept;
    return rc;
}

/* Replace quadrature rule and weights, reference spectrum, and bad pixels of the scan by those of
 * --quadrature, --reference and --bad-pixels. */
static int choose_inputs(const struct recon_args *a, struct fbp_scan *scan)
{
    const bool lines = fbp_kind_has_lines(scan->kind);
    const bool search = a->bad_pixels && strcmp(a->bad_pixels, "auto") == 0;

    if (a->quadrature > 0 && lines)
        return cli_error("--quadrature: %s: scans of kind %s have no directions with solid angles; "
                         "omit --quadrature",
                         a->scan, fbp_kind_name(scan->kind));
    if (a->quadrature > 0) {
        scan->quadrature = (enum fbp_quadrature)(a->quadrature - 1);
        free(scan->plane_weights);
        scan->plane_weights = NULL;
    }
    if (a->reference && lines)
        return cli_error("--reference: %s: scans of kind %s have no spectra; omit --reference",
                         a->scan, fbp_kind_name(scan->kind));
    if (a->reference) {
        fbp_scan_confirm(scan, "reference");
        if (cli_replace_name(&scan->reference, a->reference) != 0)
            return 1;
    }
    scan->find_bad_pixels = search || (scan->find_bad_pixels && !a->bad_pixels);
    return a->bad_pixels && !search ? cli_replace_name(&scan->bad_pixels, a->bad_pixels) : 0;
}

/* Replace corrections by those of --zingers, --beam-hardening, --rings and --paganin. */
static int choose_corrections(const struct recon_args *a, struct fbp_scan *scan)
{
    struct fbp_corrections c = {.struct_size = sizeof c};

    if (scan->corrections)
        c = *scan->corrections;
    if (isnan(a->correct.beam_hardening[0]) && !a->rings && isnan(a->paganin[0]) &&
        isnan(a->correct.zingers))
        return 0;
    if (!isnan(a->correct.zingers))
        c.zingers = a->correct.zingers;
    if (!isnan(a->correct.beam_hardening[0]))
        memcpy(c.beam_hardening, a->correct.beam_hardening, sizeof c.beam_hardening);
    if (a->rings && fbp_corrections_rings(&c, a->rings) != FBP_OK)
        return cli_fail();
    if (!isnan(a->paganin[0])) {
        c.paganin_delta_beta = a->paganin[0];
        c.paganin_kev = a->paganin[1];
        c.paganin_mm = a->paganin[2];
    }
    return fbp_scan_correct(scan, &c) == FBP_OK ? 0 : cli_fail();
}

int recon_load(const struct recon_args *a, struct fbp_scan *scan)
{
    struct fbp_preparation steps = {.struct_size = sizeof steps};
    if (a->prepare && fbp_preparation_parse(a->prepare, &steps) != FBP_OK)
        return cli_error("--%s", fbp_message());
    const struct fbp_scan_known known = {.struct_size = sizeof known,
                                         .pitch_mm = {a->pitch[0], a->pitch[1]},
                                         .growing = a->p.input.follow,
                                         .preparation = a->prepare ? &steps : NULL};

    /* Set the memory limit before files are read: child processes obey it, too. */
    fbp_limit_memory(a->p.memory_bytes);
    const fbp_status st = fbp_scan_load(scan, a->scan, &known);
    free(steps.profile);
    if (st != FBP_OK)
        return cli_fail();
    if (fbp_scan_select(scan, a->views, a->skip) != FBP_OK)
        return strncmp(fbp_message(), "scan", 4) == 0 ? cli_fail()
                                                      : cli_error("--%s", fbp_message());
    adjust_confirm(scan, a->adjust);
    if (choose_inputs(a, scan) != 0 || choose_corrections(a, scan) != 0)
        return 1;
    /* apply flips first, because they correct the order of the stored columns and rows */
    if (adjust_flip(scan, a->flip_u, a->flip_v, a->reverse) != 0)
        return 1;
    /* Check that outputs replace no inputs; the library itself checks the volume. */
    const bool picture = a->sweep || recon_is_picture(a);
    const struct cli_files files = {
        .force = a->p.output.force,
        .scan = scan,
        /* mask file of --region; a shape such as ball:0,0,0,9 names no file */
        .inputs = {a->p.region.shape},
        .outputs = {a->preview, a->timeline, a->report, a->curve, picture ? a->output : NULL},
        .volume = picture || !a->output || !recon_is_file(a->output) ? NULL : a->output};
    return cli_check_files(&files);
}

fbp_status recon_reduce(const struct recon_args *a, struct fbp_scan *scan)
{
    const size_t every = a->every ? a->every : 1, bin = a->bin ? a->bin : 1;

    return fbp_scan_reduce(scan, every, bin);
}

int recon_grid(const struct recon_args *a, const struct fbp_scan *scan, struct fbp_grid *out)
{
    struct fbp_grid wanted = {0};

    for (int i = 0; i < 3; i++) { /* a value 0 is chosen by the library */
        wanted.n[i] = a->size[i];
        wanted.voxel_mm[i] = a->voxel[i];
    }
    if (fbp_grid_resolve(&wanted, scan, out) != FBP_OK)
        return cli_fail();
    if (!isnan(a->volume_centre[0]))
        memcpy(out->centre_mm, a->volume_centre, sizeof out->centre_mm);
    if (a->slice.given && (a->slice.first >= out->n[2] || a->slice.end > out->n[2]))
        return cli_error("--slice %zu does not exist; the volume has slices 0 to %zu",
                         a->slice.first < out->n[2] ? a->slice.end - 1 : a->slice.first,
                         out->n[2] - 1);
    for (int i = 0; a->roi[0].given && i < 3; i++) {
        const size_t n = out->n[i], end = a->roi[i].end ? a->roi[i].end : n;
        if (a->roi[i].first >= end || end > n)
            return cli_error(
                "--roi: voxels %zu:%zu along %c are no range of the volume, which has 0:%zu (the "
                "end is excluded); give a first voxel below the end, and an end inside the volume",
                a->roi[i].first, end, "xyz"[i], n);
    }
    return 0;
}

bool centre_is_auto(const double values[FBP_ADJUSTS])
{
    return isinf(values[FBP_ADJUST_CENTRE]);
}

/* True if opposite rays agree much better, and determine the axis, for the opposite rotation.
 * Reversed columns have the same effect, but mirror the volume. Parallel beams fit both. */
static bool fits_reversed(const struct fbp_scan *scan, const struct fbp_recon_params *p,
                          const struct fbp_centre *found)
{
    struct fbp_scan other = {.struct_size = sizeof other};
    struct fbp_centre c = {.struct_size = sizeof c};
    bool fits = fbp_kind_has_source(scan->kind) && fbp_scan_copy(&other, scan) == FBP_OK &&
                fbp_scan_flip(&other, FBP_FLIP_DIRECTION) == FBP_OK &&
                fbp_centre_find(&other, p, &c) == FBP_OK;

    fits = fits && c.sure && c.misfit < found->misfit / 2;
    fbp_scan_clear(&other);
    return fits;
}

int centre_find(struct recon_args *a, const struct fbp_scan *scan)
{
    struct fbp_recon_params p = a->p;
    struct fbp_centre *c = &a->centre;
    /* copy of the scan with all geometry options except --centre applied */
    struct fbp_scan other = *scan;
    double values[FBP_ADJUSTS];
    char range[48] = "";
    bool reversed = false;

    if (!centre_is_auto(a->adjust))
        return 0;
    other.views = malloc(scan->n_views * sizeof *other.views);
    if (!other.views)
        return cli_error("out of memory for the views; close other programs");
    memcpy(other.views, scan->views, scan->n_views * sizeof *other.views);
    memcpy(values, a->adjust, sizeof values);
    values[FBP_ADJUST_CENTRE] = NAN;
    p.callbacks.progress = progress_stop;
    p.output.fill = false;
    p.region.shape = NULL;
    c->struct_size = sizeof *c;
    int rc = adjust_scan(&other, values);
    if (rc == 0 && fbp_centre_find(&other, &p, c) != FBP_OK)
        rc = cli_fail();
    if (rc == 0 && !c->sure)
        reversed = fits_reversed(&other, &p, c);
    free(other.views);
    if (rc != 0)
        return rc;
    a->adjust[FBP_ADJUST_CENTRE] = c->column;
    a->has_centre = true;
    if (isfinite(c->uncertainty))
        snprintf(range, sizeof range, ", give or take %.2g", fmax(c->uncertainty, 0.001));
    if (!c->sure) /* --quiet does not hide this warning */
        say_warning(false,
                    "column %.6g%s of the rotation axis is NOT RELIABLE: %s; compare the images "
                    "of --sweep centre=%.6g:%.6g:0.5 -o sheet.png",
                    c->column, range, c->why, floor(c->column) - 5, floor(c->column) + 6);
    if (reversed) /* flips of rows never matter: rays of one row are compared with one another */
        say_warning(false,
                    "the views fit the opposite direction of rotation, or reversed columns: "
                    "repeat the run with --reverse or with --flip-u; both give a sharp volume, "
                    "and one of them mirrors it");
    if (c->sure)
        say_note(a->quiet,
                 "centre: column %.6g, give or take %.2g; --centre %.6g repeats this choice",
                 c->column, fmax(c->uncertainty, 0.001), c->column);
    return 0;
}

void centre_json(cJSON *root, const struct fbp_centre *c)
{
    cJSON *o = cJSON_AddObjectToObject(root, "centre");

    cJSON_AddNumberToObject(o, "column", c->column);
    cJSON_AddBoolToObject(o, "sure", c->sure);
    cJSON_AddNumberToObject(o, "by_rays", c->by_rays);
    if (!isnan(c->by_slice))
        cJSON_AddNumberToObject(o, "by_slice", c->by_slice);
    if (!isnan(c->by_turn))
        cJSON_AddNumberToObject(o, "by_turn", c->by_turn);
    if (isfinite(c->uncertainty))
        cJSON_AddNumberToObject(o, "uncertainty", c->uncertainty);
    cJSON_AddNumberToObject(o, "spread", c->spread);
    cJSON_AddNumberToObject(o, "misfit", c->misfit);
    if (!isnan(c->rival))
        cJSON_AddNumberToObject(o, "rival", c->rival);
    if (!c->sure)
        cJSON_AddStringToObject(o, "why", c->why);
}

void recon_complete(struct recon_args *a)
{
    if (a->p.filtering.half_width > 0)
        a->p.filtering.spatial = true;
    a->p.output.unit = a->unit;
    a->p.output.path = a->output;
    a->p.output.fill = !isnan(a->mask);
    a->p.output.fill_value = isinf(a->mask) ? NAN : a->p.output.fill ? a->mask : 0;
}

/* Print a note if --size N makes voxels that are no cubes: the volume keeps its extent. */
static void note_shape(const struct recon_args *a, const struct fbp_grid *grid)
{
    const double *v = grid->voxel_mm;
    size_t cubes[3]; /* numbers of voxels with the size of a voxel along x */

    if (a->size[0] == 0 || a->size[0] != a->size[1] || a->size[0] != a->size[2] ||
        a->voxel[0] > 0 || grid->n[2] == 1)
        return;
    for (int i = 0; i < 3; i++)
        cubes[i] = fbp_voxels_along((double)grid->n[i] * v[i], v[0]);
    if (fabs(v[1] - v[0]) <= 1e-6 * v[0] && fabs(v[2] - v[0]) <= 1e-6 * v[0])
        return;
    say_note(a->quiet,
             "--size %zu: voxels are no cubes, but %.6g x %.6g x %.6g mm, because the volume keeps "
             "its extent; for cubes, give --size %zux%zux%zu --voxel %.6g",
             a->size[0], v[0], v[1], v[2], cubes[0], cubes[1], cubes[2], v[0]);
}

int recon_prepare_scan(struct recon_args *a, struct fbp_scan *scan)
{
    struct fbp_grid grid;

    if (recon_load(a, scan) != 0)
        return 1;
    a->loaded = true;
    a->kind = scan->kind;
    a->scans_volume = scan->volume.n[0] > 0;
    if (centre_find(a, scan) != 0 || adjust_scan(scan, a->adjust) != 0)
        return 1;
    if (recon_reduce(a, scan) != FBP_OK)
        return cli_fail();
    if (recon_grid(a, scan, &grid) != 0)
        return 1;
    note_shape(a, &grid);
    if (a->water[3] > 0) {
        if (recon_water(a, scan, &grid, &a->found) != 0)
            return 1;
        a->p.mu_water = a->found.mean;
    }
    /* request a box: the output contains only it, with the bits of the whole volume */
    if (a->slice.given || recon_is_box(a))
        for (int i = 0; i < 3; i++) {
            const struct opt_range *r = i == 2 && a->slice.given ? &a->slice : &a->roi[i];
            a->p.box[i][0] = r->first;
            a->p.box[i][1] = r->end;
        }
    scan->volume = grid;
    return 0;
}

int recon_prepare(struct recon_args *a, struct fbp_scan *scan, fbp_plan **plan)
{
    *plan = NULL;
    if (recon_prepare_scan(a, scan) != 0)
        return 1;
    return fbp_plan_create(plan, scan, &a->p) == FBP_OK ? 0 : cli_fail();
}
