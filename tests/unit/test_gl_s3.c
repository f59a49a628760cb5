/* Checks, without an OpenGL context, what the variants of Ino 2009 (S3) draw and cost: passes,
 * tiles, shader texts and the operations counted in them. */
#include "bench/gl/s3_plan.h"
#include "test.h"

enum { A = 0, B, C, D, E, LOWER_B, F, G, M, VARIANTS };

static void check(double is, double wanted, double error)
{
    if (!(fabs(is - wanted) <= error))
        fail_msg("%g instead of %g", is, wanted);
}

TEST(passes_take_what_the_paper_takes)
{
    static const unsigned views[] = {1, 1, 4, 4, 4, 1, 4, 8, 4},
                          slices[] = {1, 4, 1, 4, 4, 4, 16, 4, 16},
                          targets[] = {1, 4, 1, 1, 1, 1, 4, 1, 4};

    for (size_t i = 0; i < VARIANTS; i++) {
        const struct fbp_s3_variant *v = gl_s3_variant(i);
        assert_int_equal(v->views, views[i]);
        assert_int_equal(v->slices, slices[i]);
        assert_int_equal(v->letter, "ABCDEbFGM"[i]);
        assert_int_equal(v->targets, targets[i]);
        assert_int_equal(v->balanced, i == E || i == F);
        assert_int_equal(gl_s3_packs_slices(v), i >= D);
        assert_int_equal(v->matrices, i == M);
    }
    assert_null(gl_s3_variant(VARIANTS));
}

static const struct gpu_view some_view = {.u = {3, -2, 0.5f, 1.5f},
                                          .v = {0.25f, 0.5f, 4, -1},
                                          .w = {0.001f, -0.002f, 0.003f, 1.25f},
                                          .column = 31,
                                          .row = 20};

/* u, v and the weight of voxel (x, y, z) from a pass's numbers of view k, as its shader makes them.
 */
static void project(const float *c, const struct fbp_s3_variant *v, size_t k, double x, double y,
                    double slice, double out[3])
{
    const size_t each = gl_s3_texel(v), n_numbers = gl_s3_n_numbers(v);
    double n[GL_S3_ALL_NUMBERS] = {0};

    for (size_t i = 0; i < n_numbers; i++)
        n[i] = (double)c[(k / each * n_numbers + i) * each + k % each];
    const double r = 1 / (n[7] * x + n[8] * y + n[9] + slice * n[13]);
    out[0] = (n[0] * x + n[1] * y + n[2] + slice * n[12]) * r + n[10];
    out[1] = (n[3] * x + n[4] * y + n[5] + slice * n[6]) * r + n[11];
    out[2] = r * r;
}

/* Of variants of circles, what depends on z is left out of u and w. */
TEST(numbers_project_voxels)
{
    const struct gpu_view *v = &some_view;
    const struct gpu_view views[8] = {*v, *v, *v, *v, *v, *v, *v, *v};
    const size_t size[2] = {64, 40};
    const double x = 7, y = -5, z = 3;

    for (size_t i = 0; i < VARIANTS; i++)
        for (int exact = 0; exact < 2; exact++) {
            const struct fbp_s3_way way = {.variant = i, .exact = exact};
            const struct fbp_s3_variant *variant = gl_s3_variant(i);
            const double zu = variant->matrices ? z : 0;
            const double w = 0.001 * x - 0.002 * y + 0.003 * zu + 1.25;
            const double column = 31 + (3 * x - 2 * y + 0.5 * zu + 1.5) / w,
                         row = 20 + (0.25 * x + 0.5 * y + 4 * z - 1) / w;
            float c[GL_S3_TEXELS * GL_S3_ALL_NUMBERS * GL_S3_FOUR];
            double at[3];
            gl_s3_numbers(&way, views, variant->views, z - 2, size, 1, c);
            project(c, variant, variant->views - 1, x, y, 2, at); /* the third slice of the pass */
            check(exact ? at[0] : 64 * at[0] - 0.5, column, 1e-4);
            check(exact ? at[1] : 40 * at[1] - 0.5, row, 1e-4);
            check(at[2], 1 / (w * w), 1e-6);
            gl_s3_numbers(&way, views, variant->views, z - 2, size, 8, c);
            double stretched[3]; /* samples were multiplied by 64 */
            project(c, variant, variant->views - 1, x, y, 2, stretched);
            check(stretched[0], at[0], 1e-12);
            check(64 * stretched[2], at[2], 1e-12);
        }
}

TEST(the_stretch_is_a_root)
{
    check((double)gl_s3_stretch(64), 8, 0);
    check((double)gl_s3_stretch(128), 8, 0);
    check((double)gl_s3_stretch(0.25f), 0.5, 0);
    check((double)gl_s3_stretch(0.125f), 0.25, 0);
}

/* They are looked at beside the panel, whatever lies in their texel. */
TEST(views_that_are_not_there_are_harmless)
{
    static const size_t variants[] = {D, G, M};
    const size_t size[2] = {64, 40};

    for (size_t i = 0; i < 3; i++)
        for (int exact = 0; exact < 2; exact++) {
            const struct fbp_s3_way way = {.variant = variants[i], .exact = exact};
            const struct fbp_s3_variant *v = gl_s3_variant(variants[i]);
            float c[GL_S3_TEXELS * GL_S3_ALL_NUMBERS * GL_S3_FOUR];
            gl_s3_numbers(&way, &some_view, 1, 0, size, 4, c);
            for (size_t k = 1; k < v->views; k++) {
                double at[3];
                project(c, v, k, 100, -100, 3, at);
                assert_true(at[0] < -1 && isfinite(at[1]));
            }
        }
}

TEST(a_draw_has_so_many_updates_at_most)
{
    const struct fbp_s3_variant *a = gl_s3_variant(A), *d = gl_s3_variant(D);

    assert_int_equal(gl_s3_tile_rows(d, 512, 512, 0), 512); /* 4 M updates */
    assert_int_equal(gl_s3_tile_rows(d, 2048, 2048, 0), 256);
    assert_int_equal(gl_s3_tile_rows(a, 2048, 2048, 0), 2048);
    assert_int_equal(gl_s3_tile_rows(d, 100, 100, 1), 1);
    assert_int_equal(gl_s3_tile_rows(a, 16384, 16384, 0), 512);
}

TEST(a_group_is_wanted_where_a_slice_is)
{
    const uint8_t wanted[3][4] = {{0, 1, 0, 0}, {0, 0, 0, 0}, {1, 1, 0, 0}};
    uint8_t any[4];

    gl_s3_any(wanted[0], 3, 4, any);
    assert_memory_equal(any, ((uint8_t[4]){255, 255, 0, 0}), 4);
    gl_s3_any(wanted[1], 1, 4, any);
    assert_memory_equal(any, ((uint8_t[4]){0}), 4);
}

static bool has(const char *text, const char *words)
{
    return strstr(text, words) != NULL;
}

/* What the paper moves to the vertex stage, and what it leaves where it was. */
TEST(linear_terms_are_balanced_where_it_is_said)
{
    for (size_t i = 0; i < VARIANTS; i++) {
        const struct fbp_s3_way way = {.variant = i};
        const struct fbp_s3_variant *v = gl_s3_variant(i);
        char vertex[GL_S3_TEXT], fragment[GL_S3_TEXT];
        gl_s3_vertex_text(&way, vertex);
        gl_s3_fragment_text(&way, fragment);
        assert_int_equal(has(vertex, "U = x * c[0] + y * c[1] + c[2]"), v->balanced);
        assert_int_equal(has(vertex, "noperspective out vec4 U, V, W"), v->balanced);
        assert_int_equal(has(fragment, "U = x * c[0] + y * c[1] + c[2]"), !v->balanced);
        assert_true(has(fragment, v->matrices ? "r3 = 1.0 / (W + 3.0 * c[13])" : "r = 1.0 / (W)"));
        assert_false(has(vertex, "/ W"));
    }
}

/* One division a view of a fragment, however many slices share it, where they can; one fetch an
 * update. */
TEST(what_slices_share_is_computed_once)
{
    for (size_t i = 0; i < VARIANTS; i++) {
        const struct fbp_s3_way way = {.variant = i};
        const struct fbp_s3_variant *v = gl_s3_variant(i);
        char text[GL_S3_TEXT];
        size_t divisions = 0, fetches = 0;
        gl_s3_fragment_text(&way, text);
        for (const char *p = text; (p = strstr(p, " / ")); p++)
            divisions++;
        for (const char *p = strstr(text, "void main"); (p = strstr(p, "bilinear(")); p++)
            fetches++;
        /* of a vec4 where there are four views */
        assert_int_equal(divisions, i == M ? 16 : gl_s3_texels(v));
        assert_int_equal(fetches, v->views * v->slices);
    }
}

static struct fbp_s3_cost cost_of(size_t variant, enum fbp_s3_sum sum, bool exact)
{
    struct fbp_s3_cost c;

    gl_s3_cost(&(struct fbp_s3_way){.variant = variant, .sum = sum, .exact = exact}, &c);
    return c;
}

/* Counted by hand: x and y 2, U V W 4 each, 1/W, weight, u 2, v 2, product, blend. */
TEST(costs_are_counted_in_the_text)
{
    const struct fbp_s3_cost a = cost_of(A, FBP_S3_BLEND, false);
    double last = INFINITY;
    static const size_t order[] = {A, M, B, D, E, F}; /* each saves something more */

    check(a.processing, 2 + 12 + 2 + 4 + 1 + 1, 0);
    check(a.texture, 11, 0);
    check(a.bytes, 4 + 8, 0);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const struct fbp_s3_cost c = cost_of(order[i], FBP_S3_BLEND, false);
        assert_true(c.processing / c.updates < last);
        last = c.processing / c.updates;
        check(c.texture / c.updates, 11, 0);
    }
    check(cost_of(D, FBP_S3_BLEND, false).bytes / 16, 16 + 2, 0);
    check(cost_of(B, FBP_S3_BLEND, false).bytes / 4, 4 + 8, 0);
    check(cost_of(G, FBP_S3_BLEND, false).bytes / 32, 16 + 1, 0);
    struct fbp_s3_cost half;
    gl_s3_cost(&(struct fbp_s3_way){.variant = D, .half = true}, &half);
    check(half.bytes / 16, 8 + 2, 0);
    check(cost_of(D, FBP_S3_PING_PONG, false).processing,
          cost_of(D, FBP_S3_BLEND, false).processing, 0);
    assert_true(cost_of(A, FBP_S3_BLEND, true).processing > a.processing + 10);
    check(cost_of(A, FBP_S3_BLEND, true).texture, 0, 0);
}

TEST(texts_fit)
{
    for (size_t i = 0; i < VARIANTS; i++)
        for (int k = 0; k < 8; k++) {
            const struct fbp_s3_way way = {
                .variant = i, .exact = k & 1, .sum = k & 2 ? 1 : 0, .count = k & 4};
            char text[GL_S3_TEXT];
            gl_s3_fragment_text(&way, text);
            assert_true(strlen(text) < GL_S3_TEXT - 1000);
            assert_string_equal(text + strlen(text) - 2, "}\n");
        }
}

TEST_MAIN(NULL, NULL)
