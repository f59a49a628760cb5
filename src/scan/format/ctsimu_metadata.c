/* CTSimU metadata: which files hold projections, darks and flats, and in which layout. */
#include "array/array.h"
#include "array/file/bytes.h"
#include "array/stack_names.h"
#include "scan/file/scan_notes.h"
#include "scan/format/ctsimu.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char projections_path[] = "output.projections";

static bool is_tiff(const char *name)
{
    return fbp_has_extension(name, ".tif .tiff");
}

static const char *text_at(const cJSON *root, const char *path)
{
    const cJSON *item = fbp_ct_at(root, path);

    return cJSON_IsString(item) && item->valuestring[0] ? item->valuestring : NULL;
}

/* File k of a pattern such as "flat_%04d.raw". */
static fbp_status file_is_there(const char *pattern, size_t k, bool *there)
{
    const char *at = strrchr(pattern, '%'), *end = at ? at + 1 : NULL;
    char *name = NULL;
    int width = 0;

    if (at && end[0] == '0' && isdigit((unsigned char)end[1])) {
        width = end[1] - '0';
        end += 2;
    }
    *there = false;
    if (!at || *end != 'd')
        return FBP_OK;
    name = fbp_format("%.*s%0*zu%s", (int)(at - pattern), pattern, width, k, end + 1);
    const fbp_status st = fbp_is_there(name, there);
    free(name);
    return st;
}

/* Of n files of a pattern: the first one's number, 0 or 1, and how many there are if some may be
 * missing. */
static fbp_status look_for_files(const char *pattern, bool may_miss, size_t *first, size_t *n)
{
    bool zero, one, last = false;

    FBP_TRY(file_is_there(pattern, 0, &zero));
    FBP_TRY(file_is_there(pattern, 1, &one));
    *first = !zero && one;
    while (may_miss && *n > 1) {
        FBP_TRY(file_is_there(pattern, *first + *n - 1, &last));
        if (last)
            break;
        --*n;
    }
    return FBP_OK;
}

/* Names with a %d count from 0, or from 1 if there is no file 0.  *there: take those of the n files
 * that are, and say how many; NULL: all of them must be there. */
static fbp_status name_files(const char *file, const char *name, size_t n, size_t *there,
                             char **out)
{
    char *path = fbp_path_join(file, name);
    size_t first = 0;

    if (!path)
        return fbp_fail_nomem(strlen(name), "a path");
    if (!strchr(name, '%')) {
        *out = path;
        return FBP_OK;
    }
    const fbp_status st = look_for_files(path, there != NULL, &first, &n);
    if (there)
        *there = n;
    *out = st == FBP_OK ? fbp_format("%s %zu %zu", path, first, first + n - 1) : NULL;
    free(path);
    FBP_TRY(st);
    if (!*out)
        return fbp_fail_nomem(strlen(name), "a path");
    return fbp_stack_is(*out) ? FBP_OK
                              : fbp_fail(FBP_ERR_INVALID,
                                         "%s: \"%s\" is no pattern of files: expected one %%d or "
                                         "%%04d in it",
                                         file, name);
}

static fbp_status read_raw(const struct fbp_ct *in, const char *name, size_t n_views,
                           struct fbp_raw *out, struct fbp_panel *panel)
{
    const char *type = text_at(in->at, "datatype"), *order = text_at(in->at, "byteorder");
    const bool one_file = !strchr(name, '%');
    double whole = 0, image = 0;
    bool found;

    FBP_TRY(fbp_ct_count(in, "dimensions.x", &panel->n_columns));
    FBP_TRY(fbp_ct_count(in, "dimensions.y", &panel->n_rows));
    if (is_tiff(name))
        return FBP_OK; /* has a header of its own */
    FBP_TRY(fbp_ct_number(in, "headersize.file", FBP_CT_NUMBER, &whole, &found));
    FBP_TRY(fbp_ct_number(in, "headersize.image", FBP_CT_NUMBER, &image, &found));
    if (!(whole >= 0 && image >= 0 && whole + image <= 0x1p40))
        return fbp_ct_wrong(in, "headersize", "expected numbers of bytes");
    if (image > 0 && one_file && n_views > 1)
        return fbp_ct_wrong(in, "headersize.image",
                            "a header before every image of one file is not supported: write one "
                            "file an image, or none");
    out->type = type ? fbp_type_from_name(type) : FBP_TYPE_NONE;
    if (out->type == FBP_TYPE_NONE)
        return fbp_ct_wrong(in, "datatype", "expected such as \"uint16\" or \"float32\"");
    if (order && strcmp(order, "little") != 0 && strcmp(order, "big") != 0)
        return fbp_ct_wrong(in, "byteorder", "expected \"little\" or \"big\"");
    out->big_endian = order && order[0] == 'b';
    out->header_bytes = (uint64_t)(whole + image);
    out->n[0] = panel->n_columns;
    out->n[1] = panel->n_rows;
    out->n[2] = n_views;
    return FBP_OK;
}

/* Fewer darks or flats than the scan was made with. */
static fbp_status tell_missing(struct fbp_scan *out, const char *name, size_t n, size_t there)
{
    char *note = fbp_format("%zu of the %zu files %s are there", there, n, name);
    const fbp_status st = note ? fbp_scan_note(out, note) : fbp_fail_nomem(strlen(name), "a note");

    free(note);
    return st;
}

/* Darks or flats: those that are there, if they are still to be applied. */
static fbp_status read_images(const struct fbp_ct *in, const char *field, const char *projections,
                              struct fbp_scan *scan, char **out, bool *corrected)
{
    char key[64];
    size_t there;
    double n = 0;
    bool found;

    snprintf(key, sizeof key, "%s.projections_corrected", field);
    *corrected = cJSON_IsTrue(fbp_ct_at(in->at, key));
    snprintf(key, sizeof key, "%s.filename", field);
    const char *name = text_at(in->at, key);
    snprintf(key, sizeof key, "%s.number", field);
    FBP_TRY(fbp_ct_number(in, key, FBP_CT_NUMBER, &n, &found));
    if (*corrected || !name || !(n >= 1))
        return FBP_OK;
    if (!(n <= 1e6 && n == floor(n)))
        return fbp_ct_wrong(in, key, "expected a whole number");
    if (is_tiff(name) != is_tiff(projections))
        return fbp_ct_wrong(in, field, "is of another format than the projections: convert it");
    there = (size_t)n;
    FBP_TRY(name_files(in->file, name, (size_t)n, &there, out));
    return there < (size_t)n ? tell_missing(scan, name, (size_t)n, there) : FBP_OK;
}

static fbp_status read_corrections(const struct fbp_ct *in, const char *projections,
                                   struct fbp_scan *out)
{
    const char *bad = text_at(in->at, "bad_pixel_map.filename");
    bool dark, flat, no_bad, found;
    double white = 0;

    FBP_TRY(read_images(in, "dark_field", projections, out, &out->dark, &dark));
    FBP_TRY(read_images(in, "flat_field", projections, out, &out->flat, &flat));
    if (flat && out->dark)
        return fbp_ct_wrong(in, "dark_field",
                            "the flat correction was applied and the dark one was not: start from "
                            "the raw projections");
    FBP_TRY(fbp_ct_number(in, "max_intensity", FBP_CT_NUMBER, &white, &found));
    if (!out->flat && found && white > 0)
        out->i0 = white;
    no_bad = cJSON_IsTrue(fbp_ct_at(in->at, "bad_pixel_map.projections_corrected"));
    return bad && !no_bad ? name_files(in->file, bad, 1, NULL, &out->bad_pixels) : FBP_OK;
}

/* The volume that is asked for, about the iso-centre. */
static fbp_status read_volume(const struct fbp_ct *in, struct fbp_grid *out)
{
    static const char *const n_keys[3] = {"dimensions.x", "dimensions.y", "dimensions.z"};
    static const char *const v_keys[3] = {"voxelsize.x", "voxelsize.y", "voxelsize.z"};
    double n[3] = {0}, voxel[3] = {0};
    bool has_n, has_voxels;

    FBP_TRY(fbp_ct_vector(in, n_keys, FBP_CT_NUMBER, n, &has_n));
    FBP_TRY(fbp_ct_vector(in, v_keys, FBP_CT_MM, voxel, &has_voxels));
    if (!has_n || !has_voxels)
        return FBP_OK;
    for (int i = 0; i < 3; i++)
        if (!(n[i] >= 1 && n[i] <= 1e6 && n[i] == floor(n[i]) && voxel[i] > 0))
            return fbp_ct_wrong(in, "dimensions",
                                "expected whole numbers, and voxels larger than 0");
    for (int i = 0; i < 3; i++) {
        out->n[i] = (size_t)n[i];
        out->voxel_mm[i] = voxel[i];
    }
    return FBP_OK;
}

fbp_status fbp_ct_metadata(struct fbp_scan *out, const char *file, const cJSON *root)
{
    const struct fbp_ct in = {file, projections_path, fbp_ct_at(root, projections_path)};
    const struct fbp_ct volume = {file, "output.tomogram", fbp_ct_at(root, "output.tomogram")};
    const char *name = text_at(in.at, "filename");
    struct fbp_panel panel;
    size_t n = 0;

    if (!name)
        return fbp_ct_wrong(&in, "filename", "is missing: name the projections");
    FBP_TRY(fbp_ct_count(&in, "number", &n));
    if (n != out->n_views)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %s.number: there are %zu projections, the scenario has %zu: they do "
                        "not belong together",
                        file, in.name, n, out->n_views);
    FBP_TRY(read_raw(&in, name, n, &out->raw, &panel));
    if (panel.n_columns != out->panel.n_columns || panel.n_rows != out->panel.n_rows)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %s.dimensions: %zu x %zu pixels, the scenario has %zu x %zu: they do "
                        "not belong together",
                        file, in.name, panel.n_columns, panel.n_rows, out->panel.n_columns,
                        out->panel.n_rows);
    FBP_TRY(name_files(file, name, n, NULL, &out->projections));
    FBP_TRY(read_corrections(&in, name, out));
    return read_volume(&volume, &out->volume);
}
