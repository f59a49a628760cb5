/* Importer of cone-beam scans of linear accelerators (fbp_geometry_linac): Varian's
 * ProjectionInfo.xml (OBI, with .hnd or .hnc) and Scan.xml (TrueBeam and ProBeam, with .xim), and
 * Elekta's _Frames.xml (XVI 5, with .his). Geometry and intensities are interpreted as in RTK's
 * programs rtkvarianobigeometry, rtkvarianprobeamgeometry and rtkelektasynergygeometry; air images
 * and dose chambers as in TIGRE's VarianDataLoader.
 * Used by: scan/geometry_file.c. */
#include "scan/format/importers.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "array/format/varian.h"
#include "array/names.h"
#include "base/math.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

/* Elements of the XML files; the first three belong to a frame of Elekta. */
enum key { ANGLE, U, V, OBI_SAD, OBI_SID, OBI_X, OBI_Y, OBI_LAT, XIM_SAD, XIM_SID, N_KEYS };

static const char *const keys[N_KEYS] = {"GantryAngle",
                                         "UCentre",
                                         "VCentre",
                                         "CalibratedSAD",
                                         "CalibratedSID",
                                         "CalibratedDetectorOffsetX",
                                         "CalibratedDetectorOffsetY",
                                         "DetectorPosLat",
                                         "SAD",
                                         "SID"};

struct linac {
    struct fbp_xml xml;
    double values[N_KEYS]; /* NaN: not in the file */
    bool half_fan, no_bowtie;
    double (*frames)[3]; /* [n] ANGLE, U and V of Elekta's frames */
    size_t n, room;
};

static fbp_status on_element(struct fbp_xml *xml, const char *name)
{
    struct linac *l = (struct linac *)(void *)xml;

    if (strcmp(name, "FanType") == 0)
        l->half_fan = strcmp(xml->text, "HalfFan") == 0;
    if (strcmp(name, "Bowtie") == 0)
        l->no_bowtie = strstr(xml->text, "None") != NULL;
    for (int i = 0; i < N_KEYS; i++)
        if (strcmp(name, keys[i]) == 0)
            return fbp_xml_numbers(xml, name, &l->values[i], 1);
    if (strcmp(name, "Frame") != 0)
        return FBP_OK;
    FBP_TRY(fbp_reserve((void **)&l->frames, sizeof *l->frames, l->n + 1, &l->room, "frames"));
    memcpy(l->frames[l->n++], l->values, sizeof *l->frames);
    l->values[ANGLE] = l->values[U] = l->values[V] = NAN;
    return FBP_OK;
}

/* Find the files that match `pattern` in a folder (its name ends with '/', or is empty) and up to
 * `depth` levels below. *found: their name as an array, such as "Scan0/Proj_*.hnd"; unchanged if
 * there are none. It is an error if they are in several folders. */
static fbp_status find_files(const char *folder, int depth, const char *pattern, char **found)
{
    DIR *dir = opendir(*folder ? folder : ".");
    char *name = NULL;
    fbp_status st = dir ? FBP_OK : fbp_fail_list(folder);

    for (const struct dirent *e; st == FBP_OK && (errno = 0, e = readdir(dir)) != NULL;
         free(name)) {
        const bool fits = fnmatch(pattern, e->d_name, 0) == 0;
        struct stat info;
        name = fbp_format(fits ? "%s%s" : "%s%s/", folder, fits ? pattern : e->d_name);
        if (!name) {
            st = fbp_fail_nomem(strlen(folder), "a path");
        } else if (fits && !*found) {
            *found = name;
            name = NULL;
        } else if (fits && strcmp(name, *found) != 0) {
            st = FBP_INVALID("several folders have files %s and %s; move one of them away", *found,
                             name);
        } else if (!fits && depth > 0 && e->d_name[0] != '.' && stat(name, &info) == 0) {
            /* the slash at the end: only a folder has this name */
            st = find_files(name, depth - 1, pattern, found);
        }
    }
    if (st == FBP_OK && errno != 0)
        st = fbp_fail_list(folder);
    if (dir)
        closedir(dir);
    return st;
}

/* Set the intensity without an object of a scan of Varian: the air image of .xim files, or RTK's
 * default for samples of this type, and its changes by the dose chamber's readings norms[n_views]
 * (0: unknown). */
static fbp_status set_air(struct fbp_scan *out, const char *path, const char *folder,
                          const struct linac *l, enum fbp_type type, const double *norms)
{
    struct fbp_varian h = {.norm = norms[0]};
    bool all = true;

    if (isnan(l->values[OBI_SAD]))
        FBP_TRY(fbp_error_context(
            path,
            find_files(folder, 3, l->no_bowtie ? "Filter.xim" : "FilterBowtie.xim", &out->flat)));
    if (out->flat)
        FBP_TRY(fbp_error_context(path, fbp_varian_probe(out->flat, &h)));
    out->i0 = out->flat ? 0 : type == FBP_U16 ? 65535 : 139000;
    if (!out->flat)
        FBP_TRY(fbp_scan_assume(out, path, "i0", type == FBP_U16 ? "65535" : "139000",
                                "the scan has no air image"));
    for (size_t k = 0; k < out->n_views; k++)
        all = all && norms[k] > 0 && h.norm > 0;
    if (all)
        FBP_TRY(fbp_calloc((void **)&out->doses, out->n_views, sizeof *out->doses, "doses"));
    for (size_t k = 0; all && k < out->n_views; k++)
        out->doses[k] = norms[k] / h.norm;
    return FBP_OK;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    enum { XVI, OBI, XIM };
    static const struct {
        const char *first, *second;
        int depth;
    } files[] = {{"*.his", NULL, 0}, {"Proj_*.hnd", "Proj_*.hnc", 1}, {"Proj_*.xim", NULL, 2}};
    struct linac l = {.xml = {path, .element = on_element}};
    struct fbp_file_names names = {.n = 0};
    fbp_source *source = NULL;
    double *norms = NULL, pitch[2];
    char *name = NULL, *folder = NULL;
    fbp_status st;

    for (int i = 0; i < N_KEYS; i++)
        l.values[i] = NAN;
    FBP_TRY_GOTO(fbp_xml_read(&l.xml, "XML files of linear accelerators"));
    const int kind = l.n > 0 ? XVI : isnan(l.values[OBI_SAD]) ? XIM : OBI;
    struct fbp_rtk p = {.sid_mm = kind == XVI ? 1000 : l.values[kind == OBI ? OBI_SAD : XIM_SAD],
                        .sdd_mm = kind == XVI ? 1536 : l.values[kind == OBI ? OBI_SID : XIM_SID]};
    if (!(p.sid_mm > 0 && p.sdd_mm > p.sid_mm))
        FBP_TRY_GOTO(FBP_INVALID("%s: has no frames, and %s; give the XML file of a scan", path,
                                 "its SAD and SID (CalibratedSAD, CalibratedSID) are missing or "
                                 "wrong"));
    FBP_TRY_GOTO(fbp_scan_path(&folder, NULL, "%.*s", (int)(fbp_base_name(path) - path), path));
    FBP_TRY_GOTO(fbp_error_context(
        path, find_files(folder, files[kind].depth, files[kind].first, &out->projections)));
    if (!out->projections && files[kind].second)
        FBP_TRY_GOTO(fbp_error_context(
            path, find_files(folder, files[kind].depth, files[kind].second, &out->projections)));
    if (!out->projections)
        FBP_TRY_GOTO(FBP_INVALID("%s: found no projections %s in its folder; copy them there", path,
                                 files[kind].first));
    FBP_TRY_GOTO(fbp_error_context(path, fbp_source_open(&source, out->projections, NULL)));
    FBP_TRY_GOTO(fbp_error_context(path, fbp_names_open(&names, out->projections, false)));
    const struct fbp_array_info *info = fbp_source_info(source);
    const size_t n = info->n[2];
    if (kind == XVI && n != l.n)
        FBP_TRY_GOTO(FBP_INVALID("%s: has %zu frames, but there are %zu projections %s; copy the "
                                 "missing files",
                                 path, l.n, n, out->projections));
    memcpy(pitch, info->spacing_mm, sizeof pitch);
    if (!info->has_spacing)
        FBP_TRY_GOTO(fbp_geometry_need_pitch(path, known, pitch));
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, n));
    FBP_TRY_GOTO(fbp_calloc((void **)&norms, n, sizeof *norms, "doses"));
    out->kind = FBP_CONE;
    out->row_order = FBP_ROWS_BOTTOM_UP;
    out->panel = (struct fbp_panel){info->n[0], info->n[1]};
    for (size_t k = 0; k < n; k++) {
        const double shift = l.values[OBI_X] + (l.half_fan ? l.values[OBI_LAT] : 0);
        struct fbp_varian h;
        free(name);
        name = fbp_names_get(&names, k);
        FBP_TRY_GOTO(fbp_check_path(name));
        if (kind != XVI)
            FBP_TRY_GOTO(fbp_error_context(path, fbp_varian_probe(name, &h)));
        /* The angles of .xim files are in Varian's scale, all others in that of IEC 61217. */
        const double angle = kind == XVI   ? l.frames[k][ANGLE]
                             : kind == OBI ? h.angle_deg
                                           : 180 - h.angle_deg;
        p.gantry_rad = angle * FBP_PI / 180;
        p.projection_mm[0] = kind == XVI ? -l.frames[k][U] : kind == OBI ? shift : h.shift_mm[0];
        p.projection_mm[1] = kind == XVI   ? -l.frames[k][V]
                             : kind == OBI ? l.values[OBI_Y]
                                           : h.shift_mm[1];
        if (!isfinite(angle + p.projection_mm[0] + p.projection_mm[1]))
            FBP_TRY_GOTO(FBP_INVALID("%s: the angle or the panel position of %s is missing; copy "
                                     "both files again",
                                     path, name));
        norms[k] = kind == XVI ? 0 : h.norm;
        fbp_rtk_view(&p, pitch, (double[2]){0, 0}, &out->views[k]);
    }
    out->i0 = info->offset;
    if (kind != XVI)
        st = set_air(out, path, folder, &l, info->type, norms);
fail:
    fbp_source_close(&source);
    fbp_names_close(&names);
    free(l.frames);
    free(norms);
    free(folder);
    free(name);
    return st;
}

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    return n > 0 && *head == '<' && fbp_has_extension(path, "ProjectionInfo.xml Scan.xml");
}

const struct fbp_geometry_format fbp_geometry_linac = {
    .name = "linac",
    .about = "scans of Varian's and Elekta's linear accelerators",
    .extensions = ".xml",
    .words = {"<CalibratedSAD", "<Acquisitions", "<ProjectionSet"},
    .detect = detect,
    .load = load,
};
