/* Checks that a volume cut into parts (--part) assigns each slice to exactly one part, for any
 * box and region, and that cuts lie between the files of a stack where that is possible. */
#include "unit/job_util.h"

#include "pipeline/division.h"

enum { MOST_SLICES = 64 };

/* How many parts write each slice of the box, and the greatest number of slices of a part. */
static void count(struct fbp_job *job, size_t n_parts, size_t *counts, size_t *most)
{
    size_t first, n, end = 0;

    *most = 0;
    memset(counts, 0, MOST_SLICES * sizeof *counts);
    for (size_t part = 1; part <= n_parts; part++) {
        OK(fbp_part_share(job, (struct fbp_part_of){part, n_parts}, job->part.slices));
        assert_int_equal(job->part.slices[0], end); /* side by side, in their order */
        end = job->part.slices[1];
        fbp_job_slices(job, &first, &n);
        assert_true(n > 0);
        *most = n > *most ? n : *most;
        for (size_t z = 0; z < fbp_box_size(job, 2); z++)
            counts[z] += fbp_box_is_own(job, z);
    }
    job->part.slices[0] = job->part.slices[1] = 0;
}

static void check(struct fbp_job *job)
{
    size_t counts[MOST_SLICES], first, n, most;

    fbp_job_slices(job, &first, &n);
    for (size_t n_parts = 1; n_parts <= n; n_parts += n_parts + 1 < n ? n_parts : 1) {
        count(job, n_parts, counts, &most);
        for (size_t z = 0; z < fbp_box_size(job, 2); z++)
            assert_int_equal(counts[z], 1);
        assert_true(most <= 2 * (n / n_parts) + 2); /* outer slices cost a third of middle ones */
    }
}

TEST(every_slice_is_one_parts)
{
    static const size_t sizes[] = {1, 2, 31, 32, MOST_SLICES};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct case_ c;
        setup(&c, 1, 36, 48, (struct fbp_grid){{32, 32, sizes[i]}, {1, 1, 1}, {0, 0, 0}});
        check(&c.tables.job);
        drop(&c);
    }
}

TEST(of_a_box_and_a_region)
{
    static const size_t boxes[][2] = {{0, 40}, {3, 11}, {18, 22}, {20, 40}, {39, 40}};
    struct fbp_region region = {.z0 = 6, .z1 = 9};

    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        struct case_ c;
        setup(&c, 1, 36, 48, (struct fbp_grid){{32, 32, 40}, {1, 1, 1}, {0, 0, 0}});
        const size_t roi[3][2] = {{0, 0}, {0, 0}, {boxes[i][0], boxes[i][1]}};
        OK(fbp_box_set(&c.tables.job, roi));
        check(&c.tables.job);
        drop(&c);
    }
    struct case_ c;
    setup(&c, 1, 36, 48, (struct fbp_grid){{32, 32, 40}, {1, 1, 1}, {0, 0, 0}});
    const size_t roi[3][2] = {{0, 0}, {0, 0}, {3, 11}};
    OK(fbp_box_set(&c.tables.job, roi));
    struct fbp_job by_size = c.tables.job;
    by_size.requested.region = &region; /* slices beside it are the first part's */
    by_size.matrices = NULL;            /* nothing is known of their cost */
    size_t counts[MOST_SLICES], most;
    count(&by_size, 3, counts, &most);
    for (size_t z = 0; z < 8; z++)
        assert_int_equal(counts[z], 1);
    drop(&c);
}

TEST(more_parts_than_slices_are_refused)
{
    struct case_ c;
    size_t share[2];

    setup(&c, 1, 36, 48, (struct fbp_grid){{32, 32, 9}, {1, 1, 1}, {0, 0, 0}});
    assert_fails(fbp_part_share(&c.tables.job, (struct fbp_part_of){1, 10}, share), FBP_ERR_INVALID,
                 "at most 9 parts");
    drop(&c);
}

/* Are the first slices of a part, but of the first and the last, those of a file? */
static bool begins_a_file(const struct fbp_job *job)
{
    const size_t files = job->part.slices_per_file;
    size_t z0, n;

    fbp_job_slices(job, &z0, &n);
    z0 -= fbp_box_first(job, 2);
    return (z0 % files == 0 || job->part.slices[0] == 0) &&
           ((z0 + n) % files == 0 || z0 + n == fbp_box_size(job, 2));
}

/* n_parts parts, all of whose cuts lie at borders of files; the greatest number of slices of one.
 */
static size_t cut_between_files(struct fbp_job *job, size_t n_parts)
{
    size_t counts[MOST_SLICES], most;

    count(job, n_parts, counts, &most);
    for (size_t z = 0; z < fbp_box_size(job, 2); z++)
        assert_int_equal(counts[z], 1);
    for (size_t part = 1; part <= n_parts; part++) {
        OK(fbp_part_share(job, (struct fbp_part_of){part, n_parts}, job->part.slices));
        if (!begins_a_file(job))
            fail_msg("part %zu of %zu: slices %zu to %zu", part, n_parts, job->part.slices[0],
                     job->part.slices[1]);
    }
    job->part.slices[0] = job->part.slices[1] = 0;
    return most;
}

TEST(parts_begin_at_files)
{
    struct case_ c;

    setup(&c, 1, 36, 48, (struct fbp_grid){{32, 32, MOST_SLICES}, {1, 1, 1}, {0, 0, 0}});
    c.tables.job.part.slices_per_file = 2;
    for (size_t n_parts = 1; n_parts <= MOST_SLICES / 8; n_parts++) {
        size_t counts[MOST_SLICES], without;
        const size_t most = cut_between_files(&c.tables.job, n_parts);
        struct fbp_job any = c.tables.job;
        any.part.slices_per_file = 0;
        count(&any, n_parts, counts, &without);
        assert_true(most <= without + 2);
    }
    drop(&c);
}

TEST(parts_of_a_box_begin_at_files_of_the_box)
{
    static const size_t boxes[][2] = {{3, 51}, {0, 29}, {1, 31}, {35, 61}};
    struct case_ c;

    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        const size_t roi[3][2] = {{0, 0}, {0, 0}, {boxes[i][0], boxes[i][1]}};
        setup(&c, 1, 36, 48, (struct fbp_grid){{32, 32, MOST_SLICES}, {1, 1, 1}, {0, 0, 0}});
        c.tables.job.part.slices_per_file = 4;
        OK(fbp_box_set(&c.tables.job, roi));
        (void)cut_between_files(&c.tables.job, 1);
        c.tables.job.part.slices_per_file = 2;
        (void)cut_between_files(&c.tables.job, 2);
        drop(&c);
    }
}

/* Where there are more parts than files, cuts stay where they are. */
TEST(cuts_move_little)
{
    struct case_ c;

    setup(&c, 1, 36, 48, (struct fbp_grid){{32, 32, MOST_SLICES}, {1, 1, 1}, {0, 0, 0}});
    for (size_t files = 2; files <= 2 * MOST_SLICES; files *= 4)
        for (size_t n_parts = 1; n_parts <= MOST_SLICES; n_parts += 1 + n_parts / 2) {
            size_t counts[MOST_SLICES], without, most;
            c.tables.job.part.slices_per_file = 0;
            count(&c.tables.job, n_parts, counts, &without);
            c.tables.job.part.slices_per_file = files;
            count(&c.tables.job, n_parts, counts, &most);
            assert_true(4 * most <= 5 * without);
            assert_true(n_parts <= MOST_SLICES / 2 || most == without);
        }
    drop(&c);
}

/* Slabs of all parts are those of the volume. */
TEST(slabs_stay_within_a_share)
{
    struct case_ c;
    size_t at = 0;

    setup(&c, 1, 36, 48, (struct fbp_grid){{32, 32, MOST_SLICES}, {1, 1, 1}, {0, 0, 0}});
    const struct fbp_work_request rq = {.job = &c.tables.job,
                                        .backend = fbp_backend_find("cpu"),
                                        .n_workers = 1,
                                        .slab_slices = 3,
                                        .memory_limit = (uint64_t)1 << 32};
    for (size_t part = 1; part <= 5; part++) {
        struct fbp_work w;
        OK(fbp_part_share(&c.tables.job, (struct fbp_part_of){part, 5}, c.tables.job.part.slices));
        OK(fbp_work_divide(&rq, &w));
        for (size_t i = 0; i < fbp_work_slabs(&w, &c.tables.job); i++) {
            const struct fbp_slab slab = fbp_work_slab(&w, &c.tables.job, i);
            assert_int_equal(slab.z0, at);
            at += slab.nz;
        }
    }
    assert_int_equal(at, MOST_SLICES);
    drop(&c);
}

TEST_MAIN(NULL, NULL)
