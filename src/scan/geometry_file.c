/* Loads and saves scans and geometries: the table of formats, detection of a file's format, and
 * the comparison of the result with facts that the caller knows. Public functions:
 * fbp_scan_load(), fbp_geometry_load(), fbp_geometry_save(), fbp_geometry_formats().
 * Used by: bench/papers/okitsu2008/, bench/pipeline/, bench/rabbitct/, cli/, folder/. */
#include "scan/scan_file.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/names.h"
#include "base/math.h"
#include "base/text.h"
#include "geometry/ranges.h"
#include "scan/format/importers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HEAD_BYTES = 4096 };

static fbp_status load_scan(struct fbp_scan *out, const char *path,
                            const struct fbp_geometry_known *known);

static const struct fbp_geometry_format scan_format = {
    .name = "fbp",
    .about = "the scan file of fbp",
    .extensions = ".json",
    .words = {"\"fbp_scan\""},
    .load = load_scan,
    .save = fbp_scan_save_geometry,
    .saves = ~0u, /* all kinds */
};

#ifndef FBP_HAS_HDF5
static fbp_status load_hdf5(struct fbp_scan *out, const char *path,
                            const struct fbp_geometry_known *known)
{
    (void)out, (void)known;
    return fbp_fail_no_library(path, "HDF5 files", "libhdf5-dev", "FBP_HDF5");
}

const struct fbp_geometry_format fbp_geometry_hdf5 = {
    .name = "hdf5",
    .about = "Data Exchange or NXtomo, a complete parallel-beam scan",
    .extensions = FBP_HDF5_READ,
    .detect = fbp_hdf5_detect,
    .load = load_hdf5,
};
#endif

static const struct fbp_geometry_format *const formats[] = {
    &scan_format,
    &fbp_geometry_rabbitct,
    &fbp_geometry_rtk,
    &fbp_geometry_linac,
    &fbp_geometry_txrm,
    &fbp_geometry_hdf5,
    &fbp_geometry_helsinki,
#ifdef FBP_HAS_EPR
    &fbp_geometry_eprit,
    &fbp_geometry_bes3t,
#endif
    &fbp_geometry_astra,
    &fbp_geometry_astra_cone,
    &fbp_geometry_astra_parallel,
    &fbp_geometry_leap,
    &fbp_geometry_tigre,
    &fbp_geometry_ctsimu,
    &fbp_geometry_openct,
    &fbp_geometry_nikon,
    &fbp_geometry_bruker,
    &fbp_geometry_pca,
    &fbp_geometry_matrices, /* plain text, detected by its name */
    &fbp_geometry_plastimatch,
};

enum { N_FORMATS = N_OF(formats) };

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
        FBP_COPY_OUT(geometry_format_info, theirs, &own);
    }
    return N_FORMATS;
}

static bool works(const struct fbp_geometry_format *format, bool to_write)
{
    return to_write ? format->save != NULL : format->load != NULL;
}

/* Find the format by the extension of path, or of the first file if path is a pattern such as
 * "proj_%04d.txt", with or without a range of numbers; *out NULL: none. */
static fbp_status by_extension(const char *path, bool to_write,
                               const struct fbp_geometry_format **out)
{
    char *numbered = fbp_stack_count(path) ? fbp_strdup(path) : fbp_format("%s 0 0", path);
    const bool pattern = numbered && fbp_stack_count(numbered) > 0;
    char *first = pattern ? fbp_stack_name(numbered, 0) : NULL;
    const bool complete = numbered && (first || !pattern);

    free(numbered);
    if (!complete)
        return fbp_fail_nomem(strlen(path), "a path");
    for (size_t i = 0; i < N_FORMATS && !*out; i++)
        if (works(formats[i], to_write) && !formats[i]->by_name_only &&
            (!first || formats[i]->file_a_view) &&
            fbp_has_extension(first ? first : path, formats[i]->extensions))
            *out = formats[i];
    free(first);
    return FBP_OK;
}

/* Detect the format of an existing file by its content, then by its name; *out NULL: none.  Fails
 * if the file cannot be opened. */
static fbp_status format_of(const char *path, const struct fbp_geometry_format **out)
{
    /* First n bytes of the file, or of the first file of a pattern; n is 0 for a folder. */
    unsigned char head[HEAD_BYTES];
    const bool pattern = fbp_stack_count(path) > 0;
    char *first = pattern ? fbp_stack_name(path, 0) : fbp_strdup(path);
    size_t n = 0;

    *out = NULL;
    FBP_TRY(fbp_check_path(first));
    fbp_status st = fbp_read_head(first, head, HEAD_BYTES, &n);
    free(first);
    FBP_TRY(st);
    if (n >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0) { /* UTF-8's byte order mark */
        n -= 3;
        memmove(head, head + 3, n);
    }
    for (size_t i = 0; i < N_FORMATS; i++) {
        const struct fbp_geometry_format *format = formats[i];
        if (!format->load || (pattern && !format->file_a_view))
            continue;
        bool is = format->detect && format->detect(path, head, n);
        for (size_t k = 0; k < N_OF(format->words) && format->words[k]; k++)
            is |= memmem(head, n, format->words[k], strlen(format->words[k])) != NULL;
        if (!is && format->probe)
            st = format->probe(path, head, n, &is);
        if (st == FBP_ERR_NOMEM || st == FBP_ERR_IO)
            return st;
        if (st != FBP_OK) { /* damaged; if its name selects the format, load() reports this error */
            fbp_message_clear();
            st = FBP_OK;
            is = false;
        }
        if (is) {
            *out = format;
            return FBP_OK;
        }
    }
    return by_extension(path, false, out);
}

static fbp_status no_format(const char *what, const char *value, bool to_write)
{
    char known[800] = "";

    for (size_t i = 0; i < N_FORMATS; i++)
        if (works(formats[i], to_write))
            fbp_text_add(known, sizeof known, ", ", "%s (%s)", formats[i]->name,
                         formats[i]->extensions);
    return FBP_UNSUPPORTED("%s: %s a geometry format that can be %s; name one of %s "
                           "(%s; in a scan file geometry_format)",
                           value, what, to_write ? "written" : "read", known,
                           to_write ? "--to-format" : "--from-format");
}

/* Find the format called `name`.  name NULL: to_write false: detect the format of the file at
 * `path`; true: find the format by the extension of `path`. */
static fbp_status find(const char *path, const char *name, bool to_write,
                       const struct fbp_geometry_format **out)
{
    *out = NULL;
    for (size_t i = 0; name && i < N_FORMATS; i++)
        if (strcmp(name, formats[i]->name) == 0 && works(formats[i], to_write))
            *out = formats[i];
    if (name)
        return *out ? FBP_OK : no_format("is not", name, to_write);
    FBP_TRY(to_write ? by_extension(path, true, out) : format_of(path, out));
    return *out ? FBP_OK : no_format("content and name do not match", path, to_write);
}

/* Check that a loaded scan agrees with the panel and the pitch that the caller knows, and that each
 * view is a valid geometry: a file may contain, for example, a source in the plane of its panel. */
static fbp_status check_result(const char *path, const struct fbp_scan *scan,
                               const struct fbp_geometry_known *known)
{
    const struct fbp_panel *p = &scan->panel, *q = &known->panel;
    double P[12];

    FBP_TRY(fbp_error_context(path, fbp_check_scan(scan)));
    if (q->n_columns && (p->n_columns != q->n_columns || p->n_rows != q->n_rows))
        return FBP_INVALID("%s: describes a detector of %zu x %zu pixels, but the projections have "
                           "%zu x %zu; give files that belong together",
                           path, p->n_columns, p->n_rows, q->n_columns, q->n_rows);
    /* Compare the pitch along the rows only: with matrices, the other pitch follows from it.
     * Relative tolerance 1e-4, because files may have few digits. */
    const double pitch = fbp_norm(scan->views[0].u);
    if (known->pitch_mm[0] > 0 && !(fabs(pitch - known->pitch_mm[0]) <= 1e-4 * pitch))
        return FBP_INVALID(
            "%s: gives a pixel pitch of %.6g mm along the rows, but %.6g mm is also "
            "given (--pitch, or pitch_mm of a scan file); correct or omit the latter",
            path, pitch, known->pitch_mm[0]);
    for (size_t k = 0; k < scan->n_views; k++) {
        char where[40];
        snprintf(where, sizeof where, "view %zu", k);
        FBP_TRY(fbp_error_context(
            path, fbp_error_context(
                      where, fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P))));
    }
    return FBP_OK;
}

fbp_status fbp_geometry_read(struct fbp_scan *out, const char *path, const char *format,
                             const struct fbp_geometry_known *known)
{
    static const char *const pitches[] = {"known.pitch_mm[0]", "known.pitch_mm[1]"};
    struct fbp_geometry_known all = {0};
    const struct fbp_geometry_format *found;

    *out = (struct fbp_scan){.struct_size = sizeof *out};
    if (known) {
        FBP_TRY(FBP_COPY_IN(geometry_known, &all, known));
        for (int i = 0; i < 2; i++)
            FBP_TRY(fbp_check_optional(&fbp_range_pitch, pitches[i], all.pitch_mm[i]));
        FBP_TRY(fbp_check_optional(&fbp_range_views, "known.n_views", (double)all.n_views));
        FBP_TRY(
            fbp_check_optional(&fbp_range_side, "known.panel.n_rows", (double)all.panel.n_rows));
        FBP_TRY(fbp_check_optional(&fbp_range_side, "known.panel.n_columns",
                                   (double)all.panel.n_columns));
    }
    if (fbp_stack_count(path) == 0 && access(path, R_OK) != 0) {
        int fd = -1;
        uint64_t size;
        FBP_TRY(fbp_open_file(path, &fd, &size)); /* fails with the reason */
        close(fd);
    }
    FBP_TRY(find(path, format, false, &found));
    out->kind = found->kind;
    fbp_status st = found->load(out, path, &all);
    if (st == FBP_OK)
        st = check_result(path, out, &all);
    if (st != FBP_OK)
        fbp_scan_free(out);
    return st;
}

fbp_status fbp_geometry_load(struct fbp_scan *out, const char *path, const char *format,
                             const struct fbp_geometry_known *known)
{
    FBP_REQUIRE(path);
    struct fbp_scan own;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(scan, out));
    const fbp_status st = fbp_geometry_read(&own, path, format, known);
    FBP_COPY_OUT(scan, out, &own);
    return st;
}

fbp_status fbp_geometry_save(const struct fbp_scan *given, const char *path, const char *format)
{
    FBP_REQUIRE(path);
    struct fbp_scan scan;
    const struct fbp_geometry_format *found;

    fbp_message_clear();
    FBP_TRY(FBP_COPY_IN(scan, &scan, given));
    FBP_TRY(find(path, format, true, &found));
    FBP_TRY(fbp_check_kind(path, scan.kind));
    if (!(found->saves & FBP_KIND_BIT(scan.kind)) && found->instead[scan.kind])
        return FBP_UNSUPPORTED("%s: %s", path, found->instead[scan.kind]);
    if (!(found->saves & FBP_KIND_BIT(scan.kind)))
        return FBP_UNSUPPORTED(
            "%s: the geometry format %s cannot store a scan of kind %s; write a scan file", path,
            found->name, fbp_kind_name(scan.kind));
    if (scan.n_views == 0 || !scan.views)
        return FBP_INVALID("%s: the scan has no views to write; give at least one", path);
    if (scan.selected)
        return FBP_UNSUPPORTED("%s: the geometry lacks views of the projections that were left "
                               "out; remove \"skip\" and \"use_views\" from the scan file",
                               path);
    return found->save(&scan, path);
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
    /* In a scan file used as a geometry, the caller's pitch replaces the file's pitch only if the
     * file lists its pitch as a guess.  Else check_result() compares the two pitches. */
    if (geometry_only &&
        !cJSON_GetObjectItemCaseSensitive(fbp_json_get(&f.top, "assumed"), "detector.pitch_mm"))
        f.pitch_mm[0] = f.pitch_mm[1] = 0;
    fbp_status st = fbp_scan_path(&out->path, NULL, "%s", path);
    if (st == FBP_OK)
        st = fbp_scan_read(&f);
    if (st != FBP_OK)
        fbp_scan_free(out);
    return st;
}

fbp_status fbp_scan_load_own(struct fbp_scan *out, const char *path,
                             const struct fbp_scan_known *known, bool geometry_only)
{
    const struct fbp_geometry_format *format;
    fbp_source *source = NULL;
    cJSON *root = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    *out = (struct fbp_scan){.struct_size = sizeof *out};
    FBP_TRY(format_of(path, &format));
    if (known->growing && (format == &fbp_geometry_hdf5 || format == &fbp_geometry_helsinki ||
                           (format && strcmp(format->name, "eprit") == 0)))
        return FBP_UNSUPPORTED("%s: --follow supports only scan files of fbp, not the format %s; "
                               "reconstruct when the scan is complete",
                               path, format->name);
    if (format && format != &scan_format) { /* another format: the file must name its projections */
        const struct fbp_geometry_known beside = {
            .struct_size = sizeof beside,
            .pitch_mm = {known->pitch_mm[0], known->pitch_mm[1]},
            .preparation = known->preparation};
        FBP_TRY(fbp_geometry_read(out, path, NULL, &beside));
        if (known->preparation && !out->preparation)
            st = FBP_UNSUPPORTED(
                "%s: prepare: applies to plane integrals (EPR imaging) only; omit prepare", path);
        else if (!out->projections)
            st = FBP_INVALID("%s: is a geometry file without projections; name it in a scan file "
                             "(\"projections\": …, \"geometry\": …)",
                             path);
        else if (!out->path)
            st = fbp_scan_path(&out->path, NULL, "%s", path);
        if (st != FBP_OK)
            fbp_scan_free(out);
        return st;
    }

    /* Refuse a path of projections: a scan file, which names its projections, is required. */
    if (fbp_format_of_name(path) || fbp_names_many_files(path))
        st = fbp_source_open(&source, path, NULL);
    if (st == FBP_ERR_NOMEM)
        return st;
    /* If the path cannot be opened as an array, read it as JSON, whose error message is more
     * useful. */
    if (st != FBP_OK)
        fbp_message_clear();
    if (source) {
        const struct fbp_array_info info = *fbp_source_info(source);
        fbp_source_close(&source);
        if (fbp_has_extension(path, ".dta"))
            return FBP_INVALID("%s: contains only the samples of a scan; name its description, the "
                               ".DSC file in the same folder",
                               path);
        return FBP_INVALID("%s: is an array of %zu x %zu x %zu, not a scan; name the scan file "
                           "that describes its geometry (fbp init FOLDER writes a first one)",
                           path, info.n[0], info.n[1], info.n[2]);
    }
    FBP_TRY(fbp_json_read(path, &root));
    st = fbp_scan_of_json(out, path, root, known, geometry_only);
    cJSON_Delete(root);
    return st;
}

/* Load the views of a scan file A that is used as a geometry.  A may name a scan file C as its own
 * geometry; if C names a scan file as its geometry, too, loading fails. */
static fbp_status load_scan(struct fbp_scan *out, const char *path,
                            const struct fbp_geometry_known *known)
{
    enum { LONGEST = 2 };
    static _Thread_local int chain;

    const struct fbp_scan_known beside = {.pitch_mm = {known->pitch_mm[0], known->pitch_mm[1]}};
    if (chain == LONGEST)
        return FBP_INVALID(
            "%s: too many scan files name each other as their geometry; name a file that contains "
            "the views",
            path);
    chain++;
    const fbp_status st = fbp_scan_load_own(out, path, &beside, true);
    chain--;
    return st;
}

fbp_status fbp_scan_load(struct fbp_scan *out, const char *path, const struct fbp_scan_known *known)
{
    FBP_REQUIRE(path);
    struct fbp_scan_known all = {0};
    struct fbp_preparation steps = {.struct_size = sizeof steps};
    struct fbp_scan own;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(scan, out));
    FBP_COPY_OUT(scan, out, &(const struct fbp_scan){0});
    if (known)
        FBP_TRY(FBP_COPY_IN(scan_known, &all, known));
    const double *p = all.pitch_mm;
    FBP_TRY(fbp_check_optional(&fbp_range_pitch, "known.pitch_mm[0]", p[0]));
    FBP_TRY(fbp_check_optional(&fbp_range_pitch, "known.pitch_mm[1]", p[1]));
    if ((p[0] > 0) != (p[1] > 0))
        return FBP_INVALID("scan: pixels are %g x %g mm; give two positive lengths", p[0], p[1]);
    if (all.prepare) {
        FBP_TRY(fbp_preparation_parse(all.prepare, &steps));
        all.preparation = &steps;
    }
    const fbp_status st = fbp_scan_load_own(&own, path, &all, false);
    free(steps.profile);
    FBP_COPY_OUT(scan, out, &own);
    return st;
}
