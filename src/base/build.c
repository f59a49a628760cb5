#include "base/build.h"

#include "commit.h"
#include "fbp/version.h"

const char *fbp_build(void)
{
    return FBP_VERSION " " FBP_COMMIT;
}
