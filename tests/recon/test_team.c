/*
 * A volume by several processes through the library: the sink of rank 0 gets all slices, those of
 * the others none, and a plan runs more than once.
 */
#include "recon/fixture.h"

#include <sys/wait.h>

enum { N = 24, VIEWS = 36, SIZE = 3 };

static bool run(const struct fbp_scan *scan, const float *views, fbp_team *team, size_t view_ranks,
                float *volume, struct fbp_report *report)
{
    *report = (struct fbp_report){.struct_size = sizeof *report};
    const fbp_status st = fbp_reconstruct(
        scan, fbp_recon_params(.device = "cpu", .team = team, .view_ranks = view_ranks), views,
        volume, report);

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

/* A process of the team; its exit status. */
static int take_part(const struct fbp_scan *scan, const float *views, const float *whole,
                     const struct fbp_report *of_whole)
{
    const size_t n = grid_size(&scan->volume);
    float *volume = calloc(n, sizeof *volume);
    struct fbp_report report;
    fbp_team *team;

    if (!volume || fbp_team_join(&team) != FBP_OK || fbp_team_size(team) != SIZE)
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
        if (difference(volume, whole, n) > (parts > 1 ? 1e-5 * of_whole->max : 0))
            return 5;
        if (fabs(report.mean - of_whole->mean) > 1e-6 * of_whole->max ||
            fabs(report.max - of_whole->max) > 1e-5 * of_whole->max)
            return 6;
    }
    free(volume);
    return fbp_team_leave(&team, NULL) == FBP_OK ? 0 : 7;
}

static void sinks_of_rank_0_get_all(void **state)
{
    struct fbp_scan scan = circle_scan(VIEWS, 36, 0);
    char folder[] = "/tmp/fbp-team-XXXXXX", path[64];
    struct fbp_report report;
    pid_t children[SIZE];

    (void)state;
    scan.volume = (struct fbp_grid){{N, N, N}, {7, 7, 7}, {0, 0, 0}};
    simulate_head(&scan, 80);
    float *views = read_array(scan.projections), *whole = calloc(N * N * N, sizeof *whole);
    assert_non_null(whole);
    assert_non_null(mkdtemp(folder));
    for (int r = 0; r < SIZE; r++) { /* before this process has threads */
        children[r] = fork();
        if (children[r] != 0)
            continue;
        snprintf(path, sizeof path, "%d/%d:%s", r, SIZE, folder);
        if (!run(&scan, views, NULL, 0, whole, &report))
            _exit(1);
        setenv("FBP_TEAM", path, 1);
        _exit(take_part(&scan, views, whole, &report));
    }
    for (int r = 0; r < SIZE; r++) {
        int status;
        assert_int_equal(waitpid(children[r], &status, 0), children[r]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        snprintf(path, sizeof path, "%s/%d", folder, r);
        unlink(path);
    }
    rmdir(folder);
    free(views);
    free(whole);
    drop_scan(&scan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sinks_of_rank_0_get_all)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
