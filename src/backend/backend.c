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
        if (strcmp((*b)->name, name) == 0)
            return *b;
    return NULL;
}
