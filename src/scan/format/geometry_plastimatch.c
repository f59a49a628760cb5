/* plastimatch's matrices, a text file a view: image centre (column, row), a 3x4 matrix whose pixels
 * count from there and whose w is 1 on the panel, SAD, SID, the direction from the source to the
 * panel; then the matrix's factors, which nobody reads.
 * plastimatch, src/plastimatch/base/proj_matrix.cxx, proj_image.cxx (mat_load). */
#include "scan/file/geometry_format.h"

#include "array/file/bytes.h"
#include "array/stack_names.h"
#include "base/base.h"
#include "base/text.h"
#include "base/math.h"
#include "scan/file/scan_notes.h"
#include "scan/file/scan_write.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 16 };
enum { CENTRE = 0, MATRIX = 2, SAD = 14, SID = 15, NORMAL = 16, N_NUMBERS = 19 };

/* Names of the files, in the order of the views. */
struct files {
    char **names;
    size_t n;
};

static void files_clear(struct files *f)
{
    for (size_t k = 0; f->names && k < f->n; k++)
        free(f->names[k]);
    free(f->names);
}

/* 19 numbers, then the factors or nothing. */
static bool parse(const char *text, double v[N_NUMBERS])
{
    for (int i = 0; i < N_NUMBERS; i++) {
        char *end = NULL;
        v[i] = fbp_number(text, &end);
        if (end == text || !isfinite(v[i]))
            return false;
        text = end;
    }
    text += strspn(text, " \t\r\n");
    return *text == '\0' || strncmp(text, "Extrinsic", 9) == 0;
}

static fbp_status read_file(const char *path, double v[N_NUMBERS])
{
    char *text = NULL;
    size_t n = 0;

    FBP_TRY(fbp_read_text(path, MAX_BYTES, &text, &n));
    const bool whole = parse(text, v);
    free(text);
    if (!whole)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: is no matrix of plastimatch's (19 numbers: centre, 3x4 matrix, SAD, "
                        "SID, normal): correct it, or name the files by a pattern",
                        path);
    return FBP_OK;
}

/* Is the file among the first of its kind? */
static bool head_is_ours(const unsigned char *head, size_t n)
{
    char text[4096 + 1];
    double v[N_NUMBERS];

    n = n < sizeof text ? n : sizeof text - 1;
    memcpy(text, head, n);
    text[n] = '\0';
    return parse(text, v);
}

static int is_text(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot && strcmp(dot, ".txt") == 0;
}

/* The .txt files of a folder, in the order of the numbers in their names. */
static fbp_status list_folder(const char *path, struct files *out)
{
    struct dirent **entries = NULL;
    const int n = scandir(path, &entries, is_text, versionsort);
    fbp_status st = n < 0 ? fbp_fail(errno == ENOMEM ? FBP_ERR_NOMEM : FBP_ERR_IO,
                                     "%s: cannot list the folder: %s", path, strerror(errno))
                          : fbp_calloc((void **)&out->names, (size_t)n + 1, sizeof *out->names,
                                       "names of files");

    for (int k = 0; k < n; k++) {
        if (st == FBP_OK && !(out->names[k] = fbp_format("%s/%s", path, entries[k]->d_name)))
            st = fbp_fail_nomem(strlen(path), "a path");
        free(entries[k]);
    }
    free(entries);
    out->n = n < 0 ? 0 : (size_t)n;
    return st;
}

static bool is_folder(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static fbp_status list_pattern(const char *pattern, size_t n, struct files *out)
{
    FBP_TRY(fbp_calloc((void **)&out->names, n, sizeof *out->names, "names of files"));
    out->n = n;
    for (size_t k = 0; k < n; k++)
        if (!(out->names[k] = fbp_stack_name(pattern, k)))
            return fbp_fail_nomem(strlen(pattern), "a path");
    return FBP_OK;
}

/* Files are looked for before room is made for their names. */
static fbp_status check_ends(const char *pattern, size_t n)
{
    for (int i = 0; i < 2; i++) {
        char *name = fbp_stack_name(pattern, i == 0 ? 0 : n - 1);
        const fbp_status st =
            !name ? fbp_fail_nomem(strlen(pattern), "a path")
            : access(name, R_OK) == 0
                ? FBP_OK
                : fbp_fail(FBP_ERR_IO, "%s: cannot open %s: %s: correct the pattern or its numbers",
                           pattern, name, strerror(errno));
        free(name);
        FBP_TRY(st);
    }
    return FBP_OK;
}

static fbp_status list_file(const char *path, struct files *out)
{
    FBP_TRY(fbp_calloc((void **)&out->names, 1, sizeof *out->names, "names of files"));
    out->n = 1;
    out->names[0] = fbp_strdup(path);
    return out->names[0] ? FBP_OK : fbp_fail_nomem(strlen(path), "a path");
}

static fbp_status list(const char *path, struct files *out)
{
    const size_t n = fbp_stack_count(path);

    if (n > 0) {
        FBP_TRY(check_ends(path, n));
        return list_pattern(path, n, out);
    }
    if (is_folder(path))
        return list_folder(path, out);
    return list_file(path, out);
}

/* inv([u v d0-s]) is the matrix whose w is 1 on the panel; SID, the panel's distance along the
 * normal, scales it so.  A view by any pitch is one up to that scale. */
static fbp_status view_of(const char *path, const double v[N_NUMBERS],
                          const struct fbp_panel *panel, struct fbp_view *out)
{
    double P[12], normal[3];

    if (!(v[SID] > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: SID %g mm: the source's distance from the panel must be positive",
                        path, v[SID]);
    for (int i = 0; i < 12; i++)
        P[i] = v[MATRIX + i] + (i < 8 ? v[CENTRE + i / 4] * v[MATRIX + 8 + i % 4] : 0);
    if (fbp_view_from_matrix(P, 1, panel, out) != FBP_OK) {
        fbp_message_clear();
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: its matrix is that of no camera before the origin: correct it", path);
    }
    fbp_cross(out->u, out->v, normal);
    fbp_normalise(normal);
    double q[3];
    fbp_axpy(out->d, -1, out->s, q);
    const double scale = v[SID] / fabs(fbp_dot(q, normal));
    for (int i = 0; i < 3; i++) {
        out->u[i] *= scale;
        out->v[i] *= scale;
        out->d[i] = out->s[i] + scale * q[i];
    }
    return FBP_OK;
}

/* SAD says again what the matrix says: how far the source is from the iso-centre. */
static fbp_status compare_sad(struct fbp_scan *out, const char *path, const double v[N_NUMBERS],
                              const struct fbp_view *view)
{
    const double distance = fbp_norm(view->s);
    char value[32], remedy[120];

    if (fabs(v[SAD] - distance) <= 1e-3 * distance)
        return FBP_OK;
    snprintf(value, sizeof value, "%g", v[SAD]);
    snprintf(remedy, sizeof remedy, "the matrix has the source %.6g mm from the iso-centre",
             distance);
    return fbp_scan_note_ignored(out, path, "SAD", value, remedy);
}

static fbp_status read_views(struct fbp_scan *out, const char *path, const struct files *files,
                             const struct fbp_geometry_known *known)
{
    double v[N_NUMBERS];

    FBP_TRY(fbp_geometry_need_panel(path, known, &out->panel));
    FBP_TRY(fbp_geometry_make_views(out, path, known, files->n));
    out->kind = FBP_CONE;
    out->row_order = FBP_ROWS_BOTTOM_UP;
    for (size_t k = 0; k < files->n; k++) {
        FBP_TRY(read_file(files->names[k], v));
        FBP_TRY(view_of(files->names[k], v, &out->panel, &out->views[k]));
        if (!out->note)
            FBP_TRY(compare_sad(out, files->names[k], v, &out->views[k]));
    }
    return FBP_OK;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct files files = {0};
    fbp_status st = list(path, &files);

    if (st == FBP_OK)
        st = read_views(out, path, &files, known);
    files_clear(&files);
    return st;
}

/* The first .txt file of a folder is one of these. */
static fbp_status look(const char *path, const unsigned char *head, size_t n, bool *is)
{
    struct files files = {0};
    double v[N_NUMBERS];

    (void)head;
    if (n > 0 || !is_folder(path))
        return FBP_OK;
    fbp_status st = list_folder(path, &files);
    if (st == FBP_OK && files.n > 0) {
        st = read_file(files.names[0], v);
        *is = st == FBP_OK;
    }
    files_clear(&files);
    return st;
}

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return n > 0 && head_is_ours(head, n);
}

/* The 19 numbers of a view.  Pixels count from the foot of the normal, as in plastimatch's own. */
static fbp_status numbers_of(const struct fbp_scan *scan, size_t k, const char *path,
                             double v[N_NUMBERS])
{
    const struct fbp_view *view = &scan->views[k];
    double P[12];

    FBP_TRY(fbp_view_to_matrix(view, scan->kind, &scan->panel, P));
    const double length = fbp_norm(P + 8);
    v[SID] = 1 / length;
    v[SAD] = P[11] / length;
    if (!(v[SAD] > 0))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: view %zu: the iso-centre is not before the source: correct the view",
                        path, k);
    for (int i = 0; i < 3; i++)
        v[NORMAL + i] = P[8 + i] / length;
    for (int i = 0; i < 2; i++)
        v[CENTRE + i] = fbp_dot(P + 4 * (size_t)i, v + NORMAL) / length;
    for (int i = 0; i < 12; i++)
        v[MATRIX + i] = P[i] - (i < 8 ? v[CENTRE + i / 4] * P[8 + i % 4] : 0);
    return FBP_OK;
}

static fbp_status write_file(const char *path, const double v[N_NUMBERS], struct fbp_outfile *out)
{
    static const int ends[] = {1, 5, 9, 13, 14, 15, 18};
    struct fbp_writer w;

    FBP_TRY(fbp_writer_open(&w, path));
    for (int i = 0, line = 0; i < N_NUMBERS; i++) {
        fbp_put_number(&w, v[i]);
        fputc(i == ends[line] ? '\n' : ' ', w.f);
        line += i == ends[line];
    }
    return fbp_writer_settle(&w, FBP_OK, out);
}

/* No file has its name, and no older one is replaced, before all are on disk. */
static fbp_status write_files(const struct fbp_scan *scan, const char *path,
                              const struct files *files)
{
    struct fbp_outfile *outs = NULL;
    double v[N_NUMBERS];
    size_t n = 0;
    fbp_status st;

    FBP_TRY(fbp_calloc((void **)&outs, files->n, sizeof *outs, "output files"));
    for (; n < files->n; n++) {
        FBP_TRY_GOTO(numbers_of(scan, n, path, v));
        FBP_TRY_GOTO(write_file(files->names[n], v, &outs[n]));
    }
    st = fbp_outfile_publish(outs, n);
fail:
    for (size_t k = 0; k < n; k++)
        fbp_outfile_clear(&outs[k]);
    free(outs);
    return st;
}

/* A pattern without numbers counts from 0. */
static fbp_status name_files(const struct fbp_scan *scan, const char *path, struct files *out)
{
    char *pattern =
        fbp_stack_count(path) ? fbp_strdup(path) : fbp_format("%s 0 %zu", path, scan->n_views - 1);

    if (!pattern)
        return fbp_fail_nomem(strlen(path), "a path");
    const size_t n = fbp_stack_count(pattern);
    fbp_status st = FBP_OK;
    if (n == scan->n_views)
        st = list_pattern(pattern, n, out);
    else if (n == 0 && scan->n_views == 1 && !is_folder(path))
        st = list_file(path, out);
    else
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s: there are %zu views, and a file for each: name them by a pattern such "
                      "as proj_%%04d.txt",
                      path, scan->n_views);
    free(pattern);
    return st;
}

static fbp_status save(const struct fbp_scan *scan, const char *path)
{
    struct files files = {0};

    fbp_status st = name_files(scan, path, &files);
    if (st == FBP_OK)
        st = write_files(scan, path, &files);
    files_clear(&files);
    return st;
}

const struct fbp_geometry_format fbp_geometry_plastimatch = {
    .name = "plastimatch",
    .about = "plastimatch's matrices, a text file a view",
    .extensions = ".txt",
    .file_a_view = true,
    .detect = detect,
    .look = look,
    .load = load,
    .save = save,
    .saves = FBP_KIND_BIT(FBP_CONE),
    .instead = {[FBP_PARALLEL] = "plastimatch's matrices need a source, a parallel beam has none: "
                                 "write a scan file"},
};
