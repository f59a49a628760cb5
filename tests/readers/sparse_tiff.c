/* sparse_tiff FILE: a TIFF volume beyond 4 GiB with the header that fbp writes, 1024 x 1024 x 1100
 * floats of 0 of which the disk holds nothing, and one of 1.5 at (9, 7, 1099). */
#include "array/file/format.h"
#include "array/format/tiff.h"
#include "array/sink.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static fbp_status put_header(int fd, const char *path, const struct fbp_layout *l,
                             const struct fbp_array_info *info)
{
    struct fbp_write_buffer p;
    fbp_status st = fbp_write_buffer_open(&p, fd, path, 0);

    if (st == FBP_OK)
        st = fbp_layout_put(l, info, &p);
    if (st == FBP_OK)
        st = fbp_write_buffer_flush(&p);
    fbp_write_buffer_close(&p);
    return st;
}

static int put(int fd, const char *path, const struct fbp_layout *l,
               const struct fbp_array_info *info)
{
    const uint64_t row = info->n[0] * 4, page = row * info->n[1], at = l->header_bytes;
    const off_t last = (off_t)(at + (info->n[2] - 1) * page + 7 * row + 9 * 4);
    const float value = 1.5f;

    return put_header(fd, path, l, info) != FBP_OK ||
           ftruncate(fd, (off_t)(at + info->n[2] * page)) != 0 ||
           pwrite(fd, &value, sizeof value, last) != sizeof value;
}

int main(int argc, char **argv)
{
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {1024, 1024, 1100},
                                        .type = FBP_F32,
                                        .unit = "1/mm",
                                        .row_order = FBP_ROWS_BOTTOM_UP,
                                        .spacing_mm = {0.1, 0.3, 0.25},
                                        .origin_mm = {-51, 20, 10}};
    struct fbp_layout layout = {0};
    const int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666) : -1;

    if (fd < 0 || fbp_tiff_layout(argv[1], &info, 0, &layout) != FBP_OK)
        return 1;
    const int failed = put(fd, argv[1], &layout, &info);
    fbp_layout_clear(&layout);
    if (close(fd) == 0 && !failed)
        return 0;
    fprintf(stderr, "sparse_tiff: %s: %s\n", argv[1], fbp_message());
    return 1;
}
