#include "mex_args.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const double UNIT = 1e-6; /* how far a direction's length may be from 1 */

bool mex_fail(struct mex_failure *failure, const char *id, const char *format, ...)
{
    va_list list;

    if (failure->id[0])
        return false;
    snprintf(failure->id, sizeof failure->id, "fbp:%s", id);
    va_start(list, format);
    vsnprintf(failure->text, sizeof failure->text, format, list);
    va_end(list);
    return false;
}

bool mex_fail_library(struct mex_failure *failure)
{
    return mex_fail(failure, "library", "%s", fbp_message());
}

void mex_raise(const struct mex_failure *failure)
{
    if (failure->id[0])
        mexErrMsgIdAndTxt(failure->id, "%s", failure->text);
}

static bool copy_numbers(const mxArray *array, size_t n, double *out)
{
    const void *data = mxGetData(array);

    for (size_t i = 0; i < n; i++)
        out[i] = mxIsDouble(array) ? ((const double *)data)[i] : (double)((const float *)data)[i];
    return true;
}

bool mex_numbers(struct mex_failure *f, const char *name, const mxArray *array, size_t n,
                 double **out)
{
    const size_t found = mxGetNumberOfElements(array);

    if (!(mxIsDouble(array) || mxIsSingle(array)) || mxIsComplex(array) || mxIsSparse(array))
        return mex_fail(f, "type", "%s: expected real numbers, double or single, got %s%s", name,
                        mxIsComplex(array) ? "complex " : "", mxGetClassName(array));
    if (found == 0 || (n && found != n))
        return mex_fail(f, "size", "%s: expected %zu number%s, got %zu", name, n ? n : 1,
                        n == 1 ? "" : "s", found);
    *out = mxMalloc(found * sizeof **out);
    return copy_numbers(array, found, *out);
}

bool mex_number(struct mex_failure *f, const char *name, const mxArray *array, double lo, double hi,
                double *out)
{
    double *number;

    if (!mex_numbers(f, name, array, 1, &number))
        return false;
    *out = *number;
    if (!(isfinite(*out) && *out >= lo && *out <= hi))
        return mex_fail(f, "value", "%s: expected %g to %g, got %g", name, lo, hi, *out);
    return true;
}

bool mex_count(struct mex_failure *f, const char *name, const mxArray *array, size_t lo, size_t hi,
               size_t *out)
{
    double number;

    if (!mex_number(f, name, array, (double)lo, (double)hi, &number))
        return false;
    if (number != floor(number))
        return mex_fail(f, "value", "%s: expected a whole number, got %g", name, number);
    *out = (size_t)number;
    return true;
}

bool mex_text(struct mex_failure *f, const char *name, const mxArray *array, const char **out)
{
    if (!mxIsChar(array))
        return mex_fail(f, "type", "%s: expected a text in single quotes, got %s", name,
                        mxGetClassName(array));
    *out = mxArrayToString(array);
    return *out || mex_fail(f, "type", "%s: expected a text of one line", name);
}

/* "auto, bands, voronoi", as far as there is room. */
static void join(const char *(*list)(size_t), char *out, size_t n)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; list(i) && used < n; i++)
        used += (size_t)snprintf(out + used, n - used, "%s%s", i ? ", " : "", list(i));
}

bool mex_choice(struct mex_failure *f, const char *name, const mxArray *array,
                const char *(*list)(size_t), size_t *out)
{
    const char *text;
    char all[400];

    if (!mex_text(f, name, array, &text))
        return false;
    for (size_t i = 0; list(i); i++)
        if (strcasecmp(list(i), text) == 0) {
            *out = i;
            return true;
        }
    join(list, all, sizeof all);
    return mex_fail(f, "value", "%s: expected one of %s, got \"%.80s\"", name, all, text);
}

static bool check_direction(struct mex_failure *f, size_t k, const double v[3])
{
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);

    if (!(fabs(length - 1) <= UNIT))
        return mex_fail(f, "directions",
                        "GX, GY, GZ: direction %zu has length %.6g, expected unit vectors; divide "
                        "it by its length",
                        k + 1, length);
    return true;
}

bool mex_directions(struct mex_failure *f, const mxArray *const xyz[3], size_t n, double (**out)[3],
                    size_t *n_out)
{
    static const char *const names[3] = {"GX", "GY", "GZ"};
    double *list[3];

    n = n ? n : mxGetNumberOfElements(xyz[0]);
    for (int i = 0; i < 3; i++)
        if (!mex_numbers(f, names[i], xyz[i], n, &list[i]))
            return false;
    *out = mxMalloc(n * sizeof **out);
    *n_out = n;
    for (size_t k = 0; k < n; k++) {
        for (int i = 0; i < 3; i++)
            (*out)[k][i] = list[i][k];
        if (!check_direction(f, k, (*out)[k]))
            return false;
    }
    return true;
}

static bool take_option(struct mex_failure *f, const struct mex_option *options, void *call,
                        const char *name, const mxArray *value)
{
    char all[400];
    size_t used = 0;

    for (const struct mex_option *o = options; o->name; o++)
        if (strcasecmp(o->name, name) == 0)
            return o->take(call, o->name, value);
    for (const struct mex_option *o = options; o->name && used < sizeof all; o++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", o == options ? "" : ", ",
                                 o->name);
    return mex_fail(f, "option", "unknown option \"%.80s\"; the options are %s", name, all);
}

bool mex_options(struct mex_failure *f, const struct mex_option *options, void *call, int n,
                 const mxArray *const *pairs)
{
    const char *name;

    for (int i = 0; i < n; i += 2) {
        if (!mex_text(f, "the name of an option", pairs[i], &name))
            return false;
        if (i + 1 == n)
            return mex_fail(f, "option", "%.80s: its value is missing", name);
        if (!take_option(f, options, call, name, pairs[i + 1]))
            return false;
    }
    return true;
}
