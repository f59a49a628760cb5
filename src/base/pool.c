/* A fixed set of compute threads shared by concurrent parallel loops. */
#include "base/pool.h"

#include "base/mem.h"
#include "base/stop.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

/* One call of fbp_pool_for, on the caller's stack; linked while items are left to hand out. */
struct loop {
    fbp_pool_fn *fn;
    void *user;
    size_t next, n_items, n_running;
    bool skip;               /* what has not begun */
    const atomic_bool *flag; /* of the caller's scope: its items may be stopped by it, too */
    struct loop *later;
};

struct fbp_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct loop *first;
    bool stop;
    int n_threads;
    pthread_t *threads;
};

struct worker_start {
    fbp_pool *pool;
    int index;
};

int fbp_core_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    const int n = CPU_COUNT(&set);
    return n > 0 ? n : 1;
}

static void unlink_loop(fbp_pool *p, struct loop *l)
{
    struct loop **at = &p->first;
    while (*at != l)
        at = &(*at)->later;
    *at = l->later;
}

static void run_item(struct loop *l, size_t item, int worker)
{
    struct fbp_stop_scope scope = {.flag = l->flag};

    (void)fbp_stop_scope(&scope);
    l->fn(l->user, item, worker);
    (void)fbp_stop_scope(NULL);
}

static void *worker_main(void *arg)
{
    const struct worker_start start = *(struct worker_start *)arg;
    fbp_pool *p = start.pool;

    free(arg);
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
            unlink_loop(p, l);
        pthread_mutex_unlock(&p->lock);
        if (!skip)
            run_item(l, item, start.index);
        pthread_mutex_lock(&p->lock);
        if (--l->n_running == 0 && l->next == l->n_items)
            pthread_cond_broadcast(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* By the clock that nobody sets. */
static void init_done(pthread_cond_t *done)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(done, &attributes);
    pthread_condattr_destroy(&attributes);
}

fbp_status fbp_pool_create(fbp_pool **out, int n_threads)
{
    fbp_pool *p = NULL;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&p, 1, sizeof *p, "thread pool"));
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    init_done(&p->done);
    p->threads = calloc((size_t)n_threads, sizeof *p->threads);
    while (p->threads && p->n_threads < n_threads) {
        struct worker_start *start = malloc(sizeof *start);
        if (!start)
            break;
        *start = (struct worker_start){p, p->n_threads};
        if (pthread_create(&p->threads[p->n_threads], NULL, worker_main, start) != 0) {
            free(start);
            break;
        }
        p->n_threads++;
    }
    if (p->n_threads < n_threads) {
        const int got = p->n_threads;
        fbp_pool_destroy(&p);
        return fbp_fail(FBP_ERR_NOMEM,
                        "threads: the system grants %d of %d threads: lower --threads", got,
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
        pthread_join(p->threads[i], NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    free(p->threads);
    free(p);
    *pool = NULL;
}

/* Until something is done, or it is time to ask whether to go on. */
static void wait_or_skip(fbp_pool *p, struct loop *l)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 50000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_cond_timedwait(&p->done, &p->lock, &until) == 0 || l->skip)
        return;
    pthread_mutex_unlock(&p->lock); /* who is asked may take its time */
    const bool stopped = fbp_stopped();
    pthread_mutex_lock(&p->lock);
    l->skip = stopped;
}

static void run_loop(fbp_pool *p, size_t n_items, fbp_pool_fn *fn, void *user, bool first)
{
    struct loop l = {.fn = fn, .user = user, .n_items = n_items, .flag = fbp_stop_flag()};

    if (n_items == 0)
        return;
    pthread_mutex_lock(&p->lock);
    struct loop **at = &p->first;
    while (*at && !first)
        at = &(*at)->later;
    l.later = *at;
    *at = &l;
    pthread_cond_broadcast(&p->work);
    while (l.next < l.n_items || l.n_running > 0)
        wait_or_skip(p, &l);
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
    pthread_mutex_t lock; /* all below */
    fbp_status status;
    char message[1200];
};

static fbp_status status_of(struct try_loop *l)
{
    pthread_mutex_lock(&l->lock);
    const fbp_status st = l->status;
    pthread_mutex_unlock(&l->lock);
    return st;
}

static void try_item(void *user, size_t item, int worker)
{
    struct try_loop *l = user;

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
    struct try_loop l = {.fn = fn, .user = user};

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
