/* Importer and exporter of plastimatch's matrices (fbp_geometry_plastimatch), one text file per
 * view: image centre (column, row), a 3x4 matrix with pixels counted from this centre and w = 1 on
 * the panel, SAD, SID, the direction from the source to the panel; then factors of the matrix,
 * which are not read. Reference: plastimatch, src/plastimatch/base/proj_matrix.cxx, proj_image.cxx
 * (mat_load).
 * Used by: scan/geometry_file.c. */
#include "scan/format/importers.h"

#include "array/file/bytes.h"
#include "array/names.h"
#include "base/math.h"
#include "base/text.h"
#include "scan/file/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 16 };
enum { CENTRE = 0, MATRIX = 2, SAD = 14, SID = 15, NORMAL = 16, N_NUMBERS = 19 };

/* Names of the files, one per view, in the order of the views. */
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

/* Parse the text of a matrix file: 19 numbers, then the factors of the matrix or nothing. False:
 * the text has another form. */
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
        return FBP_INVALID("%s: is not a matrix file of plastimatch (19 numbers: centre, 3x4 "
                           "matrix, SAD, SID, normal); correct it, or name the files by a pattern",
                           path);
    return FBP_OK;
}

static int is_text(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot && strcmp(dot, ".txt") == 0;
}

/* List the .txt files of a folder, in the order of the numbers in their names. */
static fbp_status list_folder(const char *path, struct files *out)
{
    struct dirent **entries = NULL;
    const int n = scandir(path, &entries, is_text, versionsort);
    fbp_status st = n < 0 ? fbp_fail(errno == ENOMEM ? FBP_ERR_NOMEM : FBP_ERR_IO,
                                     "%s: cannot list the folder: %s", path, strerror(errno))
                          : fbp_calloc((void **)&out->names, (size_t)n + 1, sizeof *out->names,
                                       "names of files");

    for (int k = 0; k < n; k++) {
        if (st == FBP_OK)
            st = fbp_scan_path(&out->names[k], NULL, "%s/%s", path, entries[k]->d_name);
        free(entries[k]);
    }
    free(entries);
    out->n = n < 0 ? 0 : (size_t)n;
    return st;
}

/* List the n files of a pattern; n = 0: list only the file `path`. */
static fbp_status list_pattern(const char *path, size_t n, struct files *out)
{
    const size_t n_files = n ? n : 1;

    FBP_TRY(fbp_calloc((void **)&out->names, n_files, sizeof *out->names, "names of files"));
    out->n = n_files;
    for (size_t k = 0; k < n_files; k++)
        if (!(out->names[k] = n ? fbp_stack_name(path, k) : fbp_strdup(path)))
            return fbp_fail_nomem(strlen(path), "a path");
    return FBP_OK;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct files files = {0};
    double v[N_NUMBERS];
    char *name = NULL;
    fbp_status st;

    const size_t n = fbp_stack_count(path);
    /* The first and the last file must exist before memory for all names is allocated. */
    for (size_t i = 0; n > 0 && i < 2; i++) {
        free(name);
        name = fbp_stack_name(path, i == 0 ? 0 : n - 1);
        FBP_TRY_GOTO(fbp_check_path(name));
        if (access(name, R_OK) != 0)
            FBP_TRY_GOTO(fbp_fail(FBP_ERR_IO,
                                  "%s: cannot open %s: %s; correct the pattern or its numbers",
                                  path, name, strerror(errno)));
    }
    FBP_TRY_GOTO(n == 0 && fbp_is_folder(path) ? list_folder(path, &files)
                                               : list_pattern(path, n, &files));
    FBP_TRY_GOTO(fbp_geometry_need_panel(path, known, &out->panel));
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, files.n));
    out->row_order = FBP_ROWS_BOTTOM_UP;
    for (size_t k = 0; k < files.n; k++) {
        FBP_TRY_GOTO(read_file(files.names[k], v));
        if (!(v[SID] > 0))
            FBP_TRY_GOTO(FBP_INVALID("%s: SID is %g mm, but the distance from source to panel must "
                                     "be positive; correct it",
                                     files.names[k], v[SID]));

        /* The matrix of a file does not determine size and distance of the panel: compute the view
         * for pitch 1, then scale the panel about the source to the distance SID. */
        struct fbp_view *view = &out->views[k];
        double P[12], normal[3], arm[3];
        for (int i = 0; i < 12; i++)
            P[i] = v[MATRIX + i] + (i < 8 ? v[CENTRE + i / 4] * v[MATRIX + 8 + i % 4] : 0);
        if (fbp_view_from_matrix(P, 1, &out->panel, view) != FBP_OK) {
            fbp_message_clear();
            FBP_TRY_GOTO(FBP_INVALID(
                "%s: its matrix has no source, or the origin is at depth 0, beside the source; "
                "correct it",
                files.names[k]));
        }
        fbp_cross(view->u, view->v, normal);
        fbp_normalise(normal);
        fbp_axpy(view->d, -1, view->s, arm);
        const double scale = v[SID] / fabs(fbp_dot(arm, normal));
        for (int i = 0; i < 3; i++) {
            view->u[i] *= scale;
            view->v[i] *= scale;
            view->d[i] = view->s[i] + scale * arm[i];
        }

        /* SAD repeats the distance from source to iso-centre, which the matrix contains. */
        const double distance = fbp_norm(view->s);
        if (!out->note && !(fabs(v[SAD] - distance) <= 1e-3 * distance))
            FBP_TRY_GOTO(fbp_scan_note(out,
                                       "%s: SAD = %g is not applied, because the matrix places the "
                                       "source %.6g mm from the iso-centre",
                                       files.names[k], v[SAD], distance));
    }
fail:
    free(name);
    files_clear(&files);
    return st;
}

/* A folder has this format if its first .txt file is a matrix file of plastimatch. */
static fbp_status probe(const char *path, const unsigned char *head, size_t n, bool *is)
{
    struct files files = {0};
    double v[N_NUMBERS];

    (void)head;
    if (n > 0 || !fbp_is_folder(path))
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
    char text[4096 + 1];
    double v[N_NUMBERS];

    (void)path;
    if (n == 0)
        return false;
    n = n < sizeof text ? n : sizeof text - 1;
    memcpy(text, head, n);
    text[n] = '\0';
    return parse(text, v);
}

/* All files are written under temporary names before the first one is renamed: if writing
 * fails, older files remain unchanged. */
static fbp_status save(const struct fbp_scan *scan, const char *path)
{
    static const int ends[] = {1, 5, 9, 13, 14, 15, 18};
    /* A pattern without numbers counts from 0. */
    char *pattern =
        fbp_stack_count(path) ? fbp_strdup(path) : fbp_format("%s 0 %zu", path, scan->n_views - 1);
    const size_t count = pattern ? fbp_stack_count(pattern) : 0;
    const bool single = count == 0 && scan->n_views == 1 && !fbp_is_folder(path);
    struct files files = {0};
    struct fbp_outfile *outs = NULL;
    size_t n = 0;
    fbp_status st;

    FBP_TRY(fbp_check_path(pattern));
    if (count != scan->n_views && !single)
        FBP_TRY_GOTO(FBP_INVALID("%s: does not give one file name for each of the %zu views; name "
                                 "the files by a pattern "
                                 "such as proj_%%04d.txt",
                                 path, scan->n_views));
    FBP_TRY_GOTO(list_pattern(single ? path : pattern, count, &files));
    FBP_TRY_GOTO(fbp_calloc((void **)&outs, files.n, sizeof *outs, "output files"));
    for (; n < files.n; n++) {
        const struct fbp_view *view = &scan->views[n];
        struct fbp_writer w;
        double P[12], v[N_NUMBERS];
        FBP_TRY_GOTO(fbp_view_to_matrix(view, scan->kind, &scan->panel, P));
        const double length = fbp_norm(P + 8);
        v[SID] = 1 / length;
        v[SAD] = P[11] / length;
        if (!(v[SAD] > 0))
            FBP_TRY_GOTO(FBP_UNSUPPORTED(
                "%s: view %zu: the iso-centre is not in front of the source; correct the view",
                path, n));
        for (int i = 0; i < 3; i++)
            v[NORMAL + i] = P[8 + i] / length;
        for (int i = 0; i < 2; i++) /* pixels count from the foot of the normal */
            v[CENTRE + i] = fbp_dot(P + 4 * (size_t)i, v + NORMAL) / length;
        for (int i = 0; i < 12; i++)
            v[MATRIX + i] = P[i] - (i < 8 ? v[CENTRE + i / 4] * P[8 + i % 4] : 0);

        FBP_TRY_GOTO(fbp_writer_open(&w, files.names[n]));
        for (int i = 0, line = 0; i < N_NUMBERS; i++) {
            fbp_put_number(&w, v[i]);
            fputc(i == ends[line] ? '\n' : ' ', w.f);
            line += i == ends[line];
        }
        FBP_TRY_GOTO(fbp_writer_settle(&w, FBP_OK, &outs[n]));
    }
    st = fbp_outfile_publish(outs, n);
fail:
    for (size_t k = 0; k < n; k++)
        fbp_outfile_clear(&outs[k]);
    free(outs);
    files_clear(&files);
    free(pattern);
    return st;
}

const struct fbp_geometry_format fbp_geometry_plastimatch = {
    .name = "plastimatch",
    .about = "plastimatch's matrices, one text file per view",
    .extensions = ".txt",
    .file_a_view = true,
    .detect = detect,
    .probe = probe,
    .load = load,
    .save = save,
    .saves = FBP_KIND_BIT(FBP_CONE),
    .instead = {[FBP_PARALLEL] = "plastimatch's matrices need a source, but a parallel beam has "
                                 "none; write a scan file"},
};
