/* The scan of a call of fbp_epr goes through a plan of the library. */
#include "epr_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_double(const struct epr_call *c)
{
    return c->params.precision == FBP_PRECISION_DOUBLE;
}

/* N x N x N, or with D delays N x N x N x D: x is the fastest, here and in the library. */
void epr_new_object(struct epr_call *c)
{
    const size_t *n = c->scan.volume.n;
    const mwSize sides[4] = {(mwSize)n[0], (mwSize)n[1], (mwSize)n[2], (mwSize)c->info.n[1]};

    c->object = mxCreateNumericArray(c->info.n[1] > 1 ? 4 : 3, sides,
                                     is_double(c) ? mxDOUBLE_CLASS : mxSINGLE_CLASS, mxREAL);
}

/* Lines are kept: only the host's own thread may print. */
static void keep_warning(void *user, enum fbp_log_level level, const char *line)
{
    struct epr_call *c = user;
    const size_t used = strlen(c->warnings);

    if (level == FBP_LOG_WARNING)
        snprintf(c->warnings + used, sizeof c->warnings - used, "%s%s", used ? "\n" : "", line);
}

static void keep_summary(const fbp_plan *plan, struct epr_done *done)
{
    done->summary = *fbp_plan_info(plan);
    snprintf(done->device, sizeof done->device, "%s", done->summary.backend);
    snprintf(done->kernel, sizeof done->kernel, "%s", done->summary.kernel);
    done->summary.backend = done->device;
    done->summary.kernel = done->kernel;
}

static fbp_status open_sink(const struct epr_call *c, fbp_sink **out)
{
    const size_t *n = c->scan.volume.n, slices[3] = {n[0], n[1], n[2] * c->info.n[1]};

    return fbp_sink_memory(out, mxGetData(c->object), is_double(c) ? FBP_F64 : FBP_F32, slices);
}

static bool run(struct epr_call *c, struct epr_done *done)
{
    fbp_source *source = NULL;
    fbp_sink *sink = NULL;
    fbp_plan *plan = NULL;

    c->params.callbacks.log = keep_warning;
    c->params.callbacks.user = c;
    bool ok = fbp_source_memory(&source, c->samples, &c->info) == FBP_OK;
    c->params.input.source = source;
    ok = ok && fbp_plan_create(&plan, &c->scan, &c->params) == FBP_OK &&
         open_sink(c, &sink) == FBP_OK &&
         fbp_plan_run_to(plan, NULL, sink, &done->report) == FBP_OK;
    if (!ok)
        mex_fail_library(&c->failure);
    else
        keep_summary(plan, done);
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
    fbp_source_close(&source);
    return ok;
}

/* The library takes a reference from a file: a text of its own, every digit of the numbers. */
static bool write_reference(struct epr_call *c)
{
    const char *folder = getenv("TMPDIR");
    char path[400];

    snprintf(path, sizeof path, "%.300s/fbp-reference-XXXXXX.txt",
             folder && *folder ? folder : "/tmp");
    const int fd = mkstemps(path, 4);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool ok = f != NULL;

    if (fd >= 0)
        c->scan.reference = strdup(path);
    ok = ok && c->scan.reference;
    for (size_t i = 0; ok && i < c->info.n[0]; i++)
        ok = fprintf(f, "%.17g\n", c->reference[i]) > 0;
    if (f)
        ok = fclose(f) == 0 && ok;
    else if (fd >= 0)
        (void)close(fd);
    return ok || mex_fail(&c->failure, "memory", "%s: cannot be written", path);
}

bool epr_reconstruct(struct epr_call *c, struct epr_done *done)
{
    const bool ok = (!c->reference || write_reference(c)) && run(c, done);

    if (c->scan.reference)
        (void)unlink(c->scan.reference);
    return ok;
}
