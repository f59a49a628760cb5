/* What users should know about how a GPU computes their job. */
#include "backend/gpu/gpu_kernel.h"

#include <stdio.h>
#include <string.h>

void gpu_remark_add(char *line, size_t n, const char *part)
{
    const size_t used = strlen(line);

    if (part[0])
        snprintf(line + used, n - used, "%s%s", used ? "; " : "", part);
}

void gpu_remark_precision(const struct fbp_job *job, char *line, size_t n)
{
    static const char *const names[] = {"", "exact", "fast", "half", "double"};
    const enum fbp_precision is = gpu_kernel_of(job)->precision;

    line[0] = '\0';
    if (job->precision == FBP_PRECISION_DEFAULT && is == FBP_PRECISION_FAST)
        snprintf(line, n,
                 "precision fast, interpolation to 1/256 of a pixel: --precision exact has fp32");
    else if (job->precision != FBP_PRECISION_DEFAULT && job->precision != is)
        snprintf(line, n, "no faster kernel of precision %s for this scan: %s is used",
                 names[job->precision], names[is]);
}
