#include "scan/file/scan_inputs.h"

#include "array/reads.h"
#include "base/base.h"

fbp_status fbp_scan_add_file(struct fbp_scan *scan, const char *path)
{
    struct fbp_inputs files = {scan->files, scan->n_files, scan->n_files};
    const fbp_status st = fbp_inputs_add(&files, path);

    scan->files = files.names;
    scan->n_files = files.n;
    return st;
}

fbp_status fbp_scan_inputs(struct fbp_inputs *out, const struct fbp_scan *scan,
                           const struct fbp_source *projections)
{
    struct fbp_raw raw = scan->raw;

    FBP_TRY(fbp_inputs_add(out, scan->path));
    for (size_t i = 0; i < scan->n_files; i++)
        FBP_TRY(fbp_inputs_add(out, scan->files[i]));
    if (projections)
        FBP_TRY(fbp_inputs_add_all(out, &projections->inputs, 0));
    else
        FBP_TRY(fbp_inputs_add_array(out, scan->projections, &raw));
    FBP_TRY(fbp_inputs_add_array(out, scan->reference, NULL));
    if (scan->preparation)
        FBP_TRY(fbp_inputs_add_array(out, scan->preparation->profile, NULL));
    raw.n[2] = 0; /* headerless images: as many as there are */
    FBP_TRY(fbp_inputs_add_array(out, scan->dark, &raw));
    FBP_TRY(fbp_inputs_add_array(out, scan->flat, &raw));
    return fbp_inputs_add_array(out, scan->bad_pixels, &raw);
}

static fbp_status add_all(struct fbp_inputs *all, const void *scan)
{
    return fbp_scan_inputs(all, scan, NULL);
}

static bool scan_reads(const struct fbp_scan *scan, const char *file)
{
    const char *const names[] = {scan->path,
                                 scan->projections,
                                 scan->dark,
                                 scan->flat,
                                 scan->bad_pixels,
                                 scan->reference,
                                 scan->preparation ? scan->preparation->profile : NULL};
    struct fbp_inputs named = {0};
    fbp_status st = FBP_OK;
    bool hit = true;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        FBP_TRY_GOTO(fbp_inputs_add(&named, names[i]));
    for (size_t i = 0; i < scan->n_files; i++)
        FBP_TRY_GOTO(fbp_inputs_add(&named, scan->files[i]));
    hit = fbp_inputs_hit(&named, add_all, scan, file);
fail:
    fbp_inputs_clear(&named);
    return st != FBP_OK || hit;
}

bool fbp_scan_reads(const struct fbp_scan *scan, const char *file)
{
    FBP_GIVEN_ELSE(false, file);
    struct fbp_scan whole;

    fbp_message_clear();
    return FBP_TAKE(scan, &whole, scan) != FBP_OK || scan_reads(&whole, file);
}
