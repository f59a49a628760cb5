/* The variants of Ino et al. (2009), and the numbers that each pass needs of its views; without
 * OpenGL calls. Called by s3.c and s3_sum.c.
 * Used by: s3.c, s3_sum.c, s3_text.c. */
#include "bench/gl/s3_plan.h"

#include <math.h>
#include <string.h>

static const struct fbp_s3_variant variants[] = {
    {.letter = 'A', .text = "no acceleration", .views = 1, .slices = 1, .targets = 1},
    {.letter = 'B', .text = "data reuse", .views = 1, .slices = 4, .targets = 4},
    {.letter = 'C', .text = "RGBA packing", .views = 4, .slices = 1, .targets = 1},
    {.letter = 'D', .text = "B and C together", .views = 4, .slices = 4, .targets = 1},
    {.letter = 'E',
     .text = "D with load balancing",
     .views = 4,
     .slices = 4,
     .targets = 1,
     .balanced = true},
    {.letter = 'b', .text = "B with one target", .views = 1, .slices = 4, .targets = 1},
    {.letter = 'F',
     .text = "E with sixteen slices",
     .views = 4,
     .slices = 16,
     .targets = 4,
     .balanced = true},
    {.letter = 'G', .text = "D with eight views", .views = 8, .slices = 4, .targets = 1},
    {.letter = 'M',
     .text = "any matrices, sixteen slices",
     .views = 4,
     .slices = 16,
     .targets = 4,
     .matrices = true},
};

const struct fbp_s3_variant *gl_s3_variant(size_t index)
{
    return index < sizeof variants / sizeof *variants ? &variants[index] : NULL;
}

/* Numbers of one view; scale and shift convert pixels to the coordinates of the shader. If u and w
 * do not depend on z, their slopes along z are rounding errors, and are omitted. */
static void numbers_of(const struct gpu_view *view, double z, bool matrices, const float scale[2],
                       float shift, float out[GL_S3_ALL_NUMBERS])
{
    static const int from[3] = {0, 1, 3};
    const double zu = matrices ? z : 0;

    for (int i = 0; i < 2; i++) {
        out[GL_S3_U + i] = view->u[from[i]] * scale[0];
        out[GL_S3_V + i] = view->v[from[i]] * scale[1];
        out[GL_S3_W + i] = view->w[from[i]];
    }
    out[GL_S3_U + 2] = (float)((double)view->u[2] * zu + (double)view->u[3]) * scale[0];
    out[GL_S3_V + 2] = (float)((double)view->v[2] * z + (double)view->v[3]) * scale[1];
    out[GL_S3_W + 2] = (float)((double)view->w[2] * zu + (double)view->w[3]);
    out[GL_S3_DU] = view->u[2] * scale[0];
    out[GL_S3_DV] = view->v[2] * scale[1];
    out[GL_S3_DW] = view->w[2];
    out[GL_S3_COLUMN] = ((float)view->column + shift) * scale[0];
    out[GL_S3_ROW] = ((float)view->row + shift) * scale[1];
}

static void stretch_linear(float stretch, float numbers[GL_S3_ALL_NUMBERS])
{
    for (int i = 0; i < GL_S3_ALL_NUMBERS; i++)
        if (i != GL_S3_COLUMN && i != GL_S3_ROW)
            numbers[i] *= stretch;
}

void gl_s3_numbers(const struct fbp_s3_way *way, const struct gpu_view *views, size_t n, double z,
                   const size_t size[2], float stretch, float *out)
{
    const struct fbp_s3_variant *v = gl_s3_variant(way->variant);
    const size_t each = gl_s3_texel(v), numbers = gl_s3_n_numbers(v);
    const float scale[2] = {way->exact ? 1 : 1 / (float)size[0],
                            way->exact ? 1 : 1 / (float)size[1]};

    for (size_t k = 0; k < v->views; k++) {
        /* a missing view gets a position outside the panel, where samples are 0 */
        float of[GL_S3_ALL_NUMBERS] = {[GL_S3_W + 2] = 1, [GL_S3_COLUMN] = -16};
        if (k < n)
            numbers_of(&views[k], z, v->matrices, scale, way->exact ? 0 : 0.5f, of);
        stretch_linear(stretch, of);
        for (size_t i = 0; i < numbers; i++)
            out[(k / each * numbers + i) * each + k % each] = of[i];
    }
}

float gl_s3_stretch(float scale)
{
    int exponent;

    (void)frexpf(scale, &exponent);
    return ldexpf(1, (int)floor((exponent - 1) / 2.0));
}

size_t gl_s3_tile_rows(const struct fbp_s3_variant *v, size_t nx, size_t ny, size_t most)
{
    const size_t row = nx * v->views * v->slices;
    const size_t rows = (most ? most : GL_S3_MOST_UPDATES) / row;

    return rows == 0 ? 1 : rows < ny ? rows : ny;
}

void gl_s3_any(const uint8_t *wanted, size_t n_slices, size_t slice, uint8_t *out)
{
    memset(out, 0, slice);
    for (size_t z = 0; z < n_slices; z++)
        for (size_t i = 0; i < slice; i++)
            if (wanted[z * slice + i])
                out[i] = 255;
}
