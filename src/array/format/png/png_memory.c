#include "array/format/png/png_memory.h"

#include "base/base.h"

png_voidp fbp_png_take(png_structp png, png_alloc_size_t n)
{
    bool *missing = png_get_mem_ptr(png);
    void *p = malloc(n);

    if (!p && missing)
        *missing = fbp_fail_nomem(n, "a PNG file") != FBP_OK;
    return p;
}

void fbp_png_give_back(png_structp png, png_voidp p)
{
    (void)png;
    free(p);
}
