/* Writers of prj.mat files of an EPR laboratory, each wrong in one way, for damaged_cases.c. */
#include "damaged_prj.h"

#include "unit/mat_files.h"

#include <sys/stat.h>

void prj_without_b(const char *path)
{
    struct prj prj = prj_usual();

    prj.without = "B";
    put_prj(path, &prj);
}

void prj_without_g(const char *path)
{
    struct prj prj = prj_usual();

    prj.without = "G";
    put_prj(path, &prj);
}

void prj_more_g(const char *path)
{
    struct prj prj = prj_usual();

    prj.n_g = 5;
    put_prj(path, &prj);
}

void prj_short_b(const char *path)
{
    struct prj prj = prj_usual();

    prj.n_b = 5;
    put_prj(path, &prj);
}

void prj_b_falls(const char *path)
{
    struct prj prj = prj_usual();

    prj.b[3] = -3;
    put_prj(path, &prj);
}

void prj_b_uneven(const char *path)
{
    struct prj prj = prj_usual();

    prj.b[3] = 2.5;
    put_prj(path, &prj);
}

void prj_b_nan(const char *path)
{
    struct prj prj = prj_usual();

    prj.b[3] = NAN;
    put_prj(path, &prj);
}

void prj_g_zero(const char *path)
{
    struct prj prj = prj_usual();

    prj.g[1] = prj.g[5] = prj.g[9] = 0;
    put_prj(path, &prj);
}

void prj_g_infinite(const char *path)
{
    struct prj prj = prj_usual();

    prj.g[2] = INFINITY;
    put_prj(path, &prj);
}

/* Its last variable is shorter than it says. */
void prj_cut(const char *path)
{
    struct prj prj = prj_usual();
    struct stat s;

    put_prj(path, &prj);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(truncate(path, s.st_size - 5), 0);
}

/* Its last variable is not there at all. */
void prj_cut_whole(const char *path)
{
    struct prj prj = prj_usual();
    struct stat s;

    prj.without = "G";
    put_prj(path, &prj);
    assert_int_equal(stat(path, &s), 0);
    prj.without = NULL;
    put_prj(path, &prj);
    assert_int_equal(truncate(path, s.st_size + 8), 0); /* and its tag */
}

void prj_b_cm(const char *path)
{
    struct prj prj = prj_usual();

    put_prj(path, &prj);
    mat_put_more(path, mat_text("B_unit", "cm"), false);
}

void prj_g_flat(const char *path)
{
    struct prj prj = prj_usual();

    for (int k = 0; k < 4; k++) {
        prj.g[k] = 1 + k;
        prj.g[4 + k] = 2 - k;
        prj.g[8 + k] = 0;
    }
    put_prj(path, &prj);
}

void prj_g_same(const char *path)
{
    struct prj prj = prj_usual();

    for (int k = 0; k < 4; k++) {
        prj.g[k] = 1;
        prj.g[4 + k] = prj.g[8 + k] = 0;
    }
    put_prj(path, &prj);
}
