/* Checks rotated volumes (fbp_turn): slices against a loop in double, and projections of quarter
 * turns against those of the volume, also on a simulated device. */
#include "array/array.h"
#include "base/base.h"
#include "picture/draw.h"

#include "unit/one_array.h"
#include "unit/png_image.h"

#define VOLUME FBP_TEST_DIR "/turned.mha"
#define PNG    FBP_TEST_DIR "/turned.png"
#define OTHER  FBP_TEST_DIR "/turned-other.png"

static const double RAD = 3.14159265358979323846 / 180;

static float *some_voxels(size_t n)
{
    unsigned seed = 7;
    float *v = not_null(malloc(n * sizeof *v));

    for (size_t i = 0; i < n; i++)
        v[i] = (float)((seed = seed * 1664525U + 1013904223U) >> 8) / (float)(1 << 24);
    return v;
}

/* Of a slice at a place in voxels, in double; *near: how far its border is. */
static double plain(const float *slice, const size_t n[2], double x, double y, double *near)
{
    const double end[2] = {(double)n[0] - 1, (double)n[1] - 1};
    *near = fmin(fmin(x + 0.5, end[0] + 0.5 - x), fmin(y + 0.5, end[1] + 0.5 - y));
    if (*near < 0)
        return NAN;
    x = fmin(fmax(x, 0), end[0]);
    y = fmin(fmax(y, 0), end[1]);
    const size_t x0 = (size_t)x, y0 = (size_t)y;
    const size_t x1 = x0 + (x0 + 1 < n[0]), y1 = y0 + (y0 + 1 < n[1]);
    const double u = x - (double)x0, v = y - (double)y0;
    return (1 - v) * ((1 - u) * slice[y0 * n[0] + x0] + u * slice[y0 * n[0] + x1]) +
           v * ((1 - u) * slice[y1 * n[0] + x0] + u * slice[y1 * n[0] + x1]);
}

static void compare_slice(const size_t n[2], const double mm[2], double degrees)
{
    const double c = cos(degrees * RAD), s = sin(degrees * RAD);
    float *slice = some_voxels(n[0] * n[1]), *row;
    struct fbp_turn t;
    size_t compared = 0;

    OK(fbp_turn_make(&t, n, mm, degrees));
    /* The box contains the slice, and is not larger than a voxel more. */
    for (int a = 0; a < 2; a++) {
        const double side =
            fabs(a ? s : c) * (double)n[0] * mm[0] + fabs(a ? c : s) * (double)n[1] * mm[1];
        assert_true((double)t.turned[a] * t.mm[a] > side - 1e-5);
        assert_true((double)t.turned[a] * t.mm[a] < side + t.mm[a]);
    }
    row = not_null(malloc(t.turned[0] * sizeof *row));
    fbp_turn_prepare(&t, slice);
    for (size_t j = 0; j < t.turned[1]; j++) {
        fbp_turn_row(&t, slice, j, row);
        for (size_t i = 0; i < t.turned[0]; i++) {
            /* mm from the axis, where the voxel is after the turn, and where it was before */
            const double x = t.mm[0] * ((double)i - ((double)t.turned[0] - 1) / 2);
            const double y = t.mm[1] * ((double)j - ((double)t.turned[1] - 1) / 2);
            double near;
            const double expected =
                plain(slice, n, (c * x + s * y) / mm[0] + ((double)n[0] - 1) / 2,
                      (c * y - s * x) / mm[1] + ((double)n[1] - 1) / 2, &near);
            if (fabs(near) < 1.0 / 128) /* either is right */
                continue;
            assert_int_equal(isnan(expected), isnan(row[i]));
            if (!isnan(expected)) { /* places are rounded twice to 1/256 */
                assert_true(fabs(expected - (double)row[i]) < 2.0 / 256 + 1e-6);
                compared++;
            }
        }
    }
    assert_true((double)compared * t.mm[0] * t.mm[1] > 0.5 * (double)(n[0] * n[1]) * mm[0] * mm[1]);
    free(row);
    free(slice);
    fbp_turn_clear(&t);
}

TEST(slices_as_a_plain_loop_has_them)
{
    static const double turns[] = {0, 33.3, 45, 90, 122, 180, 201.5, 270, 300, -33.3, -90, 753.3};
    static const struct {
        size_t n[2];
        double mm[2];
    } of[] = {{{21, 13}, {1, 1}}, {{8, 31}, {.5, .5}}, {{17, 20}, {1, 1.7}}, {{20, 9}, {3, .8}}};

    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
            compare_slice(of[k].n, of[k].mm, turns[i]);
}

/* After a quarter of a turn a row is a column, with the same bits: also those of numbers that no
 * interpolation would keep. */
TEST(quarters_keep_voxels)
{
    enum { NX = 5, NY = 4 };
    float slice[NY][NX], row[NX];
    struct fbp_turn t;

    for (int i = 0; i < NX * NY; i++)
        slice[i / NX][i % NX] = (float)i;
    slice[1][1] = INFINITY;
    slice[2][2] = 1e-44F;
    for (int quarter = 0; quarter < 8; quarter++) {
        OK(fbp_turn_make(&t, (size_t[]){NX, NY}, (double[]){1, 2}, 90.0 * quarter));
        assert_int_equal(t.turned[0], quarter % 2 ? NY : NX);
        assert_true(t.mm[0] == (quarter % 2 ? 2 : 1) && t.mm[1] == (quarter % 2 ? 1 : 2));
        fbp_turn_prepare(&t, &slice[0][0]);
        for (size_t j = 0; j < t.turned[1]; j++) {
            fbp_turn_row(&t, &slice[0][0], j, row);
            for (size_t i = 0; i < t.turned[0]; i++) {
                const float was[] = {slice[j % NY][i % NX], slice[NY - 1 - i % NY][j % NX],
                                     slice[NY - 1 - j % NY][NX - 1 - i % NX],
                                     slice[i % NY][NX - 1 - j % NX]};
                assert_memory_equal(&row[i], &was[quarter % 4], sizeof *row);
            }
        }
        fbp_turn_clear(&t);
    }
}

/* One voxel that is not finite leaves out what would be interpolated from it, and no more. */
TEST(what_is_not_finite_is_left_out)
{
    const float odd[] = {NAN, INFINITY, -INFINITY};
    float slice[9 * 9], row[16];
    struct fbp_turn t;

    for (size_t k = 0; k < 3; k++) {
        size_t none = 0, values = 0;
        for (size_t i = 0; i < 81; i++)
            slice[i] = 1;
        slice[40] = odd[k];
        slice[10] = 1e-30F;
        slice[11] = -1e-44F;
        OK(fbp_turn_make(&t, (size_t[]){9, 9}, (double[]){1, 1}, 45));
        assert_true(t.turned[0] <= 16);
        fbp_turn_prepare(&t, slice);
        assert_true(slice[10] == 0 && slice[11] == 0 && slice[12] == 1);
        for (size_t j = 0; j < t.turned[1]; j++) {
            fbp_turn_row(&t, slice, j, row);
            for (size_t i = 0; i < t.turned[0]; i++) {
                const double x = (double)i - ((double)t.turned[0] - 1) / 2;
                const double y = (double)j - ((double)t.turned[1] - 1) / 2;
                if (hypot(x, y) < 2.9)
                    isnan(row[i]) ? none++ : values++;
            }
        }
        assert_true(none >= 3 && none <= 9 && values > none);
        fbp_turn_clear(&t);
    }
}

static void write_volume(const size_t n[3], const double mm[3], const float *data)
{
    assert_true(volume_write(VOLUME, n, mm, data));
}

static struct image drawn(double degrees)
{
    OK(fbp_picture_write(VOLUME, PNG,
                         fbp_picture_params(.mip = true, .lo = 0, .hi = 1, .turn_deg = degrees)));
    return decode(PNG, PNG_FORMAT_GRAY);
}

/* Turned to the left by a quarter, what was seen from +x is seen from +y, so that it looks from -y
 * mirrored; and what was seen from -y is now seen from +x. */
TEST(quarters_show_the_other_sides)
{
    enum { N = 64, NZ = 64, SIDE = 256 };
    AUTO_FREE float *v = some_voxels((size_t)N * N * NZ);

    for (size_t i = 0; i < (size_t)N * N * NZ; i++)
        v[i] *= v[i] * v[i] * (i % N > N / 3); /* seldom bright, and another from all sides */
    write_volume((size_t[]){N, N, NZ}, (double[]){1, 1, 1}, v);
    struct image was = drawn(0), is = drawn(90), same = drawn(-360);
    assert_int_equal(was.w, 3 * SIDE + 8);
    assert_int_equal(is.w, was.w);
    assert_int_equal(is.h, was.h);
    assert_memory_equal(was.samples, same.samples, was.w * was.h);
    for (size_t y = 0; y < SIDE; y++)
        for (size_t x = 0; x < SIDE; x++) {
            const size_t row = y * was.w, front = row + SIDE + 4, side = front + SIDE + 4;
            assert_int_equal(is.samples[side + x], was.samples[front + x]);
            assert_int_equal(is.samples[front + x], was.samples[side + SIDE - 1 - x]);
            assert_int_equal(is.samples[row + x], was.samples[x * was.w + SIDE - 1 - y]);
        }
    free(was.samples);
    free(is.samples);
    free(same.samples);
}

/* A device that takes three slices at once. */
struct pretended {
    const struct fbp_turn *turn;
    float *turned, *top;
};

static fbp_status pretended_open(void **out, int index, const struct fbp_turn *turn,
                                 size_t n_slices, size_t *at_once)
{
    struct pretended *p = not_null(calloc(1, sizeof *p));
    const size_t area = turn->turned[0] * turn->turned[1];

    assert_int_equal(index, 5);
    assert_int_equal(n_slices, 8);
    *at_once = 3;
    p->turn = turn;
    p->turned = calloc(area, sizeof(float));
    p->top = calloc(area, sizeof(float));
    assert_true(p->turned && p->top);
    for (size_t i = 0; i < area; i++)
        p->top[i] = -INFINITY;
    *out = p;
    return FBP_OK;
}

static void pretended_close(void **device)
{
    AUTO_FREE struct pretended *p = *device;

    free(p->turned);
    free(p->top);
    *device = NULL;
}

static fbp_status pretended_project(void *device, const float *slices, size_t n, float *front,
                                    float *side)
{
    struct pretended *p = device;
    const struct fbp_turn *t = p->turn;
    const size_t w = t->turned[0], h = t->turned[1];

    assert_true(n == 3 || n == 2); /* of eight */
    for (size_t z = 0; z < n; z++) {
        float *slice = (float *)(uintptr_t)slices + z * t->n[0] * t->n[1];
        fbp_turn_prepare(t, slice);
        for (size_t i = 0; i < w + h; i++)
            *(i < w ? &front[z * w + i] : &side[z * h + i - w]) = -INFINITY;
        for (size_t j = 0; j < h; j++) {
            fbp_turn_row(t, slice, j, p->turned + j * w);
            for (size_t i = 0; i < w; i++) {
                const float value = p->turned[j * w + i];
                front[z * w + i] = fmaxf(front[z * w + i], value);
                side[z * h + j] = fmaxf(side[z * h + j], value);
                p->top[j * w + i] = fmaxf(p->top[j * w + i], value);
            }
        }
    }
    return FBP_OK;
}

static fbp_status pretended_top(void *device, size_t row0, size_t n, float *top)
{
    const struct pretended *p = device;
    const size_t w = p->turn->turned[0];

    memcpy(top, p->top + row0 * w, n * w * sizeof *top);
    return FBP_OK;
}

static fbp_status refused(void *device, const float *slices, size_t n, float *front, float *side)
{
    return FBP_ERR_DEVICE;
}

TEST(a_device_draws_the_same)
{
    struct fbp_projector projector = {pretended_open, pretended_close, pretended_project,
                                      pretended_top};
    const size_t n[3] = {1100, 301, 8}; /* more than a pixel has, and more rows than are fetched */
    AUTO_FREE float *v = some_voxels(n[0] * n[1] * n[2]);
    fbp_source *source = NULL;

    v[12345] = NAN;
    write_volume(n, (double[]){1, 1.2, 4}, v);
    for (int k = 0; k < 3; k++) {
        const struct fbp_picture_params params = {
            .struct_size = sizeof params, .mip = true, .turn_deg = (double[]){0, 33.3, 90}[k]};
        OK(fbp_picture_write(VOLUME, PNG, &params));
        OK(fbp_source_open(&source, VOLUME, NULL));
        OK(fbp_viewer_draw(source, VOLUME, OTHER, &params, &projector, 5));
        fbp_source_close(&source);
        struct image a = decode(PNG, PNG_FORMAT_GRAY), b = decode(OTHER, PNG_FORMAT_GRAY);
        assert_true(a.w == b.w && a.h == b.h);
        assert_memory_equal(a.samples, b.samples, a.w * a.h);
        free(a.samples);
        free(b.samples);
    }
    projector.project = refused;
    (void)remove(OTHER);
    const struct fbp_picture_params params = {.struct_size = sizeof params, .mip = true};
    OK(fbp_source_open(&source, VOLUME, NULL));
    assert_int_equal(fbp_viewer_draw(source, VOLUME, OTHER, &params, &projector, 5),
                     FBP_ERR_DEVICE);
    fbp_source_close(&source);
    assert_null(fopen(OTHER, "r"));
}

static void picture_fails(const struct fbp_picture_params *params, fbp_status expected,
                          const char *says)
{
    (void)remove(OTHER);
    assert_int_equal(fbp_picture_write(VOLUME, OTHER, params), expected);
    assert_says(says);
    assert_null(fopen(OTHER, "r"));
}

TEST(turns_that_are_refused)
{
    const float v[8] = {0};
    struct fbp_turn t;

    write_volume((size_t[]){2, 2, 2}, (double[]){1, 1, 1}, v);
    picture_fails(fbp_picture_params(.turn_deg = 3), FBP_ERR_INVALID, "set mip, too");
    picture_fails(fbp_picture_params(.mip = true, .turn_deg = NAN), FBP_ERR_INVALID,
                  "view: turn_deg");
    picture_fails(fbp_picture_params(.mip = true, .turn_deg = INFINITY), FBP_ERR_INVALID,
                  "view: turn_deg");
    picture_fails(fbp_picture_params(.mip = true, .device = "ref"), FBP_ERR_UNSUPPORTED,
                  "device ref cannot draw projections; use gl or cpu");
    picture_fails(fbp_picture_params(.mip = true, .device = "nobody"), FBP_ERR_UNSUPPORTED,
                  "nobody");
    assert_int_equal(fbp_turn_make(&t, (size_t[]){1 << 20, 3000}, (double[]){1, 1}, 0.1),
                     FBP_ERR_UNSUPPORTED);
    assert_int_equal(fbp_turn_make(&t, (size_t[]){1000, 1000}, (double[]){1, 1e9}, 10),
                     FBP_ERR_UNSUPPORTED);
    assert_null(t.x_i);
}

TEST_MAIN(NULL, NULL)
