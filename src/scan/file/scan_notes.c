/* A scan in memory: what is assumed, what is to be noted, what it implies; and its end. */
#include "scan/file/scan_notes.h"
#include "scan/file/images.h"
#include "scan/file/preparation.h"

#include "base/mem.h"
#include "base/sizes.h"
#include "base/text.h"

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

/* A scan that was read into the caller's struct; what that has no room for is freed. */
void fbp_scan_give(struct fbp_scan *out, const struct fbp_scan *own)
{
    struct fbp_scan rest = *own;

    FBP_GIVE(scan, out, own);
    if (out->struct_size < sizeof rest) {
        memset(&rest, 0, out->struct_size);
        fbp_scan_free(&rest);
    }
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
    struct fbp_scan own;

    fbp_message_clear();
    if (FBP_TAKE(scan, &own, scan) != FBP_OK)
        return;
    fbp_scan_settle(&own, key);
    FBP_GIVE(scan, scan, &own);
}

struct fbp_views fbp_scan_views(const struct fbp_scan *scan)
{
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
