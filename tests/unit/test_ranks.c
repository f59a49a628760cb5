/* Checks the grid of processes of a team: slabs of slices and parts of views cover the volume
 * once. */
#include "unit/job_util.h"

#include "pipeline/division.h"

enum { GROUP = 8, MOST = 64 }; /* GROUP: of the backend `cpu` */

static const struct fbp_nodes nodes = {.ranks = 4, .on_host = true, .n_threads = 1};

/* Choose a grid for a job whose time is that of its updates and sums. */
static fbp_status choose(const struct fbp_job *job, size_t size, size_t n_parts,
                         struct fbp_ranks *out)
{
    const struct fbp_work_request rq = {.job = job,
                                        .backend = fbp_backend_find("cpu"),
                                        .n_workers = 1,
                                        .memory_limit = (uint64_t)1 << 32,
                                        .rates.update = 1e-7};

    return fbp_cluster_choose(&nodes, &rq, size, n_parts, out);
}

/* Each slice and view belongs to one process. */
static void check_grid(const struct fbp_job *whole, size_t size, size_t n_parts)
{
    size_t counts[MOST][MOST] = {{0}}, first, n;
    const size_t all_groups = (whole->n_views + GROUP - 1) / GROUP;
    struct fbp_ranks r;

    for (size_t rank = 0; rank < size; rank++) {
        struct fbp_job job = *whole;
        OK(choose(whole, size, n_parts, &r));
        fbp_ranks_place(&r, rank);
        assert_true(r.n_slabs * r.n_parts <= size);
        assert_true(n_parts == 0 || r.n_parts == n_parts);
        assert_int_equal(r.idle, rank >= r.n_slabs * r.n_parts);
        OK(fbp_ranks_share(&r, GROUP, &job));
        fbp_job_slices(&job, &first, &n);
        const size_t g0 = job.part.view_groups[0],
                     g1 = r.n_parts > 1 ? job.part.view_groups[1] : all_groups;
        assert_true(n > 0 && g1 > g0);
        assert_int_equal(fbp_work_own_views(&job, GROUP),
                         (g1 * GROUP < job.n_views ? g1 * GROUP : job.n_views) - g0 * GROUP);
        for (size_t z = first; z < first + n && !r.idle; z++)
            for (size_t g = g0; g < g1; g++)
                counts[z][g]++;
    }
    fbp_job_slices(whole, &first, &n);
    for (size_t z = first; z < first + n; z++)
        for (size_t g = 0; g < all_groups; g++)
            assert_int_equal(counts[z][g], 1);
}

TEST(grids_cover_all)
{
    static const size_t slices[] = {1, 2, 5, 32};

    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        struct case_ m;
        setup(&m, 1, 36, 48, (struct fbp_grid){{16, 16, slices[i]}, {1, 1, 1}, {0, 0, 0}});
        for (size_t size = 1; size <= 8; size++)
            for (size_t parts = 0; parts <= size && parts <= 5; parts++)
                check_grid(&m.tables.job, size, parts);
        drop(&m);
    }
}

/* Batches of a part of the views are as those of all, within it. */
TEST(batches_stay_within_a_part)
{
    struct case_ m;
    size_t at = 0;

    setup(&m, 1, 36, 48, (struct fbp_grid){{16, 16, 16}, {1, 1, 1}, {0, 0, 0}});
    const struct fbp_work_request rq = {.job = &m.tables.job,
                                        .backend = fbp_backend_find("cpu"),
                                        .n_workers = 1,
                                        .memory_limit = (uint64_t)1 << 32};
    const size_t group = rq.backend->can.group_views;
    const size_t n_groups = (m.tables.job.n_views + group - 1) / group;
    for (size_t part = 0; part < n_groups; part++) {
        struct fbp_work w;
        m.tables.job.part.view_groups[0] = part;
        m.tables.job.part.view_groups[1] = part + 1;
        OK(fbp_work_divide(&rq, &w));
        for (size_t b = 0; b < w.n_batches; b++) {
            size_t view0, n;
            fbp_work_views(&w, &m.tables.job, b, &view0, &n);
            assert_int_equal(view0, at);
            at += n;
        }
    }
    assert_int_equal(at, m.tables.job.n_views);
    drop(&m);
}

/* For slabs of any thickness, the segments of a block are contiguous, and no process owns more of a
 * block, or of all, than its part and the remainder of the division. */
TEST(segments_are_even)
{
    struct case_ m;

    for (size_t nz = 1; nz <= 70; nz += 3)
        for (size_t parts = 2; parts <= 7; parts++)
            for (size_t block = 1; block <= 20; block += 3) {
                size_t own[7] = {0}, thick = 0, before = parts;
                setup(&m, 1, 36, 48, (struct fbp_grid){{16, 16, nz}, {1, 1, 1}, {0, 0, 0}});
                m.tables.job.part.slices[1] = nz;
                for (size_t z = 0; z < nz; z++) {
                    const size_t k = fbp_ranks_owner(&m.tables.job, parts, block, z);
                    assert_true(k < parts);
                    own[k]++;
                    thick = k == before ? thick + 1 : 1;
                    before = k;
                    assert_true(thick <= 2 * fbp_ranks_segment(parts, block));
                }
                for (size_t k = 0; k < parts; k++)
                    assert_true(own[k] <= (nz + parts - 1) / parts + 1);
                drop(&m);
            }
}

TEST(takes_slabs_where_there_are_slices)
{
    struct fbp_ranks r;
    struct case_ m;

    setup(&m, 1, 36, 48, (struct fbp_grid){{48, 48, 48}, {1, 1, 1}, {0, 0, 0}});
    OK(choose(&m.tables.job, 4, 0, &r));
    assert_true(r.n_slabs == 4 && r.n_parts == 1);
    assert_true(r.cost > 0 && r.other_parts > 1 && r.other_cost > 0.7 * r.cost);
    drop(&m);
    setup(&m, 1, 36, 48, (struct fbp_grid){{48, 48, 1}, {1, 1, 1}, {0, 0, 0}});
    OK(choose(&m.tables.job, 4, 0, &r));
    assert_true(r.n_slabs == 1 && r.n_parts > 1 && r.cost < r.other_cost);
    OK(choose(&m.tables.job, 4, 3, &r));
    fbp_ranks_place(&r, 3);
    assert_true(r.n_parts == 3 && r.idle);
    assert_fails(choose(&m.tables.job, 4, 5, &r), FBP_ERR_INVALID,
                 "only 4 processes were started, but 5");
    fbp_message_clear();
    assert_fails(choose(&m.tables.job, 9, 7, &r), FBP_ERR_INVALID, "among at most 5 processes");
    fbp_message_clear();
    drop(&m);
}

TEST_MAIN(NULL, NULL)
