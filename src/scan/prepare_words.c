/* The steps before plane integrals, as words: "baseline=1,phase=all". */
#include "fbp/preparation.h"

#include "base/base.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to `most` numbers, joined by ':'; how many, -1: something else. */
static int numbers(const char *text, double *out, int most)
{
    int n = 0;

    for (const char *p = text; *p && n < most; n++) {
        char *end;
        out[n] = strtod(p, &end);
        if (end == p || !isfinite(out[n]) || (*end && *end != ':') || (*end == ':' && !end[1]))
            return -1;
        p = *end ? end + 1 : end;
        if (!*p)
            return n + 1;
    }
    return -1;
}

static bool whole(double x, double most)
{
    return x >= 0 && x <= most && !(x < floor(x) || x > floor(x));
}

static bool take_baseline(const char *value, struct fbp_preparation *out)
{
    double order;

    if (numbers(value, &order, 1) != 1 || !whole(order, 1))
        return false;
    out->baseline_terms = (size_t)order + 1;
    return true;
}

static bool take_samples(const char *value, struct fbp_preparation *out)
{
    double v[4] = {0};
    const int n = numbers(value, v, 4);

    for (int i = 0; i < 4; i++)
        if (!whole(v[i], 1e9))
            return false;
    for (int i = 0; i < 4; i++)
        out->baseline_samples[i / 2][i % 2] = (size_t)v[i];
    return n == 2 || n == 4;
}

static bool take_resample(const char *value, struct fbp_preparation *out)
{
    out->resample = 1;
    return !*value;
}

static bool take_fft(const char *value, struct fbp_preparation *out)
{
    double n;

    if (numbers(value, &n, 1) != 1 || !whole(n, 1e9) || n < 1)
        return false;
    out->fft = (size_t)n;
    return true;
}

static bool take_zero(const char *value, struct fbp_preparation *out)
{
    return numbers(value, &out->zero_sample, 1) == 1;
}

static bool take_dwell(const char *value, struct fbp_preparation *out)
{
    return numbers(value, &out->dwell_us, 1) == 1 && out->dwell_us > 0;
}

static bool take_phase(const char *value, struct fbp_preparation *out)
{
    out->phase = strcmp(value, "all") == 0    ? FBP_PHASE_ALL
                 : strcmp(value, "view") == 0 ? FBP_PHASE_VIEW
                                              : FBP_PHASE_GIVEN;
    return out->phase != FBP_PHASE_GIVEN || numbers(value, &out->phase_deg, 1) == 1;
}

static bool take_profile(const char *value, struct fbp_preparation *out)
{
    free(out->profile);
    out->profile = *value ? fbp_strdup(value) : NULL;
    return *value != '\0';
}

static bool take_threshold(const char *value, struct fbp_preparation *out)
{
    return numbers(value, &out->profile_threshold, 1) == 1;
}

static const struct {
    const char *name, *expected;
    bool (*take)(const char *value, struct fbp_preparation *out);
} steps[] = {{"baseline", "0 (a constant) or 1 (a line)", take_baseline},
             {"baseline_samples", "FIRST:END or FIRST:END:FIRST:END, from 0", take_samples},
             {"resample", "no value", take_resample},
             {"fft", "the number of samples of a spectrum", take_fft},
             {"zero_sample", "the sample at time 0", take_zero},
             {"dwell_us", "the time between samples (us)", take_dwell},
             {"phase", "all, view or degrees", take_phase},
             {"profile", "a file", take_profile},
             {"profile_threshold", "a number from 0 to 1", take_threshold}};

enum { N_STEPS = sizeof steps / sizeof *steps };

static fbp_status unknown(const char *name)
{
    const char *names[N_STEPS], *near;

    for (size_t i = 0; i < N_STEPS; i++)
        names[i] = steps[i].name;
    near = fbp_nearest(name, names, N_STEPS);
    return fbp_fail(FBP_ERR_INVALID,
                    "prepare: there is no step \"%s\"%s%s%s: fbp recon --help lists them", name,
                    near ? ": did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static fbp_status take_step(char *word, struct fbp_preparation *out)
{
    char *value = word + strcspn(word, "=");
    size_t i = 0;

    if (*value)
        *value++ = '\0';
    while (i < N_STEPS && strcmp(word, steps[i].name) != 0)
        i++;
    if (i == N_STEPS)
        return unknown(word);
    if (steps[i].take(value, out))
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID, "prepare: %s: found \"%s\", expected %s", word, value,
                    steps[i].expected);
}

fbp_status fbp_preparation_parse(const char *text, struct fbp_preparation *out)
{
    FBP_GIVEN(text);
    struct fbp_preparation own = {.struct_size = sizeof own};
    char *words, *save = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(preparation, out));
    words = fbp_strdup(text);
    if (!words)
        return fbp_fail_nomem(strlen(text), "a text");
    for (char *word = strtok_r(words, ",", &save); word && st == FBP_OK;
         word = strtok_r(NULL, ",", &save))
        st = take_step(word, &own);
    free(words);
    if (st == FBP_OK)
        FBP_GIVE(preparation, out, &own);
    else
        free(own.profile);
    return st;
}
