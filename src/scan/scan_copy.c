/* A scan again, with strings and views of its own. */
#include "scan/file/images.h"
#include "scan/file/preparation.h"
#include "scan/file/scan_notes.h"

#include "base/base.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* NULL stays NULL. */
static fbp_status copy_text(char **out, const char *text)
{
    *out = text ? fbp_strdup(text) : NULL;
    return text && !*out ? fbp_fail_nomem(strlen(text), "a copy of a scan") : FBP_OK;
}

static fbp_status copy_list(void *out, const void *list, size_t n, size_t size)
{
    void *copy = NULL;

    if (list && n > 0)
        FBP_TRY(fbp_calloc(&copy, n, size, "a copy of a scan"));
    if (copy)
        memcpy(copy, list, n * size);
    memcpy(out, &copy, sizeof copy);
    return FBP_OK;
}

static fbp_status copy_texts(struct fbp_scan *to, const struct fbp_scan *from)
{
    FBP_TRY(copy_text(&to->path, from->path));
    FBP_TRY(copy_text(&to->projections, from->projections));
    FBP_TRY(copy_text(&to->dark, from->dark));
    FBP_TRY(copy_text(&to->flat, from->flat));
    FBP_TRY(copy_text(&to->bad_pixels, from->bad_pixels));
    FBP_TRY(copy_text(&to->reference, from->reference));
    FBP_TRY(copy_text(&to->note, from->note));
    if (from->n_files > 0)
        FBP_TRY(fbp_calloc((void **)&to->files, from->n_files, sizeof *to->files, "a scan"));
    for (; to->n_files < from->n_files; to->n_files++)
        FBP_TRY(copy_text(&to->files[to->n_files], from->files[to->n_files]));
    return FBP_OK;
}

static fbp_status copy_numbers(struct fbp_scan *to, const struct fbp_scan *from)
{
    const size_t n = from->n_views;

    FBP_TRY(copy_list(&to->views, from->views, n, sizeof *from->views));
    FBP_TRY(copy_list(&to->depths, from->depths, n, sizeof *from->depths));
    FBP_TRY(copy_list(&to->plane_weights, from->plane_weights, n, sizeof *from->plane_weights));
    FBP_TRY(fbp_preparation_copy(&to->preparation, from->preparation));
    if (!from->preparation)
        return FBP_OK;
    return copy_list(&to->preparation->places, from->preparation->places,
                     from->preparation->n_samples, sizeof(double));
}

static fbp_status copy_corrections(struct fbp_scan *to, const struct fbp_scan *from)
{
    struct fbp_corrections own, *copy;

    if (!from->corrections)
        return FBP_OK;
    FBP_TRY(FBP_TAKE(corrections, &own, from->corrections));
    FBP_TRY(fbp_calloc((void **)&copy, 1, sizeof *copy, "corrections"));
    *copy = own;
    copy->struct_size = sizeof *copy;
    to->corrections = copy;
    return FBP_OK;
}

static fbp_status copy_all(struct fbp_scan *to, const struct fbp_scan *from)
{
    FBP_TRY(copy_texts(to, from));
    FBP_TRY(copy_numbers(to, from));
    FBP_TRY(copy_corrections(to, from));
    FBP_TRY(fbp_images_copy(&to->images, from->images));
    for (size_t i = 0; i < from->n_assumed; i++) {
        const struct fbp_assumed *a = &from->assumed[i];
        FBP_TRY(fbp_scan_assume(to, a->file, a->key, a->value, a->why));
    }
    return FBP_OK;
}

fbp_status fbp_scan_copy(struct fbp_scan *out, const struct fbp_scan *given)
{
    struct fbp_scan from, to;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(scan, out));
    FBP_TRY(FBP_TAKE(scan, &from, given));
    to = from;
    to.path = to.projections = to.dark = to.flat = to.bad_pixels = to.reference = to.note = NULL;
    to.views = NULL;
    to.depths = to.plane_weights = NULL;
    to.preparation = NULL;
    to.corrections = NULL;
    to.images = NULL;
    to.files = NULL;
    to.assumed = NULL;
    to.n_files = to.n_assumed = 0;
    const fbp_status st = copy_all(&to, &from);
    if (st == FBP_OK)
        FBP_GIVE(scan, out, &to);
    else
        fbp_scan_free(&to);
    return st;
}
