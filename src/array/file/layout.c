/* The parts of an output file around its samples (struct fbp_layout, fbp_layout_one(): header,
 * names, text file beside it), and a buffer that converts, hashes and writes values (struct
 * fbp_write_buffer, fbp_write_buffer_put_values()). Writers of formats fill in the layout; sinks
 * with files write it.
 * Used by: array/, array/format/, scan/format/. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/cache.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

fbp_status fbp_layout_one(struct fbp_layout *out, const char *path)
{
    return fbp_print_path(&out->data_path, "%s", path);
}

fbp_status fbp_layout_pair(struct fbp_layout *out, const char *path, const char *own,
                           const char *samples, const char **name)
{
    const int stem = (int)(strlen(path) - strlen(own));

    FBP_TRY(fbp_print_path(&out->data_path, "%.*s%s", stem, path, samples));
    *name = fbp_base_name(out->data_path);
    return fbp_print_path(&out->side_path, "%s", path);
}

fbp_status fbp_layout_put(const struct fbp_layout *layout, const struct fbp_array_info *info,
                          struct fbp_write_buffer *to)
{
    return layout->put_header ? layout->put_header(info, to)
                              : fbp_write_buffer_put(to, layout->header, layout->header_bytes);
}

void fbp_layout_clear(struct fbp_layout *layout)
{
    free(layout->header);
    free(layout->side_path);
    free(layout->side_text);
    free(layout->data_path);
    memset(layout, 0, sizeof *layout);
}

fbp_status fbp_sink_spacing(const char *path, const struct fbp_array_info *info, bool *given)
{
    *given = false;
    for (int i = 0; i < 3; i++)
        *given |= info->spacing_mm[i] != 0;
    for (int i = 0; i < 3 && *given; i++)
        if (!(info->spacing_mm[i] > 0) || !isfinite(info->spacing_mm[i]) ||
            !isfinite(info->origin_mm[i]))
            return FBP_INVALID("%s: the format cannot store the spacing %g mm or the origin %g mm "
                               "along axis %d; correct them",
                               path, info->spacing_mm[i], info->origin_mm[i], i);
    return FBP_OK;
}

uint64_t fbp_write_buffer_hash(uint64_t h, const void *data, size_t n)
{
    for (size_t at = 0; at < n; at += FBP_WRITE_BUFFER_BYTES)
        h = fbp_hash(h, (const char *)data + at,
                     n - at < FBP_WRITE_BUFFER_BYTES ? n - at : FBP_WRITE_BUFFER_BYTES);
    return h;
}

fbp_status fbp_write_buffer_open(struct fbp_write_buffer *p, int fd, const char *path, uint64_t at)
{
    *p = (struct fbp_write_buffer){.fd = fd, .path = path, .at = at};
    return fbp_alloc((void **)&p->buf, FBP_WRITE_BUFFER_BYTES, "a piece of the output");
}

void fbp_write_buffer_close(struct fbp_write_buffer *p)
{
    fbp_free(p->buf);
    p->buf = NULL;
}

fbp_status fbp_write_buffer_flush(struct fbp_write_buffer *p)
{
    if (p->n == 0)
        return FBP_OK;
    FBP_TRY(p->to ? p->to(p->user, p->at, p->buf, p->n)
                  : fbp_write_at(p->fd, p->path, p->at, p->buf, p->n));
    p->hash = fbp_hash(p->hash, p->buf, p->n);
    p->at += p->n;
    p->n = 0;
    return FBP_OK;
}

fbp_status fbp_write_buffer_put(struct fbp_write_buffer *p, const void *data, size_t n)
{
    for (const char *from = data; n > 0;) {
        const size_t room = FBP_WRITE_BUFFER_BYTES - p->n, some = n < room ? n : room;
        memcpy(p->buf + p->n, from, some);
        p->n += some;
        from += some;
        n -= some;
        if (p->n == FBP_WRITE_BUFFER_BYTES)
            FBP_TRY(fbp_write_buffer_flush(p));
    }
    return FBP_OK;
}

/* Stores values as integers of type T, rounded and clamped to low … top. Halves are rounded to
 * even, as by rint(), but four times as fast, because adding 1.5 * 2^52 needs no function call.
 * Values up to half a step outside the range do not count as clipped. */
#define FBP_NUMBERS(T, low)                                            \
    for (size_t i = 0; i < n; i++) {                                   \
        const double x = ((double)in[i] - offset) * k;                 \
        const double inside = x > (low) ? (x < top ? x : top) : (low); \
        ((T *)out)[i] = (T)(int)(inside + 0x1.8p52 - 0x1.8p52);        \
        fits += x >= (low)-0.5 && x <= top + 0.5;                      \
    }

uint64_t fbp_from_float(const struct fbp_array_info *info, const float *in, size_t n, void *out)
{
    const double top = info->type == FBP_U16   ? UINT16_MAX
                       : info->type == FBP_I16 ? INT16_MAX
                                               : UINT8_MAX;
    const double k = 1 / info->scale, offset = info->offset;
    size_t fits = 0;

    if (info->type == FBP_U16)
        FBP_NUMBERS(uint16_t, 0)
    else if (info->type == FBP_I16)
        FBP_NUMBERS(int16_t, INT16_MIN)
    else
        FBP_NUMBERS(uint8_t, 0)
    return n - fits;
}

fbp_status fbp_write_buffer_put_values(struct fbp_write_buffer *p,
                                       const struct fbp_array_info *info, const void *values,
                                       size_t n, uint64_t *clipped)
{
    enum { AT_ONCE = 2048 };
    const float *floats = values;
    uint16_t some[AT_ONCE];

    if (info->type == FBP_F32 || info->type == FBP_F64)
        return fbp_write_buffer_put(p, values, n * fbp_type_size(info->type));
    for (size_t i = 0; i < n; i += AT_ONCE) {
        const size_t count = n - i < AT_ONCE ? n - i : AT_ONCE;
        *clipped += fbp_from_float(info, floats + i, count, some);
        FBP_TRY(fbp_write_buffer_put(p, some, count * fbp_type_size(info->type)));
    }
    return FBP_OK;
}
