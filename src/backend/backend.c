#include "backend/backend.h"

#include <string.h>

#define FBP_BACKEND(name) extern const struct fbp_backend fbp_backend_##name;
#include "backend/backend-list.h"
#undef FBP_BACKEND

const struct fbp_backend *const fbp_backends[] = {
#define FBP_BACKEND(name) &fbp_backend_##name,
#include "backend/backend-list.h"
#undef FBP_BACKEND
    NULL,
};

const struct fbp_backend *fbp_backend_find(const char *name)
{
    for (const struct fbp_backend *const *b = fbp_backends; *b; b++)
        if (strcmp((*b)->name, name) == 0) {
            const struct fbp_backend *found = *b;
            char why[300];
            (void)fbp_backend_count(&found, why, sizeof why);
            return found;
        }
    return NULL;
}

int fbp_backend_count(const struct fbp_backend **backend, char *why, size_t n)
{
    if ((*backend)->load) {
        const struct fbp_backend *loaded = (*backend)->load(why, n);
        if (!loaded)
            return 0;
        *backend = loaded;
    }
    return (*backend)->count ? (*backend)->count(why, n) : 1;
}

const struct fbp_backend *fbp_backend_auto(void)
{
    char why[300];

    for (const struct fbp_backend *const *b = fbp_backends; *b; b++) {
        const struct fbp_backend *found = *b;
        if (!found->for_tests && fbp_backend_count(&found, why, sizeof why) > 0)
            return found;
    }
    return NULL;
}
