/* libFuzzer's side: FBP_FUZZ names the target.  FBP_FUZZ_STRICT=1 stops at failures in contained
 * libraries, too. */
#include "harness.h"

#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct fuzz_target target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    target = fuzz_target_of(getenv("FBP_FUZZ"));
    fuzz_begin();
    atexit(fuzz_end);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_one(&target, data, n);
    return 0;
}
