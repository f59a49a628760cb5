/* Cancellation of calls (public: fbp_stopped(), fbp_stopper_attach(), fbp_stopper_stop()), a pool
 * of compute threads (fbp_pool_…()), and a bounded queue of indices between threads
 * (fbp_queue_…()); see threads.h.
 * Used by: bench/, cli/, analysis/, array/, backend/, base/, filter/, geometry/, phantom/,
 * picture/, pipeline/, prep/, team/, weight/. */
#include "base/threads.h"

#include "base/system.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

/* Cancellation */

static const double ASKED_EVERY = 0.05; /* seconds */

/* Flag that signal handlers set and all threads read: sig_atomic_t is safe in one thread only. */
static atomic_int stop;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler sets it");

static _Thread_local struct fbp_cancel_scope *scope;

void fbp_stop(void)
{
    atomic_store(&stop, 1);
}

struct fbp_cancel_scope *fbp_cancel_scope(struct fbp_cancel_scope *next)
{
    struct fbp_cancel_scope *before = scope;

    scope = next;
    if (next && next->asked)
        next->next = fbp_seconds() + ASKED_EVERY;
    return before;
}

const struct fbp_cancel_flag *fbp_cancel_flag(void)
{
    return scope ? scope->flag : NULL;
}

bool fbp_cancel_flagged(const struct fbp_cancel_flag *flag)
{
    for (; flag; flag = flag->outer)
        if (atomic_load_explicit(flag->set, memory_order_relaxed))
            return true;
    return false;
}

bool fbp_stopped(void)
{
    if (scope && scope->deaf)
        return false;
    if (atomic_load_explicit(&stop, memory_order_relaxed) != 0)
        return true;
    if (!scope)
        return false;
    if (fbp_cancel_flagged(scope->flag))
        return true;
    if (!scope->said && scope->asked) {
        const double now = fbp_seconds();
        if (now < scope->next)
            return false;
        scope->next = now + ASKED_EVERY;
        scope->said = scope->asked(scope->user);
    }
    return scope->said;
}

fbp_status fbp_check_cancelled(void)
{
    return fbp_stopped() ? fbp_fail(FBP_ERR_CANCELLED, "interrupted") : FBP_OK;
}

/* Get the flag of struct fbp_stopper as an atomic, which the header for C++ declares as bool. */
static atomic_bool *flag_of(struct fbp_stopper *stopper)
{
    _Static_assert(sizeof(atomic_bool) == sizeof(bool),
                   "a bool that is read and written atomically");
    return (atomic_bool *)&stopper->stopped;
}

void fbp_stopper_attach(struct fbp_stopper *stopper)
{
    static _Thread_local struct fbp_cancel_flag flag;
    static _Thread_local struct fbp_cancel_scope attached;

    flag.set = stopper ? flag_of(stopper) : NULL;
    attached.flag = &flag;
    (void)fbp_cancel_scope(stopper ? &attached : NULL);
}

void fbp_stopper_stop(struct fbp_stopper *stopper)
{
    if (stopper)
        atomic_store(flag_of(stopper), true);
    else
        fbp_stop();
}

/* The pool */

/* A running parallel loop: one call of fbp_pool_for() or fbp_pool_for_first().  It lies on the
 * caller's stack, and is in the pool's list until all its items have begun. */
struct loop {
    fbp_pool_fn *fn;
    void *user;
    size_t next, n_items, n_running;
    bool skip; /* cancelled: no further item is run */
    /* cancel flag of the caller's thread, which the pool's threads obey while they run its items */
    const struct fbp_cancel_flag *flag;
    struct loop *later;
};

struct worker {
    fbp_pool *pool;
    int index;
    pthread_t thread;
};

struct fbp_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct loop *first;
    bool stop;
    int n_threads;
    struct worker *workers;
};

int fbp_core_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    const int n = CPU_COUNT(&set);
    return n > 0 ? n : 1;
}

static void *worker_main(void *arg)
{
    const struct worker *worker = arg;
    fbp_pool *p = worker->pool;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->first && !p->stop)
            pthread_cond_wait(&p->work, &p->lock);
        if (!p->first)
            break;
        struct loop *l = p->first;
        const size_t item = l->next++;
        l->n_running++;
        const bool skip = l->skip;
        if (l->next == l->n_items)
            p->first = l->later;
        pthread_mutex_unlock(&p->lock);

        if (!skip) {
            struct fbp_cancel_scope of_caller = {.flag = l->flag};
            (void)fbp_cancel_scope(&of_caller);
            l->fn(l->user, item, worker->index);
            (void)fbp_cancel_scope(NULL);
        }

        pthread_mutex_lock(&p->lock);
        if (--l->n_running == 0 && l->next == l->n_items)
            pthread_cond_broadcast(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

fbp_status fbp_pool_create(fbp_pool **out, int n_threads)
{
    fbp_pool *p = NULL;
    pthread_condattr_t monotonic;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&p, 1, sizeof *p, "thread pool"));
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->done, &monotonic);
    pthread_condattr_destroy(&monotonic);

    p->workers = calloc((size_t)n_threads, sizeof *p->workers);
    while (p->workers && p->n_threads < n_threads) {
        struct worker *worker = &p->workers[p->n_threads];
        worker->pool = p;
        worker->index = p->n_threads;
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0)
            break;
        p->n_threads++;
    }
    if (p->n_threads < n_threads) {
        const int got = p->n_threads;
        fbp_pool_destroy(&p);
        return fbp_fail(FBP_ERR_NOMEM,
                        "threads: the system started only %d of %d threads; lower --threads", got,
                        n_threads);
    }
    *out = p;
    return FBP_OK;
}

void fbp_pool_destroy(fbp_pool **pool)
{
    fbp_pool *p = *pool;

    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->n_threads; i++)
        pthread_join(p->workers[i].thread, NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    free(p->workers);
    free(p);
    *pool = NULL;
}

static void run_loop(fbp_pool *p, size_t n_items, fbp_pool_fn *fn, void *user, bool first)
{
    struct loop l = {.fn = fn, .user = user, .n_items = n_items, .flag = fbp_cancel_flag()};

    if (n_items == 0)
        return;
    pthread_mutex_lock(&p->lock);
    struct loop **at = &p->first;
    while (*at && !first)
        at = &(*at)->later;
    l.later = *at;
    *at = &l;
    pthread_cond_broadcast(&p->work);
    while (l.next < l.n_items || l.n_running > 0) {
        const struct timespec until = fbp_deadline(CLOCK_MONOTONIC, ASKED_EVERY);
        if (pthread_cond_timedwait(&p->done, &p->lock, &until) == 0 || l.skip)
            continue;
        pthread_mutex_unlock(&p->lock); /* fbp_stopped() may call a callback that takes long */
        const bool stopped = fbp_stopped();
        pthread_mutex_lock(&p->lock);
        l.skip = stopped;
    }
    pthread_mutex_unlock(&p->lock);
}

void fbp_pool_for(fbp_pool *p, size_t n_items, fbp_pool_fn *fn, void *user)
{
    run_loop(p, n_items, fn, user, false);
}

void fbp_pool_for_first(fbp_pool *p, size_t n_items, fbp_pool_fn *fn, void *user)
{
    run_loop(p, n_items, fn, user, true);
}

struct try_loop {
    fbp_pool_try_fn *fn;
    void *user;
    pthread_mutex_t lock; /* protects status and message */
    fbp_status status;
    char message[1200];
};

static void try_item(void *user, size_t item, int worker)
{
    struct try_loop *l = user;

    pthread_mutex_lock(&l->lock);
    fbp_status st = l->status;
    pthread_mutex_unlock(&l->lock);
    if (st != FBP_OK)
        return;
    fbp_message_clear();
    st = fbp_check_cancelled();
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
    struct try_loop l = {.fn = fn, .user = user};

    for (size_t i = 0; !pool && i < n_items; i++) {
        FBP_TRY(fbp_check_cancelled());
        FBP_TRY(fn(user, i, 0));
    }
    if (!pool)
        return FBP_OK;
    pthread_mutex_init(&l.lock, NULL);
    fbp_pool_for(pool, n_items, try_item, &l);
    pthread_mutex_destroy(&l.lock);
    if (l.status == FBP_OK)
        return fbp_check_cancelled(); /* after cancellation, some items may have been skipped */
    fbp_message_adopt(l.message);
    return l.status;
}

/* The queue */

struct fbp_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t head, count, capacity;
    bool closed;
    size_t items[];
};

fbp_status fbp_queue_create(fbp_queue **out, size_t capacity)
{
    fbp_queue *q = NULL;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&q, 1, sizeof *q + capacity * sizeof q->items[0], "queue"));
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    q->capacity = capacity;
    *out = q;
    return FBP_OK;
}

void fbp_queue_destroy(fbp_queue **queue)
{
    if (!*queue)
        return;
    pthread_mutex_destroy(&(*queue)->lock);
    pthread_cond_destroy(&(*queue)->changed);
    free(*queue);
    *queue = NULL;
}

bool fbp_queue_push(fbp_queue *q, size_t item)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == q->capacity && !q->closed)
        pthread_cond_wait(&q->changed, &q->lock);
    const bool ok = !q->closed;
    if (ok) {
        q->items[(q->head + q->count++) % q->capacity] = item;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return ok;
}

bool fbp_queue_pop(fbp_queue *q, size_t *item, double *waited)
{
    const double start = waited ? fbp_seconds() : 0;

    pthread_mutex_lock(&q->lock);
    while (q->count == 0 && !q->closed)
        pthread_cond_wait(&q->changed, &q->lock);
    const bool ok = q->count > 0;
    if (ok) {
        *item = q->items[q->head];
        q->head = (q->head + 1) % q->capacity;
        q->count--;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    if (waited)
        *waited += fbp_seconds() - start;
    return ok;
}

void fbp_queue_close(fbp_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

void fbp_queue_abort(fbp_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    q->count = 0;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}
