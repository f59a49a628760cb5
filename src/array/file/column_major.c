#include "array/file/column_major.h"

#include "array/file/bytes.h"

#include "base/base.h"

#include <string.h>

enum { BLOCK_BYTES = 4 << 20 };

/* Elements of `size` bytes, `from` apart, to `to` apart. */
static void gather(const char *in, char *out, size_t size, size_t n_slices, size_t slice_bytes)
{
    for (size_t k = 0; k < n_slices; k++)
        memcpy(out + k * slice_bytes, in + k * size, size);
}

fbp_status fbp_column_major_write(int fd, const char *path, const void *data, size_t size,
                                  const size_t n[3])
{
    const size_t slice = n[0] * n[1] * size;
    const size_t at_once = slice < BLOCK_BYTES ? BLOCK_BYTES / slice : 1;
    fbp_status st = FBP_OK;
    char *block = NULL;

    FBP_TRY(fbp_alloc((void **)&block, (at_once < n[2] ? at_once : n[2]) * slice, "an array"));
    for (size_t k = 0; k < n[2] && st == FBP_OK; k += at_once) {
        const size_t m = n[2] - k < at_once ? n[2] - k : at_once;
        for (size_t r = 0; r < n[1]; r++)
            for (size_t c = 0; c < n[0]; c++)
                gather((const char *)data + (k + n[2] * (r + n[1] * c)) * size,
                       block + (r * n[0] + c) * size, size, m, slice);
        st = fbp_write_at(fd, path, (uint64_t)k * slice, block, m * slice);
    }
    fbp_free(block);
    return st;
}
