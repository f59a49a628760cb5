/* Importer of openCT files (fbp_geometry_openct): cone-beam scans for Volume Graphics' programs, as
 * CTSimU's toolbox writes them. The 3x4 matrix of a view maps (x, y, z, 1) in mm to (U, V, 1) w: U
 * along the rows of the image, V down its columns, in mm from the panel's centre.
 * Used by: scan/geometry_file.c. */
#include "scan/format/importers.h"

#include "geometry/view.h"
#include "scan/file/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Get the path of the images at `key`, if any: one file, or a pattern of numbered files. */
static fbp_status read_images(const struct fbp_json *o, const char *key, char **out)
{
    const cJSON *in = fbp_json_get(o, key), *list = cJSON_GetObjectItem(in, "files"), *item;
    const size_t n = (size_t)cJSON_GetArraySize(list);
    const char *given = cJSON_GetStringValue(cJSON_GetObjectItem(in, "directory"));
    const char *folder = given ? given : "", *slash = *folder ? "/" : "";
    const char *text = cJSON_GetStringValue(list ? list->child : cJSON_GetObjectItem(in, "file"));
    const char *name = text ? text : "", *dot = strrchr(name, '.'), *at = dot ? dot : name;
    char next[1024];

    if (n < 2)
        return *name ? fbp_scan_path(out, o->file, "%s%s%s", folder, slash, name) : FBP_OK;
    while (dot && at > name && isdigit((unsigned char)at[-1]))
        at--;
    const int digits = dot ? (int)(dot - at) : 0, before = (int)(at - name);
    size_t first = strtoul(at, NULL, 10), number = first;
    cJSON_ArrayForEach(item, list)
    {
        snprintf(next, sizeof next, "%.*s%0*zu%s", before, name, digits, number++, at + digits);
        if (digits > 9 || !cJSON_IsString(item) || strcmp(item->valuestring, next) != 0)
            return fbp_json_wrong(o, key,
                                  "file names with numbers without gaps before the extension");
    }
    return fbp_scan_path(out, o->file, "%s%s%.*s%%0%dd%s %zu %zu", folder, slash, before, name,
                         digits, at + digits, first, number - 1);
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    static const char *const only[] = {"FreeTrajectoryCBCTScan", "Millimeter", "Length",
                                       "OriginAtDetectorCenter.VerticalAxisRunningDownwards"},
                             *const mirrors[] = {"", "U", "V", "UV"};
    double pixels[2] = {0}, mm[2] = {0}, P[12];
    size_t mirror = 0, n;
    cJSON *root = NULL;
    fbp_status st;

    FBP_TRY(fbp_json_read(path, &root));
    const struct fbp_json o = {path, "", root};
    const char *mask = cJSON_GetStringValue(fbp_json_get(&o, "corrections.badPixelMask.file"));
    const cJSON *at = fbp_json_get(&o, "projections.matrices");
    FBP_TRY_GOTO(fbp_json_choice(&o, "OpenCTJSON.variant", only, 1, &n));
    FBP_TRY_GOTO(fbp_json_choice(&o, "units.length", only + 1, 1, &n));
    FBP_TRY_GOTO(fbp_json_choice(&o, "projections.detectorCoordinateDimension", only + 2, 1, &n));
    FBP_TRY_GOTO(fbp_json_choice(&o, "projections.detectorCoordinateFrame", only + 3, 1, &n));
    if (cJSON_IsFalse(fbp_json_get(&o, "projections.intensityDomain")))
        FBP_TRY_GOTO(fbp_json_wrong(&o, "projections.intensityDomain", "true"));
    FBP_TRY_GOTO(fbp_json_choice(&o, "geometry.mirrorDetectorAxis", mirrors, 4, &mirror));
    FBP_TRY_GOTO(fbp_json_numbers(&o, "geometry.detectorPixel", &fbp_range_side, 2, 2, pixels, &n));
    FBP_TRY_GOTO(fbp_json_numbers(&o, "geometry.detectorSize", &fbp_range_distance, 2, 2, mm, &n));
    if (!(pixels[0] > 0 && mm[0] > 0))
        FBP_TRY_GOTO(
            fbp_json_wrong(&o, "geometry", "an object with detectorPixel and detectorSize"));
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, (size_t)cJSON_GetArraySize(at)));
    out->panel = (struct fbp_panel){(size_t)pixels[0], (size_t)pixels[1]};
    out->row_order = FBP_ROWS_TOP_DOWN; /* the views count rows upwards */
    const double scale[2] = {(mirror % 2 ? -1 : 1) * pixels[0] / mm[0],
                             (mirror / 2 ? 1 : -1) * pixels[1] / mm[1]};
    for (at = at->child, n = 0; at; at = at->next, n++) {
        char name[64];
        for (int i = 0; i < 12; i++)
            P[i] = cJSON_GetNumberValue(cJSON_GetArrayItem(cJSON_GetArrayItem(at, i / 4), i % 4));
        for (int i = 0; i < 8; i++)
            P[i] = scale[i / 4] * P[i] + (pixels[i / 4] - 1) / 2 * P[8 + i % 4];
        snprintf(name, sizeof name, "projections.matrices[%zu]", n);
        FBP_TRY_GOTO(fbp_json_context(
            &o, name, fbp_view_from_matrix(P, mm[0] / pixels[0], &out->panel, &out->views[n])));
    }
    FBP_TRY_GOTO(read_images(&o, "projections.images", &out->projections));
    FBP_TRY_GOTO(read_images(&o, "corrections.brightImages", &out->flat));
    FBP_TRY_GOTO(read_images(&o, "corrections.darkImage", &out->dark));
    if (mask && *mask)
        FBP_TRY_GOTO(fbp_scan_note_ignored(out, path, "badPixelMask", mask,
                                           "give it as \"bad_pixels\" in a scan file"));
    if (!out->flat)
        st = fbp_scan_note(out, "%s: has no brightImages; give \"i0\" in a scan file", path);
fail:
    cJSON_Delete(root);
    return st;
}

const struct fbp_geometry_format fbp_geometry_openct = {
    .name = "openct",
    .about = "openCT files of Volume Graphics' programs and CTSimU",
    .extensions = ".json",
    .words = {"OpenCTJSON", "openCTJSON"},
    .load = load};
