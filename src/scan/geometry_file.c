/* Scans and geometries from files: which format, and whether what was read fits. */
#include "scan/file/geometry_format.h"
#include "scan/scan_parts.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "array/format/optional.h"
#include "array/formats.h"
#include "array/stack_names.h"
#include "base/base.h"
#include "base/text.h"
#include "base/math.h"
#include "geometry/ranges.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HEAD_BYTES = 4096 };

/* A scan file as one of the formats. */
static bool is_scan(const char *path, const unsigned char *head, size_t n)
{
    static const char key[] = "\"fbp_scan\"";

    (void)path;
    return memmem(head, n, key, sizeof key - 1) != NULL;
}

static fbp_status load_scan(struct fbp_scan *out, const char *path,
                            const struct fbp_geometry_known *known);

static const struct fbp_geometry_format scan_format = {
    .name = "fbp",
    .about = "this program's scan file",
    .extensions = ".json",
    .detect = is_scan,
    .load = load_scan,
    .save = fbp_scan_save_geometry,
    .saves = ~0u, /* the kind is a word in it */
};

#ifndef FBP_HAS_HDF5
static fbp_status load_hdf5(struct fbp_scan *out, const char *path,
                            const struct fbp_geometry_known *known)
{
    (void)out, (void)known;
    return fbp_no_library(path, "HDF5 files", "libhdf5-dev", "FBP_HDF5");
}

const struct fbp_geometry_format fbp_geometry_hdf5 = {
    .name = "hdf5",
    .about = "Data Exchange or NXtomo, a whole scan of parallel beam",
    .extensions = FBP_HDF5_READ,
    .detect = fbp_hdf5_detect,
    .load = load_hdf5,
};
#endif

static const struct fbp_geometry_format *const formats[] = {
    &scan_format,
    &fbp_geometry_rabbitct,
    &fbp_geometry_rtk,
    &fbp_geometry_hdf5,
    &fbp_geometry_helsinki,
    &fbp_geometry_eprit,
    &fbp_geometry_astra,
    &fbp_geometry_astra_cone,
    &fbp_geometry_astra_parallel,
    &fbp_geometry_leap,
    &fbp_geometry_tigre,
    &fbp_geometry_ctsimu,
    &fbp_geometry_nikon,
    &fbp_geometry_bruker,
    &fbp_geometry_bes3t,
    &fbp_geometry_matrices, /* plain text: it is known by its name */
    &fbp_geometry_plastimatch,
};

enum { N_FORMATS = sizeof formats / sizeof *formats };

size_t fbp_geometry_formats(struct fbp_geometry_format_info *out, size_t n)
{
    fbp_message_clear();
    if (n > 0 && FBP_CHECK(geometry_format_info, out) != FBP_OK)
        return 0;
    for (size_t i = 0; i < n && i < N_FORMATS; i++) {
        const struct fbp_geometry_format_info own = {.name = formats[i]->name,
                                                     .about = formats[i]->about,
                                                     .extensions = formats[i]->extensions,
                                                     .reads = formats[i]->load != NULL,
                                                     .writes = formats[i]->save != NULL,
                                                     .by_name_only = formats[i]->by_name_only};
        struct fbp_geometry_format_info *theirs = &out[i];
        theirs->struct_size = sizeof *theirs;
        FBP_GIVE(geometry_format_info, theirs, &own);
    }
    return N_FORMATS;
}

/* malloc'ed name of the first file of "proj_%04d.txt", with or without numbers; NULL if the path is
 * no such pattern. */
static fbp_status first_of(const char *path, char **first)
{
    char *numbered = fbp_stack_count(path) ? fbp_strdup(path) : fbp_format("%s 0 0", path);
    const bool pattern = numbered && fbp_stack_count(numbered) > 0;

    *first = pattern ? fbp_stack_name(numbered, 0) : NULL;
    free(numbered);
    return numbered && (*first || !pattern) ? FBP_OK : fbp_fail_nomem(strlen(path), "a path");
}

static fbp_status by_extension(const char *path, bool to_write,
                               const struct fbp_geometry_format **out)
{
    char *first;

    FBP_TRY(first_of(path, &first));
    for (size_t i = 0; i < N_FORMATS && !*out; i++)
        if ((to_write ? formats[i]->save != NULL : formats[i]->load != NULL) &&
            !formats[i]->by_name_only && (!first || formats[i]->file_a_view) &&
            fbp_has_extension(first ? first : path, formats[i]->extensions))
            *out = formats[i];
    free(first);
    return FBP_OK;
}

/* First bytes of a file, or of a pattern's first; n: how many, 0 of a folder. */
static fbp_status read_head(const char *path, bool pattern, unsigned char head[HEAD_BYTES],
                            size_t *n)
{
    char *first = pattern ? fbp_stack_name(path, 0) : fbp_strdup(path);

    if (!first)
        return fbp_fail_nomem(strlen(path), "a path");
    const fbp_status st = fbp_read_head(first, head, HEAD_BYTES, n);
    if (*n >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0) { /* UTF-8's byte order mark */
        *n -= 3;
        memmove(head, head + 3, *n);
    }
    free(first);
    return st;
}

static fbp_status is_of(const struct fbp_geometry_format *format, const char *path,
                        const unsigned char *head, size_t n, bool *is)
{
    *is = format->detect && format->detect(path, head, n);
    if (*is || !format->look)
        return FBP_OK;
    const fbp_status st = format->look(path, head, n, is);
    if (st == FBP_OK || st == FBP_ERR_NOMEM || st == FBP_ERR_IO)
        return st;
    fbp_message_clear(); /* whoever reads it will say it again */
    *is = false;
    return FBP_OK;
}

/* The format of a file that is there, by content, then by name; NULL if it is none.  An error if it
 * cannot be looked at. */
static fbp_status format_of(const char *path, const struct fbp_geometry_format **out)
{
    unsigned char head[HEAD_BYTES];
    const bool pattern = fbp_stack_count(path) > 0;
    bool is = false;
    size_t n = 0;

    *out = NULL;
    FBP_TRY(read_head(path, pattern, head, &n));
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (!formats[i]->load || (pattern && !formats[i]->file_a_view))
            continue;
        FBP_TRY(is_of(formats[i], path, head, n, &is));
        if (is) {
            *out = formats[i];
            return FBP_OK;
        }
    }
    return by_extension(path, false, out);
}

/* "rtk, tigre" … */
static fbp_status no_format(const char *what, const char *value, bool to_write)
{
    char known[800] = "";

    for (size_t i = 0; i < N_FORMATS; i++) {
        const size_t used = strlen(known);
        if (to_write ? formats[i]->save != NULL : formats[i]->load != NULL)
            snprintf(known + used, sizeof known - used, "%s%s (%s)", used ? ", " : "",
                     formats[i]->name, formats[i]->extensions);
    }
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "%s: %s is no geometry format that is %s (known: %s): name one of them "
                    "(%s; in a scan file geometry_format)",
                    value, what, to_write ? "written" : "read", known,
                    to_write ? "--to-format" : "--from-format");
}

static fbp_status find(const char *path, const char *name, bool to_write,
                       const struct fbp_geometry_format **out)
{
    *out = NULL;
    for (size_t i = 0; name && i < N_FORMATS; i++)
        if (strcmp(name, formats[i]->name) == 0 &&
            (to_write ? formats[i]->save != NULL : formats[i]->load != NULL))
            *out = formats[i];
    if (name)
        return *out ? FBP_OK : no_format("this", name, to_write);
    FBP_TRY(to_write ? by_extension(path, true, out) : format_of(path, out));
    return *out ? FBP_OK : no_format("its content or name", path, to_write);
}

/* To as many digits as the tersest files have; along rows, which is all that matrices need. */
static fbp_status check_pitch(const char *path, const struct fbp_scan *scan,
                              const struct fbp_geometry_known *known)
{
    const double pitch = fbp_norm(scan->views[0].u);

    if (known->pitch_mm[0] > 0 && !(fabs(pitch - known->pitch_mm[0]) <= 1e-4 * pitch))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: pixels are %.6g mm apart along its rows, not %.6g mm as given: "
                        "correct or remove the pitch",
                        path, pitch, known->pitch_mm[0]);
    return FBP_OK;
}

static fbp_status check_panel(const char *path, const struct fbp_scan *scan,
                              const struct fbp_geometry_known *known)
{
    const struct fbp_panel *p = &scan->panel, *q = &known->panel;

    if (q->n_columns && (p->n_columns != q->n_columns || p->n_rows != q->n_rows))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: is of a detector of %zu x %zu pixels, the projections have %zu x %zu: "
                        "they do not belong together",
                        path, p->n_columns, p->n_rows, q->n_columns, q->n_rows);
    return FBP_OK;
}

/* Numbers may be read that are no set-up, such as a source in the plane of its panel. */
static fbp_status check_views(const char *path, const struct fbp_scan *scan)
{
    double P[12];

    for (size_t k = 0; k < scan->n_views; k++) {
        char where[40];
        snprintf(where, sizeof where, "view %zu", k);
        FBP_TRY(fbp_because(path, fbp_because(where, fbp_view_to_matrix(&scan->views[k], scan->kind,
                                                                        &scan->panel, P))));
    }
    return FBP_OK;
}

static fbp_status take_known(struct fbp_geometry_known *own, const struct fbp_geometry_known *known)
{
    static const char *const pitches[] = {"known.pitch_mm[0]", "known.pitch_mm[1]"};

    FBP_TRY(FBP_TAKE(geometry_known, own, known));
    for (int i = 0; i < 2; i++)
        FBP_TRY(fbp_check_optional(&fbp_range_pitch, pitches[i], own->pitch_mm[i]));
    FBP_TRY(fbp_check_optional(&fbp_range_views, "known.n_views", (double)own->n_views));
    FBP_TRY(fbp_check_optional(&fbp_range_side, "known.panel.n_rows", (double)own->panel.n_rows));
    return fbp_check_optional(&fbp_range_side, "known.panel.n_columns",
                              (double)own->panel.n_columns);
}

fbp_status fbp_geometry_read(struct fbp_scan *out, const char *path, const char *format,
                             const struct fbp_geometry_known *known)
{
    struct fbp_geometry_known all = {0};
    const struct fbp_geometry_format *found;

    *out = (struct fbp_scan){.struct_size = sizeof *out};
    if (known)
        FBP_TRY(take_known(&all, known));
    if (fbp_stack_count(path) == 0 && access(path, R_OK) != 0) {
        int fd = -1;
        uint64_t size;
        FBP_TRY(fbp_open_file(path, &fd, &size)); /* says why */
        close(fd);
    }
    FBP_TRY(find(path, format, false, &found));
    fbp_status st = found->load(out, path, &all);
    if (st == FBP_OK)
        st = fbp_because(path, fbp_check_scan(out));
    if (st == FBP_OK)
        st = check_panel(path, out, &all);
    if (st == FBP_OK)
        st = check_pitch(path, out, &all);
    if (st == FBP_OK)
        st = check_views(path, out);
    if (st != FBP_OK)
        fbp_scan_free(out);
    return st;
}

static fbp_status check_kind(const struct fbp_geometry_format *f, const char *path,
                             enum fbp_kind kind)
{
    FBP_TRY(fbp_check_kind(path, kind));
    if (f->saves & FBP_KIND_BIT(kind))
        return FBP_OK;
    if (f->instead[kind])
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: %s", path, f->instead[kind]);
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "%s: a geometry of format %s cannot hold a scan of kind %s: write a scan file",
                    path, f->name, fbp_kind_name(kind));
}

fbp_status fbp_geometry_load(struct fbp_scan *out, const char *path, const char *format,
                             const struct fbp_geometry_known *known)
{
    FBP_GIVEN(path);
    struct fbp_scan own;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(scan, out));
    const fbp_status st = fbp_geometry_read(&own, path, format, known);
    FBP_GIVE(scan, out, &own);
    return st;
}

fbp_status fbp_geometry_save(const struct fbp_scan *given, const char *path, const char *format)
{
    FBP_GIVEN(path);
    struct fbp_scan whole, *const scan = &whole;
    const struct fbp_geometry_format *found;

    fbp_message_clear();
    FBP_TRY(FBP_TAKE(scan, scan, given));
    FBP_TRY(find(path, format, true, &found));
    FBP_TRY(check_kind(found, path, scan->kind));
    if (scan->n_views == 0 || !scan->views)
        return fbp_fail(FBP_ERR_INVALID, "%s: there are no views to write", path);
    return found->save(scan, path);
}

/* A file of another program that names its projections. */
static fbp_status load_foreign(struct fbp_scan *out, const char *path,
                               const struct fbp_scan_known *beside)
{
    const struct fbp_geometry_known known = {.struct_size = sizeof known,
                                             .pitch_mm = {beside->pitch_mm[0], beside->pitch_mm[1]},
                                             .preparation = beside->preparation};

    FBP_TRY(fbp_geometry_read(out, path, NULL, &known));
    if (known.preparation && !out->preparation) {
        fbp_scan_free(out);
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: prepare: only rows of plane integrals (EPR imaging) are prepared: "
                        "leave it out",
                        path);
    }
    if (!out->projections) {
        fbp_scan_free(out);
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: is a geometry and names no projections: name it in a scan file "
                        "(\"projections\": …, \"geometry\": …)",
                        path);
    }
    if (out->path)
        return FBP_OK;
    out->path = fbp_strdup(path);
    return out->path ? FBP_OK : fbp_fail_nomem(strlen(path), "a path");
}

/* Projections in the place of the scan file that names them. */
static fbp_status refuse_array(const char *path)
{
    fbp_source *source = NULL;

    if (!fbp_format_of_name(path) && !fbp_stack_is(path))
        return FBP_OK;
    const fbp_status st = fbp_source_open(&source, path, NULL);
    if (st == FBP_ERR_NOMEM)
        return st;
    if (st != FBP_OK) {
        fbp_message_clear();
        return FBP_OK; /* what it is not, reading it says */
    }
    const struct fbp_array_info info = *fbp_source_info(source);
    fbp_source_close(&source);
    if (fbp_has_extension(path, ".dta"))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: has the samples of a scan: name its description, the .DSC beside it",
                        path);
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: is an array of %zu x %zu x %zu, not a scan: name the scan file that says "
                    "how it was taken (fbp init FOLDER writes one to begin with)",
                    path, info.n[0], info.n[1], info.n[2]);
}

fbp_status fbp_scan_of_json(struct fbp_scan *out, const char *path, const cJSON *root,
                            const struct fbp_scan_known *known, bool geometry_only)
{
    struct fbp_scan_file f = {.top = {path, "", root},
                              .scan = out,
                              .growing = known->growing,
                              .preparation = known->preparation,
                              .geometry_only = geometry_only,
                              .load_geometry = fbp_geometry_read,
                              .pitch_mm = {known->pitch_mm[0], known->pitch_mm[1]}};

    *out = (struct fbp_scan){.struct_size = sizeof *out};
    if (geometry_only && !fbp_scan_file_assumes(&f, "detector.pitch_mm"))
        f.pitch_mm[0] = f.pitch_mm[1] = 0; /* what both say must agree */
    out->path = fbp_strdup(path);
    const fbp_status st = out->path ? fbp_scan_read(&f) : fbp_fail_nomem(strlen(path), "a path");
    if (st != FBP_OK)
        fbp_scan_free(out);
    return st;
}

fbp_status fbp_scan_load_own(struct fbp_scan *out, const char *path,
                             const struct fbp_scan_known *known, bool geometry_only)
{
    const bool growing = known->growing;
    const struct fbp_geometry_format *format;
    cJSON *root = NULL;
    fbp_status st;

    fbp_message_clear();
    *out = (struct fbp_scan){.struct_size = sizeof *out};
    FBP_TRY(format_of(path, &format));
    if (growing && (format == &fbp_geometry_hdf5 || format == &fbp_geometry_helsinki ||
                    format == &fbp_geometry_eprit))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: (%s) only a scan file of this program can be followed while its "
                        "projections grow: reconstruct it when it is complete",
                        path, format->name);
    if (format && format != &scan_format)
        return load_foreign(out, path, known);
    FBP_TRY(refuse_array(path));
    FBP_TRY(fbp_json_read(path, &root));
    st = fbp_scan_of_json(out, path, root, known, geometry_only);
    cJSON_Delete(root);
    return st;
}

/* A scan may take the geometry of another one, which takes that of a third, but not its own. */
static fbp_status load_scan(struct fbp_scan *out, const char *path,
                            const struct fbp_geometry_known *known)
{
    enum { LONGEST = 2 };
    static _Thread_local int chain;

    const struct fbp_scan_known beside = {.pitch_mm = {known->pitch_mm[0], known->pitch_mm[1]}};
    if (chain == LONGEST)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: scan files name one another as their geometry: name a file that holds "
                        "the views",
                        path);
    chain++;
    const fbp_status st = fbp_scan_load_own(out, path, &beside, true);
    chain--;
    return st;
}
