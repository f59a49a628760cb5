#include "base/sizes.h"

#include <string.h>

/* Far above any struct of any release; a size beyond it was never set. */
enum { MOST_BYTES = 1 << 16 };

static size_t size_of(const void *theirs)
{
    size_t given = 0;

    if (theirs)
        memcpy(&given, theirs, sizeof given);
    return given;
}

fbp_status fbp_check_struct(const char *name, const void *theirs, size_t least)
{
    const size_t given = size_of(theirs);

    if (!theirs)
        return fbp_fail(FBP_ERR_INVALID, "%s: found NULL, expected a struct", name);
    if (given < least || given > MOST_BYTES)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: struct_size: found %zu, expected %zu or more: set it to the size of "
                        "the struct",
                        name, given, least);
    return FBP_OK;
}

fbp_status fbp_take_struct(const char *name, void *own, size_t n, const void *theirs, size_t least)
{
    FBP_TRY(fbp_check_struct(name, theirs, least));
    const size_t given = size_of(theirs);

    for (size_t i = n; i < given; i++)
        if (((const unsigned char *)theirs)[i] != 0)
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: struct_size: found %zu, this library knows %zu, and what is "
                            "beyond is not 0: use the library that the program's header came with",
                            name, given, n);
    memset(own, 0, n);
    memcpy(own, theirs, given < n ? given : n);
    memcpy(own, &n, sizeof n);
    return FBP_OK;
}

void fbp_give_struct(void *theirs, const void *own, size_t n)
{
    const size_t room = size_of(theirs), first = sizeof room;

    memset((char *)theirs + first, 0, room - first);
    memcpy((char *)theirs + first, (const char *)own + first, (room < n ? room : n) - first);
}
