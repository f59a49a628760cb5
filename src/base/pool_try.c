#include "base/pool.h"

#include "base/stop.h"

#include <pthread.h>
#include <stdio.h>

struct loop {
    fbp_pool_try_fn *fn;
    void *user;
    pthread_mutex_t lock; /* all below */
    fbp_status status;
    char message[1200];
};

static fbp_status status_of(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    const fbp_status st = l->status;
    pthread_mutex_unlock(&l->lock);
    return st;
}

static void try_item(void *user, size_t item, int worker)
{
    struct loop *l = user;

    if (status_of(l) != FBP_OK)
        return;
    fbp_message_clear();
    fbp_status st = fbp_go_on();
    if (st == FBP_OK)
        st = l->fn(l->user, item, worker);
    if (st == FBP_OK)
        return;
    pthread_mutex_lock(&l->lock);
    if (l->status == FBP_OK) {
        l->status = st;
        snprintf(l->message, sizeof l->message, "%s", fbp_message());
    }
    pthread_mutex_unlock(&l->lock);
}

fbp_status fbp_pool_try(fbp_pool *pool, size_t n_items, fbp_pool_try_fn *fn, void *user)
{
    struct loop l = {.fn = fn, .user = user};

    for (size_t i = 0; !pool && i < n_items; i++) {
        FBP_TRY(fbp_go_on());
        FBP_TRY(fn(user, i, 0));
    }
    if (!pool)
        return FBP_OK;
    pthread_mutex_init(&l.lock, NULL);
    fbp_pool_for(pool, n_items, try_item, &l);
    pthread_mutex_destroy(&l.lock);
    if (l.status == FBP_OK)
        return fbp_go_on(); /* items may have been left out */
    fbp_message_adopt(l.message);
    return l.status;
}
