#include "array/format/mat/mat_put.h"

#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/format/mat/mat5.h"
#include "base/base.h"

#include <stdio.h>
#include <string.h>

/* The first bytes of a file, which this program may replace as a whole. */
static const char TITLE[] = "MATLAB 5.0 MAT-file, written by fbp";

enum { HEADER = 128, FIELD = 32 };
static void put(struct fbp_mat_maker *m, const void *data, size_t n)
{
    memcpy(m->bytes + m->n, data, n);
    m->n += n;
}

static void put_tag(struct fbp_mat_maker *m, uint32_t type, uint32_t n)
{
    put(m, &type, sizeof type);
    put(m, &n, sizeof n);
}

/* Every element fills up to a multiple of 8. */
static void put_element(struct fbp_mat_maker *m, uint32_t type, const void *data, size_t n)
{
    put_tag(m, type, (uint32_t)n);
    put(m, data, n);
    m->n = (m->n + 7) / 8 * 8;
}

/* An array up to its values; *start: for end_array(). */
static void begin_array(struct fbp_mat_maker *m, uint32_t class, const char *name,
                        const size_t *sizes, size_t rank, size_t *start)
{
    const uint32_t flags[2] = {class, 0};
    int32_t dims[4] = {0};

    for (size_t i = 0; i < rank; i++)
        dims[i] = (int32_t)sizes[i];
    put_tag(m, FBP_MI_MATRIX, 0);
    *start = m->n;
    put_element(m, FBP_MI_UINT32, flags, sizeof flags);
    put_element(m, FBP_MI_INT32, dims, rank * sizeof *dims);
    put_element(m, FBP_MI_INT8, name, strlen(name));
}

static void end_array(struct fbp_mat_maker *m, size_t start, uint64_t more)
{
    const uint32_t n = (uint32_t)(m->n - start + more);

    memcpy(m->bytes + start - sizeof n, &n, sizeof n);
}

fbp_status fbp_mat_begin(struct fbp_mat_maker *m, size_t doubles)
{
    void *bytes = NULL;

    FBP_TRY(fbp_calloc(&bytes, FBP_MAT_ROOM + doubles * sizeof(double), 1, "a MAT header"));
    *m = (struct fbp_mat_maker){.bytes = bytes, .n = HEADER};
    memset(m->bytes, ' ', 116); /* what else may stand there is 0 */
    memcpy(m->bytes, TITLE, sizeof TITLE - 1);
    memcpy(m->bytes + 124, "\0\1IM", 4);
    return FBP_OK;
}

void fbp_mat_put_doubles(struct fbp_mat_maker *m, const char *name, const double *v, size_t rows,
                         size_t columns)
{
    size_t start;

    begin_array(m, FBP_MX_DOUBLE, name, (size_t[2]){rows, columns}, 2, &start);
    put_element(m, FBP_MI_DOUBLE, v, rows * columns * sizeof *v);
    end_array(m, start, 0);
}

void fbp_mat_put_text(struct fbp_mat_maker *m, const char *name, const char *text)
{
    const size_t n = strlen(text);
    uint16_t letters[sizeof((struct fbp_array_info *)0)->history];
    size_t start;

    for (size_t i = 0; i < n; i++)
        letters[i] = (unsigned char)text[i];
    begin_array(m, FBP_MX_CHAR, name, (size_t[2]){n > 0, n}, 2, &start);
    put_element(m, FBP_MI_UINT16, letters, n * sizeof *letters);
    end_array(m, start, 0);
}

void fbp_mat_begin_struct(struct fbp_mat_maker *m, const char *name, const char *const *fields,
                          size_t n, size_t *start)
{
    const uint32_t small = 4u << 16 | FBP_MI_INT32, length = FIELD;
    char names[2 * FIELD] = "";

    begin_array(m, FBP_MX_STRUCT, name, (size_t[2]){1, 1}, 2, start);
    put(m, &small, sizeof small);
    put(m, &length, sizeof length);
    for (size_t i = 0; i < n; i++)
        snprintf(names + i * FIELD, FIELD, "%s", fields[i]);
    put_element(m, FBP_MI_INT8, names, n * FIELD);
}

void fbp_mat_end_struct(struct fbp_mat_maker *m, size_t start)
{
    end_array(m, start, 0);
}

void fbp_mat_end(struct fbp_mat_maker *m, const char *name, enum fbp_type type, const size_t *sizes,
                 size_t rank, uint64_t bytes, struct fbp_layout *out)
{
    static const struct {
        uint32_t class, type;
    } as[] = {[FBP_U8] = {FBP_MX_UINT8, FBP_MI_UINT8},
              [FBP_U16] = {FBP_MX_UINT16, FBP_MI_UINT16},
              [FBP_F32] = {FBP_MX_SINGLE, FBP_MI_SINGLE},
              [FBP_F64] = {FBP_MX_DOUBLE, FBP_MI_DOUBLE}};
    size_t start;

    begin_array(m, as[type].class, name, sizes, rank, &start);
    put_tag(m, as[type].type, (uint32_t)bytes);
    end_array(m, start, (bytes + 7) / 8 * 8);
    out->header = (char *)m->bytes;
    out->header_bytes = m->n;
    out->tail_bytes = (8 - bytes % 8) % 8;
}

fbp_status fbp_mat_spare_others(const char *path, const char *file)
{
    char head[sizeof TITLE - 1];
    size_t n = 0;

    FBP_TRY(fbp_read_head(file, head, sizeof head, &n));
    if (n < sizeof head || memcmp(head, "MATLAB", 6) != 0 || memcmp(head, TITLE, n) == 0)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: this output would replace the whole file, which another program has "
                    "written: choose another file, or remove that one first",
                    path);
}

fbp_status fbp_mat_check_size(const char *path, const struct fbp_array_info *info,
                              const char *instead, uint64_t *bytes)
{
    FBP_TRY(fbp_array_bytes(path, info, bytes));
    if (*bytes < (uint64_t)1 << 31)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: a MAT file of version 5 holds arrays of less than 2 GiB: write %s", path,
                    instead);
}
