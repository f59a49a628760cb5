/* The header of a TIFF as a sink writes it. */
#ifndef FBP_TESTS_TIFF_HEADER_H
#define FBP_TESTS_TIFF_HEADER_H

#include "unit/io_util.h"

#include "array/sink.h"

/* To the start of fd, as many bytes as the layout says; the layout is cleared. */
static inline void put_header(struct fbp_layout *layout, const struct fbp_array_info *info, int fd,
                              const char *path)
{
    struct fbp_write_buffer p;

    assert_null(layout->header); /* never held */
    OK(fbp_write_buffer_open(&p, fd, path, 0));
    OK(fbp_layout_put(layout, info, &p));
    OK(fbp_write_buffer_flush(&p));
    assert_int_equal(p.at, layout->header_bytes);
    fbp_write_buffer_close(&p);
    fbp_layout_clear(layout);
}

#endif /* FBP_TESTS_TIFF_HEADER_H */
