#include "array/file/complex.h"

#include "array/file/values.h"

#include "base/base.h"

#include <stdio.h>
#include <string.h>

static fbp_status read_part(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    const size_t n = src->info.n[0], size = fbp_type_size(src->info.type);
    const size_t first = src->imaginary;
    char *row = NULL, *to = out;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_calloc((void **)&row, 2 * n, size, "a row of complex numbers"));
    for (size_t r = row0; r < row0 + n_rows && st == FBP_OK; r++) {
        const uint64_t at = ((uint64_t)slice * src->info.n[1] + r) * n * 2 * size;
        st = fbp_read_numbers(src->fd, src->path, src->offset + at, &src->info, 2 * n, row);
        for (size_t i = 0; i < n; i++, to += size)
            memcpy(to, row + (2 * i + first) * size, size);
    }
    free(row);
    return st;
}

void fbp_take_part(struct fbp_source *src)
{
    if (!src->imaginary)
        snprintf(src->info.taken, sizeof src->info.taken,
                 "%.240s: the real parts of complex samples are taken", src->path);
    src->complex = true;
    src->read = read_part;
}
