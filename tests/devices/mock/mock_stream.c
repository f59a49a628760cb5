/* Queues of the simulated device (mock.h), which mock.c opens: each is a thread that runs commands
 * in order. */
#include "devices/mock/mock.h"

#include "base/base.h"
#include "base/threads.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct command {
    mock_command_fn *fn;
    void *user;
    const struct fbp_cancel_flag *stop; /* of the run that it belongs to; NULL: none */
    struct command *next;
};

struct mock_stream {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct command *first, **last;
    uint64_t submitted, finished;
    bool stop, started;
    fbp_status status; /* first failure, and its message */
    char message[400];
    unsigned delay_us, random;
    pthread_t thread;
};

static void *stream_main(void *arg)
{
    struct mock_stream *s = arg;

    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->first && !s->stop)
            pthread_cond_wait(&s->changed, &s->lock);
        struct command *c = s->first;
        if (!c)
            break;
        s->first = c->next;
        if (!s->first)
            s->last = &s->first;
        fbp_status st = s->status;
        pthread_mutex_unlock(&s->lock);

        /* Run with the stop flag of the thread that has submitted it: once the run is to stop, no
         * command begins, and running ones end early. */
        struct fbp_cancel_scope scope = {.flag = c->stop};
        fbp_message_clear();
        (void)fbp_cancel_scope(&scope);
        if (st == FBP_OK)
            st = fbp_check_cancelled();
        if (st == FBP_OK) {
            if (s->delay_us) { /* a delay from a fixed pseudo-random sequence */
                s->random = s->random * 1664525u + 1013904223u;
                usleep((s->random >> 8) % s->delay_us);
            }
            st = c->fn(c->user);
        }
        (void)fbp_cancel_scope(NULL);
        free(c->user);
        free(c);

        pthread_mutex_lock(&s->lock);
        if (st != FBP_OK && s->status == FBP_OK) {
            s->status = st;
            snprintf(s->message, sizeof s->message, "%s", fbp_message());
        }
        s->finished++;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

fbp_status mock_stream_create(struct mock_stream **out, unsigned delay_us)
{
    struct mock_stream *s = NULL;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "mock stream"));
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->last = &s->first;
    s->delay_us = delay_us;
    *out = s;
    if (pthread_create(&s->thread, NULL, stream_main, s) != 0) {
        mock_stream_destroy(out);
        return fbp_fail(FBP_ERR_NOMEM,
                        "threads: the system cannot start another thread; close other programs");
    }
    s->started = true;
    return FBP_OK;
}

void mock_stream_drain(struct mock_stream *s)
{
    if (!s || !s->started)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    s->started = false;
}

void mock_stream_destroy(struct mock_stream **stream)
{
    struct mock_stream *s = *stream;

    if (!s)
        return;
    mock_stream_drain(s);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    free(s);
    *stream = NULL;
}

fbp_status mock_stream_submit(struct mock_stream *s, mock_command_fn *fn, void *user)
{
    struct command *c = malloc(sizeof *c);

    if (!c) {
        free(user);
        return fbp_fail_nomem(sizeof *c, "mock command");
    }
    *c = (struct command){fn, user, fbp_cancel_flag(), NULL};
    pthread_mutex_lock(&s->lock);
    *s->last = c;
    s->last = &c->next;
    s->submitted++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return FBP_OK;
}

void mock_stream_go_on(struct mock_stream *s)
{
    pthread_mutex_lock(&s->lock);
    if (s->status == FBP_ERR_CANCELLED)
        s->status = FBP_OK;
    pthread_mutex_unlock(&s->lock);
}

uint64_t mock_stream_ticket(struct mock_stream *s)
{
    pthread_mutex_lock(&s->lock);
    const uint64_t ticket = s->submitted;
    pthread_mutex_unlock(&s->lock);
    return ticket;
}

fbp_status mock_stream_wait(struct mock_stream *s, uint64_t ticket)
{
    pthread_mutex_lock(&s->lock);
    while (s->finished < ticket)
        pthread_cond_wait(&s->changed, &s->lock);
    const fbp_status st = s->status;
    if (st != FBP_OK)
        fbp_message_adopt(s->message);
    pthread_mutex_unlock(&s->lock);
    return st;
}

void mock_stream_finish(struct mock_stream *s)
{
    pthread_mutex_lock(&s->lock);
    for (const uint64_t all = s->submitted; s->finished < all;)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

struct dependency {
    struct mock_stream *other;
    uint64_t ticket;
};

static fbp_status run_dependency(void *user)
{
    const struct dependency *d = user;

    return mock_stream_wait(d->other, d->ticket);
}

fbp_status mock_stream_after(struct mock_stream *s, struct mock_stream *other, uint64_t ticket)
{
    if (s == other || ticket == 0)
        return FBP_OK;
    struct dependency *d = malloc(sizeof *d);
    if (!d)
        return fbp_fail_nomem(sizeof *d, "mock dependency");
    *d = (struct dependency){other, ticket};
    return mock_stream_submit(s, run_dependency, d);
}
