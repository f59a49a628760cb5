#include "backend/gpu/tables.h"

#include <math.h>

void gpu_found_take(struct gpu_found found[GPU_FOUND], struct fbp_statistics *out)
{
    *out = (struct fbp_statistics){INFINITY, -INFINITY, 0};
    for (int i = 0; i < GPU_FOUND; i++) {
        out->min = fmin(out->min, (double)found[i].min);
        out->max = fmax(out->max, (double)found[i].max);
        out->sum += found[i].sum;
        found[i] = (struct gpu_found){INFINITY, -INFINITY, 0};
    }
}

void gpu_found_take_double(struct gpu_found_double found[GPU_FOUND], struct fbp_statistics *out)
{
    *out = (struct fbp_statistics){INFINITY, -INFINITY, 0};
    for (int i = 0; i < GPU_FOUND; i++) {
        out->min = fmin(out->min, found[i].min);
        out->max = fmax(out->max, found[i].max);
        out->sum += found[i].sum;
        found[i] = (struct gpu_found_double){INFINITY, -INFINITY, 0};
    }
}
