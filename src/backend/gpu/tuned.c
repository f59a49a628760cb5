#include "backend/gpu/tuned.h"

#include "backend/gpu/host.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_DIGITS = 12 };

int gpu_tuned_recall(const struct fbp_kept_file *file, const char *key, int n_shapes)
{
    char value[MOST_DIGITS], *end = NULL;

    if (!gpu_host->kept_recall(file, key, value, sizeof value) || value[0] < '0' || value[0] > '9')
        return -1;
    const long shape = strtol(value, &end, 10);
    return *end == '\0' && shape < n_shapes ? (int)shape : -1;
}

void gpu_tuned_keep(const struct fbp_kept_file *file, const char *key, int shape)
{
    char value[MOST_DIGITS];

    snprintf(value, sizeof value, "%d", shape);
    gpu_host->kept_keep(file, key, value);
}
