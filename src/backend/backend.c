/* The list of all backends (fbp_backends; kinds of devices: CUDA, OpenGL, CPU, reference), and
 * access to them by name (fbp_backend_find()) or index (fbp_device_name()).
 * Used by: bench/, cli/, pipeline/. */
#include "backend/device.h"

#include <pthread.h>
#include <string.h>

/* All backends, in the order in which device selection `auto` tries them. */
#define BACKENDS(X) X(cuda) X(gl) X(cpu) X(ref)

#define DECLARE(NAME) extern const struct fbp_backend fbp_backend_##NAME;
BACKENDS(DECLARE)

/* The simulated device of tests/devices/mock, which only test programs link; in other programs its
 * address is NULL and ends the list of backends. The linker of macOS refuses absent symbols. */
#if defined(__APPLE__)
#    define MOCK NULL
#else
extern const struct fbp_backend fbp_backend_mock __attribute__((weak, visibility("hidden")));
#    define MOCK &fbp_backend_mock
#endif

#define ADDRESS(NAME) &fbp_backend_##NAME,
const struct fbp_backend *const fbp_backends[] = {BACKENDS(ADDRESS) MOCK, NULL};

enum { N_BACKENDS = sizeof fbp_backends / sizeof *fbp_backends - 1 };

/* Copies of the backends with defaults for missing functions.  A copy is made when its backend is
 * first requested; before that, the copy's name is NULL. */
static struct {
    pthread_mutex_t lock;
    struct fbp_backend complete[N_BACKENDS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns the copy of a backend with defaults for missing functions.  `given`: the entry of
 * fbp_backends[], the backend of its module, or the copy itself; all three have the same name. */
static const struct fbp_backend *completed(const struct fbp_backend *given)
{
    struct fbp_backend *out = NULL;

    for (size_t i = 0; fbp_backends[i]; i++)
        if (strcmp(fbp_backends[i]->name, given->name) == 0)
            out = &table.complete[i];
    pthread_mutex_lock(&table.lock);
    if (!out->name)
        fbp_backend_complete(given, out);
    pthread_mutex_unlock(&table.lock);
    return out;
}

const char *fbp_device_name(size_t i)
{
    if (i == 0)
        return "auto";
    for (const struct fbp_backend *const *b = fbp_backends; *b; b++)
        if (!(*b)->hidden && --i == 0)
            return (*b)->name;
    return NULL;
}

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
    if ((*backend)->discovery.load) {
        const struct fbp_backend *loaded = (*backend)->discovery.load(why, n);
        if (!loaded)
            return 0;
        *backend = loaded;
    }
    *backend = completed(*backend);
    return (*backend)->discovery.count(why, n);
}
