/* Functions for a scan in memory (struct fbp_scan): its guesses, notes, files and images; copying
 * and clearing it, and remarks about its volume. Public (fbp/scan.h): fbp_scan_clear(),
 * fbp_scan_copy(), fbp_scan_confirm(), fbp_scan_use_image(), fbp_scan_is_intensity(); the others
 * help readers of scans.
 * Used by: bench/, cli/, analysis/, picture/, pipeline/, prep/, scan/, weight/. */
#include "scan/file/scan.h"

#include "array/array.h"
#include "array/names.h"
#include "base/math.h"
#include "base/text.h"
#include "geometry/kind.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { N_TEXTS = 8 };

/* Get the addresses of those members of a scan that are strings, which the scan owns. */
static void texts_of(struct fbp_scan *scan, char **out[N_TEXTS])
{
    char **const texts[N_TEXTS] = {&scan->path, &scan->projections, &scan->dark,
                                   &scan->flat, &scan->bad_pixels,  &scan->reference,
                                   &scan->note, &scan->flat_after};

    memcpy(out, texts, sizeof texts);
}

static void clear_assumed(struct fbp_assumed *a)
{
    free(a->key);
    free(a->value);
    free(a->why);
    free(a->file);
}

void fbp_scan_free(struct fbp_scan *scan)
{
    char **texts[N_TEXTS];

    texts_of(scan, texts);
    for (int i = 0; i < N_TEXTS; i++)
        free(*texts[i]);
    free(scan->views);
    free(scan->depths);
    free(scan->plane_weights);
    free(scan->selected);
    free(scan->i0s);
    free(scan->doses);
    fbp_preparation_free(scan->preparation);
    free(scan->corrections);
    fbp_images_free(scan->images);
    for (size_t i = 0; i < scan->n_files; i++)
        free(scan->files[i]);
    free(scan->files);
    for (size_t i = 0; i < scan->n_assumed; i++)
        clear_assumed(&scan->assumed[i]);
    free(scan->assumed);
    *scan = (struct fbp_scan){.struct_size = sizeof *scan};
}

/* A scan with struct_size 0 was never used, and is left unchanged. */
void fbp_scan_clear(struct fbp_scan *scan)
{
    struct fbp_scan own;

    if (!scan || scan->struct_size == 0 || FBP_COPY_IN(scan, &own, scan) != FBP_OK)
        return;
    fbp_scan_free(&own);
    FBP_COPY_OUT(scan, scan, &own);
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

fbp_status fbp_scan_copy(struct fbp_scan *out, const struct fbp_scan *given)
{
    struct fbp_scan from, to;
    char **sources[N_TEXTS], **texts[N_TEXTS];
    fbp_status st;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(scan, out));
    FBP_TRY(FBP_COPY_IN(scan, &from, given));
    to = from;
    to.views = NULL;
    to.depths = to.plane_weights = NULL;
    to.selected = NULL;
    to.i0s = to.doses = NULL;
    to.preparation = NULL;
    to.corrections = NULL;
    to.images = NULL;
    to.files = NULL;
    to.assumed = NULL;
    to.n_files = to.n_assumed = 0;
    texts_of(&to, texts);
    texts_of(&from, sources);
    for (int i = 0; i < N_TEXTS; i++)
        *texts[i] = NULL;

    const size_t n = from.n_views;
    for (int i = 0; i < N_TEXTS; i++)
        if (*sources[i])
            FBP_TRY_GOTO(fbp_scan_path(texts[i], NULL, "%s", *sources[i]));
    if (from.n_files > 0)
        FBP_TRY_GOTO(fbp_calloc((void **)&to.files, from.n_files, sizeof *to.files, "a scan"));
    for (; to.n_files < from.n_files; to.n_files++)
        FBP_TRY_GOTO(fbp_scan_path(&to.files[to.n_files], NULL, "%s", from.files[to.n_files]));
    FBP_TRY_GOTO(copy_list(&to.views, from.views, n, sizeof *from.views));
    FBP_TRY_GOTO(copy_list(&to.depths, from.depths, n, sizeof *from.depths));
    FBP_TRY_GOTO(copy_list(&to.plane_weights, from.plane_weights, n, sizeof *from.plane_weights));
    FBP_TRY_GOTO(copy_list(&to.selected, from.selected, n, sizeof *from.selected));
    const size_t stored = from.stored_views ? from.stored_views : n;
    FBP_TRY_GOTO(copy_list(&to.i0s, from.i0s, stored, sizeof *from.i0s));
    FBP_TRY_GOTO(copy_list(&to.doses, from.doses, stored, sizeof *from.doses));
    FBP_TRY_GOTO(fbp_preparation_copy(&to.preparation, from.preparation));
    if (from.preparation)
        FBP_TRY_GOTO(copy_list(&to.preparation->places, from.preparation->places,
                               from.preparation->n_samples, sizeof(double)));
    if (from.corrections) {
        struct fbp_corrections own;
        FBP_TRY_GOTO(fbp_corrections_of(&from, &own));
        own.struct_size = sizeof own;
        FBP_TRY_GOTO(copy_list(&to.corrections, &own, 1, sizeof own));
    }
    FBP_TRY_GOTO(fbp_images_copy(&to.images, from.images));
    for (size_t i = 0; i < from.n_assumed; i++) {
        const struct fbp_assumed *a = &from.assumed[i];
        FBP_TRY_GOTO(fbp_scan_assume(&to, a->file, a->key, a->value, a->why));
    }
    FBP_COPY_OUT(scan, out, &to);
    return FBP_OK;
fail:
    fbp_scan_free(&to);
    return st;
}

/* Assumptions and notes. */

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
        clear_assumed(&one);
        return fbp_fail_nomem(strlen(key) + strlen(why), "what is assumed");
    }
    scan->assumed[scan->n_assumed++] = one;
    return FBP_OK;
}

void fbp_scan_settle(struct fbp_scan *scan, const char *key)
{
    size_t kept = 0;

    for (size_t i = 0; i < scan->n_assumed; i++)
        if (strcmp(scan->assumed[i].key, key) == 0)
            clear_assumed(&scan->assumed[i]);
        else
            scan->assumed[kept++] = scan->assumed[i];
    scan->n_assumed = kept;
}

void fbp_scan_confirm(struct fbp_scan *scan, const char *key)
{
    FBP_REQUIRE_ELSE(, key);
    struct fbp_scan own;

    fbp_message_clear();
    if (FBP_COPY_IN(scan, &own, scan) != FBP_OK)
        return;
    fbp_scan_settle(&own, key);
    FBP_COPY_OUT(scan, scan, &own);
}

/* Print the guesses of a scan to buf[n].  A guess in a scan file is printed as key and value, and
 * the file's last guess is followed by the remedy, to edit the file.  A guess for a file of another
 * program is printed with its reason. */
size_t fbp_scan_assumed(const struct fbp_scan *given, char *buf, size_t n)
{
    struct fbp_scan whole, *const scan = &whole;

    if (n > 0)
        FBP_REQUIRE_ELSE(0, buf);
    if (n > 0)
        buf[0] = '\0';
    if (FBP_COPY_IN(scan, scan, given) != FBP_OK)
        return 0;
    const char *file = NULL;
    for (size_t i = 0; i < scan->n_assumed; i++) {
        const struct fbp_assumed *a = &scan->assumed[i];
        const bool editable = fbp_has_extension(a->file, ".json");
        const bool starts = !file || strcmp(a->file, file) != 0;
        const bool ends =
            i + 1 == scan->n_assumed || strcmp(scan->assumed[i + 1].file, a->file) != 0;
        if (starts)
            fbp_text_add(buf, n, "; ", "%s%s: ", a->file,
                         editable ? " contains unconfirmed assumptions" : " lacks");
        fbp_text_add(buf, n, starts ? "" : ", ", "%s", a->key);
        if (a->value)
            fbp_text_add(buf, n, "", editable ? " %s" : ", assumed to be %s", a->value);
        if (!editable)
            fbp_text_add(buf, n, "", " (%s)", a->why);
        if (editable && ends)
            fbp_text_add(
                buf, n, "",
                "; correct wrong values, and remove confirmed ones from \"assumed\" in this file");
        file = a->file;
    }
    return scan->n_assumed;
}

void fbp_text_add(char *buf, size_t n, const char *separator, const char *fmt, ...)
{
    const size_t at = n ? strlen(buf) : 0, gap = at ? strlen(separator) : 0;

    if (at + gap + 1 >= n)
        return;
    memcpy(buf + at, separator, gap);
    FBP_PRINT_ARGUMENTS(buf + at + gap, n - at - gap, fmt);
}

fbp_status fbp_scan_path(char **out, const char *base, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    const bool made = vasprintf(&text, fmt, ap) >= 0;
    va_end(ap);
    *out = made && base ? fbp_path_join(base, text) : made ? text : NULL;
    if (made && base)
        free(text);
    return *out ? FBP_OK : fbp_fail_nomem(strlen(fmt), "a path");
}

fbp_status fbp_scan_note(struct fbp_scan *scan, const char *fmt, ...)
{
    char *note = NULL, *both = NULL;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&note, fmt, ap) >= 0) {
        both = fbp_format("%s%s%s", scan->note ? scan->note : "", scan->note ? "; " : "", note);
        free(note);
    }
    va_end(ap);
    if (!both)
        return fbp_fail_nomem(strlen(fmt), "a note");
    free(scan->note);
    scan->note = both;
    return FBP_OK;
}

fbp_status fbp_scan_note_ignored(struct fbp_scan *scan, const char *file, const char *key,
                                 const char *value, const char *remedy)
{
    return fbp_scan_note(scan, "%s: %s = %.60s is not applied; %s", file, key, value, remedy);
}

/* Files that the scan is read from. */

fbp_status fbp_scan_add_file(struct fbp_scan *scan, const char *path)
{
    struct fbp_inputs files = {scan->files, scan->n_files, scan->n_files};
    const fbp_status st = fbp_inputs_add(&files, path);

    scan->files = files.names;
    scan->n_files = files.n;
    return st;
}

fbp_status fbp_scan_open_views(fbp_source **out, const struct fbp_scan *scan)
{
    FBP_TRY(fbp_source_open(out, scan->projections, &scan->raw));
    return scan->sinograms ? fbp_source_transpose(out) : FBP_OK;
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
    raw.n[2] = 0; /* headerless images: any number of them */
    FBP_TRY(fbp_inputs_add_array(out, scan->dark, &raw));
    FBP_TRY(fbp_inputs_add_array(out, scan->flat, &raw));
    FBP_TRY(fbp_inputs_add_array(out, scan->flat_after, &raw));
    return fbp_inputs_add_array(out, scan->bad_pixels, &raw);
}

static fbp_status add_all(struct fbp_inputs *all, const void *scan)
{
    return fbp_scan_inputs(all, scan, NULL);
}

bool fbp_scan_reads(const struct fbp_scan *given, const char *file)
{
    FBP_REQUIRE_ELSE(false, file);
    struct fbp_scan scan;
    struct fbp_inputs named = {0};
    char **texts[N_TEXTS];
    fbp_status st = FBP_OK;
    bool hit = true;

    fbp_message_clear();
    if (FBP_COPY_IN(scan, &scan, given) != FBP_OK)
        return true;
    texts_of(&scan, texts);
    for (int i = 0; i < N_TEXTS; i++)
        FBP_TRY_GOTO(fbp_inputs_add(&named, texts[i] == &scan.note ? NULL : *texts[i]));
    FBP_TRY_GOTO(fbp_inputs_add(&named, scan.preparation ? scan.preparation->profile : NULL));
    for (size_t i = 0; i < scan.n_files; i++)
        FBP_TRY_GOTO(fbp_inputs_add(&named, scan.files[i]));
    hit = fbp_inputs_hit(&named, add_all, &scan, file);
fail:
    fbp_inputs_clear(&named);
    return st != FBP_OK || hit;
}

/* Images. */

const double *fbp_scan_image(const struct fbp_scan *scan, enum fbp_image which)
{
    return scan->images ? scan->images->pixels[which] : NULL;
}

bool fbp_scan_has_image(const struct fbp_scan *scan, enum fbp_image which)
{
    const char *const files[FBP_IMAGES] = {scan->dark, scan->flat, scan->bad_pixels};

    return files[which] || fbp_scan_image(scan, which);
}

bool fbp_images_fit(const struct fbp_images *images, const struct fbp_panel *panel)
{
    return images->panel.n_columns == panel->n_columns && images->panel.n_rows == panel->n_rows;
}

const char *fbp_image_name(enum fbp_image which)
{
    static const char *const names[FBP_IMAGES] = {"dark", "flat", "bad_pixels"};

    return names[which];
}

fbp_status fbp_images_copy(struct fbp_images **out, const struct fbp_images *images)
{
    struct fbp_images *copy = NULL;
    fbp_status st;

    *out = NULL;
    if (!images)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&copy, 1, sizeof *copy, "images"));
    copy->panel = images->panel;
    for (int i = 0; i < FBP_IMAGES; i++) {
        const size_t bytes = images->panel.n_columns * images->panel.n_rows * sizeof(double);
        if (!images->pixels[i])
            continue;
        FBP_TRY_GOTO(fbp_alloc((void **)&copy->pixels[i], bytes, "an image"));
        memcpy(copy->pixels[i], images->pixels[i], bytes);
    }
    *out = copy;
    return FBP_OK;
fail:
    fbp_images_free(copy);
    return st;
}

void fbp_images_free(struct fbp_images *images)
{
    if (!images)
        return;
    for (int i = 0; i < FBP_IMAGES; i++)
        fbp_free(images->pixels[i]);
    free(images);
}

fbp_status fbp_scan_use_image(struct fbp_scan *given, enum fbp_image which, fbp_source *source)
{
    struct fbp_scan own, *const scan = &own;
    struct fbp_reduction r;
    double *pixels = NULL;
    fbp_status st;

    fbp_message_clear();
    FBP_TRY(FBP_COPY_IN(scan, scan, given));
    FBP_TRY(fbp_check_kind("scan.kind", scan->kind));
    FBP_TRY(fbp_check_choice("which", which, FBP_IMAGE_LAST));
    fbp_reduction_of(scan, &r);
    const struct fbp_panel *panel = &r.stored;
    if (source) {
        const size_t *n = fbp_source_info(source)->n;
        if (n[0] != panel->n_columns || n[1] != panel->n_rows || n[2] == 0)
            return FBP_INVALID("%s: the image has %zu columns and %zu rows, but the views have %zu "
                               "and %zu; give the image that belongs to this scan",
                               fbp_image_name(which), n[0], n[1], panel->n_columns, panel->n_rows);
        FBP_TRY(fbp_alloc((void **)&pixels, panel->n_columns * panel->n_rows * sizeof *pixels,
                          "an image"));
        FBP_TRY_GOTO(fbp_source_mean(source, pixels));
        if (!scan->images) {
            FBP_TRY_GOTO(fbp_calloc((void **)&scan->images, 1, sizeof *scan->images, "images"));
            scan->images->panel = *panel;
        }
    }

    char **const files[FBP_IMAGES] = {&scan->dark, &scan->flat, &scan->bad_pixels};
    free(*files[which]);
    *files[which] = NULL;
    if (scan->images) {
        fbp_free(scan->images->pixels[which]);
        scan->images->pixels[which] = pixels;
    }
    FBP_COPY_OUT(scan, given, scan);
    return FBP_OK;
fail:
    fbp_free(pixels);
    return st;
}

struct fbp_views fbp_scan_views(const struct fbp_scan *scan)
{
    FBP_REQUIRE_ELSE(((struct fbp_views){.n = 0}), scan);
    return (struct fbp_views){scan->kind, scan->n_views, scan->panel, scan->views};
}

bool fbp_scan_is_intensity(const struct fbp_scan *given)
{
    struct fbp_scan scan;

    if (FBP_COPY_IN(scan, &scan, given) != FBP_OK)
        return false;
    return fbp_scan_has_image(&scan, FBP_IMAGE_DARK) || fbp_scan_has_image(&scan, FBP_IMAGE_FLAT) ||
           scan.i0 > 0;
}

/* Greatest distance of the volume's outer voxels from the axis, along x or along y.  Corners, which
 * usually lie outside the round field of view, do not count. */
static double side_reach(const struct fbp_grid *g, const double axis[3])
{
    double reach = 0;

    for (int i = 0; i < 2; i++)
        reach = fmax(reach, fmax(fabs(fbp_grid_coordinate(g, i, 0) - axis[i]),
                                 fabs(fbp_grid_coordinate(g, i, (double)g->n[i] - 1) - axis[i])));
    return reach;
}

/* Write a warning to buf, or "".  which 0: the volume is wider than the field of view; 1: it is
 * higher; 2: the given plane weights do not add up to 2 pi. */
static void remark(const struct fbp_scan *scan, const struct fbp_geometry_facts *f,
                   const struct fbp_grid *g, int which, char *buf, size_t n)
{
    struct fbp_grid usual;
    double sum = 0;

    buf[0] = '\0';
    for (size_t k = 0; scan->plane_weights && k < scan->n_views; k++)
        sum += scan->plane_weights[k] / (2 * FBP_PI);
    if (which == 2 && scan->plane_weights && fabs(sum - 1) > 1e-6)
        snprintf(buf, n,
                 "the sum of the weights is %.6g times 2 pi, so all values are multiplied by this "
                 "factor; scale the weights to the sum 2 pi",
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
                 "the volume extends %.5g mm from the axis, but the field of view only %.5g mm; "
                 "values beyond it are wrong; choose a smaller volume, or give --mask 0",
                 reach, f->fov_radius_mm);
    if (which == 1 && scan->panel.n_rows > 1 && (lo < first - slack || hi > last + slack))
        snprintf(
            buf, n,
            "the volume has slices from z = %.5g to %.5g mm, but all views see the axis only from "
            "%.5g to %.5g mm; slices beyond are wrong; choose a smaller volume, or give --mask 0",
            lo, hi, z[0], z[1]);
}

bool fbp_scan_remark(const struct fbp_scan *given, const struct fbp_geometry_facts *given_facts,
                     const struct fbp_grid *volume, size_t i, char *buf, size_t n)
{
    FBP_REQUIRE_ELSE(false, buf);
    struct fbp_scan scan;
    struct fbp_geometry_facts facts;

    if (FBP_COPY_IN(scan, &scan, given) != FBP_OK ||
        FBP_COPY_IN(geometry_facts, &facts, given_facts) != FBP_OK)
        return false;
    for (int which = 0; which < 3; which++) {
        remark(&scan, &facts, volume, which, buf, n);
        if (buf[0] && i-- == 0)
            return true;
    }
    return !scan.filtered && fbp_geometry_remark(&facts, i, buf, n);
}
