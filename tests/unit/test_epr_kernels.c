/* Checks that the kernels of Qiao 2015 with the paper's argument lists
 * (bench/cuda/s4_kernels.cu), compiled as C, compute the right values without a GPU.
 * cuda/epr_kernels checks their PTX on a GPU. */
#include "unit/epr_kernels.h"

/* What CUDA gives a thread. */
static struct place {
    unsigned x, y;
} threadIdx, blockIdx, blockDim, gridDim;

#include "epr_kernels_as_c.h"

typedef void kernel(double *, const double *, const double *, const double *, const double *,
                    double, int, double, int, int);

/* All threads of a launch, one after another. */
static void launch(kernel *run, const struct epr_case *c, struct place grid, unsigned block,
                   double *object)
{
    gridDim = grid;
    blockDim.x = block;
    for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)
            for (threadIdx.x = 0; threadIdx.x < block; threadIdx.x++)
                run(object, c->projection, c->GX, c->GY, c->GZ, c->d_object, c->N, c->d_proj, c->Q,
                    c->S);
}

static struct place grid_of(int n)
{
    return (struct place){(unsigned)n, (unsigned)n};
}

static double *new_object(const struct epr_case *c, double value)
{
    double *object = not_null(calloc(epr_voxels(c), sizeof *object));

    for (size_t i = 0; i < epr_voxels(c); i++)
        object[i] = value;
    return object;
}

/* With an odd N the paper's kernels halve exactly, as N is a double in the paper. */
TEST(all_kernels_give_the_sums_and_what_ref_gives)
{
    static kernel *const kernels[] = {fbp_epr_paper, fbp_epr_no_branch, fbp_epr_registers};

    for (int ends = 0; ends < 2; ends++)
        for (int i = 0; i < 6; i++) {
            struct epr_case c = epr_make(i % 2 ? 13 : 14, 23, 20, ends);
            AUTO_FREE double *object = new_object(&c, 2);
            launch(kernels[i / 2], &c, grid_of(c.N), (unsigned)c.N, object);
            epr_check_sums(&c, object, 2);
            for (size_t k = 0; k < epr_voxels(&c); k++)
                object[k] -= 2;
            if (ends)
                epr_check_ref(&c, object);
            epr_free(&c);
        }
}

/* Blocks of any size, grids that are too small and too large, odd numbers of voxels and samples. */
TEST(the_better_kernel_takes_any_launch_and_any_size)
{
    static const struct {
        struct place grid;
        unsigned block;
    } launches[] = {{{1, 1}, 1}, {{3, 2}, 32}, {{13, 13}, 13}, {{40, 1}, 96}};

    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        struct epr_case c = epr_make(13, 17, i % 2 ? 21 : 19, true);
        AUTO_FREE double *object = new_object(&c, 0);
        launch(fbp_epr_registers, &c, launches[i].grid, launches[i].block, object);
        epr_check_sums(&c, object, 0);
        epr_check_ref(&c, object);
        epr_free(&c);
    }
}

/* What docs say of the paper's kernel: with odd S it is half a sample off, and the other is not. */
TEST(the_papers_kernel_shifts_odd_samples_by_a_half)
{
    struct epr_case c = epr_make(12, 9, 25, false);
    double *object = new_object(&c, 0), shifted = 0;

    launch(fbp_epr_paper, &c, grid_of(c.N), (unsigned)c.N, object);
    for (int i = 0; i < c.N; i++) {
        double sum = 0;
        for (int q = 0; q < c.Q; q++) {
            const double t =
                ((i + 1 - c.N / 2) * (c.GX[q] + c.GY[q] + c.GZ[q])) * c.d_object / c.d_proj + 12;
            const double *row = c.projection + q * c.S;
            const int at = (int)floor(t);
            if (t >= 0 && at + 1 < c.S)
                sum += row[at] * (at + 1 - t) + row[at + 1] * (t - at);
        }
        const int voxel = i * (c.N * c.N + c.N + 1);
        assert_true(fabs(object[voxel] - sum) < 1e-12 * c.Q);
        shifted = fmax(shifted, fabs(sum - epr_sum(&c, i, i, i)));
    }
    assert_true(shifted > 0.1);
    free(object);
    epr_free(&c);
}

TEST_MAIN(NULL, NULL)
