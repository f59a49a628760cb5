/* check_warn(): appends a warning to the results of `fbp geometry check`, for geometry_check.c. */
#include "geometry_check.h"

#include <stdarg.h>

void check_warn(struct check *c, const char *fmt, ...)
{
    va_list ap;

    if (c->n_warnings == MAX_WARNINGS)
        return;
    va_start(ap, fmt);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is not
    vsnprintf(c->warnings[c->n_warnings++], sizeof *c->warnings, fmt, ap);
    va_end(ap);
}
