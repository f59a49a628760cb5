#include "base/queue.h"

#include "base/clock.h"
#include "base/mem.h"

#include <pthread.h>

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
