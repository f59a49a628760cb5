/* Listening: what comes goes to where it is waited for; who is silent for too long is lost. */
#include "team/team_parts.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/stop.h"

#include <string.h>

/* Silence of so many seconds is that of a process that is no more: all say more often that they are
 * there. */
static const double PATIENCE = 6, BEAT = 1, STOPPED_BEAT = 0.1, LISTEN = 0.1;

void team_stop(fbp_team *t)
{
    if (atomic_exchange(&t->stopped, true))
        return;
    for (size_t r = 0; r < t->call.size; r++)
        for (size_t i = 0; i < TEAM_LANES; i++)
            t->peers[r].pieces[i].to = NULL; /* who waits goes, and takes that memory along */
    if (t->flag)
        atomic_store(t->flag, true);
    pthread_cond_broadcast(&t->changed);
    if (t->call.rank > 0)
        return;
    for (size_t r = 1; r < t->call.size; r++)
        if (!t->peers[r].lost) /* who cannot be reached will be lost */
            (void)!team_post(t, r, (struct team_head){.kind = TEAM_STOP}, NULL, 0);
}

static void lose(fbp_team *t, size_t rank)
{
    if (t->peers[rank].lost || (t->ended && !t->headless))
        return; /* it has left */
    t->peers[rank].lost = true;
    team_stop(t);
    pthread_cond_broadcast(&t->changed);
}

/* A letter is complete: to the end of the list. */
static void file_letter(struct team_peer *p)
{
    struct team_letter **end = &p->first;

    while (*end)
        end = &(*end)->next;
    *end = p->coming;
    p->coming = NULL;
}

static void take_letter(fbp_team *t, size_t from, const struct team_head *h, const char *data,
                        size_t n)
{
    struct team_peer *p = &t->peers[from];

    if (h->at == 0)
        free(p->coming);
    if (h->at == 0)
        p->coming = calloc(1, sizeof *p->coming + h->total);
    if (!p->coming || p->coming->have != h->at || h->total - h->at < n) {
        lose(t, from); /* there is no memory to hear it */
        return;
    }
    p->coming->head = *h;
    memcpy(p->coming->data + h->at, data, n);
    p->coming->have += n;
    if (p->coming->have < h->total)
        return;
    file_letter(p);
    if (h->kind == TEAM_WORDS && h->status != FBP_OK)
        team_stop(t);
}

static void take_piece(struct team_pieces *p, const struct team_head *h, const char *data, size_t n)
{
    if (!p->to || p->asked != h->serial + 1 || h->total != p->wants || h->at != p->have ||
        n > p->wants - p->have)
        return; /* nobody waits for it any more */
    memcpy(p->to + h->at, data, n);
    p->have += n;
}

static void take_offer(fbp_team *t, size_t from, const char *data)
{
    struct team_offered **end = &t->offers, *new = calloc(1, sizeof *new);

    if (!new) {
        lose(t, from); /* there is no memory to hear it */
        return;
    }
    while (*end)
        end = &(*end)->next;
    new->from = from;
    memcpy(&new->z, data, sizeof new->z);
    memcpy(&new->n, data + sizeof new->z, sizeof new->n);
    *end = new;
}

/* A message, with the lock held. */
static void take(fbp_team *t, size_t from, const char *message, size_t n)
{
    struct team_peer *p = &t->peers[from];
    const char *data = message + sizeof(struct team_head);
    struct team_head h;

    if (n < sizeof h)
        return;
    n -= sizeof h;
    memcpy(&h, message, sizeof h);
    if (h.lane >= TEAM_LANES)
        return;
    if (h.kind == TEAM_WORDS || h.kind == TEAM_VERDICT)
        take_letter(t, from, &h, data, n);
    if (h.kind == TEAM_PIECE)
        take_piece(&p->pieces[h.lane], &h, data, n);
    if (h.kind == TEAM_ASK)
        p->pieces[h.lane].asks = h.serial + 1;
    if (h.kind == TEAM_TOLD && n == sizeof p->told)
        memcpy(p->told, data, n);
    if (h.kind == TEAM_OFFER && n == 2 * sizeof(uint64_t))
        take_offer(t, from, data);
    if (h.kind == TEAM_SPEAKS && t->speaker == 0)
        t->speaker = from;
    if (h.kind == TEAM_STOP)
        team_stop(t);
    if (h.kind != TEAM_BEAT && h.kind != TEAM_TOLD)
        pthread_cond_broadcast(&t->changed);
}

/* Everybody listens for rank 0, and that for everybody. */
static void miss_the_silent(fbp_team *t, double now)
{
    const bool soon = t->call.stop_patience > 0 && t->stop_heard > 0;
    const double patience = soon ? t->call.stop_patience : PATIENCE;

    for (size_t r = 0; r < t->call.size; r++) {
        const double since =
            soon && t->peers[r].heard < t->stop_heard ? t->stop_heard : t->peers[r].heard;
        if (r != t->call.rank && (r == 0 || t->call.rank == 0) && now - since > patience)
            lose(t, r);
    }
}

/* fbp_stop() was called: from now on all say more often that they are there. */
static void notice_stop(fbp_team *t, double now)
{
    if (t->stop_heard > 0 || !fbp_stopped())
        return;
    t->stop_heard = now;
    pthread_cond_broadcast(&t->changed);
}

static void *listen_main(void *arg)
{
    fbp_team *t = arg;
    char *const message = t->message;
    double before = fbp_seconds();

    pthread_mutex_lock(&t->lock);
    while (!t->closing) {
        size_t from = 0, n = 0;
        pthread_mutex_unlock(&t->lock);
        const int what = t->call.receive(t->call.user, LISTEN, &from, message, &n);
        const double now = fbp_seconds();
        pthread_mutex_lock(&t->lock);
        if (what == 2)
            lose(t, from);
        if (what == 0) {
            t->peers[from].heard = now;
            take(t, from, message, n);
        }
        if (now - before > PATIENCE / 2) { /* this process itself was asleep */
            t->woke = now;
            for (size_t r = 0; r < t->call.size; r++)
                t->peers[r].heard = now;
        }
        before = now;
        notice_stop(t, now);
        miss_the_silent(t, now);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* I am there, to rank 0; of that, to everybody. */
static void say_so(fbp_team *t)
{
    for (size_t r = 0; r < t->call.size; r++)
        if (r != t->call.rank && (r == 0 || t->call.rank == 0) && !t->peers[r].lost)
            (void)!team_post(t, r, (struct team_head){.kind = TEAM_BEAT}, NULL, 0);
}

/* With the lock held. */
static double beat(const fbp_team *t)
{
    return t->stop_heard > 0 || atomic_load(&t->stopped) ? STOPPED_BEAT : BEAT;
}

struct timespec team_after(double seconds)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += (long)(1e9 * seconds);
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void *beat_main(void *arg)
{
    fbp_team *t = arg;

    pthread_mutex_lock(&t->lock);
    while (!t->closing) {
        pthread_mutex_unlock(&t->lock);
        say_so(t);
        pthread_mutex_lock(&t->lock);
        const struct timespec next = team_after(beat(t));
        for (const double was = beat(t); !t->closing && was <= beat(t);)
            if (pthread_cond_timedwait(&t->changed, &t->lock, &next) != 0)
                break;
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

fbp_status team_listen(fbp_team *t)
{
    for (size_t r = 0; r < t->call.size; r++)
        t->peers[r].heard = fbp_seconds();
    t->has_listener = pthread_create(&t->listener, NULL, listen_main, t) == 0;
    t->has_beater = t->has_listener && pthread_create(&t->beater, NULL, beat_main, t) == 0;
    return t->has_beater ? FBP_OK
                         : fbp_fail(FBP_ERR_NOMEM,
                                    "threads: the system grants no more: close other programs");
}

void team_listen_no_more(fbp_team *t)
{
    pthread_mutex_lock(&t->lock);
    t->closing = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    if (t->has_beater)
        pthread_join(t->beater, NULL);
    if (t->has_listener)
        pthread_join(t->listener, NULL);
}
