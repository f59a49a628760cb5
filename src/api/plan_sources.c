/* The views of a plan: opened, reduced, held, and compared with what the scan says. */
#include "api/plan.h"

#include "array/array.h"
#include "array/far.h"
#include "array/file/growing.h"
#include "array/hold.h"
#include "base/stop.h"
#include "geometry/kind.h"
#include "prep/bad_pixels.h"
#include "prep/traces.h"
#include "scan/file/corrections.h"
#include "scan/file/preparation.h"

#include <string.h>

/* What is wrong with the steps is said of the scan file, unless that is the file of the rows. */
static fbp_status prepare(const struct fbp_scan *scan, fbp_source **source)
{
    const fbp_status st = fbp_traces_open(source, *source, scan);
    const char *path = scan->path;

    return path && strncmp(path, scan->projections, strlen(path)) != 0 ? fbp_because(path, st) : st;
}

/* The caller's source, or the scan's projections: views as they are stored. */
fbp_status fbp_plan_source_open(const fbp_plan *p, fbp_source **source)
{
    const bool prepared = p->scan->preparation != NULL;

    *source = p->params.source;
    if (*source && !prepared)
        return FBP_OK;
    if (*source)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "scan: prepare: views from memory are taken as they are: prepare them "
                        "before, or name a file");
    if (!p->scan->projections)
        return fbp_fail(FBP_ERR_INVALID, "scan: no projections are named: add \"projections\"");
    if (p->params.follow)
        FBP_TRY(fbp_source_follow(source, p->scan->projections, &p->scan->raw,
                                  p->params.follow_timeout_s));
    else
        FBP_TRY(fbp_source_open(source, p->scan->projections, &p->scan->raw));
    return prepared ? prepare(p->scan, source) : FBP_OK;
}

/* Views as the scan has them, on top of stored ones if they are not those; *out goes first.  In
 * memory, if they are to be read in any order and the file cannot be. */
fbp_status fbp_plan_source_reduce(fbp_plan *p, fbp_source *stored, fbp_source **out)
{
    *out = stored;
    if (fbp_reduces(&p->reduction))
        FBP_TRY(
            fbp_source_reduce(out, stored, &p->reduction, p->top_down, fbp_plan_prep(p)->left_out));
    FBP_TRY(fbp_plan_source_stages(p, stored, out));
    return p->hold ? fbp_source_hold(out, *out, *out != stored) : FBP_OK;
}

void fbp_plan_source_drop(fbp_source *stored, fbp_source **out)
{
    if (*out != stored)
        fbp_source_close(out);
}

void fbp_plan_source_close(const fbp_plan *p, fbp_source **source)
{
    if (!p->params.source)
        fbp_source_close(source);
}

/* Frames are in the order of the file, whatever rows of pictures are. */
static bool is_top_down(const struct fbp_scan *s, const struct fbp_array_info *info)
{
    const enum fbp_row_order order = s->row_order == FBP_ROWS_AUTO ? info->row_order : s->row_order;

    return order == FBP_ROWS_TOP_DOWN && !fbp_kind_of(s->kind)->row_is_frame;
}

/* Are there as many stored views and pixels as the scan says? */
static fbp_status check_size(const fbp_plan *p, const struct fbp_array_info *info)
{
    const struct fbp_panel *panel = &p->reduction.stored;

    if (info->n[0] == panel->n_columns && info->n[1] == panel->n_rows &&
        info->n[2] == fbp_stored_views(p->scan))
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: holds %zu views of %zu rows x %zu columns, the scan says %zu of %zu x "
                    "%zu: correct the scan file",
                    fbp_plan_source_name(p), info->n[2], info->n[1], info->n[0],
                    fbp_stored_views(p->scan), panel->n_rows, panel->n_columns);
}

/* What reading them takes, and what they are. */
static void take_facts(fbp_plan *p, const fbp_source *source)
{
    const struct fbp_array_info *info = fbp_source_info(source);
    const uint64_t bytes =
        (uint64_t)info->n[0] * info->n[1] * info->n[2] * fbp_type_size(info->type);
    const enum fbp_type stored = source->below ? source->stored_type : info->type;

    p->in_order = fbp_source_in_order(source);
    p->unpacks = fbp_source_unpacks(source);
    p->held_bytes = fbp_source_bytes(source, 0);
    p->reader_bytes = fbp_source_bytes(source, 1) - p->held_bytes;
    p->hold_bytes = fbp_hold_bytes(source);
    p->follow = fbp_source_grows(source);
    p->type = info->scale != 0 ? FBP_F32 : info->type; /* scaled numbers are no counts */
    p->info.input_bytes = source->below ? source->stored_bytes : bytes;
    if (info->scale == 0 && stored != FBP_F32 && stored != FBP_F64 &&
        !fbp_scan_is_intensity(p->scan))
        fbp_plan_note(
            p, FBP_LOG_WARNING,
            "projections are integers but neither flat nor i0 is given: they are taken as line "
            "integrals; add \"i0\" or \"flat\" to the scan if they are counts");
}

/* What is done with rows before they are filtered: steps of a spectrometer's, or corrections. */
static fbp_status describe_preparation(fbp_plan *p)
{
    struct fbp_corrections c;

    fbp_preparation_describe(p->scan->preparation, p->info.prepared, sizeof p->info.prepared);
    if (p->info.prepared[0])
        return FBP_OK;
    FBP_TRY(fbp_corrections_of(p->scan, &c));
    fbp_corrections_describe(&c, p->info.prepared, sizeof p->info.prepared);
    return FBP_OK;
}

/* The projections must be what the scan says; tells which way their rows run. */
fbp_status fbp_plan_take_source(fbp_plan *p)
{
    fbp_source *source = NULL, *reduced = NULL;
    fbp_status st = FBP_OK;

    fbp_reduction_of(p->scan, &p->reduction);
    FBP_TRY(fbp_plan_source_open(p, &source));
    const struct fbp_array_info *info = fbp_source_info(source);
    if (info->taken[0])
        fbp_plan_note(p, FBP_LOG_NOTE, info->taken);
    if (info->missing[0])
        fbp_plan_note(p, FBP_LOG_WARNING, info->missing);
    FBP_TRY_GOTO(describe_preparation(p));
    FBP_TRY_GOTO(check_size(p, info));
    p->top_down = is_top_down(p->scan, info);
    if (p->scan->find_bad_pixels && p->params.follow) {
        st = fbp_fail(FBP_ERR_UNSUPPORTED, "bad_pixels: auto reads the whole scan first, so it "
                                           "excludes --follow: remove one of the two");
        goto fail;
    }
    FBP_TRY_GOTO(fbp_bad_pixels_find(&p->whole_scan, source, p->top_down, &p->images));
    FBP_TRY_GOTO(fbp_plan_make_stages(p));
    FBP_TRY_GOTO(fbp_plan_source_reduce(p, source, &reduced));
    take_facts(p, reduced);
    fbp_plan_source_drop(source, &reduced);
fail:
    fbp_plan_source_close(p, &source);
    return st;
}

fbp_status fbp_plan_check_source(const fbp_plan *p, const fbp_source *source)
{
    const struct fbp_array_info *info = fbp_source_info(source);
    const struct fbp_panel *panel = &p->reduction.stored;

    if (info->n[0] == panel->n_columns && info->n[1] == panel->n_rows &&
        info->n[2] == fbp_stored_views(p->scan) && is_top_down(p->scan, info) == p->top_down &&
        ((info->type == FBP_U16 && info->scale == 0) || p->tables.job.raw != FBP_U16))
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "views: %zu of %zu rows x %zu columns, %s, are not like those the plan was "
                    "made for: make another plan",
                    info->n[2], info->n[1], info->n[0], fbp_type_name(info->type));
}

static int gives_up(void *user, size_t n_there)
{
    (void)user, (void)n_there;
    return fbp_go_on() != FBP_OK;
}

fbp_status fbp_plan_source_await(const fbp_plan *p, fbp_source *stored)
{
    FBP_TRY(fbp_far_settle(fbp_source_far(stored)));
    return p->follow
               ? FBP_OK
               : fbp_source_await(stored, fbp_source_info(stored)->n[2], gives_up, NULL, NULL);
}
