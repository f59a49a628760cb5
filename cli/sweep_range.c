/* Parsing of --sweep NAME=FROM:TO:STEP, and the values of the range. Called by cmd_recon.c and
 * sweep.c. */
#include "sweep.h"

#include "scan/adjust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const sweep_scores[] = {"sharpness", "negativity", NULL};

static bool find_parameter(const char *name, size_t n, enum fbp_adjust *out)
{
    static const char other[] = "center";

    for (size_t i = 0; i < FBP_ADJUSTS; i++)
        if (strlen(fbp_adjust_name(i)) == n && strncmp(fbp_adjust_name(i), name, n) == 0) {
            *out = (enum fbp_adjust)i;
            return true;
        }
    *out = FBP_ADJUST_CENTRE;
    return n == sizeof other - 1 && strncmp(other, name, n) == 0;
}

/* Read FROM:TO:STEP, three decimal numbers. */
static bool read_range(const char *text, double v[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        if (!strchr("+-.0123456789", *text) || *text == '\0')
            return false;
        v[i] = strtod(text, &end);
        if (end == text || *end != (i < 2 ? ':' : '\0') || !isfinite(v[i]))
            return false;
        text = end + 1;
    }
    return true;
}

bool sweep_parse(const char *text, struct sweep_range *out, char *why, size_t n)
{
    const char *equals = strchr(text, '=');
    double v[3];

    *out = (struct sweep_range){0};
    if (!equals || !find_parameter(text, (size_t)(equals - text), &out->parameter)) {
        size_t len = (size_t)snprintf(why, n, "expected NAME=FROM:TO:STEP with a NAME of");
        for (size_t i = 0; i < FBP_ADJUSTS && len < n; i++)
            len += (size_t)snprintf(why + len, n - len, "%s %s", i ? "," : "", fbp_adjust_name(i));
        return false;
    }
    if (!read_range(equals + 1, v)) {
        snprintf(why, n, "expected three numbers FROM:TO:STEP after %.*s", (int)(equals - text + 1),
                 text);
        return false;
    }
    if (!(v[2] > 0 && v[1] > v[0])) {
        snprintf(why, n, "expected FROM below TO and a positive STEP");
        return false;
    }
    const double count = floor((v[1] - v[0]) / v[2] + 1e-9) + 1;
    if (count < 2 || count > SWEEP_MOST) {
        snprintf(why, n, "the range contains %.6g values, expected 2 to %d; choose another STEP",
                 count, SWEEP_MOST);
        return false;
    }
    out->from = v[0];
    out->to = v[1];
    out->step = v[2];
    out->n = (size_t)count;
    return true;
}

double sweep_value(const struct sweep_range *r, size_t i)
{
    const double value = r->from + (double)i * r->step;
    return fabs(value) < 1e-9 * r->step ? 0 : value;
}
