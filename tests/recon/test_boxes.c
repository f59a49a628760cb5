/* A device is handed boxes of slices as slabs: each voxel gets the bits that it has in the whole
 * volume, and kernels that compute whole slices only are not handed any. */
#include "recon/side.h"

#include "devices/mock/mock.h"
#include "backend/slab.h"

enum { N_BOXES = 12 };

static void check_statistics(const struct side *s, const float *x, size_t n)
{
    struct fbp_statistics found, right = FBP_NO_STATISTICS;

    if (!s->backend->can.statistics)
        return;
    OK(s->backend->statistics(s->dev, &found));
    fbp_statistics_add(&right, x, n);
    assert_true(found.min == right.min && found.max == right.max);
    assert_true(fabs(found.sum - right.sum) <=
                1e-5 * (double)n * fmax(fabs(right.max), fabs(right.min)));
}

static void draw_slab(unsigned *seed, const struct fbp_job *job, size_t box[3][2])
{
    draw_box(seed, job->grid.n, box);
    for (int i = 0; i < 3; i++)
        if (box[i][1] == 0)
            box[i][1] = job->grid.n[i];
}

static void check_boxes(struct side *s, const struct scan_case *c, unsigned *seed)
{
    const struct fbp_job *job = &s->tables.job;
    const struct fbp_slab all = fbp_slab_whole(job, 0, job->grid.n[2]);
    AUTO_FREE float *whole = malloc(grid_size(&job->grid) * sizeof *whole);
    AUTO_FREE float *part = malloc(grid_size(&job->grid) * sizeof *part);

    assert_true(whole && part);
    reconstruct_slab(s, &all, whole);
    check_statistics(s, whole, grid_size(&job->grid));
    for (int i = 0; i < N_BOXES; i++) {
        size_t box[3][2];
        struct fbp_slab slab;
        draw_slab(seed, job, box);
        OK(fbp_slab_box(job, (const size_t(*)[2])box, &slab));
        assert_true(s->backend->volume_bytes(job, &slab) <= s->backend->volume_bytes(job, &all));
        reconstruct_slab(s, &slab, part);
        check_statistics(s, part, slab.nz * fbp_slab_slice(&slab));
        assert_box(c->kernel, sizeof *part, part, whole, job->grid.n, (const size_t(*)[2])box);
    }
}

TEST(boxes_have_the_volumes_bits)
{
    unsigned seed = 3;

    fbp_mock_faults = (struct fbp_mock_faults){0};
    for (size_t i = 0; i < N_CASES; i++) {
        struct side s;
        if (!cases[i].boxes || !can_compute(&cases[i]))
            continue;
        arrange(&s, &cases[i]);
        assert_true(s.tables.job.selection.boxes);
        open_side(&s);
        check_boxes(&s, &cases[i], &seed);
        close_side(&s);
    }
}

static void refused(const struct fbp_job *job, const size_t box[3][2], fbp_status status,
                    const char *sentence)
{
    struct fbp_slab slab;

    fbp_message_clear();
    assert_int_equal(fbp_slab_box(job, box, &slab), status);
    if (!strstr(fbp_message(), sentence))
        fail_msg("\"%s\" does not say \"%s\"", fbp_message(), sentence);
}

TEST(boxes_that_are_not_are_refused)
{
    for (size_t i = 0; i < N_CASES; i++) {
        struct side s;
        if (!can_compute(&cases[i]))
            continue;
        arrange(&s, &cases[i]);
        const struct fbp_job *job = &s.tables.job;
        const size_t nx = job->grid.n[0], ny = job->grid.n[1], nz = job->grid.n[2];
        struct fbp_slab slab;
        refused(job, (const size_t[3][2]){{3, 3}, {0, ny}, {0, 1}}, FBP_ERR_INVALID,
                "slab: voxels 3:3 along x");
        refused(job, (const size_t[3][2]){{0, nx}, {0, ny + 1}, {0, 1}}, FBP_ERR_INVALID,
                "along y are outside the volume, which has 0:");
        refused(job, (const size_t[3][2]){{0, nx}, {0, ny}, {1, nz + 1}}, FBP_ERR_INVALID,
                "slab: voxels 1:");
        OK(fbp_slab_box(job, (const size_t[3][2]){{0, nx}, {0, ny}, {1, 3}}, &slab));
        if (!cases[i].boxes)
            refused(job, (const size_t[3][2]){{0, nx}, {2, ny}, {0, 1}}, FBP_ERR_UNSUPPORTED,
                    "computes only whole slices");
        close_side(&s);
    }
}

TEST_MAIN(NULL, NULL)
