/* The size that begins every public struct. */
#include "base/sizes.h"

#include <string.h>

fbp_status fbp_check_struct(const char *name, const void *theirs, size_t n)
{
    size_t given;

    if (!theirs)
        return fbp_fail(FBP_ERR_INVALID, "%s: found NULL, expected a struct", name);
    memcpy(&given, theirs, sizeof given);
    if (given != n)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: struct_size: found %zu, expected %zu: set it to the size of the "
                        "struct, and build the program with the headers of this library",
                        name, given, n);
    return FBP_OK;
}

fbp_status fbp_take_struct(const char *name, void *own, size_t n, const void *theirs)
{
    FBP_TRY(fbp_check_struct(name, theirs, n));
    memcpy(own, theirs, n);
    return FBP_OK;
}

void fbp_give_struct(void *theirs, const void *own, size_t n)
{
    const size_t first = sizeof n; /* struct_size stays */

    memcpy((char *)theirs + first, (const char *)own + first, n - first);
}
