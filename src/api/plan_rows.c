/* Whether views are filtered once, into a scratch file, where a volume is computed in many slabs.
 */
#include "api/plan.h"

#include "backend/rows.h"
#include "base/text.h"
#include "plan/job.h"
#include "plan/predict.h"

#include <stdio.h>

/* Seconds a sample, as measured on two cores (docs/performance.md, "Filtered views in a file").
 * Those of a thread are shared by all. */
static const double READ = 0.9e-9, WRITE = 1.2e-9, UNPACK_THREAD = 7.5e-9, FILTER_THREAD = 4.3e-9;

/* To read a sample of the scan, and to filter it. */
static double read_seconds(const struct fbp_job *job)
{
    return READ + (job->unpacks || job->in_order ? UNPACK_THREAD / job->n_threads : 0);
}

static double filter_seconds(const fbp_plan *p)
{
    struct fbp_work_request request;

    fbp_plan_work_request(p, &p->tables.job, &request);
    const struct fbp_rates rates = fbp_work_rates(&request);
    return rates.filter > 0 ? rates.filter : FILTER_THREAD / p->tables.job.n_threads;
}

/* again: rows are read and filtered so many times without a file, as part of all; once: those that
 * the file holds; from: those that are read from it. */
static bool pays(const fbp_plan *p, double again, double once, double from)
{
    const double sample = read_seconds(&p->tables.job) + filter_seconds(p);

    return (again - once) * sample > once * WRITE + from * READ;
}

/* Could a file be used at all? */
static const char *why_not(const fbp_plan *p)
{
    if (p->stages.used)
        return "two stages filter views once, and keep them in memory";
    if (p->tables.job.filtered)
        return "the views are filtered already";
    if (fbp_in_double(&p->tables.job))
        return "it holds rows of float, and these are in double";
    if (!p->backend->gives_rows)
        return "this device does not give filtered rows";
    if (p->follow)
        return "a scan that is still being written is computed as it comes";
    if (p->work.kept)
        return "filtered views are kept on the device";
    if (p->hold)
        return "memory holds the unpacked views";
    if (p->ranks.n_parts > 1)
        return "processes share the views";
    return NULL;
}

static void say_not_used(const fbp_plan *p, const char *why)
{
    char line[200];

    if (!p->params.scratch || p->ahead.folder)
        return;
    snprintf(line, sizeof line, "--scratch is not used: %s", why);
    fbp_plan_note(p, FBP_LOG_NOTE, line);
}

/* Rows are read more than once: what would help. */
static void advise(const fbp_plan *p)
{
    char line[300], bytes[32];

    if (p->work.n_slabs <= fbp_plan_slabs_each(p) * p->n_devices)
        return; /* as a part wants it, and not for want of memory */
    snprintf(line, sizeof line,
             "memory holds %zu of %zu slabs at a time, so that rows are read and filtered %.3g "
             "times: raise the limit of memory, or name a folder with %s of room (--scratch)",
             p->n_devices, p->work.n_slabs, p->work.view_reads,
             fbp_bytes_text(bytes, sizeof bytes, fbp_rows_bytes(&p->tables.job)));
    fbp_plan_note(p, FBP_LOG_NOTE, line);
}

/* Whether a plan with a scratch file can be open, too. */
static fbp_status divide_beside(const fbp_plan *p, uint64_t open_bytes, struct fbp_plan_rows *r)
{
    struct fbp_work_request request;

    fbp_plan_work_request(p, &p->tables.job, &request);
    request.base_bytes += open_bytes;
    const fbp_status st = fbp_work_rows(&request, &r->beside);
    r->may_open = st == FBP_OK;
    if (st != FBP_ERR_NOMEM)
        return st;
    fbp_message_clear();
    return FBP_OK;
}

/* Both divisions.  What the first needs of a device is there beside what the second has, as a plan
 * may be open. */
static fbp_status divide(const fbp_plan *p, struct fbp_plan_rows *r)
{
    struct fbp_work_request request;

    fbp_plan_work_request(p, &p->tables.job, &request);
    FBP_TRY(fbp_work_rows(&request, &r->filtering));
    fbp_plan_work_request(p, &r->job, &request);
    if (request.device_limit > r->filtering.device_bytes)
        request.device_limit -= r->filtering.device_bytes;
    FBP_TRY(fbp_work_divide(&request, &r->work));
    return divide_beside(p, fbp_work_open_bytes(&r->work, &request), r);
}

/* Rows into the file, while others are written, and then a run from there. */
static fbp_status predict(fbp_plan *p)
{
    const struct fbp_job *job = &p->tables.job;
    const struct fbp_plan_rows *r = &p->rows;
    const double rows = r->filtering.view_reads * (double)job->n_views * (double)job->panel.n_rows;
    const double samples = rows * (double)job->panel.n_columns;
    struct fbp_predicted *t = &p->info.predicted;
    struct fbp_work_request request;

    fbp_plan_work_request(p, &r->job, &request);
    struct fbp_rates rates = fbp_work_rates(&request);
    if (rates.update <= 0)
        return FBP_OK; /* nothing is predicted */
    rates.filter = 0;  /* rows from the file are only laid out */
    FBP_TRY(fbp_predict(request.machine, &rates, &r->job, &r->work, t));
    const double read = samples * read_seconds(job), filter = samples * filter_seconds(p);
    const double upload = samples * (double)fbp_raw_size(job) * rates.upload;
    const double all = read + upload + filter, write = samples * WRITE;
    t->read += read;
    t->upload += upload;
    t->filter += filter;
    t->total += all > write ? all : write;
    return FBP_OK;
}

static fbp_status take(fbp_plan *p)
{
    struct fbp_plan_rows *r = &p->rows;

    r->used = true;
    p->work = r->work;
    p->work.device_bytes += r->filtering.device_bytes;
    if (p->work.memory_bytes < r->filtering.memory_bytes)
        p->work.memory_bytes = r->filtering.memory_bytes;
    return predict(p);
}

fbp_status fbp_plan_consider_rows(fbp_plan *p)
{
    struct fbp_plan_rows *r = &p->rows;
    const char *reason = why_not(p);
    char line[120];

    if (reason || p->work.view_reads <= 1) {
        say_not_used(p, reason ? reason : "no row is read more than once");
        return FBP_OK;
    }
    fbp_job_of_rows(&p->tables.job, &r->prep, &r->job);
    const fbp_status st = divide(p, r);
    if (st == FBP_ERR_NOMEM) {
        fbp_message_clear();
        say_not_used(p, "memory does not hold what it takes");
        return FBP_OK;
    }
    FBP_TRY(st);
    if (!pays(p, p->work.view_reads, r->filtering.view_reads, r->work.view_reads)) {
        snprintf(line, sizeof line, "to read and filter rows %.3g times takes less time",
                 p->work.view_reads);
        say_not_used(p, line);
        return FBP_OK;
    }
    if (p->params.scratch)
        return take(p);
    advise(p);
    return FBP_OK;
}

fbp_status fbp_plan_open_rows(fbp_plan *p)
{
    const struct fbp_plan_rows *r = &p->rows;
    char needs[32], has[32];

    if (!r->used)
        return FBP_OK;
    if (!r->may_open)
        return fbp_fail(FBP_ERR_NOMEM,
                        "memory: while views are filtered into the scratch file, a plan that is "
                        "open needs at least %s, the limit is %s: raise --memory, leave --scratch "
                        "out, or run the plan without opening it",
                        fbp_bytes_text(needs, sizeof needs, r->beside.memory_bytes),
                        fbp_bytes_text(has, sizeof has, p->info.memory_limit));
    p->rows.filtering = r->beside;
    if (p->info.memory_bytes < r->beside.memory_bytes)
        p->info.memory_bytes = r->beside.memory_bytes;
    return FBP_OK;
}

const struct fbp_job *fbp_plan_run_job(const fbp_plan *p)
{
    return p->rows.used ? &p->rows.job : &p->tables.job;
}
