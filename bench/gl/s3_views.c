/* Views of the job of Ino et al. (2009): packed into texels, sent, and filtered in the fragment
 * stage. Called by s3.c.
 * Used by: s3.c. */
#include "bench/gl/s3_draw.h"

#include "backend/module.h"

#include <stdlib.h>

fbp_status gl_s3_pack_program(struct gl_s3_run *r)
{
    static const char text[] =
        "#version 330 core\n"
        "uniform sampler2DArray views;\n"
        "uniform int n;\n"
        "layout(location = 0) out vec4 texel;\n"
        "float at(int k)\n{\n"
        "    return k < n ? texelFetch(views, ivec3(gl_FragCoord.xy, k), 0).x : 0.0;\n"
        "}\n"
        "void main()\n{\n"
        "    texel = vec4(at(0), at(1), at(2), at(3));\n"
        "}\n";

    return gl_s3_program(&r->pack, gl_s3_cover_text(), text, "packing");
}

fbp_status gl_s3_filter_programs(struct gl_s3_run *r)
{
    const char *cover = gl_s3_cover_text();
    const unsigned texel = gl_s3_texel(r->variant);
    char *text = malloc(GL_S3_TEXT);
    fbp_status st;

    if (!text)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "ino2009: out of memory for a shader: close other programs");
    gl_s3_weigh_text(texel, text);
    FBP_TRY_GOTO(gl_s3_program(&r->weigh, cover, text, "the weights"));
    gl_s3_set(r->weigh, "image", 1);
    gl_s3_set(r->weigh, "lines", 2);
    gl_s3_convolve_text(texel, r->way->half, text);
    FBP_TRY_GOTO(gl_s3_program(&r->convolve, cover, text, "the filter"));
    gl_s3_set(r->convolve, "taps", 3);
    gl_s3_set(r->convolve, "reach", (int)r->job->filtering.design->half_width);
    glUniform1f(glGetUniformLocation(r->convolve, "scale"), r->stretch * r->stretch);
fail:
    free(text);
    return st;
}

/* Interleave four views as texels; missing views are zeros. */
static void interleave(const struct gl_s3_run *r, size_t layer, float *out)
{
    const size_t n = r->panel[0] * r->panel[1];

    for (size_t k = 0; k < GL_S3_FOUR; k++) {
        const size_t view = layer * GL_S3_FOUR + k;
        const float *in = r->views + view * n;
        for (size_t i = 0; i < n; i++)
            out[GL_S3_FOUR * i + k] = view < r->n_views ? in[i] : 0;
    }
}

static fbp_status pack_on_host(struct gl_s3_run *r)
{
    const size_t floats = r->panel[0] * r->panel[1] * GL_S3_FOUR;
    float *texels = malloc(floats * r->n_layers * sizeof *texels);

    if (!texels)
        return gpu_host->fail(
            FBP_ERR_NOMEM,
            "ino2009: out of memory for %zu bytes of packed views: close other programs",
            floats * r->n_layers * sizeof *texels);
    for (size_t layer = 0; layer < r->n_layers; layer++)
        interleave(r, layer, texels + layer * floats);
    r->time->packing += gl_s3_lap(r);
    gl_s3_stack_fill(&r->stack, 0, r->n_layers, texels);
    r->time->upload += gl_s3_lap(r);
    free(texels);
    return gl_check("views");
}

/* Four views at a time are sent as they are, and drawn into texels. */
static fbp_status pack_on_device(struct gl_s3_run *r)
{
    const size_t n = r->panel[0] * r->panel[1];
    struct gl_s3_stack four = {0};
    fbp_status st = gl_s3_stack_make(&four, r->limits, false, 1, r->panel, GL_S3_FOUR, "views");

    for (size_t layer = 0; st == FBP_OK && layer < r->n_layers; layer++) {
        const size_t view = layer * GL_S3_FOUR, left = r->n_views - view;
        const size_t some = left < GL_S3_FOUR ? left : GL_S3_FOUR;
        gl_s3_stack_fill(&four, 0, some, r->views + view * n);
        r->time->upload += gl_s3_lap(r);
        glUseProgram(r->pack);
        gl_s3_set(r->pack, "n", (int)some);
        (void)gl_s3_stack_bind(&four, 0, 0);
        gl_s3_stack_target(&r->stack, layer, 1, r->plain);
        glViewport(0, 0, (GLsizei)r->panel[0], (GLsizei)r->panel[1]);
        gl_s3_draw();
        r->time->packing += gl_s3_lap(r);
    }
    gl_s3_stack_clear(&four);
    return st == FBP_OK ? gl_check("packing") : st;
}

fbp_status gl_s3_views_load(struct gl_s3_run *r)
{
    const unsigned texel = gl_s3_texel(r->variant);

    FBP_TRY(gl_s3_stack_make(&r->stack, r->limits, false, texel, r->panel, r->n_layers, "views"));
    if (texel == GL_S3_FOUR)
        return r->way->pack_on_device ? pack_on_device(r) : pack_on_host(r);
    gl_s3_stack_fill(&r->stack, 0, r->n_layers, r->views);
    r->time->upload += gl_s3_lap(r);
    return gl_check("views");
}

/* Tables and scratch of the filter. */
struct filter {
    bool separable;         /* a weight is the product of one value of `image` and one of `lines` */
    struct gl_s3_stack row; /* weighted views of a layer */
    struct gl_s3_stack image; /* weights of a layer */
    GLuint lines, taps;
    double *line;
    float *values; /* scratch for the values of `image` or `lines` */
};

/* Fill `image` with the weights of the views of a layer; with those of all layers if weights are
 * products. */
static void fill_image(const struct gl_s3_run *r, struct filter *f, size_t layer)
{
    const size_t nc = r->panel[0], each = gl_s3_texel(r->variant);

    for (size_t k = 0; k < each; k++) {
        const size_t view = layer * each + k < r->n_views ? layer * each + k : r->n_views - 1;
        for (size_t row = 0; row < r->panel[1]; row++) {
            if (f->separable)
                gpu_host->weights_image(r->job->filtering.weights, row, f->line);
            else
                gpu_host->weights_row(r->job->filtering.weights, view, row, f->line);
            for (size_t c = 0; c < nc; c++)
                f->values[(row * nc + c) * each + k] = (float)f->line[c];
        }
    }
    gl_s3_stack_fill(&f->image, 0, 1, f->values);
}

/* The other factor: of every view, or 1. */
static void make_lines(const struct gl_s3_run *r, struct filter *f)
{
    const size_t nc = r->panel[0], n = f->separable ? r->n_views : 1;

    for (size_t k = 0; k < n; k++) {
        if (f->separable)
            gpu_host->weights_line(r->job->filtering.weights, k, f->line);
        for (size_t c = 0; c < nc; c++)
            f->values[k * nc + c] = f->separable ? (float)f->line[c] : 1;
    }
    f->lines = gl_s3_table(2, nc, n, f->values);
    glUseProgram(r->weigh);
    gl_s3_set(r->weigh, "last", (int)n - 1);
}

static fbp_status filter_taps(const struct gl_s3_run *r, GLuint *out)
{
    const struct fbp_filter_design *f = r->job->filtering.design;
    const size_t n = f->half_width + 1;
    float *values = malloc(n * sizeof *values);

    if (!values)
        return gpu_host->fail(
            FBP_ERR_NOMEM,
            "ino2009: out of memory for %zu bytes of the filter: close other programs",
            n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = (float)f->kernel[i];
    *out = gl_s3_table(3, n, 1, values);
    free(values);
    return FBP_OK;
}

static fbp_status open_filter(const struct gl_s3_run *r, struct filter *f)
{
    const size_t each = gl_s3_texel(r->variant), nc = r->panel[0];
    const size_t image = r->panel[1] * each, most = image > r->n_views ? image : r->n_views;

    f->separable = gpu_host->weights_separable(r->job->filtering.weights);
    f->line = malloc(nc * sizeof *f->line);
    f->values = malloc(most * nc * sizeof *f->values);
    if (!f->line || !f->values)
        return gpu_host->fail(
            FBP_ERR_NOMEM, "ino2009: out of memory for %zu bytes of weights: close other programs",
            most * nc * sizeof *f->values);
    FBP_TRY(gl_s3_stack_make(&f->row, r->limits, false, each, r->panel, 1, "weighted views"));
    FBP_TRY(gl_s3_stack_make(&f->image, r->limits, false, each, r->panel, 1, "weights"));
    make_lines(r, f);
    if (f->separable)
        fill_image(r, f, 0);
    FBP_TRY(filter_taps(r, &f->taps));
    return gl_check("the filter's tables");
}

static void close_filter(struct filter *f)
{
    gl_s3_stack_clear(&f->row);
    gl_s3_stack_clear(&f->image);
    glDeleteTextures(1, &f->lines);
    glDeleteTextures(1, &f->taps);
    free(f->line);
    free(f->values);
}

/* Filter a layer: weight it into `row`, and convolve from there into its layer of `out`. */
static void filter_layer(const struct gl_s3_run *r, struct filter *f, size_t layer,
                         const struct gl_s3_stack *out)
{
    if (!f->separable)
        fill_image(r, f, layer);
    glUseProgram(r->weigh);
    (void)gl_s3_stack_bind(&f->image, 0, 1);
    gl_s3_set(r->weigh, "layer", gl_s3_stack_bind(&r->stack, layer, 0));
    gl_s3_set(r->weigh, "first", (int)(layer * gl_s3_texel(r->variant)));
    gl_s3_stack_target(&f->row, 0, 1, r->plain);
    gl_s3_draw();
    glUseProgram(r->convolve);
    (void)gl_s3_stack_bind(&f->row, 0, 0);
    gl_s3_stack_target(out, layer, 1, r->plain);
    gl_s3_draw();
}

fbp_status gl_s3_views_filter(struct gl_s3_run *r)
{
    struct filter f = {0};
    struct gl_s3_stack half = {0};
    fbp_status st = open_filter(r, &f);

    if (st == FBP_OK && r->way->half)
        st = gl_s3_stack_make(&half, r->limits, true, gl_s3_texel(r->variant), r->panel,
                              r->n_layers, "filtered views");
    glViewport(0, 0, (GLsizei)r->panel[0], (GLsizei)r->panel[1]);
    for (size_t layer = 0; st == FBP_OK && layer < r->n_layers; layer++) {
        filter_layer(r, &f, layer, r->way->half ? &half : &r->stack);
        st = r->check();
    }
    close_filter(&f);
    if (r->way->half) {
        gl_s3_stack_clear(&r->stack);
        r->stack = half;
    }
    if (st == FBP_OK)
        st = gl_check("the filter");
    r->time->filter += gl_s3_lap(r);
    return st;
}
