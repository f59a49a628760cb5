/* Checks, without a GPU, which jobs the GPU kernel of plane integrals accepts, how its rows are
 * stored, and how large its windows are. */
#include "backend/gpu/gpu_kernel.h"
#include "backend/module.h"
#include "test.h"

static double coordinate(const struct fbp_grid *g, int axis, double i)
{
    return g->centre_mm[axis] + (i - ((double)g->n[axis] - 1) / 2) * g->voxel_mm[axis];
}

static double matrices[2][12];

static struct fbp_job job_of_planes(size_t columns)
{
    const double first[12] = {.6, -.8, 0, 50, 0, 0, 0, 0, 0, 0, 0, 1};
    const double second[12] = {.5, .1, -.3, 49, 0, 0, 0, 0, 0, 0, 0, 1};

    memcpy(matrices[0], first, sizeof first);
    memcpy(matrices[1], second, sizeof second);
    return (struct fbp_job){.n_views = 2,
                            .panel = {columns, 1},
                            .padded.panel = {columns, 1},
                            .matrices = matrices,
                            .grid = {{11, 7, 5}, {2, 1, 1}, {0, 0, 0}},
                            .selection.symmetric_views = 1};
}

TEST(what_is_linear_is_taken)
{
    struct fbp_job job = job_of_planes(100);

    assert_true(gpu_planes_usable(&job));
    matrices[1][10] = 1e-9;
    assert_false(gpu_planes_usable(&job));
    job = job_of_planes(100);
    matrices[1][11] = 2;
    assert_false(gpu_planes_usable(&job));
    job = job_of_planes(100);
    matrices[1][2] = 140; /* samples a voxel: no window holds them */
    assert_false(gpu_planes_usable(&job));
}

TEST(places_are_those_of_the_matrices)
{
    const struct fbp_job job = job_of_planes(100);
    struct gpu_plane p;

    gpu_plane_of(&job, 1, &p);
    for (size_t i = 0; i < 11 * 7 * 5; i++) {
        const double v[3] = {(double)(i % 11), (double)(i / 11 % 7), (double)(i / 77)};
        double u = matrices[1][3];
        for (int k = 0; k < 3; k++)
            u += matrices[1][k] * coordinate(&job.grid, k, v[k]);
        const double got = p.u[0] * v[0] + p.u[1] * v[1] + p.u[2] * v[2] + p.u[3];
        assert_true(fabs(got - u) < 1e-12);
    }
}

/* Whole pieces of 16 bytes, all frames, and little more. */
TEST(rows_lie_in_pieces)
{
    for (size_t columns = 1; columns < 20; columns++)
        for (size_t n = 1; n < 20; n++) {
            const struct fbp_job job = job_of_planes(columns);
            const struct gpu_planes p = gpu_planes_of(&job, n);
            assert_true(p.columns >= columns && p.columns < columns + 4 && p.columns % 4 == 0);
            assert_true(p.frames <= 10 && (p.frames % 2 == 0 || p.frames == n));
            assert_true(p.groups * p.frames >= n && p.groups * p.frames <= n + 1);
            assert_int_equal(gpu_planes_bytes(&job, 3, n),
                             3 * p.groups * p.frames * p.columns * sizeof(float));
        }
}

/* Of boxes anywhere. */
TEST(windows_hold_what_boxes_see)
{
    static const int box[3] = {8, 4, 16};
    const struct fbp_job job = job_of_planes(100);

    for (size_t taps = 1; taps <= 4; taps++) {
        const size_t window = gpu_planes_window(&job, box, taps);
        assert_int_equal(window % 4, 0);
        for (double u = 0; u < 8; u += 1. / 32) { /* the box's least */
            const double span = 7 * 2 * .6 + 3 * .8, first = floor(floor(u - 1. / 64) / 4) * 4;
            assert_true(first + (double)window > floor(u + span + 1. / 64) + (double)taps - 1);
        }
        assert_true((double)window < 7 * 2 * .6 + 3 * .8 + (double)taps + 10);
    }
}

int main(int argc, char **argv)
{
    static struct fbp_module_host mine;

    mine.coordinate = coordinate;
    gpu_host = &mine;
    return run_file_tests(argc, argv, NULL, NULL);
}
