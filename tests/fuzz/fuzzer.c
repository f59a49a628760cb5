/* libFuzzer's side: FBP_FUZZ names the target; FBP_FUZZ_INSIDE=1 enters contained libraries in the
 * fuzzer's own process. */
#include "harness.h"

#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct fuzz_target target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    target = fuzz_target_of(getenv("FBP_FUZZ"));
    fuzz_begin(getenv("FBP_FUZZ_INSIDE") != NULL);
    atexit(fuzz_end);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_one(&target, data, n);
    return 0;
}
