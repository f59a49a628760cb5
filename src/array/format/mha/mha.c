/* MetaImage, .mha (header and samples) and .mhd (header beside a file of samples): lines
 * "Key = value", the last of them ElementDataFile.  https://itk.org/Wiki/ITK/MetaIO/Documentation
 */
#include "array/format/mha/mha.h"

#include "array/file/axes.h"
#include "array/file/bytes.h"
#include "array/file/frames.h"
#include "array/file/inflate.h"
#include "array/format/mha/mha_header.h"

#include "base/base.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_HEADER = 1 << 16 };

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    static const char *const keys[] = {"ObjectType", "NDims"};
    char text[4097];

    (void)path;
    memcpy(text, head, n);
    text[n] = '\0';
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *p = strstr(text, keys[i]);
        if (!p || (p > text && p[-1] != '\n'))
            continue;
        p += strlen(keys[i]);
        if (p[strspn(p, " \t")] == '=')
            return true;
    }
    return false;
}

/* A grid that is turned: its origin is told along its own axes, as that of other formats is. */
static fbp_status take_turn(struct fbp_source *src, const struct fbp_mha_header *h)
{
    const size_t nd = h->n_dims, n = nd < 3 ? nd : 3;
    double step[3][3] = {{0}}, origin[3];
    bool turned = false;

    if (h->n_matrix && h->n_matrix != nd * nd)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: MetaImage header: a TransformMatrix of %zu numbers does not fit %zu "
                        "dimensions: correct the header",
                        src->path, h->n_matrix, nd);
    memcpy(origin, src->info.origin_mm, sizeof origin);
    for (size_t i = 0; i < n && h->n_matrix; i++)
        for (size_t c = 0; c < n; c++) {
            step[i][c] = src->info.spacing_mm[i] * h->matrix[i * nd + c];
            turned |= h->matrix[i * nd + c] != (i == c);
        }
    return turned && src->info.has_spacing ? fbp_axes_take(src, n, (const double(*)[3])step, origin)
                                           : FBP_OK;
}

static fbp_status take_spacing(struct fbp_source *src, const struct fbp_mha_header *h)
{
    const double *from = h->n_spacing ? h->spacing : h->size;
    const size_t n = h->n_spacing ? h->n_spacing : h->n_size;

    if ((n && n != h->n_dims) || (h->n_origin && h->n_origin != h->n_dims))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: MetaImage header: %zu spacings and %zu offsets do not fit %zu "
                        "dimensions: correct the header",
                        src->path, n, h->n_origin, h->n_dims);
    src->info.has_spacing = n > 0;
    for (size_t i = 0; i < 3; i++) {
        src->info.spacing_mm[i] = i < n ? from[i] : 1;
        src->info.origin_mm[i] = i < h->n_origin ? h->origin[i] : 0;
        if (!(src->info.spacing_mm[i] > 0))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: MetaImage header: the element spacing %g is not positive",
                            src->path, src->info.spacing_mm[i]);
    }
    return take_turn(src, h);
}

static bool is_same_file(int a, int b)
{
    struct stat s, t;

    return fstat(a, &s) == 0 && fstat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

/* Go over to the file of samples, where that is another one. */
static fbp_status open_data(struct fbp_source *src, const struct fbp_mha_header *h, uint64_t *size)
{
    const off_t end = lseek(src->fd, 0, SEEK_END);
    fbp_status st;
    char *path;
    int fd = -1;

    *size = end < 0 ? 0 : (uint64_t)end;
    src->offset = h->end;
    if (strcasecmp(h->data_file, "LOCAL") == 0)
        return FBP_OK;
    path = fbp_path_join(src->path, h->data_file);
    if (!path)
        return fbp_fail_nomem(strlen(h->data_file), "a path");
    st = fbp_inputs_add(&src->inputs, path);
    if (st == FBP_OK)
        st = fbp_open_file(path, &fd, size);
    free(path);
    if (st != FBP_OK) {
        char why[512];
        snprintf(why, sizeof why, "%s", fbp_message());
        fbp_message_clear();
        return fbp_fail(st, "%s: its samples: %s", src->path, why);
    }
    const bool same = is_same_file(src->fd, fd);
    close(src->fd);
    src->fd = fd;
    src->offset = 0;
    if (same && h->header_size == 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: names itself as the file of its samples: name the other file, or "
                        "LOCAL if they follow the header",
                        src->path);
    return FBP_OK;
}

/* Of a file that is still being written, it must be known where a view lies. */
static fbp_status check_growing(const struct fbp_source *src, const struct fbp_mha_header *h)
{
    if (src->growing && h->compressed)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: its samples are compressed: a compressed file cannot be followed "
                        "while it grows: write it without compression",
                        src->path);
    if (src->growing && h->header_size == -1)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: MetaImage header: HeaderSize = -1 counts from the end: such a file "
                        "cannot be followed while it grows: give the size of its header",
                        src->path);
    return FBP_OK;
}

static fbp_status take(struct fbp_source *src, const struct fbp_mha_header *h)
{
    uint64_t bytes = 0, size = 0;

    FBP_TRY(take_spacing(src, h));
    for (size_t i = 0; i < 3; i++)
        src->info.n[i] = i < h->n_sizes ? h->sizes[i] : 1;
    if (h->n_sizes > 3)
        FBP_TRY(fbp_frames_take(src->path, &src->info, h->sizes[3]));
    src->info.type = h->type;
    src->info.big_endian = h->msb;
    memcpy(src->info.unit, h->unit, sizeof h->unit);
    memcpy(src->info.history, h->history, sizeof h->history);
    if (h->slope != 0 && (h->slope < 1 || h->slope > 1 || h->intercept != 0)) {
        src->info.scale = h->slope;
        src->info.offset = h->intercept;
    }
    FBP_TRY(fbp_array_bytes(src->path, &src->info, &bytes));
    FBP_TRY(check_growing(src, h));
    FBP_TRY(open_data(src, h, &size));
    if (h->header_size > 0)
        src->offset = (uint64_t)h->header_size;
    else if (h->header_size == -1)
        src->offset = size > bytes ? size - bytes : 0;
    if (!h->compressed)
        return FBP_OK;
    FBP_TRY(fbp_inflate_check(src, (uint64_t)h->compressed_size, size, 0, bytes));
    return fbp_inflate_open(src, 0, bytes);
}

static fbp_status open_mha(struct fbp_source *src)
{
    const off_t end = lseek(src->fd, 0, SEEK_END);
    const size_t n = end < 0 ? 0 : end < MAX_HEADER ? (size_t)end : MAX_HEADER;
    struct fbp_mha_header *h = NULL;
    char *head = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&h, 1, sizeof *h, "a MetaImage header"));
    FBP_TRY_GOTO(fbp_calloc((void **)&head, n + 1, 1, "a MetaImage header"));
    FBP_TRY_GOTO(fbp_read_at(src->fd, src->path, 0, head, n));
    FBP_TRY_GOTO(fbp_mha_parse(src->path, head, n, h));
    st = take(src, h);
    snprintf(src->info.format, sizeof src->info.format, "%s",
             h->data_file[0] && strcasecmp(h->data_file, "LOCAL") != 0 ? "mhd" : "mha");
fail:
    free(head);
    free(h);
    return st;
}

const struct fbp_format fbp_format_mha = {
    .name = "mha",
    .title = "MHA",
    .extensions = ".mha .mhd",
    .detect = detect,
    .open = open_mha,
    .files = fbp_mha_files,
};
