/* What is done with an input, a function a kind of file. */
#include "harness.h"

#include "array/array.h"
#include "bench/rabbitct/rabbitct.h"
#include "fbp/geometry_file.h"
#include "fbp/phantom.h"
#include "fbp/picture.h"
#include "prep/prep.h"
#include "scan/file/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SAMPLES = 1 << 18, SIZE = 64 };

/* ------------------------------------------------------------------------ arrays */

static void check_info(const struct fbp_array_info *info)
{
    fuzz_check(info->n[0] && info->n[1] && info->n[2], "an array without samples");
    fuzz_check(fbp_type_size(info->type) > 0, "an array without a type");
    fuzz_check(memchr(info->format, 0, sizeof info->format) && info->format[0], "no format");
    fuzz_check(memchr(info->unit, 0, sizeof info->unit) != NULL, "an endless unit");
    fuzz_check(info->row_order != FBP_ROWS_AUTO, "no row order");
    for (int i = 0; info->has_spacing && i < 3; i++)
        fuzz_check(info->spacing_mm[i] > 0 && isfinite(info->spacing_mm[i]) &&
                       isfinite(info->origin_mm[i]),
                   "a spacing that is none");
}

/* Rows out of the last slice, all of it, then the first: backwards and in pieces. */
static void read_some(fbp_source *src, const char *path)
{
    const size_t *n = fbp_source_info(src)->n;
    float *out;

    if (n[0] > MAX_SAMPLES || n[1] > MAX_SAMPLES / n[0])
        return;
    out = malloc(n[0] * n[1] * sizeof *out);
    fuzz_check(out != NULL, "no memory for a slice");
    fbp_status st = fbp_source_read(src, n[2] - 1, 1, n[1] / 2, n[1] - n[1] / 2, FBP_F32, out);
    fuzz_refused(st, path);
    if (st == FBP_OK)
        fuzz_refused(fbp_source_read(src, n[2] - 1, 1, 0, n[1], FBP_F32, out), path);
    fuzz_refused(fbp_source_read(src, 0, 1, 0, n[1], FBP_F32, out), path);
    fuzz_check(fbp_source_read(src, n[2], 1, 0, 1, FBP_F32, out) != FBP_OK,
               "a slice beyond the last");
    free(out);
}

static fbp_status open_array(const char *path, const struct fbp_raw *raw)
{
    fbp_source *src = NULL;
    const fbp_status st = fbp_source_open(&src, path, raw);

    fuzz_refused(st, path);
    fuzz_check((st == FBP_OK) == (src != NULL), "a source that failed");
    if (st != FBP_OK)
        return st;
    check_info(fbp_source_info(src));
    read_some(src, path);
    fbp_source_close(&src);
    return FBP_OK;
}

/* Files are told apart by their first bytes: what turned into another format is that one's. */
static bool is_of_format(const char *path, const char *key)
{
    unsigned char head[4096];
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    const struct fbp_format *format;

    if (f)
        fclose(f);
    for (size_t i = 0; (format = fbp_format_at(i)) != NULL; i++)
        if (strcmp(format->name, key) == 0)
            return format->detect && format->detect(path, head, n);
    return false;
}

static bool run_array(const char *path, const char *key)
{
    return is_of_format(path, key) && open_array(path, NULL) == FBP_OK;
}

/* One file of a folder that is an array. */
static bool run_zarr(const char *path, const char *key)
{
    char folder[800];

    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    return open_array(folder, NULL) == FBP_OK;
}

/* The first 24 bytes describe the file, which they are a part of. */
static bool run_raw(const char *path, const char *key)
{
    unsigned char d[24] = {0};
    FILE *f = fopen(path, "rb");
    struct fbp_raw raw = {0};

    if (f) {
        (void)!fread(d, 1, sizeof d, f);
        fclose(f);
    }
    raw.type = d[0] % 10;
    raw.big_endian = d[1] & 1;
    for (int i = 0; i < 3; i++) { /* small sizes mostly, any now and then */
        uint64_t wide;
        memcpy(&wide, d + 4 + 4 * i, sizeof wide);
        raw.n[i] = d[2] >> i & 1 ? (size_t)wide : d[4 + 4 * i];
    }
    raw.header_bytes = d[3] == 255 ? UINT64_MAX - d[4] : d[3];
    return open_array(path, &raw) == FBP_OK;
}

static bool run_compare(const char *path, const char *key)
{
    struct fbp_comparison c = {.struct_size = sizeof c};
    char other[128];
    fbp_source *src = NULL;

    if (fbp_source_open(&src, path, NULL) != FBP_OK)
        return false;
    const size_t *n = fbp_source_info(src)->n;
    const bool large =
        n[0] > MAX_SAMPLES || n[1] > MAX_SAMPLES / n[0] || n[2] > MAX_SAMPLES / (n[0] * n[1]);
    fbp_source_close(&src);
    if (large)
        return false;
    snprintf(other, sizeof other, "%.*s/p.mha", (int)(strrchr(path, '/') - path), path);
    fbp_status st = fbp_array_compare(path, path, 0, &c);
    fuzz_check(st != FBP_OK || c.count > 0, "nothing was compared");
    fuzz_refused(st, path);
    st = fbp_array_compare(other, path, 2, &c);
    fuzz_refused(st, path);
    return st == FBP_OK;
}

/* ------------------------------------------------------------------------ scans */

static void check_scan(const struct fbp_scan *scan)
{
    fuzz_check((int)scan->kind >= FBP_CONE && scan->kind <= FBP_PLANES, "no kind");
    fuzz_check(scan->n_views > 0 && scan->views, "a scan without views");
    fuzz_check(scan->panel.n_columns > 0 && scan->panel.n_rows > 0, "no panel");
    for (size_t k = 0; k < scan->n_views; k++)
        for (int i = 0; i < 3; i++) {
            const struct fbp_view *v = &scan->views[k];
            fuzz_check(isfinite(v->s[i]) && isfinite(v->d[i]) && isfinite(v->u[i]) &&
                           isfinite(v->v[i]),
                       "a view that is not finite");
            double P[12];
            fuzz_check(fbp_view_to_matrix(v, scan->kind, &scan->panel, P) == FBP_OK,
                       "a view that is no set-up");
        }
    fuzz_check((scan->quadrature == FBP_QUADRATURE_GIVEN) == (scan->plane_weights != NULL),
               "weights of no kind");
    for (int i = 0; scan->volume.n[0] && i < 3; i++)
        fuzz_check(scan->volume.n[i] > 0 && scan->volume.voxel_mm[i] > 0, "an empty volume");
}

/* In every format that is written; what was written must be readable again. */
static void write_again(const struct fbp_scan *scan, const char *path)
{
    struct fbp_geometry_format_info all[SIZE] = {{.struct_size = sizeof *all}};
    const size_t n = fbp_geometry_formats(all, SIZE);
    char out[160];

    for (size_t i = 0; i < n && scan->n_views <= 1000; i++) {
        if (!all[i].writes)
            continue;
        snprintf(out, sizeof out, "%s.out%.*s", path, (int)strcspn(all[i].extensions, " "),
                 all[i].extensions);
        if (fbp_geometry_save(scan, out, all[i].name) == FBP_OK)
            fuzz_check(access(out, R_OK) == 0, "a file was written that is not there");
        else {
            fuzz_check(fbp_message()[0] != '\0', "not written, without a message");
            fuzz_check(access(out, F_OK) != 0, "a failure left a file");
        }
        unlink(out);
    }
}

/* Rows that are prepared: the last view of the files. */
static void read_prepared(const struct fbp_scan *scan, const char *path)
{
    fbp_source *below = NULL, *src = NULL;

    if (!scan->preparation || scan->panel.n_columns > MAX_SAMPLES || scan->panel.n_rows > SIZE)
        return;
    float *row = malloc(scan->panel.n_columns * scan->panel.n_rows * sizeof *row);
    fuzz_check(row != NULL, "no memory for a view");
    if (fbp_source_open(&below, scan->projections, &scan->raw) == FBP_OK &&
        fbp_spectra_open(&src, below, scan) == FBP_OK)
        fuzz_refused(
            fbp_source_read(src, scan->n_views - 1, 1, 0, scan->panel.n_rows, FBP_F32, row), path);
    else
        fuzz_check(fbp_message()[0] != '\0', "not prepared, without a message");
    fbp_source_close(&src);
    free(row);
}

static bool run_scan(const char *path, const char *key)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};

    const fbp_status st = fbp_scan_load(&scan, path, NULL);
    fuzz_refused(st, path);
    if (st == FBP_OK) {
        check_scan(&scan);
        read_prepared(&scan, path);
        write_again(&scan, path);
        fbp_scan_clear(&scan);
    }
    fuzz_check(!scan.views && !scan.path && !scan.projections, "a scan was not cleared");
    return st == FBP_OK;
}

static bool run_geometry(const char *path, const char *key)
{
    const struct fbp_geometry_known all = {
        .struct_size = sizeof all, .panel = {6, 4}, .pitch_mm = {0.8, 0.7}, .corner = true};
    const struct fbp_geometry_known panel = {.struct_size = sizeof panel, .panel = {6, 4}};
    const struct fbp_geometry_known *const known[] = {&all, &panel, NULL};
    bool accepted = false;

    for (int i = 0; i < 3; i++) {
        struct fbp_scan scan = {.struct_size = sizeof scan};
        const fbp_status st = fbp_geometry_load(&scan, path, i < 2 ? key : NULL, known[i]);
        fuzz_refused(st, path);
        if (st == FBP_OK) {
            check_scan(&scan);
            write_again(&scan, path);
            fbp_scan_clear(&scan);
        }
        fuzz_check(!scan.views && !scan.path && !scan.projections, "a scan was not cleared");
        accepted = accepted || st == FBP_OK;
    }
    return accepted;
}

static bool run_matrices(const char *path, const char *key)
{
    double *m = NULL;
    size_t n = 0;

    const fbp_status st = fbp_matrices_load(path, &m, &n);
    fuzz_refused(st, path);
    for (size_t i = 0; st == FBP_OK && i < 12 * n; i++)
        fuzz_check(isfinite(m[i]), "a matrix that is not finite");
    fuzz_check((st == FBP_OK) == (m != NULL), "matrices that failed");
    free(m);
    return st == FBP_OK;
}

static bool run_directions(const char *path, const char *key)
{
    double(*v)[3] = NULL;
    size_t n = 0;

    const fbp_status st = fbp_directions_load(path, &v, &n);
    fuzz_refused(st, path);
    fuzz_check((st == FBP_OK) == (v != NULL && n > 0), "directions that failed");
    for (size_t i = 0; st == FBP_OK && i < 3 * n; i++)
        fuzz_check(isfinite(v[i / 3][i % 3]), "a direction that is not finite");
    free(v);
    return st == FBP_OK;
}

static bool run_phantom(const char *path, const char *key)
{
    struct fbp_phantom p;
    const double at[3] = {1, 2, 3}, dir[3] = {0.6, 0, 0.8};

    const fbp_status st = fbp_phantom_create(&p, path, 10, 1);
    fuzz_refused(st, path);
    if (st != FBP_OK)
        return false;
    fuzz_check(p.n + p.n_shapes > 0, "a phantom of nothing");
    for (size_t i = 0; i < p.n; i++)
        for (int k = 0; k < 3; k++)
            fuzz_check(p.items[i].axes_mm[k] > 0 && isfinite(p.items[i].axes_mm[k]) &&
                           isfinite(p.items[i].centre_mm[k]) && isfinite(p.items[i].density),
                       "an ellipsoid that is none");
    (void)fbp_phantom_line(&p, at, dir);
    (void)fbp_phantom_at(&p, at);
    fbp_phantom_clear(&p);
    return true;
}

/* ------------------------------------------------------------------------ RabbitCT */

static bool run_rabbitct(const char *path, const char *key)
{
    struct fbp_rabbitct_info info;
    double *m = NULL;
    size_t n = 0;
    static uint16_t reference[128 * 128 * 128];

    fbp_status st = fbp_rabbitct_probe(path, &info);
    const bool accepted = st == FBP_OK;
    fuzz_refused(st, path);
    st = fbp_rabbitct_matrices(path, &m, &n);
    fuzz_refused(st, path);
    free(m);
    st = fbp_rabbitct_reference(path, 128, reference);
    fuzz_refused(st, path);
    return accepted;
}

static bool run_result(const char *path, const char *key)
{
    struct fbp_rabbitct_result r;

    const fbp_status st = fbp_rabbitct_result_read(path, &r);
    fuzz_refused(st, path);
    if (st != FBP_OK)
        return false;
    float sum = 0; /* all of it is there */
    for (size_t i = 0; i < r.size * r.size; i++)
        sum += r.slice[i];
    for (size_t i = 0; i < r.n_views; i++)
        sum += (float)r.us[i];
    fuzz_check(isnan(sum) || !isnan(sum), "unreachable");
    fbp_rabbitct_result_clear(&r);
    return true;
}

/* ------------------------------------------------------------------------ the table */

static const struct fuzz_target fixed[] = {
    {"scan", NULL, "input.json", run_scan},
    {"matrices", NULL, "input.txt", run_matrices},
    {"directions", NULL, "input.csv", run_directions},
    {"raw", NULL, "input.raw", run_raw},
    {"zarr.array", NULL, "array.zarr/.zarray", run_zarr},
    {"zarr.chunk", NULL, "chunk.zarr/0.0.0", run_zarr},
    {"zarr.image", NULL, "image.zarr/.zattrs", run_zarr},
    {"compare", NULL, "input.mha", run_compare},
    {"phantom", NULL, "input.txt", run_phantom},
    {"rabbitct", NULL, "input.rctd", run_rabbitct},
    {"result", NULL, "input.res", run_result},
    /* its extension is .mat, as .json says nothing */
    {"geometry.tigre-json", "tigre", "input.json", run_geometry},
};

/* Extensions that stand for a layout of their own; others of a format are mere names. */
static bool is_layout(const char *extension, int len)
{
    static const char *const layouts[] = {".mhd",  ".nhdr", ".nii.gz", ".hdr",
                                          ".rctd", ".hnc",  ".xim"};

    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if ((int)strlen(layouts[i]) == len && strncmp(layouts[i], extension, (size_t)len) == 0)
            return true;
    return false;
}

/* "array.EXT" of each array format. */
static size_t add_arrays(struct fuzz_target *out, size_t n)
{
    const struct fbp_format *f;

    for (size_t i = 0; (f = fbp_format_at(i)) != NULL; i++)
        for (const char *e = f->extensions; *e && n < FUZZ_TARGETS;) {
            const int len = (int)strcspn(e, " ");
            struct fuzz_target *t = &out[n];
            if (!f->is_folder && (e == f->extensions || is_layout(e, len))) {
                *t = (struct fuzz_target){.key = f->name, .run = run_array};
                snprintf(t->name, sizeof t->name, "array%.*s", len, e);
                snprintf(t->file, sizeof t->file, "input%.*s", len, e);
                n++;
            }
            e += len + (int)strspn(e + len, " ");
        }
    return n;
}

/* "geometry.FORMAT" of each format that is read. */
static size_t add_geometries(struct fuzz_target *out, size_t n)
{
    static struct fbp_geometry_format_info all[SIZE] = {{.struct_size = sizeof *all}};
    const size_t count = fbp_geometry_formats(all, SIZE);

    for (size_t i = 0; i < count && i < SIZE && n < FUZZ_TARGETS; i++) {
        struct fuzz_target *t = &out[n];
        if (!all[i].reads)
            continue;
        *t = (struct fuzz_target){.key = all[i].name, .run = run_geometry};
        snprintf(t->name, sizeof t->name, "geometry.%s", all[i].name);
        snprintf(t->file, sizeof t->file, "input%.*s", (int)strcspn(all[i].extensions, " "),
                 all[i].extensions);
        n++;
    }
    return n;
}

size_t fuzz_targets(struct fuzz_target *out)
{
    memcpy(out, fixed, sizeof fixed);
    return add_geometries(out, add_arrays(out, sizeof fixed / sizeof *fixed));
}
