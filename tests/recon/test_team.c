/*
 * A volume by several processes through the library: the sink of rank 0 gets all slices, those of
 * the others none, and a plan runs more than once.  What those that share views add up.
 */
#include "recon/fixture.h"

#include "pipeline/plan.h"
#include "team/team.h"

#include <sys/wait.h>

enum { N = 24, VIEWS = 72, SIZE = 3, MOST = 6 };

static bool run(const struct fbp_scan *scan, const float *views, fbp_team *team, size_t view_ranks,
                float *volume, struct fbp_report *report)
{
    *report = (struct fbp_report){.struct_size = sizeof *report};
    const fbp_status st = fbp_reconstruct(
        scan,
        fbp_recon_params(.device = "cpu", .cluster.team = team, .cluster.view_ranks = view_ranks),
        FBP_F32, views, volume, report);

    if (st != FBP_OK)
        fprintf(stderr, "%s\n", fbp_message());
    return st == FBP_OK;
}

static double difference(const float *a, const float *b, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

/* What processes of a team do; the exit status of one. */
typedef int process_fn(const struct fbp_scan *scan, const float *views);

static int sinks(const struct fbp_scan *scan, const float *views)
{
    const size_t n = grid_size(&scan->volume);
    AUTO_FREE float *volume = calloc(n, sizeof *volume), *whole = calloc(n, sizeof *whole);
    struct fbp_report report, of_whole;
    fbp_team *team;

    if (!volume || !whole || !run(scan, views, NULL, 0, whole, &of_whole))
        return 1;
    if (fbp_team_join(&team) != FBP_OK || fbp_team_size(team) != SIZE)
        return 2;
    for (size_t parts = 1; parts <= SIZE; parts++) {
        memset(volume, 0, n * sizeof *volume);
        if (!run(scan, views, team, parts, volume, &report))
            return 3;
        if (fbp_team_rank(team) > 0) {
            for (size_t i = 0; i < n; i++)
                if (volume[i] != 0)
                    return 4;
            continue;
        }
        if (difference(volume, whole, n) > (parts > 1 ? 1e-6 * of_whole.max : 0))
            return 5;
        if (fabs(report.mean - of_whole.mean) > 1e-6 * of_whole.max ||
            fabs(report.max - of_whole.max) > 1e-6 * of_whole.max)
            return 6;
    }
    return fbp_team_leave(&team, NULL) == FBP_OK ? 0 : 7;
}

/* Some value of a process. */
static float term(size_t rank, size_t i)
{
    return (float)sin(1.0 + (double)rank * 77.7 + (double)i * 0.37) * (rank % 2 ? 1e3F : 1);
}

/* The sum as it is defined: in the order of ranks, each step rounded from double. */
static float sum_of(size_t size, size_t i)
{
    float sum = term(0, i);

    for (size_t rank = 1; rank < size; rank++)
        sum = (float)((double)sum + (double)term(rank, i));
    return sum;
}

/* n slices from z on: those that are whole here, and no others, are the sum. */
static bool adds_up(const fbp_plan *plan, size_t size, size_t z, size_t n, unsigned char *mine)
{
    const struct fbp_sum *sum = plan->sum;
    const size_t slice = plan->info.volume.n[0] * plan->info.volume.n[1];
    const size_t rank = fbp_team_rank(plan->params.cluster.team);
    AUTO_FREE float *x = malloc(n * slice * sizeof *x);
    bool right = x != NULL;

    for (size_t i = 0; right && i < n * slice; i++)
        x[i] = term(rank, z * slice + i);
    right = right && sum->add(sum->user, z, n, x) == FBP_OK;
    for (size_t i = 0; right && i < n * slice; i++)
        if (sum->has(sum->user, z + i / slice)) {
            mine[z + i / slice] = 1;
            right = x[i] == sum_of(size, z * slice + i);
        }
    return right;
}

/* Each slice has one owner, and nobody owns more than his part of all, but for a slice. */
static bool is_shared_out(fbp_team *team, const unsigned char *mine, size_t nz)
{
    const size_t size = fbp_team_size(team);
    AUTO_FREE unsigned char *all = calloc(size, nz);
    size_t own = 0;
    bool right = all && fbp_team_gather(team, "owners", FBP_OK, mine, nz, all) == FBP_OK;

    for (size_t z = 0; right && z < nz; z++) {
        size_t owners = 0;
        for (size_t r = 0; r < size; r++)
            owners += all[r * nz + z];
        right = owners == 1;
        own += mine[z];
    }
    return right && own <= (nz + size - 1) / size + 1;
}

/* Blocks of every thickness, wherever segments begin. */
static int sums(const struct fbp_scan *scan, const float *views)
{
    static const size_t heights[] = {1, 3, 5, 24, 37};
    fbp_team *team;

    if (fbp_team_join(&team) != FBP_OK)
        return 2;
    for (size_t h = 0; h < sizeof heights / sizeof *heights; h++) {
        const size_t nz = heights[h];
        struct fbp_scan thin = *scan;
        CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;
        unsigned char mine[64] = {0};
        thin.volume.n[2] = nz;
        if (fbp_plan_create(&plan, &thin,
                            fbp_recon_params(.device = "cpu", .tuning.kernel = "matrix",
                                             .cluster.team = team,
                                             .cluster.view_ranks = fbp_team_size(team))) != FBP_OK)
            return 3;
        for (size_t z = 0, n; z < nz; z += n) {
            n = 1 + (z + h) % 9 < nz - z ? 1 + (z + h) % 9 : nz - z;
            if (!adds_up(plan, fbp_team_size(team), z, n, mine))
                return 4;
        }
        if (!is_shared_out(team, mine, nz))
            return 5;
    }
    return fbp_team_leave(&team, NULL) == FBP_OK ? 0 : 7;
}

/* In so many processes, begun before this one has threads. */
static void in_team(size_t size, const struct fbp_scan *scan, const float *views, process_fn *does)
{
    char folder[] = "/tmp/fbp-team-XXXXXX", path[64];
    pid_t children[MOST];

    assert_non_null(mkdtemp(folder));
    for (size_t r = 0; r < size; r++) {
        children[r] = fork();
        if (children[r] != 0)
            continue;
        snprintf(path, sizeof path, "%zu/%zu:%s", r, size, folder);
        setenv("FBP_TEAM", path, 1);
        const int status = does(scan, views);
        if (status != 0)
            fprintf(stderr, "%s\n", fbp_message());
        _exit(status);
    }
    for (size_t r = 0; r < size; r++) {
        int status;
        assert_int_equal(waitpid(children[r], &status, 0), children[r]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        snprintf(path, sizeof path, "%s/%zu", folder, r);
        unlink(path);
    }
    rmdir(folder);
}

static void make(struct fbp_scan *scan)
{
    *scan = circle_scan(VIEWS, 36, 0);
    scan->volume = (struct fbp_grid){{N, N, N}, {7, 7, 7}, {0, 0, 0}};
}

TEST(sinks_of_rank_0_get_all)
{
    struct fbp_scan scan;

    make(&scan);
    simulate_head(&scan, 80);
    AUTO_FREE float *views = read_array(scan.projections);
    in_team(SIZE, &scan, views, sinks);
    drop_scan(&scan);
}

TEST(segments_are_added_in_the_order_of_ranks)
{
    struct fbp_scan scan;

    make(&scan);
    simulate_head(&scan, 80);
    for (size_t size = 2; size <= MOST; size += size < 4 ? 1 : 2)
        in_team(size, &scan, NULL, sums);
    drop_scan(&scan);
}

TEST_MAIN(NULL, NULL)
