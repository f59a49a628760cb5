/* Several processes: creation, messages, barriers, the thread that listens, and who reports errors.
 */
#include "team/team_parts.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/plugin.h"
#include "base/sizes.h"
#include "base/stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t fbp_team_rank(const fbp_team *t)
{
    return t ? t->call.rank : 0;
}

size_t fbp_team_size(const fbp_team *t)
{
    return t ? t->call.size : 1;
}

size_t fbp_team_local_rank(const fbp_team *t)
{
    return t->local_rank;
}

size_t fbp_team_local_size(const fbp_team *t)
{
    return t->local_size;
}

bool fbp_team_is_local(const fbp_team *t, size_t rank)
{
    return strcmp(t->peers[rank].host, t->peers[t->call.rank].host) == 0;
}

void fbp_team_stops(fbp_team *t, atomic_bool *flag)
{
    pthread_mutex_lock(&t->lock);
    t->flag = flag;
    if (flag && atomic_load(&t->stopped))
        atomic_store(flag, true);
    pthread_mutex_unlock(&t->lock);
}

/* What every process tells of itself at first. */
struct introduction {
    char build[48], host[64];
};

static fbp_status introduce(fbp_team *t)
{
    const size_t rank = t->call.rank, size = t->call.size;
    struct introduction own = {.build = ""}, *all = NULL;

    snprintf(own.build, sizeof own.build, "%s", fbp_build());
    (void)gethostname(own.host, sizeof own.host - 1);
    snprintf(t->peers[rank].host, sizeof own.host, "%s", own.host);
    FBP_TRY(fbp_calloc((void **)&all, size, sizeof *all, "a team"));
    fbp_status st = fbp_team_gather(t, "start", FBP_OK, &own, sizeof own, all);
    for (size_t r = 0; r < size && st == FBP_OK; r++) {
        snprintf(t->peers[r].host, sizeof all[r].host, "%.63s", all[r].host);
        if (strcmp(all[r].host, own.host) == 0) {
            t->local_size++;
            t->local_rank += r < rank;
        }
        if (strncmp(all[r].build, all[0].build, sizeof all[r].build) != 0) /* rank 0 says so */
            st = fbp_fail(rank == 0 ? FBP_ERR_INVALID : FBP_ERR_CANCELLED,
                          "rank %zu on %.63s has fbp %.47s, rank 0 on %.63s %.47s: install the "
                          "same on both",
                          r, all[r].host, all[r].build, all[0].host, all[0].build);
    }
    free(all);
    return st;
}

static fbp_status take_functions(struct fbp_team_functions *own,
                                 const struct fbp_team_functions *theirs)
{
    FBP_TRY(FBP_TAKE(team_functions, own, theirs));
    if (!own->send || !own->receive || !own->close)
        return fbp_fail(FBP_ERR_INVALID,
                        "fbp_team_functions: send, receive and close: found NULL, expected a "
                        "function each");
    if (own->rank >= own->size)
        return fbp_fail(FBP_ERR_INVALID,
                        "fbp_team_functions: rank %zu of %zu: they are counted from 0", own->rank,
                        own->size);
    return FBP_OK;
}

static void forget_letters(struct team_peer *p)
{
    for (struct team_letter *next; p->first; p->first = next) {
        next = p->first->next;
        free(p->first);
    }
    free(p->coming);
}

static void forget_offers(fbp_team *t)
{
    for (struct team_offered *next; t->offers; t->offers = next) {
        next = t->offers->next;
        free(t->offers);
    }
}

/* The end, of a half-made one, too. */
static void destroy(fbp_team *t)
{
    bool lost = false;

    team_listen_no_more(t);
    for (size_t r = 0; t->peers && r < t->call.size; r++) {
        lost |= t->peers[r].lost;
        forget_letters(&t->peers[r]);
    }
    forget_offers(t);
    t->call.close(t->call.user, lost);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    pthread_mutex_destroy(&t->order);
    free(t->peers);
    free(t);
}

fbp_status fbp_team_create(fbp_team **out, const struct fbp_team_functions *functions)
{
    FBP_GIVEN(out);
    struct fbp_team_functions own;
    fbp_team *t = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(take_functions(&own, functions));
    st = fbp_calloc((void **)&t, 1, sizeof *t, "a team");
    if (st != FBP_OK) {
        own.close(own.user, 1);
        return st;
    }
    t->call = own;
    pthread_mutex_init(&t->order, NULL);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    FBP_TRY_GOTO(fbp_calloc((void **)&t->peers, own.size, sizeof *t->peers, "a team"));
    FBP_TRY_GOTO(team_listen(t));
    FBP_TRY_GOTO(introduce(t));
    *out = t;
    return FBP_OK;
fail:
    if (t->over != FBP_OK && !fbp_team_speaks(t))
        st = FBP_ERR_CANCELLED; /* another one says so */
    destroy(t);
    return st;
}

fbp_status fbp_team_end(fbp_team *t, const char *failure)
{
    fbp_message_clear();
    if (!t || (t->ended && t->over == FBP_OK))
        return FBP_OK;
    const fbp_status mine = failure ? fbp_fail(FBP_ERR_INVALID, "%s", failure) : FBP_OK;
    const fbp_status st = fbp_team_meet(t, "end", mine);
    pthread_mutex_lock(&t->lock);
    t->ended = true;
    pthread_mutex_unlock(&t->lock);
    return st;
}

fbp_status fbp_team_leave(fbp_team **team, const char *failure)
{
    FBP_GIVEN(team);
    const fbp_status st = fbp_team_end(*team, failure);

    if (*team)
        destroy(*team);
    *team = NULL;
    return st;
}

/* Sending: letters of any length, cut into messages, and pieces that were asked for. */

char *fbp_team_name(const fbp_team *t, size_t rank, char *buf, size_t n)
{
    snprintf(buf, n, "rank %zu on %.63s", rank,
             t->peers[rank].host[0] ? t->peers[rank].host : "a host not heard of");
    return buf;
}

fbp_status team_post(fbp_team *t, size_t to, struct team_head head, const void *data, size_t n)
{
    struct {
        struct team_head head;
        char part[TEAM_PART];
    } *message = NULL;
    fbp_status st = FBP_OK;
    char name[100];
    size_t at = 0;

    FBP_TRY(fbp_alloc((void **)&message, sizeof *message, "a message"));
    message->head = head;
    message->head.total = n;
    do {
        const size_t part = n - at < TEAM_PART ? n - at : TEAM_PART;
        message->head.at = at;
        if (part > 0)
            memcpy(message->part, (const char *)data + at, part);
        if (t->call.send(t->call.user, to, message, sizeof message->head + part) != 0)
            st = fbp_fail(FBP_ERR_IO, "team: %s cannot be reached",
                          fbp_team_name(t, to, name, sizeof name));
        at += part;
    } while (at < n && st == FBP_OK);
    fbp_free(message);
    return st;
}

void fbp_team_tell(fbp_team *t, const uint64_t values[FBP_TEAM_TOLD])
{
    if (t->call.rank > 0) /* the next one says the same */
        (void)!team_post(t, 0, (struct team_head){.kind = TEAM_TOLD}, values,
                         FBP_TEAM_TOLD * sizeof *values);
    else
        memcpy(t->peers[0].told, values, sizeof t->peers[0].told);
}

void fbp_team_told(fbp_team *t, uint64_t sum[FBP_TEAM_TOLD])
{
    memset(sum, 0, FBP_TEAM_TOLD * sizeof *sum);
    pthread_mutex_lock(&t->lock);
    for (size_t r = 0; r < t->call.size; r++)
        for (int i = 0; i < FBP_TEAM_TOLD; i++)
            sum[i] += t->peers[r].told[i];
    pthread_mutex_unlock(&t->lock);
}

/* The run's own failure is the one that matters. */
static fbp_status stopped(void)
{
    return fbp_fail(FBP_ERR_CANCELLED, "another process of the team has failed");
}

/* Who cannot be reached is lost, as a rule: rank 0 notices that, too, and has the better words. */
static fbp_status reach(fbp_team *t, size_t to, struct team_head head, const void *data, size_t n)
{
    return team_post(t, to, head, data, n) == FBP_OK ? FBP_OK : FBP_ERR_CANCELLED;
}

/* The piece of that number, once it has been asked for. */
static fbp_status give(fbp_team *t, size_t to, enum team_lane lane, uint64_t number,
                       const void *data, size_t n)
{
    const struct team_head head = {.kind = TEAM_PIECE, .lane = (uint16_t)lane, .serial = number};

    pthread_mutex_lock(&t->lock);
    while (t->peers[to].pieces[lane].asks <= number && !atomic_load(&t->stopped))
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    if (atomic_load(&t->stopped))
        return stopped();
    return reach(t, to, head, data, n);
}

fbp_status fbp_team_give(fbp_team *t, size_t to, const void *data, size_t n)
{
    return give(t, to, TEAM_GIVEN, t->peers[to].pieces[TEAM_GIVEN].given++, data, n);
}

fbp_status fbp_team_offer(fbp_team *t, uint64_t z, uint64_t n, const void *data, size_t bytes)
{
    struct team_pieces *p = &t->peers[0].pieces[TEAM_OFFERED];
    struct team_head head = {.kind = TEAM_OFFER};
    const uint64_t offer[2] = {z, n};

    pthread_mutex_lock(&t->order); /* they are asked for in the order in which they were offered */
    head.serial = p->given;
    p->given += data != NULL;
    const fbp_status st = reach(t, 0, head, offer, sizeof offer);
    pthread_mutex_unlock(&t->order);
    return st == FBP_OK && data ? give(t, 0, TEAM_OFFERED, head.serial, data, bytes) : st;
}

fbp_status fbp_team_offered(fbp_team *t, size_t *from, uint64_t *z, uint64_t *n)
{
    pthread_mutex_lock(&t->lock);
    while (!t->offers && !atomic_load(&t->stopped))
        pthread_cond_wait(&t->changed, &t->lock);
    struct team_offered *first = atomic_load(&t->stopped) ? NULL : t->offers;
    t->offers = first ? first->next : t->offers;
    pthread_mutex_unlock(&t->lock);
    if (!first)
        return stopped();
    *from = first->from;
    *z = first->z;
    *n = first->n;
    free(first);
    return FBP_OK;
}

static fbp_status ask(fbp_team *t, size_t from, enum team_lane lane, void *to, size_t n)
{
    struct team_pieces *p = &t->peers[from].pieces[lane];
    struct team_head head = {.kind = TEAM_ASK, .lane = (uint16_t)lane};

    pthread_mutex_lock(&t->lock);
    head.serial = p->asked++;
    p->to = atomic_load(&t->stopped) ? NULL : to;
    p->have = 0;
    p->wants = n;
    pthread_mutex_unlock(&t->lock);
    return reach(t, from, head, NULL, 0);
}

static fbp_status taken(fbp_team *t, size_t from, enum team_lane lane)
{
    struct team_pieces *p = &t->peers[from].pieces[lane];

    pthread_mutex_lock(&t->lock);
    while (p->have < p->wants && !atomic_load(&t->stopped))
        pthread_cond_wait(&t->changed, &t->lock);
    const bool whole = p->have == p->wants;
    p->to = NULL;
    pthread_mutex_unlock(&t->lock);
    return whole ? FBP_OK : stopped();
}

fbp_status fbp_team_ask(fbp_team *t, size_t from, void *to, size_t n)
{
    return ask(t, from, TEAM_GIVEN, to, n);
}

fbp_status fbp_team_taken(fbp_team *t, size_t from)
{
    return taken(t, from, TEAM_GIVEN);
}

fbp_status fbp_team_accept(fbp_team *t, size_t from, void *to, size_t n)
{
    FBP_TRY(ask(t, from, TEAM_OFFERED, to, n));
    return taken(t, from, TEAM_OFFERED);
}

/* Listening: what comes goes to where it is waited for; who is silent for too long is lost. */

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

/* Meetings: everybody comes, rank 0 hears all and tells the verdict. */

/* What all have said, as rank 0 hears it. */
struct meeting {
    fbp_team *team;
    struct team_letter **letters; /* [size]; NULL: of rank 0, or of one that is lost */
    const struct team_words *own;
};

static struct team_words words_of_lost(const fbp_team *t, size_t rank)
{
    struct team_words words = {.status = FBP_ERR_IO};
    char name[100];

    snprintf(words.message, sizeof words.message,
             "%s is lost: its process or its machine has ended: start again; --resume, with any "
             "number of ranks, goes on with what is left beside the output",
             fbp_team_name(t, rank, name, sizeof name));
    return words;
}

static struct team_words words_of_other_release(const fbp_team *t, size_t rank)
{
    struct team_words words = {.status = FBP_ERR_INVALID};
    char name[100];

    snprintf(words.message, sizeof words.message,
             "%s is of another release: install the same one everywhere",
             fbp_team_name(t, rank, name, sizeof name));
    return words;
}

/* What a letter of a process says first, copied: letters lie at any address.  NULL: it is lost. */
static struct team_words read_words(const fbp_team *t, size_t rank,
                                    const struct team_letter *letter)
{
    struct team_words words;

    if (!letter)
        return words_of_lost(t, rank);
    if (letter->head.total < sizeof words)
        return words_of_other_release(t, rank);
    memcpy(&words, letter->data, sizeof words);
    words.where[sizeof words.where - 1] = words.message[sizeof words.message - 1] = '\0';
    return words;
}

static struct team_words words_of(const struct meeting *m, size_t rank)
{
    return rank == 0 ? *m->own : read_words(m->team, rank, m->letters[rank]);
}

/* The first who failed by himself; nobody: the first who did not go on. */
static size_t first_failure(const struct meeting *m)
{
    const size_t size = m->team->call.size;
    size_t cancelled = size;

    for (size_t r = 0; r < size; r++) {
        const int32_t status = words_of(m, r).status;
        if (status != FBP_OK && status != FBP_ERR_CANCELLED)
            return r;
        if (status != FBP_OK && cancelled == size)
            cancelled = r;
    }
    return cancelled;
}

/* Is it what all say, so that it is of no rank? */
static bool all_say(const struct meeting *m, const struct team_words *words)
{
    for (size_t r = 0; r < m->team->call.size; r++)
        if (strcmp(words_of(m, r).message, words->message) != 0)
            return false;
    return true;
}

/* Somebody is elsewhere, and does not say that anything went wrong. */
static bool find_astray(const struct meeting *m, struct team_words *out)
{
    char name[100];

    for (size_t r = 1; r < m->team->call.size; r++) {
        const struct team_words words = words_of(m, r);
        if (strcmp(words.where, m->own->where) == 0)
            continue;
        *out = (struct team_words){.status = FBP_ERR_INVALID};
        snprintf(out->message, sizeof out->message,
                 "%s is at another step (%s) than rank 0 (%s): start all with the same command",
                 fbp_team_name(m->team, r, name, sizeof name), words.where, m->own->where);
        return true;
    }
    return false;
}

static struct team_words judge(const struct meeting *m)
{
    const size_t at = first_failure(m);
    struct team_words verdict = *m->own;
    char name[100];

    if (at == m->team->call.size) {
        (void)find_astray(m, &verdict);
        return verdict;
    }
    verdict = words_of(m, at);
    (void)fbp_team_name(m->team, at, name, sizeof name);
    if (strncmp(verdict.message, name, strlen(name)) == 0 || all_say(m, &verdict))
        return verdict; /* it is named already, or nobody need be */
    const struct team_words said = verdict;
    snprintf(verdict.message, sizeof verdict.message, "%s: %.*s", name,
             (int)(sizeof verdict.message - sizeof name - 3), said.message);
    return verdict;
}

/* The next letter of a process; NULL: it is lost. */
static struct team_letter *hear(fbp_team *t, size_t rank)
{
    struct team_peer *p = &t->peers[rank];

    pthread_mutex_lock(&t->lock);
    while (!p->first && !p->lost)
        pthread_cond_wait(&t->changed, &t->lock);
    struct team_letter *letter = p->first;
    p->first = letter ? letter->next : NULL;
    pthread_mutex_unlock(&t->lock);
    return letter;
}

/* Bytes that everybody brings, and that everybody gets. */
struct brought {
    const void *mine;
    size_t n;
    void *all;
    size_t n_all;  /* size * n, or n: those of rank 0 */
    size_t n_told; /* of all, what everybody gets */
};

/* Those of all, if they are as many as of rank 0. */
static void collect(const struct meeting *m, const struct brought *b, struct team_words *verdict)
{
    if (b->n > 0)
        memcpy(b->all, b->mine, b->n);
    for (size_t r = 1; r < m->team->call.size && verdict->status == FBP_OK; r++) {
        const struct team_letter *letter = m->letters[r];
        if (letter->head.total != sizeof *verdict + b->n) {
            *verdict = words_of_other_release(m->team, r);
        } else if (b->n_all > b->n)
            memcpy((char *)b->all + r * b->n, letter->data + sizeof *verdict, b->n);
    }
}

/* The verdict to all; letter: its words, then all that was brought. */
static void tell_all(const struct meeting *m, const struct team_words *verdict, char *letter,
                     size_t n)
{
    fbp_team *t = m->team;

    const struct team_head head = {.kind = TEAM_VERDICT, .status = verdict->status};

    memcpy(letter, verdict, sizeof *verdict);
    for (size_t r = 1; r < t->call.size; r++)
        if (m->letters[r]) /* who is lost by now will not answer at the next one */
            (void)!team_post(t, r, head, letter, n);
    fbp_message_clear();
}

static fbp_status preside(fbp_team *t, const struct team_words *own, const struct brought *b,
                          struct team_words *verdict)
{
    struct meeting m = {.team = t, .own = own};
    struct brought into = *b;
    char *letter = NULL;
    fbp_status st = FBP_OK;

    if (own->status != FBP_OK) {
        pthread_mutex_lock(&t->lock);
        team_stop(t);
        pthread_mutex_unlock(&t->lock);
    }
    FBP_TRY_GOTO(fbp_calloc((void **)&m.letters, t->call.size, sizeof *m.letters, "a meeting"));
    FBP_TRY_GOTO(fbp_calloc((void **)&letter, 1, sizeof *own + b->n_all, "a meeting"));
    into.all = letter + sizeof *own;
    for (size_t r = 1; r < t->call.size; r++)
        m.letters[r] = hear(t, r);
    *verdict = judge(&m);
    collect(&m, &into, verdict);
    tell_all(&m, verdict, letter, sizeof *own + (verdict->status == FBP_OK ? b->n_told : 0));
    if (verdict->status == FBP_OK && b->n_all > 0)
        memcpy(b->all, into.all, b->n_all);
fail:
    for (size_t r = 1; m.letters && r < t->call.size; r++)
        free(m.letters[r]);
    free(m.letters);
    free(letter);
    return st;
}

static fbp_status attend(fbp_team *t, const struct team_words *own, const struct brought *b,
                         struct team_words *verdict)
{
    const size_t n = sizeof *own + b->n;
    char *letter = NULL;

    FBP_TRY(fbp_calloc((void **)&letter, 1, n, "a meeting"));
    memcpy(letter, own, sizeof *own);
    if (b->n > 0)
        memcpy(letter + sizeof *own, b->mine, b->n);
    (void)!team_post(t, 0, (struct team_head){.kind = TEAM_WORDS, .status = own->status}, letter,
                     n);
    fbp_message_clear(); /* if it cannot be reached, it will be lost */
    free(letter);
    struct team_letter *heard = hear(t, 0);
    t->headless |= !heard;
    *verdict = read_words(t, 0, heard);
    if (heard && verdict->status == FBP_OK && heard->head.total != sizeof *verdict + b->n_told)
        *verdict = words_of_other_release(t, 0);
    if (heard && verdict->status == FBP_OK && b->n_told > 0)
        memcpy(b->all, heard->data + sizeof *verdict, b->n_told);
    free(heard);
    return FBP_OK;
}

/* A meeting has failed: all later ones fail in the same way. */
static fbp_status is_over(fbp_team *t, fbp_status status, const char *why)
{
    t->over = status;
    snprintf(t->why, sizeof t->why, "%s", why);
    pthread_mutex_lock(&t->lock);
    team_stop(t);
    pthread_mutex_unlock(&t->lock);
    fbp_message_clear(); /* some may have left, and cannot be told */
    return fbp_fail(status, "%s", t->why);
}

static fbp_status meet(fbp_team *t, const char *where, fbp_status status, const struct brought *b)
{
    static const struct brought nothing = {.n = 0};
    struct team_words own = {.status = status}, verdict;

    if (t->over != FBP_OK) {
        fbp_message_clear();
        return fbp_fail(t->over, "%s", t->why);
    }
    snprintf(own.where, sizeof own.where, "%s", where);
    if (status != FBP_OK)
        snprintf(own.message, sizeof own.message, "%s", fbp_message());
    if (status != FBP_OK)
        b = &nothing;
    fbp_message_clear();
    const fbp_status st =
        t->call.rank == 0 ? preside(t, &own, b, &verdict) : attend(t, &own, b, &verdict);
    if (st != FBP_OK)
        return is_over(t, st, fbp_message());
    if (verdict.status == FBP_OK)
        return FBP_OK;
    return is_over(t, (fbp_status)verdict.status, verdict.message);
}

fbp_status fbp_team_meet(fbp_team *t, const char *where, fbp_status status)
{
    FBP_GIVEN(t, where);
    return meet(t, where, status, &(struct brought){.n = 0});
}

fbp_status fbp_team_gather(fbp_team *t, const char *where, fbp_status status, const void *mine,
                           size_t n, void *all)
{
    const size_t whole = t->call.size * n;

    return meet(t, where, status, &(struct brought){mine, n, all, whole, whole});
}

fbp_status fbp_team_collect(fbp_team *t, const char *where, fbp_status status, const void *mine,
                            size_t n, void *all)
{
    return meet(t, where, status, &(struct brought){mine, n, all, t->call.size * n, 0});
}

fbp_status fbp_team_share(fbp_team *t, const char *where, fbp_status status, void *data, size_t n)
{
    return meet(t, where, status, &(struct brought){data, n, data, n, n});
}

/* Who speaks for all: rank 0, and where that is lost the lowest of those that are left. */

/* So long [s] a rank waits for each one below it, which may still be busy; where a launcher ends
 * all of them soon, a fifth of the time that it leaves. */
static const double TURN = 5, PART = 0.2;

/* Who was asleep not so long [s] ago may be taken for lost himself: the others have said that. */
static const double DROWSY = 12;

/* With the lock held. */
static bool is_there_one_below(const fbp_team *t)
{
    for (size_t r = 1; r < t->call.rank; r++)
        if (!t->peers[r].lost)
            return true;
    return false;
}

/* Until it is clear who speaks, or those below have had their turns; with the lock held. */
static void await_speaker(fbp_team *t)
{
    const double turn = t->call.stop_patience > 0 ? PART * t->call.stop_patience : TURN;
    const struct timespec until = team_after(turn * (double)(t->call.rank - 1));

    while (t->speaker == 0 && is_there_one_below(t))
        if (pthread_cond_timedwait(&t->changed, &t->lock, &until) != 0)
            return;
}

int fbp_team_speaks(fbp_team *t)
{
    if (!t || t->call.rank == 0)
        return 1;
    if (!t->headless)
        return 0;
    pthread_mutex_lock(&t->lock);
    if (t->woke == 0 || fbp_seconds() - t->woke > DROWSY)
        await_speaker(t);
    else if (t->speaker == 0)
        t->speaker = t->call.size;
    const bool takes_over = t->speaker == 0;
    if (takes_over)
        t->speaker = t->call.rank;
    for (size_t r = 1; r < t->call.size && takes_over; r++)
        if (r != t->call.rank && !t->peers[r].lost) /* who cannot be reached does not speak */
            (void)!team_post(t, r, (struct team_head){.kind = TEAM_SPEAKS}, NULL, 0);
    const bool speaks = t->speaker == t->call.rank;
    pthread_mutex_unlock(&t->lock);
    return speaks;
}
