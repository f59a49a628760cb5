#include "base/stop.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>

static const double ASKED_EVERY = 0.05; /* seconds */

/* Not sig_atomic_t: other threads than the one that was interrupted look at it. */
static atomic_int stop;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler sets it");

static _Thread_local struct fbp_stop_scope *scope;

void fbp_stop(void)
{
    atomic_store(&stop, 1);
}

struct fbp_stop_scope *fbp_stop_scope(struct fbp_stop_scope *next)
{
    struct fbp_stop_scope *before = scope;

    scope = next;
    if (next && next->asked)
        next->next = fbp_seconds() + ASKED_EVERY;
    return before;
}

const atomic_bool *fbp_stop_flag(void)
{
    return scope ? scope->flag : NULL;
}

static bool scope_says_so(void)
{
    if (!scope)
        return false;
    if (scope->flag && atomic_load_explicit(scope->flag, memory_order_relaxed))
        return true;
    if (scope->said || !scope->asked)
        return scope->said;
    const double now = fbp_seconds();
    if (now < scope->next)
        return false;
    scope->next = now + ASKED_EVERY;
    scope->said = scope->asked(scope->user);
    return scope->said;
}

bool fbp_stopped(void)
{
    if (scope && scope->deaf)
        return false;
    return atomic_load_explicit(&stop, memory_order_relaxed) != 0 || scope_says_so();
}

fbp_status fbp_go_on(void)
{
    return fbp_stopped() ? fbp_fail(FBP_ERR_CANCELLED, "interrupted") : FBP_OK;
}

struct fbp_stopper {
    atomic_bool flag;
    struct fbp_stop_scope scope;
};

fbp_status fbp_stopper_create(fbp_stopper **out)
{
    FBP_GIVEN(out);
    fbp_message_clear();
    *out = NULL;
    FBP_TRY(fbp_calloc((void **)out, 1, sizeof **out, "a stopper"));
    (*out)->scope.flag = &(*out)->flag;
    return FBP_OK;
}

void fbp_stopper_attach(fbp_stopper *stopper)
{
    (void)fbp_stop_scope(stopper ? &stopper->scope : NULL);
}

void fbp_stopper_stop(fbp_stopper *stopper)
{
    FBP_GIVEN_ELSE(, stopper);
    atomic_store(&stopper->flag, true);
}

void fbp_stopper_destroy(fbp_stopper **stopper)
{
    FBP_GIVEN_ELSE(, stopper);
    free(*stopper);
    *stopper = NULL;
}
