/* Backprojection passes of Ino et al. (2009): each adds one, four or eight views to one, four or
 * sixteen slices. Called by s3.c.
 * Used by: s3.c. */
#include "bench/gl/s3_draw.h"

#include "backend/module.h"

#include <math.h>
#include <stdlib.h>

/* Texture units. */
enum { VIEWS = 0, SUMS = 1, WANTED = 4 };

size_t gl_s3_volume_channels(const struct fbp_s3_variant *v)
{
    return gl_s3_packs_slices(v) ? GL_S3_FOUR : 1;
}

size_t gl_s3_volume_layers(const struct fbp_s3_variant *v, size_t n_slices)
{
    return gl_s3_pieces(n_slices, v->slices) * v->targets;
}

fbp_status gl_s3_mask_program(struct gl_s3_run *r)
{
    static const char mask[] = "#version 330 core\n"
                               "uniform sampler2D wanted;\n"
                               "void main()\n{\n"
                               "    if (texelFetch(wanted, ivec2(gl_FragCoord.xy), 0).x == 0.0)\n"
                               "        discard;\n"
                               "}\n";

    FBP_TRY(gl_s3_program(&r->mask, gl_s3_cover_text(), mask, "the region of interest"));
    gl_s3_set(r->mask, "wanted", WANTED);
    glUniform1f(glGetUniformLocation(r->mask, "depth"), 0.5f);
    return FBP_OK;
}

fbp_status gl_s3_sum_program(struct gl_s3_run *r)
{
    const size_t *n = r->job->grid.n;
    char *vertex = malloc(2 * GL_S3_TEXT), *fragment = vertex + GL_S3_TEXT;

    if (!vertex)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "ino2009: out of memory for a shader: close other programs");
    gl_s3_vertex_text(r->way, vertex);
    gl_s3_fragment_text(r->way, fragment);
    const fbp_status st = gl_s3_program(&r->add, vertex, fragment, "the backprojection");
    free(vertex);
    FBP_TRY(st);
    gl_s3_set(r->add, "views", VIEWS);
    gl_s3_set(r->add, "sums", SUMS);
    const size_t middle[2] = {(n[0] - 1) / 2, (n[1] - 1) / 2};
    glUniform2f(glGetUniformLocation(r->add, "place"), (float)middle[0] + 0.5f,
                (float)middle[1] + 0.5f);
    glUniform2f(glGetUniformLocation(r->add, "size"), (float)n[0], (float)n[1]);
    return FBP_OK;
}

/* Make depth and stencil for both framebuffers, and a texture for the region of interest. */
static void open_tests(struct gl_s3_accumulator *a)
{
    const size_t *n = a->volume->size;

    glGenRenderbuffers(1, &a->tests);
    glBindRenderbuffer(GL_RENDERBUFFER, a->tests);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8, (GLsizei)n[0], (GLsizei)n[1]);
    for (int i = 0; i < 2; i++) {
        glBindFramebuffer(GL_FRAMEBUFFER, a->run->frames[i]);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER,
                                  a->tests);
    }
    glActiveTexture(GL_TEXTURE0 + WANTED);
    glGenTextures(1, &a->wanted);
    glBindTexture(GL_TEXTURE_2D, a->wanted);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, (GLsizei)n[0], (GLsizei)n[1], 0, GL_RED, GL_UNSIGNED_BYTE,
                 NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
}

static void close_tests(struct gl_s3_accumulator *a)
{
    for (int i = 0; i < 2; i++) {
        glBindFramebuffer(GL_FRAMEBUFFER, a->run->frames[i]);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, 0);
    }
    glDeleteRenderbuffers(1, &a->tests);
    glDeleteTextures(1, &a->wanted);
}

fbp_status gl_s3_accumulator_open(struct gl_s3_accumulator *a, struct gl_s3_run *r,
                                  const struct gl_s3_stack *volume)
{
    const struct fbp_s3_variant *v = r->variant;
    const size_t *size = volume->size;

    *a = (struct gl_s3_accumulator){.run = r,
                                    .volume = volume,
                                    .targets = v->targets,
                                    .numbers = glGetUniformLocation(r->add, "c"),
                                    .layer = glGetUniformLocation(r->add, "layer"),
                                    .before = glGetUniformLocation(r->add, "before")};
    if (r->way->kill) {
        a->any = malloc(size[0] * size[1]);
        if (!a->any)
            return gpu_host->fail(FBP_ERR_NOMEM,
                                  "ino2009: out of memory for a slice: close other programs");
        open_tests(a);
    }
    if (r->way->sum == FBP_S3_PING_PONG)
        FBP_TRY(gl_s3_stack_make(&a->other, r->limits, false, volume->channels, size, a->targets,
                                 "sums"));
    return gl_check("targets");
}

void gl_s3_accumulator_close(struct gl_s3_accumulator *a)
{
    if (a->any)
        close_tests(a);
    free(a->any);
    gl_s3_stack_clear(&a->other);
}

/* Draw the region of slices [z0, z0 + n) into depth or stencil, so that other fragments are not
 * shaded. */
static void draw_wanted(struct gl_s3_accumulator *a, size_t z0, size_t n)
{
    const size_t *size = a->volume->size;
    const bool stencil = a->run->way->kill == FBP_S3_STENCIL;

    gl_s3_any(a->run->wanted + z0 * size[0] * size[1], n, size[0] * size[1], a->any);
    glActiveTexture(GL_TEXTURE0 + WANTED);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, (GLsizei)size[0], (GLsizei)size[1], GL_RED,
                    GL_UNSIGNED_BYTE, a->any);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
    glDepthMask(GL_TRUE);
    glClearDepth(0);
    glClearStencil(0);
    glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    glEnable(stencil ? GL_STENCIL_TEST : GL_DEPTH_TEST);
    glStencilFunc(GL_ALWAYS, 1, 0xff);
    glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
    glDepthFunc(GL_ALWAYS);
    glUseProgram(a->run->mask);
    gl_s3_draw();
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glStencilFunc(GL_EQUAL, 1, 0xff);
    glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    glDepthMask(GL_FALSE);
    glDepthFunc(GL_LESS); /* the region has depth .75, passes are drawn at .5 */
}

/* Bind the targets of a group, of both framebuffers if there are two, and set them to zero. */
static void begin_group(struct gl_s3_accumulator *a, size_t first)
{
    static const float zero[4] = {0};

    for (int i = a->other.n ? 1 : 0; i >= 0; i--) {
        gl_s3_stack_target(i ? &a->other : a->volume, i ? 0 : first, a->targets, a->run->frames[i]);
        for (size_t t = 0; t < a->targets; t++)
            glClearBufferfv(GL_COLOR, (GLint)t, zero);
    }
}

static void draw_tiles(struct gl_s3_accumulator *a)
{
    const size_t nx = a->volume->size[0], ny = a->volume->size[1];
    const size_t rows = gl_s3_tile_rows(a->run->variant, nx, ny, a->run->way->most_updates);

    glEnable(GL_SCISSOR_TEST); /* the same triangle is drawn for every tile, so that the bits do not
                                  depend on tiles */
    for (size_t y = 0; y < ny; y += rows, a->run->time->draws++) {
        glScissor(0, (GLint)y, (GLsizei)nx, (GLsizei)(ny - y < rows ? ny - y : rows));
        gl_s3_draw();
    }
    glDisable(GL_SCISSOR_TEST);
}

/* Draw one pass: the views of a layer (or of several layers) into the slices from z on. */
static void draw_pass(struct gl_s3_accumulator *a, size_t layer, double z)
{
    const struct gl_s3_run *r = a->run;
    const size_t each = r->variant->views, texel = gl_s3_texel(r->variant);
    const size_t view = layer * texel, left = r->n_views - view;
    const GLsizei n = (GLsizei)(gl_s3_texels(r->variant) * gl_s3_n_numbers(r->variant));
    float numbers[GL_S3_TEXELS * GL_S3_ALL_NUMBERS * GL_S3_FOUR];

    gl_s3_numbers(r->way, r->numbers + view, left < each ? left : each, z, r->panel, r->stretch,
                  numbers);
    if (texel == GL_S3_FOUR)
        glUniform4fv(a->numbers, n, numbers);
    else
        glUniform1fv(a->numbers, n, numbers);
    if (r->stack.textures[layer / r->stack.layers] != a->bound) {
        a->bound = r->stack.textures[layer / r->stack.layers];
        (void)gl_s3_stack_bind(&r->stack, layer, VIEWS);
    }
    glUniform1i(a->layer, (GLint)(layer % r->stack.layers));
    draw_tiles(a);
    r->time->passes++;
}

/* Swap the two textures of ping-pong: the next pass reads the sums that the last pass wrote. */
static void swap(struct gl_s3_accumulator *a, size_t first, bool in_other)
{
    glBindFramebuffer(GL_FRAMEBUFFER, a->run->frames[in_other ? 0 : 1]);
    const int at =
        in_other ? gl_s3_stack_bind(&a->other, 0, SUMS) : gl_s3_stack_bind(a->volume, first, SUMS);
    glUniform1i(a->before, at);
}

/* From the other texture to the volume. */
static void copy_back(const struct gl_s3_accumulator *a, size_t first)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, a->run->frames[1]);
    for (size_t t = 0; t < a->targets; t++) {
        const int layer = gl_s3_stack_bind(a->volume, first + t, SUMS);
        glReadBuffer((GLenum)(GL_COLOR_ATTACHMENT0 + t));
        glCopyTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, layer, 0, 0, (GLsizei)a->volume->size[0],
                            (GLsizei)a->volume->size[1]);
    }
}

static void draw_passes(struct gl_s3_accumulator *a, size_t first, size_t z0)
{
    const struct gl_s3_run *r = a->run;
    const double z = (double)z0 - floor(((double)r->job->grid.n[2] - 1) / 2);
    bool in_other = false;

    a->bound = 0; /* others use that unit in between */
    glUseProgram(r->add);
    for (size_t layer = 0; layer < r->n_layers; layer += gl_s3_texels(r->variant)) {
        if (a->other.n) {
            swap(a, first, in_other);
            in_other = !in_other;
        }
        draw_pass(a, layer, z);
    }
    if (in_other)
        copy_back(a, first);
}

void gl_s3_add(struct gl_s3_accumulator *a, size_t first, size_t z0, size_t n)
{
    glViewport(0, 0, (GLsizei)a->volume->size[0], (GLsizei)a->volume->size[1]);
    begin_group(a, first);
    if (a->any)
        draw_wanted(a, z0, n);
    if (!a->other.n)
        glEnable(GL_BLEND);
    glBlendEquation(GL_FUNC_ADD);
    glBlendFunc(GL_ONE, GL_ONE);
    draw_passes(a, first, z0);
    glDisable(GL_BLEND);
    glDisable(GL_STENCIL_TEST);
    glDisable(GL_DEPTH_TEST);
}
