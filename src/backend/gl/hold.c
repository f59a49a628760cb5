#include "backend/gl/hold.h"

#ifdef __SANITIZE_ADDRESS__

#    include <dlfcn.h>
#    include <link.h>
#    include <stddef.h>

static int hold(struct dl_phdr_info *is, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (is->dlpi_name && is->dlpi_name[0] == '/')
        (void)!dlopen(is->dlpi_name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    return 0;
}

void gl_hold_drivers(void)
{
    (void)dl_iterate_phdr(hold, NULL);
}

#else

void gl_hold_drivers(void)
{
}

#endif
