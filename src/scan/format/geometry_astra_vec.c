/* ASTRA's vectors, 12 numbers a view: the source (parallel: the rays' direction), the panel's
 * centre, the steps from column to column and from row to row; NPY or plain text.  Nothing in such
 * a file tells it from 3x4 matrices or the other kind of beam, so that its format has to be named.
 * ASTRA, src/ConeVecProjectionGeometry3D.cpp, src/ParallelVecProjectionGeometry3D.cpp. */
#include "scan/format/geometry_astra.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "base/base.h"
#include "base/text.h"
#include "base/math.h"
#include "scan/file/scan_write.h"

#include <string.h>

enum { WIDTH = 12 };

fbp_status fbp_astra_views(struct fbp_scan *out, const char *path,
                           const struct fbp_geometry_known *known, const double *vectors, size_t n)
{
    FBP_TRY(fbp_geometry_make_views(out, path, known, n));
    for (size_t k = 0; k < n; k++) {
        struct fbp_view *view = &out->views[k];
        const double *v = vectors + WIDTH * k;
        memcpy(view->s, v, sizeof view->s);
        memcpy(view->d, v + 3, sizeof view->d);
        memcpy(view->u, v + 6, sizeof view->u);
        memcpy(view->v, v + 9, sizeof view->v);
        for (int i = 0; i < WIDTH; i++)
            if (!isfinite(v[i]))
                return fbp_fail(FBP_ERR_INVALID,
                                "%s: view %zu: number %d is not finite: correct it", path, k, i);
        if (!fbp_kind_has_source(out->kind) && !(fbp_normalise(view->s) > 0))
            return fbp_fail(FBP_ERR_INVALID, "%s: view %zu: its rays have no direction: correct it",
                            path, k);
    }
    return FBP_OK;
}

void fbp_astra_vector(const struct fbp_view *view, double out[12])
{
    memcpy(out, view->s, sizeof view->s);
    memcpy(out + 3, view->d, sizeof view->d);
    memcpy(out + 6, view->u, sizeof view->u);
    memcpy(out + 9, view->v, sizeof view->v);
}

/* What was saved in single precision has its digits alone. */
static fbp_status read_single(fbp_source *src, size_t rows, double *out)
{
    float row[WIDTH];

    for (size_t k = 0; k < rows; k++) {
        FBP_TRY(fbp_source_read(src, 0, 1, k, 1, row));
        for (size_t i = 0; i < WIDTH; i++)
            out[WIDTH * k + i] = (double)row[i];
    }
    return FBP_OK;
}

static fbp_status read_array(fbp_source *src, double **out, size_t *n)
{
    const struct fbp_array_info *info = fbp_source_info(src);

    if (info->n[0] != WIDTH || info->n[2] != 1 || (info->type != FBP_F64 && info->type != FBP_F32))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: holds %zu x %zu x %zu %s: expected 12 float64 a view, an array of "
                        "views x 12",
                        src->path, info->n[2], info->n[1], info->n[0], fbp_type_name(info->type));
    *n = info->n[1];
    FBP_TRY(fbp_calloc((void **)out, *n, WIDTH * sizeof **out, "vectors"));
    return info->type == FBP_F64 ? fbp_source_read_as_is(src, 0, 1, 0, *n, *out)
                                 : read_single(src, *n, *out);
}

static fbp_status load_npy(const char *path, double **out, size_t *n)
{
    fbp_source *src = NULL;

    FBP_TRY(fbp_source_open(&src, path, NULL));
    const fbp_status st = read_array(src, out, n);
    fbp_source_close(&src);
    return st;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known, enum fbp_kind kind)
{
    double *vectors = NULL;
    size_t n = 0;

    FBP_TRY(fbp_geometry_need_panel(path, known, &out->panel));
    fbp_status st = fbp_has_extension(path, ".npy") ? load_npy(path, &vectors, &n)
                                                    : fbp_matrices_load(path, &vectors, &n);
    out->kind = kind;
    out->row_order = FBP_ROWS_BOTTOM_UP;
    if (st == FBP_OK)
        st = fbp_astra_views(out, path, known, vectors, n);
    free(vectors);
    return st;
}

static fbp_status load_cone(struct fbp_scan *out, const char *path,
                            const struct fbp_geometry_known *known)
{
    return load(out, path, known, FBP_CONE);
}

static fbp_status load_parallel(struct fbp_scan *out, const char *path,
                                const struct fbp_geometry_known *known)
{
    return load(out, path, known, FBP_PARALLEL);
}

static void put_npy(struct fbp_writer *w, const struct fbp_scan *scan)
{
    double v[WIDTH];
    char header[128];

    /* 10 bytes and a header that ends at 128: samples are aligned */
    memset(header, ' ', sizeof header);
    const int n =
        snprintf(header, sizeof header,
                 "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, 12), }", scan->n_views);
    header[n] = ' ';
    header[117] = '\n';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, w->f);
    fwrite(header, 1, 118, w->f);
    for (size_t k = 0; k < scan->n_views; k++) {
        fbp_astra_vector(&scan->views[k], v);
        for (int i = 0; i < WIDTH; i++)
            w->not_finite = w->not_finite || !isfinite(v[i]);
        if (fbp_is_foreign(false))
            fbp_swap_bytes(v, sizeof *v, WIDTH);
        fwrite(v, sizeof *v, WIDTH, w->f);
    }
}

static void put_text(struct fbp_writer *w, const struct fbp_scan *scan, const char *separator)
{
    double v[WIDTH];

    for (size_t k = 0; k < scan->n_views; k++) {
        fbp_astra_vector(&scan->views[k], v);
        for (int i = 0; i < WIDTH; i++) {
            fputs(i ? separator : "", w->f);
            fbp_put_number(w, v[i]);
        }
        fputc('\n', w->f);
    }
}

static fbp_status save(const struct fbp_scan *scan, const char *path)
{
    struct fbp_writer w;

    FBP_TRY(fbp_writer_open(&w, path));
    if (fbp_has_extension(path, ".npy"))
        put_npy(&w, scan);
    else
        put_text(&w, scan, fbp_has_extension(path, ".csv") ? "," : " ");
    return fbp_writer_close(&w, FBP_OK);
}

const struct fbp_geometry_format fbp_geometry_astra_cone = {
    .name = "astra-cone-vec",
    .about = "ASTRA's cone_vec, 12 numbers a view",
    .extensions = ".npy .csv .txt",
    .by_name_only = true,
    .load = load_cone,
    .save = save,
    .saves = FBP_KIND_BIT(FBP_CONE),
    .instead = {[FBP_PARALLEL] = "the beam is parallel: write astra-parallel-vec"},
};

const struct fbp_geometry_format fbp_geometry_astra_parallel = {
    .name = "astra-parallel-vec",
    .about = "ASTRA's parallel3d_vec, 12 numbers a view",
    .extensions = ".npy .csv .txt",
    .by_name_only = true,
    .load = load_parallel,
    .save = save,
    .saves = FBP_KIND_BIT(FBP_PARALLEL),
    .instead = {[FBP_CONE] = "the beam is a cone: write astra-cone-vec"},
};
