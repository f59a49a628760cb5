/* Sets of directions on the sphere, and the orders in which they are measured. */
#include "fbp/directions.h"

#include "base/mem.h"
#include "base/range.h"
#include "base/sizes.h"
#include "base/stop.h"
#include "base/vec.h"

#include <string.h>

static const char *const sets[] = {"solid-angle", "linear-angle", "fibonacci"};
static const char *const orders[] = {"plain", "flip", "msps"};
static const char *const poles[] = {"z", "x", "y"};
static const char *const quadratures[] = {"auto", "bands", "voronoi", "harmonics", "given"};

/* Finding the maximally spaced order takes the square of their number. */
static const double MOST_SPACED = 50000;

#define N_OF(array) (sizeof(array) / sizeof *(array))

const char *fbp_direction_set_name(size_t i)
{
    return i < N_OF(sets) ? sets[i] : NULL;
}

const char *fbp_direction_order_name(size_t i)
{
    return i < N_OF(orders) ? orders[i] : NULL;
}

const char *fbp_pole_name(size_t i)
{
    return i < N_OF(poles) ? poles[i] : NULL;
}

const char *fbp_quadrature_name(size_t i)
{
    return i < N_OF(quadratures) ? quadratures[i] : NULL;
}

/* Angle of ring i of n from the pole; of direction j of m in a ring about it. */
static double angle_of(size_t i, size_t n)
{
    return FBP_PI / 2 + FBP_PI / (2 * (double)n) - (double)(i + 1) * FBP_PI / (double)n;
}

/* Directions in ring i. */
static size_t ring_size(const struct fbp_directions *set, size_t i)
{
    const double n = (double)set->n[0];

    if (set->set == FBP_SET_LINEAR_ANGLE)
        return set->n[1];
    return (size_t)fmax(1, floor(fabs(n * sin(angle_of(i, set->n[0]))) + 0.5));
}

static void put(enum fbp_pole pole, double theta, double phi, double out[3])
{
    static const int axis[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}};
    const double x[3] = {sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)};

    for (int i = 0; i < 3; i++)
        out[axis[pole][i]] = x[i];
}

static void put_rings(const struct fbp_directions *set, double (*out)[3])
{
    for (size_t i = 0, at = 0; i < set->n[0]; i++) {
        const size_t m = ring_size(set, i);
        const bool back = set->order != FBP_ORDER_PLAIN && i % 2 == 1;
        for (size_t j = 0; j < m; j++)
            put(set->pole, angle_of(i, set->n[0]), angle_of(back ? m - 1 - j : j, m), out[at++]);
    }
}

static void put_spiral(const struct fbp_directions *set, double (*out)[3])
{
    const double golden = (1 + sqrt(5)) / 2, n = (double)set->n[0];

    for (size_t i = 0; i < set->n[0]; i++)
        put(set->pole, acos(((double)i + 0.5) / n), 2 * FBP_PI * fmod((double)i / golden, 1),
            out[i]);
}

/* What a charge at a, and one at -a, add to the potential at b. */
static double potential(const double a[3], const double b[3])
{
    double apart[3], sum[3];

    fbp_axpy(a, -1, b, apart);
    fbp_axpy(a, 1, b, sum);
    return 1 / fbp_norm(apart) + 1 / fbp_norm(sum);
}

/* Always the direction with the least potential of those before it; of equal ones the first. */
static fbp_status most_apart(double (*n)[3], size_t count)
{
    const double equal = 1e-12;
    double *field = NULL;

    FBP_TRY(fbp_calloc((void **)&field, count, sizeof *field, "an order of directions"));
    for (size_t k = 0; k + 1 < count && !fbp_stopped(); k++) {
        size_t best = k + 1;
        for (size_t i = k + 1; i < count; i++) {
            field[i] += potential(n[k], n[i]);
            if (field[i] < field[best] * (1 - equal))
                best = i;
        }
        /* those in between keep their order */
        const double taken[3] = {n[best][0], n[best][1], n[best][2]};
        memmove(n[k + 2], n[k + 1], (best - k - 1) * sizeof *n);
        memmove(&field[k + 2], &field[k + 1], (best - k - 1) * sizeof *field);
        memcpy(n[k + 1], taken, sizeof taken);
    }
    free(field);
    return fbp_go_on();
}

static fbp_status check(const struct fbp_directions *given, struct fbp_directions *set)
{
    FBP_TRY(FBP_TAKE(directions, set, given));
    FBP_TRY(fbp_check_choice("directions.set", (long)set->set, FBP_SET_FIBONACCI));
    FBP_TRY(fbp_check_choice("directions.order", (long)set->order, FBP_ORDER_MSPS));
    FBP_TRY(fbp_check_choice("directions.pole", (long)set->pole, FBP_POLE_Y));
    FBP_TRY(fbp_check_range(&fbp_range_views, "directions.n[0]", (double)set->n[0]));
    FBP_TRY(fbp_check_optional(&fbp_range_views, "directions.n[1]", (double)set->n[1]));
    if (set->set != FBP_SET_LINEAR_ANGLE && set->n[1] != 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "directions.n: found two numbers for set %s, which has one: only "
                        "linear-angle has rings of any length",
                        fbp_direction_set_name(set->set));
    if (set->set == FBP_SET_FIBONACCI && set->order == FBP_ORDER_FLIP)
        return fbp_fail(FBP_ERR_INVALID,
                        "directions.order: a spiral has no rings to flip: use plain or msps");
    if (set->n[1] == 0)
        set->n[1] = set->n[0];
    return FBP_OK;
}

static fbp_status count_of(const struct fbp_directions *set, size_t *count)
{
    double sum = 0;

    for (size_t i = 0; set->set != FBP_SET_FIBONACCI && i < set->n[0]; i++)
        sum += (double)ring_size(set, i);
    if (set->set == FBP_SET_FIBONACCI)
        sum = (double)set->n[0];
    FBP_TRY(fbp_check_range(&fbp_range_views, "directions.n: the number of directions", sum));
    if (set->order == FBP_ORDER_MSPS && sum > MOST_SPACED)
        return fbp_fail(FBP_ERR_INVALID,
                        "directions.order: %.0f directions take too long to space, more than %.0f: "
                        "use plain or flip",
                        sum, MOST_SPACED);
    *count = (size_t)sum;
    return FBP_OK;
}

fbp_status fbp_directions_count(const struct fbp_directions *given, size_t *count)
{
    FBP_GIVEN(count);
    struct fbp_directions set;

    fbp_message_clear();
    *count = 0;
    FBP_TRY(check(given, &set));
    return count_of(&set, count);
}

fbp_status fbp_directions_make(const struct fbp_directions *given, double (*out)[3])
{
    FBP_GIVEN(out);
    struct fbp_directions set;
    size_t count;

    fbp_message_clear();
    FBP_TRY(check(given, &set));
    FBP_TRY(count_of(&set, &count));
    (set.set == FBP_SET_FIBONACCI ? put_spiral : put_rings)(&set, out);
    return set.order == FBP_ORDER_MSPS ? most_apart(out, count) : FBP_OK;
}

void fbp_plane_view(const double direction[3], double spacing_mm, double first_mm, size_t n_samples,
                    struct fbp_view *out)
{
    FBP_GIVEN_ELSE(, direction, out);
    const double middle = first_mm + ((double)n_samples - 1) / 2 * spacing_mm;

    *out = (struct fbp_view){{0}, {0}, {0}, {0}};
    for (int i = 0; i < 3; i++) {
        out->d[i] = middle * direction[i];
        out->u[i] = spacing_mm * direction[i];
    }
}
