/* What several parts ask of a plan. */
#include "api/plan.h"

#include "base/text.h"

#include <string.h>

const struct fbp_job_tables *fbp_plan_measured(const fbp_plan *p)
{
    return p->stages.used ? &p->stages.first : &p->tables;
}

void fbp_plan_note(const fbp_plan *p, enum fbp_log_level level, const char *line)
{
    char safe[1200]; /* words of files may be in it */

    if (!p->params.log)
        return;
    fbp_printable(safe, sizeof safe, line, strlen(line), "");
    p->params.log(p->params.user, level, safe);
}

size_t fbp_stored_views(const struct fbp_scan *scan)
{
    return scan->stored_views ? scan->stored_views : scan->n_views;
}

const char *fbp_plan_source_name(const fbp_plan *p)
{
    return p->params.source ? "views" : p->scan->projections;
}
