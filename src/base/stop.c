#include "base/stop.h"

#include <stdatomic.h>

/* Not sig_atomic_t: other threads than the one that was interrupted look at it. */
static atomic_int stop;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler sets it");

void fbp_stop(void)
{
    atomic_store(&stop, 1);
}

bool fbp_stopped(void)
{
    return atomic_load_explicit(&stop, memory_order_relaxed) != 0;
}

fbp_status fbp_go_on(void)
{
    return fbp_stopped() ? fbp_fail(FBP_ERR_CANCELLED, "interrupted") : FBP_OK;
}
