/* Maximum intensity projections of a volume for pictures, computed by OpenGL: gl_mip, the struct
 * fbp_projector (picture/draw.h) of the backend, with an OpenGL context and a thread that only it
 * uses. Slices are layers of a texture that contains the bits of the float values; projections are
 * unsigned integers that have the same order as the floats.
 * Used by: entry.c. */
#include "backend/gl/gl.h"

#include <epoxy/gl.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 26, MOST_SAMPLES = 1 << 26, GROUP_X = 16, GROUP_Y = 4 };
enum axis { ALONG_X, ALONG_Y, ALONG_Z };

struct device {
    const struct fbp_turn *turn;
    const struct gl_renderer *renderer;
    int index;
    size_t at_once, done; /* slices of the texture and per call; slices projected so far */
    struct gl_queue *queue;
    /* In the queue: */
    struct gl_egl egl;
    struct gl_programs programs;
    GLuint texture;
    /* places: the tables x_i, y_i, x_j, y_j of `turn`; lines: projections of the slices of one call
     * along x or y; top: projection of all slices so far along z */
    struct gl_buffer places, lines, top;
};

/* Parameters of the program mip.glsl: its block `Mip`, member by member (std140). */
struct parameters {
    uint32_t columns, rows, row0, skip;
    uint32_t axis, depth, whole, more;
    int32_t n[2], turned[2];
};

static fbp_status begin(void *device)
{
    struct device *dev = device;
    const size_t *turned = dev->turn->turned;
    const size_t longest = turned[0] > turned[1] ? turned[0] : turned[1];

    FBP_TRY(gl_egl_open(&dev->egl, dev->index, NULL));
    FBP_TRY(gl_programs_open(&dev->programs, dev->renderer->alignment, dev->renderer->block_bytes));
    FBP_TRY(gl_programs_need(&dev->programs, GL_P_MIP, 0));

    glGenTextures(1, &dev->texture);
    glBindTexture(GL_TEXTURE_2D_ARRAY, dev->texture);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_R32UI, (GLsizei)dev->turn->n[0],
                   (GLsizei)dev->turn->n[1], (GLsizei)dev->at_once);
    glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glBindTexture(GL_TEXTURE_2D_ARRAY, 0);
    FBP_TRY(gl_check("a texture of slices"));

    dev->places.bytes = fbp_turn_entries(dev->turn) * sizeof(int32_t);
    dev->lines.bytes = dev->at_once * longest * sizeof(uint32_t);
    dev->top.bytes = turned[0] * turned[1] * sizeof(uint32_t);
    FBP_TRY(gl_buffer_make(&dev->places, false, "positions of voxels"));
    FBP_TRY(gl_buffer_make(&dev->lines, false, "projections"));
    FBP_TRY(gl_buffer_make(&dev->top, false, "projections"));
    glBindBuffer(GL_COPY_WRITE_BUFFER, dev->places.name);
    glBufferSubData(GL_COPY_WRITE_BUFFER, 0, (GLsizeiptr)dev->places.bytes, dev->turn->x_i);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    return gl_check("positions of voxels");
}

static void end(void *device)
{
    struct device *dev = device;

    if (!dev->egl.context)
        return;
    glDeleteTextures(1, &dev->texture);
    gl_buffer_drop(&dev->places);
    gl_buffer_drop(&dev->lines);
    gl_buffer_drop(&dev->top);
    gl_programs_close(&dev->programs);
    gl_egl_close(&dev->egl);
}

static void close_device(void **device)
{
    struct device *dev = *device;

    if (!dev)
        return;
    gl_queue_close(&dev->queue);
    free(dev);
    *device = NULL;
}

static fbp_status open_device(void **out, int index, const struct fbp_turn *turn, size_t n_slices,
                              size_t *at_once)
{
    static const struct gl_queue_life life = {.begin = begin, .end = end};
    const struct gl_renderer *r = gl_renderer_at(index);
    const uint64_t room = r->block_bytes < BLOCK_BYTES ? r->block_bytes : BLOCK_BYTES;
    const size_t *n = turn->n, most = n_slices < (size_t)r->layers ? n_slices : (size_t)r->layers;
    struct device *dev = calloc(1, sizeof *dev);

    *out = NULL;
    if (!dev)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes; close other programs",
                              sizeof *dev);
    if (n[0] > (size_t)r->texture_size || n[1] > (size_t)r->texture_size) {
        free(dev);
        return gpu_host->fail(FBP_ERR_UNSUPPORTED,
                              "gl: slices of %zu x %zu voxels exceed the greatest texture of this "
                              "renderer, %d per side; use --device cpu",
                              n[0], n[1], r->texture_size);
    }
    dev->turn = turn;
    dev->index = index;
    dev->renderer = r;
    /* Set the number of slices per call: at most 64 MiB, at most the size of a storage block and
     * the layers of a texture, but at least one slice. */
    dev->at_once = room / (n[0] * n[1] * sizeof(float));
    dev->at_once = dev->at_once > most ? most : dev->at_once > 0 ? dev->at_once : 1;
    *at_once = dev->at_once;
    *out = dev;
    const fbp_status st = gl_queue_open(&dev->queue, &life, dev);
    if (st != FBP_OK)
        close_device(out);
    return st;
}

/* Project n_slices slices along an axis into `to`; more: keep greater values that `to` contains
 * already. The rows of results are divided into launches, each of which writes at most one storage
 * block and, unless a single row needs more, reads at most MOST_SAMPLES samples. */
static fbp_status project_along(struct device *dev, enum axis axis, size_t n_slices, bool more,
                                const struct gl_buffer *to)
{
    const struct fbp_turn *t = dev->turn;
    const size_t columns = t->turned[axis == ALONG_X];
    const size_t rows = axis == ALONG_Z ? t->turned[1] : n_slices;
    const size_t depth = axis == ALONG_Z ? n_slices : t->turned[axis];
    const size_t line = columns * sizeof(uint32_t), room = dev->renderer->block_bytes;
    const size_t spare = 2 * dev->renderer->alignment; /* room for alignment */
    const size_t fit = room > spare ? (room - spare) / line : 0;
    const size_t soon = MOST_SAMPLES / columns / depth;
    const size_t each = fit == 0 || soon == 0 ? 1 : fit < soon ? fit : soon;
    struct parameters p = {.columns = (uint32_t)columns,
                           .axis = axis,
                           .depth = (uint32_t)depth,
                           .whole = t->whole,
                           .more = more,
                           .n = {(int32_t)t->n[0], (int32_t)t->n[1]},
                           .turned = {(int32_t)t->turned[0], (int32_t)t->turned[1]}};

    for (size_t row = 0; row < rows; row += each) {
        const size_t n = rows - row < each ? rows - row : each;
        struct gl_call call = {.program = GL_P_MIP,
                               .parameters = &p,
                               .parameter_bytes = sizeof p,
                               .texture = dev->texture,
                               .groups = {(unsigned)((columns + GROUP_X - 1) / GROUP_X),
                                          (unsigned)((n + GROUP_Y - 1) / GROUP_Y), 1}};
        size_t skip;
        p.row0 = (uint32_t)row;
        p.rows = (uint32_t)n;
        FBP_TRY(gl_bind(&dev->programs, &call, 0, &dev->places, 0, dev->places.bytes, &skip));
        FBP_TRY(gl_bind(&dev->programs, &call, 1, to, row * line, n * line, &skip));
        p.skip = (uint32_t)(skip / sizeof(uint32_t));
        FBP_TRY(gl_run(&dev->programs, &call));
    }
    return FBP_OK;
}

/* Read n projected values from index `at` of the buffer on, which are stored as unsigned integers,
 * and convert them to floats; NaN, which means no voxel, becomes -INFINITY. */
static fbp_status read_results(const struct gl_buffer *from, size_t at, size_t n, float *out)
{
    glBindBuffer(GL_COPY_READ_BUFFER, from->name);
    glGetBufferSubData(GL_COPY_READ_BUFFER, (GLintptr)(at * sizeof(uint32_t)),
                       (GLsizeiptr)(n * sizeof(uint32_t)), out);
    glBindBuffer(GL_COPY_READ_BUFFER, 0);
    for (size_t i = 0; i < n; i++) {
        uint32_t key;
        memcpy(&key, &out[i], sizeof key);
        key = key & 0x80000000U ? key & 0x7fffffffU : ~key;
        memcpy(&out[i], &key, sizeof key);
        out[i] = isnan(out[i]) ? -INFINITY : out[i];
    }
    return gl_check("projections");
}

struct command {
    const float *slices;
    size_t n;
    float *front, *side;
};

static fbp_status run_project(void *device, void *command)
{
    struct device *dev = device;
    const struct command *c = command;
    const struct fbp_turn *t = dev->turn;

    glBindTexture(GL_TEXTURE_2D_ARRAY, dev->texture);
    glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, (GLsizei)t->n[0], (GLsizei)t->n[1],
                    (GLsizei)c->n, GL_RED_INTEGER, GL_UNSIGNED_INT, c->slices);
    FBP_TRY(gl_check("slices"));
    FBP_TRY(project_along(dev, ALONG_Z, c->n, dev->done > 0, &dev->top));
    dev->done += c->n;
    FBP_TRY(project_along(dev, ALONG_Y, c->n, false, &dev->lines));
    FBP_TRY(read_results(&dev->lines, 0, c->n * t->turned[0], c->front));
    FBP_TRY(project_along(dev, ALONG_X, c->n, false, &dev->lines));
    return read_results(&dev->lines, 0, c->n * t->turned[1], c->side);
}

static fbp_status project(void *device, const float *slices, size_t n, float *front, float *side)
{
    struct device *dev = device;
    const struct command c = {slices, n, front, side};

    return gl_queue_call(dev->queue, run_project, &c, sizeof c);
}

struct fetch {
    size_t row0, n;
    float *top;
};

static fbp_status run_top(void *device, void *command)
{
    const struct device *dev = device;
    const struct fetch *c = command;
    const size_t columns = dev->turn->turned[0];

    return read_results(&dev->top, c->row0 * columns, c->n * columns, c->top);
}

static fbp_status top(void *device, size_t row0, size_t n, float *out)
{
    struct device *dev = device;
    const struct fetch c = {row0, n, out};

    return gl_queue_call(dev->queue, run_top, &c, sizeof c);
}

const struct fbp_projector gl_mip = {
    .open = open_device,
    .close = close_device,
    .project = project,
    .top = top,
};
