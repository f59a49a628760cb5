/* "prepare" of a scan file: what is done with stored rows before they are plane integrals. */
#include "scan/file/preparation.h"
#include "scan/file/scan_inputs.h"
#include "scan/format/number_table.h"
#include "scan/scan_parts.h"

#include "base/base.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {"baseline", "baseline_samples", "resample",
                                   "fft",      "zero_sample",      "dwell_us",
                                   "phase",    "profile",          "profile_threshold"};

enum { N_KEYS = sizeof keys / sizeof *keys };

static fbp_status read_baseline(const struct fbp_json *o, struct fbp_preparation *p)
{
    double order = 0, samples[4] = {0};
    size_t n = 0;

    FBP_TRY(fbp_json_numbers(o, "baseline", &fbp_range_finite, 1, 1, &order, &n));
    if (n == 1 && !(order >= 0 && order <= 1 && (order <= 0 || order >= 1)))
        return fbp_json_wrong(o, "baseline", "0 (a constant) or 1 (a line)");
    if (n == 1)
        p->baseline_terms = (size_t)order + 1;
    FBP_TRY(fbp_json_numbers(o, "baseline_samples", &fbp_range_finite, 2, 4, samples, &n));
    for (size_t i = 0; i < n; i++) {
        if (n == 3 || !(samples[i] >= 0 && samples[i] <= FBP_SIDE_MAX))
            return fbp_json_wrong(o, "baseline_samples",
                                  "[first, end], or [first, end, first, end], counted from 0");
        p->baseline_samples[i / 2][i % 2] = (size_t)samples[i];
    }
    return FBP_OK;
}

static fbp_status read_fft(const struct fbp_json *o, struct fbp_preparation *p)
{
    double samples = 0;
    size_t n = 0;

    FBP_TRY(fbp_json_numbers(o, "fft", &fbp_range_side, 1, 1, &samples, &n));
    if (n == 1)
        p->fft = (size_t)samples;
    FBP_TRY(fbp_json_numbers(o, "zero_sample", &fbp_range_finite, 1, 1, &p->zero_sample, &n));
    return fbp_json_numbers(o, "dwell_us", &fbp_range_finite, 1, 1, &p->dwell_us, &n);
}

static fbp_status read_phase(const struct fbp_json *o, struct fbp_preparation *p)
{
    static const char *const names[] = {"all", "view"};
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(o->object, "phase");
    size_t which = 0, n = 0;

    if (!value)
        return FBP_OK;
    if (cJSON_IsString(value)) {
        while (which < 2 && strcmp(value->valuestring, names[which]) != 0)
            which++;
        if (which == 2)
            return fbp_json_wrong(o, "phase", "\"all\", \"view\" or degrees");
        p->phase = which == 0 ? FBP_PHASE_ALL : FBP_PHASE_VIEW;
        return FBP_OK;
    }
    p->phase = FBP_PHASE_GIVEN;
    return fbp_json_numbers(o, "phase", &fbp_range_finite, 1, 1, &p->phase_deg, &n);
}

static fbp_status read_profile(const struct fbp_scan_file *f, const struct fbp_json *o,
                               struct fbp_preparation *p)
{
    const char *text = NULL;
    size_t n = 0;

    FBP_TRY(fbp_json_text(o, "profile", &text));
    if (text) {
        p->profile = fbp_path_join(f->top.file, text);
        if (!p->profile)
            return fbp_fail_nomem(strlen(text), "a path");
    }
    return fbp_json_numbers(o, "profile_threshold", &fbp_range_finite, 1, 1, &p->profile_threshold,
                            &n);
}

/* Places of the samples: a list, or a file. */
static fbp_status read_places(const struct fbp_scan_file *f, const struct fbp_json *o,
                              struct fbp_preparation *p)
{
    const char *text = NULL;
    size_t n = 0;

    if (!fbp_json_has(o, "resample"))
        return FBP_OK;
    if (!cJSON_IsString(cJSON_GetObjectItemCaseSensitive(o->object, "resample"))) {
        FBP_TRY(fbp_json_list(o, "resample", &fbp_range_finite, &p->places, &n));
    } else {
        FBP_TRY(fbp_json_text(o, "resample", &text));
        char *path = fbp_path_join(f->top.file, text);
        if (!path)
            return fbp_fail_nomem(strlen(text), "a path");
        fbp_status st = fbp_number_table_load(path, 1, "one number a sample", &p->places, &n);
        if (st == FBP_OK)
            st = fbp_scan_add_file(f->scan, path);
        free(path);
        FBP_TRY(fbp_json_because(o, "resample", st));
    }
    p->resample = 1;
    if (n == f->scan->panel.n_columns)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: prepare.resample: found %zu places, but rows have %zu samples: give one a "
                    "sample",
                    f->top.file, n, f->scan->panel.n_columns);
}

/* What is given beside the file stands in place of what that says, step by step. */
static fbp_status take_given(struct fbp_preparation *p, const struct fbp_preparation *given)
{
    struct fbp_preparation *own;

    FBP_TRY(fbp_preparation_copy(&own, given));
    if (!own)
        return FBP_OK;
    if (own->baseline_terms) {
        p->baseline_terms = own->baseline_terms;
        memcpy(p->baseline_samples, own->baseline_samples, sizeof p->baseline_samples);
    }
    if (own->fft) {
        p->fft = own->fft;
        p->zero_sample = own->zero_sample;
        p->dwell_us = own->dwell_us > 0 ? own->dwell_us : p->dwell_us;
    }
    if (own->phase) {
        p->phase = own->phase;
        p->phase_deg = own->phase_deg;
    }
    if (own->profile) {
        free(p->profile);
        p->profile = own->profile;
        own->profile = NULL;
        p->profile_threshold = own->profile_threshold;
    }
    p->resample |= own->resample;
    fbp_preparation_free(own);
    return FBP_OK;
}

fbp_status fbp_scan_read_preparation(const struct fbp_scan_file *f)
{
    struct fbp_preparation *p = NULL;
    struct fbp_json o;

    FBP_TRY(fbp_json_child(&f->top, "prepare", "prepare.", keys, N_KEYS, &o));
    if (!o.object && !f->preparation)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&p, 1, sizeof *p, "a preparation"));
    p->struct_size = sizeof *p;
    p->n_samples = f->scan->panel.n_columns;
    f->scan->preparation = p; /* freed with it, whatever becomes of it */
    if (o.object) {
        FBP_TRY(read_baseline(&o, p));
        FBP_TRY(read_fft(&o, p));
        FBP_TRY(read_phase(&o, p));
        FBP_TRY(read_profile(f, &o, p));
        FBP_TRY(read_places(f, &o, p));
    }
    FBP_TRY(take_given(p, f->preparation));
    if (p->resample && !p->places)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: prepare: resample: the file does not say where the samples lie: add "
                        "\"prepare\": {\"resample\": places in mm, a list or a file}",
                        f->top.file);
    return fbp_preparation_check(f->top.file, p, p->n_samples);
}
