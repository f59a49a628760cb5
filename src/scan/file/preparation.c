/* Preparation of stored rows to plane integrals (EPR): checks of its parameters
 * (fbp_preparation_check()), the axis of prepared rows, a description, and parsing of
 * "baseline=1,phase=all" (fbp_preparation_parse(), for --prepare). prep/traces.c prepares the
 * rows.
 * Used by: cli/, pipeline/, scan/, scan/file/, scan/format/. */
#include "scan/file/scan.h"

#include "base/cache.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

fbp_status fbp_preparation_copy(struct fbp_preparation **out, const struct fbp_preparation *p)
{
    struct fbp_preparation own, *copy;

    *out = NULL;
    if (!p)
        return FBP_OK;
    FBP_TRY(FBP_COPY_IN(preparation, &own, p));
    FBP_TRY(fbp_calloc((void **)&copy, 1, sizeof *copy, "a preparation"));
    *copy = own;
    copy->struct_size = sizeof *copy;
    copy->profile = own.profile ? fbp_strdup(own.profile) : NULL;
    copy->places = NULL;
    if (own.profile && !copy->profile) {
        free(copy);
        return fbp_fail_nomem(strlen(own.profile), "a path");
    }
    *out = copy;
    return FBP_OK;
}

void fbp_preparation_free(struct fbp_preparation *p)
{
    if (!p)
        return;
    free(p->profile);
    free(p->places);
    free(p);
}

fbp_status fbp_preparation_check(const char *file, const struct fbp_preparation *p, size_t n)
{
    size_t count = 0;

    if (p->baseline_terms > 2)
        return FBP_INVALID("%s: prepare: baseline: expected 0 (a constant) or 1 (a line)", file);
    for (int i = 0; i < 2; i++) {
        const size_t *r = p->baseline_samples[i];
        if (r[0] > r[1] || r[1] > n)
            return FBP_INVALID(
                "%s: prepare: baseline_samples: found %zu to %zu, but a row has samples 0 to %zu; "
                "give the first sample and the end (excluded) of one or two intervals",
                file, r[0], r[1], n - 1);
        count += r[1] - r[0];
    }
    if (count > 0 && count < p->baseline_terms)
        return FBP_INVALID(
            "%s: prepare: baseline_samples: a baseline of order 1 needs two samples or more", file);
    if (count > 0 && p->baseline_terms == 0)
        return FBP_INVALID(
            "%s: prepare: baseline_samples: needs the order of the baseline; give \"baseline\"",
            file);

    if (p->fft == 0 && (fabs(p->zero_sample) > 0 || fabs(p->dwell_us) > 0))
        return FBP_INVALID("%s: prepare: zero_sample and dwell_us apply to time traces only; give "
                           "\"fft\", the number of samples of a spectrum, or omit them",
                           file);
    if (p->fft > 0) {
        if (p->fft < n || p->fft > (size_t)FBP_SIDE_MAX)
            return FBP_INVALID("%s: prepare: fft: found %zu, expected at least the %zu samples of "
                               "a trace and at most %d",
                               file, p->fft, n, (int)FBP_SIDE_MAX);
        if (!(p->zero_sample >= 0 && p->zero_sample <= (double)n - 1))
            return FBP_INVALID(
                "%s: prepare: zero_sample: found %g, but traces have samples 0 to %zu", file,
                p->zero_sample, n - 1);
        if (!(p->dwell_us >= 0) || !isfinite(p->dwell_us))
            return FBP_INVALID(
                "%s: prepare: dwell_us: found %g, expected the time between two samples", file,
                p->dwell_us);
    }

    if ((unsigned)p->phase > FBP_PHASE_VIEW || !isfinite(p->phase_deg))
        return FBP_INVALID("%s: prepare: phase: expected \"all\", \"view\" or degrees", file);
    if (!p->profile && fabs(p->profile_threshold) > 0)
        return FBP_INVALID(
            "%s: prepare: profile_threshold: needs \"profile\"; give it, or omit profile_threshold",
            file);
    if (!(p->profile_threshold >= 0 && p->profile_threshold < 1))
        return FBP_INVALID("%s: prepare: profile_threshold: found %g, expected a fraction of the "
                           "profile's greatest number, from 0 to 1",
                           file, p->profile_threshold);
    return FBP_OK;
}

fbp_status fbp_preparation_axis(const char *file, const struct fbp_preparation *p,
                                struct fbp_axis *axis)
{
    const double *v = p->places;
    const size_t n = axis->n;

    FBP_TRY(fbp_preparation_check(file, p, n));
    if (v) {
        for (size_t i = 1; i < n; i++)
            if (!((v[i] - v[i - 1]) * (v[n - 1] - v[0]) > 0))
                return FBP_INVALID(
                    "%s: prepare: resample: position %zu is %g after %g, but positions must "
                    "increase or decrease throughout; sort the samples",
                    file, i, v[i], v[i - 1]);
        if (n < 4)
            return FBP_INVALID("%s: prepare: resample: found %zu samples, expected four or more",
                               file, n);
        axis->first = v[0];
        axis->step = (v[n - 1] - axis->first) / (double)(n - 1);
    }
    if (p->fft == 0)
        return FBP_OK;

    if (!v && p->dwell_us > 0)
        axis->step = p->dwell_us;
    if (!(axis->step > 0))
        return FBP_INVALID("%s: prepare: fft: the time between samples is %g us, expected a time "
                           "above 0; give dwell_us, or increasing times",
                           file, axis->step);
    axis->step = 1 / (axis->step * (double)p->fft);
    const size_t below = p->fft / 2; /* number of frequencies below zero */
    axis->first = -(double)below * axis->step;
    axis->n = p->fft;
    return FBP_OK;
}

fbp_status fbp_preparation_places(const char *file, const char *name, struct fbp_preparation *p,
                                  const double *v, size_t n, struct fbp_axis *out)
{
    /* Steps count as equal if none differs from their mean by more than this fraction of it. */
    const double most = 1e-3;
    const double step = n > 1 ? (v[n - 1] - v[0]) / (double)(n - 1) : 0;
    bool even = true;

    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return FBP_INVALID("%s: %s: number %zu is not finite; correct it", file, name, i);
    for (size_t i = 1; i < n; i++)
        if (!((v[i] - v[i - 1]) * step > 0))
            return FBP_INVALID(
                "%s: %s is not monotonic: number %zu is %g, the previous one %g; sort the samples",
                file, name, i, v[i], v[i - 1]);
    if (!(fabs(step) > 0))
        return FBP_INVALID("%s: %s has %zu number, expected two or more", file, name, n);

    *out = (struct fbp_axis){.n = n, .first = v[0], .step = step};
    for (size_t i = 1; i < n; i++)
        even = even && fabs(v[i] - v[i - 1] - step) <= most * fabs(step);
    if (even)
        return FBP_OK;
    if (!p || !p->resample)
        return FBP_UNSUPPORTED("%s: %s has unequal steps; resample the data to equal steps, or "
                               "give --prepare resample",
                               file, name);
    FBP_TRY(fbp_calloc((void **)&p->places, n, sizeof *p->places, "an axis"));
    memcpy(p->places, v, n * sizeof *v);
    return FBP_OK;
}

uint64_t fbp_preparation_hash(uint64_t h, const struct fbp_preparation *p)
{
    if (!p)
        return h;
    const double values[] = {
        (double)p->baseline_terms, (double)p->fft, p->zero_sample,      p->dwell_us,
        (double)p->phase,          p->phase_deg,   p->profile_threshold};
    h = fbp_hash(h, values, sizeof values);
    h = fbp_hash(h, p->baseline_samples, sizeof p->baseline_samples);
    return p->places ? fbp_hash(h, p->places, p->n_samples * sizeof *p->places) : h;
}

void fbp_preparation_describe(const struct fbp_preparation *p, char *buf, size_t n)
{
    const char *name = p && p->profile ? strrchr(p->profile, '/') : NULL;

    buf[0] = '\0';
    if (!p)
        return;
    if (p->baseline_terms)
        fbp_text_add(buf, n, ", ", "baseline of order %zu", p->baseline_terms - 1);
    if (p->places)
        fbp_text_add(buf, n, ", ", "resampled to equal steps");
    if (p->fft)
        fbp_text_add(buf, n, ", ", "FFT of traces to %zu samples, time 0 at sample %g", p->fft,
                     p->zero_sample);
    if (p->phase == FBP_PHASE_GIVEN)
        fbp_text_add(buf, n, ", ", "phase %g degrees", p->phase_deg);
    if (p->phase > FBP_PHASE_GIVEN)
        fbp_text_add(buf, n, ", ", "phase determined for %s",
                     p->phase == FBP_PHASE_ALL ? "all views" : "each view");
    if (p->profile)
        fbp_text_add(buf, n, ", ", "divided by profile %.60s above %g",
                     name ? name + 1 : p->profile,
                     p->profile_threshold > 0 ? p->profile_threshold : 0.1);
    /* Replace quotes, backslashes and control characters by "_", because the text is also written
     * to headers of files and to JSON. */
    for (char *c = buf; *c; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = '_';
}

/* Read up to `most` numbers joined by ":".  Returns their number; -1: the text has another form. */
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

enum { BASELINE, SAMPLES, RESAMPLE, FFT, ZERO, DWELL, PHASE, PROFILE, THRESHOLD, N_STEPS };

fbp_status fbp_preparation_parse(const char *text, struct fbp_preparation *out)
{
    static const char *const names[N_STEPS] = {"baseline", "baseline_samples", "resample",
                                               "fft",      "zero_sample",      "dwell_us",
                                               "phase",    "profile",          "profile_threshold"};
    static const char *const expected[N_STEPS] = {"0 (a constant) or 1 (a line)",
                                                  "FIRST:END or FIRST:END:FIRST:END, from 0",
                                                  "no value",
                                                  "the number of samples of a spectrum",
                                                  "the sample at time 0",
                                                  "the time between samples (us)",
                                                  "all, view or degrees",
                                                  "a file",
                                                  "a number from 0 to 1"};

    FBP_REQUIRE(text);
    struct fbp_preparation own = {.struct_size = sizeof own};
    char *words, *save = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(preparation, out));
    words = fbp_strdup(text);
    if (!words)
        return fbp_fail_nomem(strlen(text), "a text");
    for (char *word = strtok_r(words, ",", &save); word && st == FBP_OK;
         word = strtok_r(NULL, ",", &save)) {
        char *value = word + strcspn(word, "=");
        int i = 0;
        if (*value)
            *value++ = '\0';
        while (i < N_STEPS && strcmp(word, names[i]) != 0)
            i++;
        if (i == N_STEPS) {
            const char *near = fbp_nearest(word, names, N_STEPS);
            st = FBP_INVALID(
                "prepare: unknown step \"%s\"%s%s%s; fbp recon --help-all lists the steps", word,
                near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
            break;
        }

        double v[4] = {0};
        const int n = numbers(value, v, i == SAMPLES ? 4 : 1);
        bool right = n == 1;
        switch (i) {
        case BASELINE:
            right = right && whole(v[0], 1);
            own.baseline_terms = right ? (size_t)v[0] + 1 : 0;
            break;
        case SAMPLES:
            right = n == 2 || n == 4;
            for (int k = 0; k < 4 && right; k++) {
                right = whole(v[k], 1e9);
                own.baseline_samples[k / 2][k % 2] = right ? (size_t)v[k] : 0;
            }
            break;
        case RESAMPLE:
            own.resample = 1;
            right = !*value;
            break;
        case FFT:
            right = right && whole(v[0], 1e9) && v[0] >= 1;
            own.fft = right ? (size_t)v[0] : 0;
            break;
        case ZERO:
            own.zero_sample = v[0];
            break;
        case DWELL:
            own.dwell_us = v[0];
            right = right && v[0] > 0;
            break;
        case PHASE:
            own.phase = strcmp(value, "all") == 0    ? FBP_PHASE_ALL
                        : strcmp(value, "view") == 0 ? FBP_PHASE_VIEW
                                                     : FBP_PHASE_GIVEN;
            own.phase_deg = own.phase == FBP_PHASE_GIVEN ? v[0] : own.phase_deg;
            right = right || own.phase != FBP_PHASE_GIVEN;
            break;
        case PROFILE:
            free(own.profile);
            own.profile = NULL;
            right = *value != '\0';
            if (right)
                st = fbp_scan_path(&own.profile, NULL, "%s", value);
            break;
        default:
            own.profile_threshold = v[0];
        }
        if (!right)
            st = FBP_INVALID("prepare: %s: found \"%s\", expected %s", word, value, expected[i]);
    }
    free(words);
    if (st == FBP_OK)
        FBP_COPY_OUT(preparation, out, &own);
    else
        free(own.profile);
    return st;
}
