/* Reduction of a scan to fewer views and larger pixels: fbp_scan_reduce(), fbp_scan_select(), and
 * the source that wraps the stored views and returns every n-th or the selected views, with means
 * of blocks of pixels.
 * Used by: cli/, analysis/, pipeline/, prep/, scan/, scan/file/. */
#include "scan/file/scan.h"

#include "array/array.h"
#include "array/file/format.h"
#include "geometry/kind.h"

#include <ctype.h>
#include <string.h>

enum { BAND_BYTES = 1 << 18 };

void fbp_reduction_of(const struct fbp_scan *scan, struct fbp_reduction *out)
{
    const size_t bin = scan->bin ? scan->bin : 1;

    *out = (struct fbp_reduction){.every = scan->every ? scan->every : 1,
                                  .selected = scan->selected,
                                  .n_views = scan->n_views,
                                  .bin = {bin, bin},
                                  .stored = scan->every || scan->bin ? scan->stored : scan->panel,
                                  .panel = scan->panel};
    if (out->bin[1] > out->stored.n_rows)
        out->bin[1] = out->stored.n_rows;
    if (fbp_kind_of(scan->kind)->row_is_frame) /* each row belongs to a volume of its own */
        out->bin[1] = 1;
    out->first[0] = (out->stored.n_columns - bin * out->panel.n_columns) / 2;
    out->first[1] = (out->stored.n_rows - out->bin[1] * out->panel.n_rows) / 2;
}

bool fbp_reduction_joins(const struct fbp_reduction *r)
{
    return r->bin[0] > 1 || r->bin[1] > 1;
}

bool fbp_reduces(const struct fbp_reduction *r)
{
    return r->every > 1 || r->selected || fbp_reduction_joins(r);
}

void fbp_reduction_describe(const struct fbp_reduction *r, size_t stored_views, char *buf, size_t n)
{
    const size_t columns = r->stored.n_columns - r->bin[0] * r->panel.n_columns;
    const size_t rows = r->stored.n_rows - r->bin[1] * r->panel.n_rows;

    buf[0] = '\0';
    if (r->selected)
        fbp_text_add(buf, n, "", "selected views: %zu of %zu", r->n_views, stored_views);
    else if (r->every > 1)
        fbp_text_add(buf, n, "", "one of every %zu views: %zu of %zu", r->every, r->n_views,
                     stored_views);
    if (fbp_reduction_joins(r))
        fbp_text_add(buf, n, "; ", "means of %zu x %zu pixels: %zu columns and %zu rows", r->bin[0],
                     r->bin[1], r->panel.n_columns, r->panel.n_rows);
    if (columns + rows > 0)
        fbp_text_add(buf, n, "", "; unused at the edges: %zu of %zu columns, %zu of %zu rows",
                     columns, r->stored.n_columns, rows, r->stored.n_rows);
}

fbp_status fbp_scan_reduce(struct fbp_scan *out, size_t every, size_t bin)
{
    struct fbp_scan own, *const scan = &own;
    struct fbp_reduction r;

    fbp_message_clear();
    FBP_TRY(FBP_COPY_IN(scan, scan, out));
    FBP_TRY(fbp_check_kind("scan.kind", scan->kind));
    if (scan->every || scan->bin)
        return FBP_INVALID(
            "scan: views were already skipped or binned; give both numbers in one call");
    if (scan->filtered && (every > 1 || bin > 1))
        return FBP_INVALID("scan: filtered views cannot be skipped or binned, because their "
                           "weights apply to the full scan; omit every and bin");
    if (scan->plane_weights && every > 1)
        return FBP_INVALID("scan: the given weights apply to all views, so views cannot be "
                           "skipped; omit every, or the weights");
    if (every == 0 || every > scan->n_views)
        return FBP_INVALID("every: found %zu, expected 1 to %zu, the number of views", every,
                           scan->n_views);
    if (bin == 0 || bin > scan->panel.n_columns)
        return FBP_INVALID("bin: found %zu, expected 1 to %zu, the number of detector columns", bin,
                           scan->panel.n_columns);
    if (every == 1 && bin == 1)
        return FBP_OK;

    scan->stored = scan->panel;
    scan->stored_views = scan->selected ? scan->stored_views : scan->n_views;
    scan->every = every;
    scan->bin = bin;
    scan->panel.n_columns /= bin;
    if (!fbp_kind_of(scan->kind)->row_is_frame)
        scan->panel.n_rows = scan->panel.n_rows < bin ? 1 : scan->panel.n_rows / bin;
    scan->n_views = (scan->n_views - 1) / every + 1;
    fbp_reduction_of(scan, &r);

    /* Move the panel's centre: the numbers of columns, or of rows, omitted at the two edges may
     * differ by one. */
    const double columns = (double)(r.stored.n_columns - r.bin[0] * r.panel.n_columns);
    const double rows = (double)(r.stored.n_rows - r.bin[1] * r.panel.n_rows);
    const double along_u = (double)r.first[0] - columns / 2;
    const double along_v = (double)r.first[1] - rows / 2;
    for (size_t k = 0; k < scan->n_views; k++) {
        struct fbp_view *v = &scan->views[k];
        *v = scan->views[k * every];
        if (scan->selected)
            scan->selected[k] = scan->selected[k * every];
        for (int i = 0; i < 3; i++) {
            v->d[i] += along_u * v->u[i] + along_v * v->v[i];
            v->u[i] *= (double)r.bin[0];
            v->v[i] *= (double)r.bin[1];
        }
    }
    FBP_COPY_OUT(scan, out, scan);
    return FBP_OK;
}

/* Set the marks of the views in a list such as "17,42" or "0:100,110:".  name: of the list, for
 * messages. */
static fbp_status mark_views(const char *name, const char *list, unsigned char *marks, size_t n)
{
    const char *at = list;

    for (char *end;; at++) {
        const bool number = isdigit((unsigned char)*at);
        const unsigned long long first = number ? strtoull(at, &end, 10) : 0;
        unsigned long long last = first + 1;
        if (number)
            at = end;
        if (*at == ':') {
            const bool ends = isdigit((unsigned char)*++at);
            last = ends ? strtoull(at, &end, 10) : n;
            at = ends ? end : at;
        } else if (!number) {
            last = first;
        }
        if (last > n && last > first)
            return FBP_INVALID(
                "%s: \"%s\": the scan has only views 0 to %zu; give numbers of stored "
                "views",
                name, list, n - 1);
        if (last <= first || (*at && *at != ','))
            return FBP_INVALID("%s: \"%s\": expected views, such as 17,42 or 0:100,110: (counted "
                               "from 0, ends excluded)",
                               name, list);
        memset(marks + first, 1, (size_t)(last - first));
        if (!*at)
            return FBP_OK;
    }
}

fbp_status fbp_scan_select(struct fbp_scan *out, const char *views, const char *skip)
{
    struct fbp_scan own, *const scan = &own;
    unsigned char *marks = NULL;
    size_t *selected = NULL, n = 0;
    fbp_status st;

    fbp_message_clear();
    FBP_TRY(FBP_COPY_IN(scan, scan, out));
    if (!views && !skip)
        return FBP_OK;
    if (scan->every || scan->bin)
        return FBP_INVALID("scan: views were already skipped or binned; select views before that");
    if (scan->filtered || scan->plane_weights)
        return FBP_INVALID("scan: the weights of %s apply to all views, so views cannot be left "
                           "out; omit the selection of views",
                           scan->filtered ? "filtered views" : "the scan");
    const size_t stored = scan->selected ? scan->stored_views : scan->n_views;
    FBP_TRY(fbp_calloc((void **)&marks, stored, 2, "views"));
    FBP_TRY_GOTO(fbp_calloc((void **)&selected, scan->n_views, sizeof *selected, "views"));
    if (views)
        FBP_TRY_GOTO(mark_views("views", views, marks, stored));
    else
        memset(marks, 1, stored);
    if (skip)
        FBP_TRY_GOTO(mark_views("skip", skip, marks + stored, stored));
    for (size_t k = 0; k < scan->n_views; k++) {
        const size_t i = fbp_stored_view(scan, k);
        n += marks[i] && !marks[stored + i];
    }
    if (n == 0)
        FBP_TRY_GOTO(FBP_INVALID("scan: no view is left; select at least one view"));
    n = 0;
    for (size_t k = 0; k < scan->n_views; k++) {
        const size_t i = fbp_stored_view(scan, k);
        if (!marks[i] || marks[stored + i])
            continue;
        scan->views[n] = scan->views[k];
        selected[n++] = i;
    }
    scan->n_views = n;
    scan->stored_views = stored;
    free(scan->selected);
    scan->selected = selected;
    selected = NULL;
    FBP_COPY_OUT(scan, out, scan);
fail:
    free(marks);
    free(selected);
    return st;
}

struct reduced {
    struct fbp_reduction r;
    bool top_down;
    size_t first_row; /* in the order of the file */
    const unsigned char *bad;
};

/* Memory of a reading thread: stored rows; then, for each pixel of one reduced row, the sum and the
 * number of its good stored pixels. */
struct band {
    size_t at_once;    /* rows of blocks that are read together */
    size_t rows_bytes; /* aligned size of these rows */
    size_t bytes;      /* size of the whole memory */
};

static struct band band_of(const struct fbp_reduction *r)
{
    const size_t block = r->bin[1] * r->stored.n_columns * sizeof(float);
    struct band b = {.at_once = block < BAND_BYTES ? BAND_BYTES / block : 1};

    b.rows_bytes = (b.at_once * block + FBP_ALIGN - 1) / FBP_ALIGN * FBP_ALIGN;
    b.bytes = b.rows_bytes + r->panel.n_columns * (sizeof(double) + sizeof(size_t));
    return b;
}

/* Compute one row of reduced pixels: means of the good pixels in blocks of the stored pixels x,
 * whose first row is row `row` of the file. */
static void join_row(const struct reduced *s, size_t row, const float *x, double *sums,
                     size_t *counts, float *out)
{
    const size_t n = s->r.panel.n_columns, bin = s->r.bin[0], stored = s->r.stored.n_columns;

    memset(sums, 0, n * sizeof *sums);
    memset(counts, 0, n * sizeof *counts);
    for (size_t j = 0; j < s->r.bin[1]; j++) {
        const size_t up = s->top_down ? s->r.stored.n_rows - 1 - (row + j) : row + j;
        const unsigned char *bad = s->bad ? s->bad + up * stored + s->r.first[0] : NULL;
        const float *from = x + j * stored + s->r.first[0];
        for (size_t c = 0, i = 0; c < n; c++)
            for (size_t k = 0; k < bin; k++, i++)
                if (!bad || !bad[i]) {
                    sums[c] += (double)from[i];
                    counts[c]++;
                }
    }
    for (size_t c = 0; c < n; c++)
        out[c] = counts[c] ? (float)(sums[c] / (double)counts[c]) : 0;
}

/* Number of the stored view that is view k. */
static size_t view_below(const struct fbp_reduction *r, size_t k)
{
    return r->selected ? r->selected[k] : k * r->every;
}

static fbp_status read_reduced(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                               size_t n_rows, bool as_float, void *out)
{
    const struct reduced *s = src->state;
    const size_t size = as_float ? sizeof(float) : fbp_type_size(src->info.type);
    const size_t bin = s->r.bin[1], nc = s->r.panel.n_columns;
    const struct band band = band_of(&s->r);
    fbp_status st = FBP_OK;
    char *to = out, *memory;

    if (!fbp_reduction_joins(&s->r)) {
        for (size_t k = 0; k < n_slices; k++, to += n_rows * nc * size)
            FBP_TRY((as_float ? fbp_source_read(src->below, view_below(&s->r, slice0 + k), 1, row0,
                                                n_rows, FBP_F32, to)
                              : fbp_source_read_as_is(src->below, view_below(&s->r, slice0 + k), 1,
                                                      row0, n_rows, to)));
        return FBP_OK;
    }
    FBP_TRY(fbp_alloc((void **)&memory, band.bytes, "rows to be binned"));
    float *rows = (float *)(void *)memory, *means = out;
    double *sums = (double *)(void *)(memory + band.rows_bytes);
    size_t *counts = (size_t *)(void *)(sums + nc);
    for (size_t k = 0; k < n_slices; k++)
        for (size_t r = 0; r < n_rows; r += band.at_once) {
            const size_t n = n_rows - r < band.at_once ? n_rows - r : band.at_once;
            const size_t first = s->first_row + (row0 + r) * bin;
            FBP_TRY_GOTO(fbp_source_read(src->below, view_below(&s->r, slice0 + k), 1, first,
                                         n * bin, FBP_F32, rows));
            for (size_t i = 0; i < n; i++)
                join_row(s, first + i * bin, rows + i * bin * s->r.stored.n_columns, sums, counts,
                         means + (k * n_rows + r + i) * nc);
        }
fail:
    fbp_free(memory);
    return st;
}

/* Set up a source that reads stored views from `below` and returns reduced views; what: a struct
 * reduced, which is copied. */
static fbp_status set_up_reduced(fbp_source *src, const void *what, fbp_source *below)
{
    const struct fbp_reduction *r = &((const struct reduced *)what)->r;
    struct fbp_array_info *info = &src->info;

    FBP_TRY(fbp_calloc(&src->state, 1, sizeof(struct reduced), "a source"));
    memcpy(src->state, what, sizeof(struct reduced));
    src->close = fbp_source_free_state;
    src->read_block = read_reduced;
    src->info = below->info;
    src->in_order = fbp_source_in_order(below);
    src->unpacks = below->unpacks;
    src->held_bytes = below->held_bytes;
    src->reader_bytes = below->reader_bytes;
    info->n[0] = r->panel.n_columns;
    info->n[1] = r->panel.n_rows;
    info->n[2] = r->n_views;
    if (fbp_reduction_joins(r)) {
        info->type = FBP_F32;
        info->scale = info->offset = 0;
        info->big_endian = false;
        src->unpacks = true;
        src->reader_bytes += band_of(r).bytes;
    }
    FBP_TRY(fbp_source_wrap_set_up(src, below));
    /* only the rows and views in use are read */
    src->stored_type = below->below             ? below->stored_type
                       : below->info.scale != 0 ? FBP_F32
                                                : below->info.type;
    src->stored_bytes = (uint64_t)info->n[2] * r->stored.n_columns * r->panel.n_rows * r->bin[1] *
                        fbp_type_size(below->below ? below->stored_type : below->info.type);
    return FBP_OK;
}

fbp_status fbp_source_reduce(fbp_source **out, fbp_source *below, const struct fbp_reduction *r,
                             bool top_down, const unsigned char *bad, bool owned)
{
    const size_t rest = r->stored.n_rows - r->bin[1] * r->panel.n_rows;
    const struct reduced reduced = {.r = *r,
                                    .top_down = top_down,
                                    .first_row = top_down ? rest - r->first[1] : r->first[1],
                                    .bad = bad};

    *out = NULL;
    if (fbp_source_grows(below))
        return FBP_UNSUPPORTED(
            "%s: --follow uses all views in the order of their arrival; omit --every, "
            "--bin, --views and --skip",
            below->path);
    return fbp_source_wrap(out, set_up_reduced, &reduced, below, owned);
}

/* Index, in the stored image, of pixel k of the block of pixel (row, column) of the reduced one. */
static size_t place(const struct fbp_reduction *r, size_t row, size_t column, size_t k)
{
    return (r->first[1] + row * r->bin[1] + k / r->bin[0]) * r->stored.n_columns + r->first[0] +
           column * r->bin[0] + k % r->bin[0];
}

/* An image can be reduced in place: each mean is written over a pixel that is no longer needed. */
void fbp_reduce_image(const struct fbp_reduction *r, const unsigned char *bad, double *image)
{
    for (size_t row = 0, to = 0; row < r->panel.n_rows; row++)
        for (size_t c = 0; c < r->panel.n_columns; c++, to++) {
            double sum = 0, n = 0;
            for (size_t k = 0; k < r->bin[0] * r->bin[1]; k++)
                if (!bad || !bad[place(r, row, c, k)]) {
                    sum += image[place(r, row, c, k)];
                    n++;
                }
            image[to] = n > 0 ? sum / n : 0;
        }
}

void fbp_reduce_mask(const struct fbp_reduction *r, unsigned char *bad)
{
    for (size_t row = 0, to = 0; row < r->panel.n_rows; row++)
        for (size_t c = 0; c < r->panel.n_columns; c++, to++) {
            bool good = false;
            for (size_t k = 0; k < r->bin[0] * r->bin[1]; k++)
                good |= !bad[place(r, row, c, k)];
            bad[to] = !good;
        }
}
