/* Teams of processes that compute one volume together (team.h): creation, messages, pieces of
 * data, the thread that receives, barriers, and the choice of the rank that reports errors.
 * fbp_team_create(), fbp_team_rank() and fbp_team_leave() are public. MPI (modules/mpi.c) or
 * functions of the caller transport the messages.
 * Used by: cli/, pipeline/, team/. */
#include "team/team.h"

#include "base/system.h"
#include "base/threads.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Messages */

enum kind {
    BEAT = 1, /* this process is running */
    PROGRESS, /* FBP_TEAM_COUNTERS counters */
    REPORT,   /* message to rank 0: status of the sender at a barrier, with its data */
    VERDICT,  /* message from rank 0: common status of all ranks at a barrier, with data */
    STOP,     /* from rank 0: a process has failed */
    ASK,      /* request of a piece */
    PIECE,    /* bytes of a piece */
    OFFER,    /* to rank 0: announcement of a piece */
    SPEAKS,   /* message to all ranks: rank 0 is lost, and the sender reports errors for it */
};

/* Lanes: two independent sequences of pieces of data between two processes, of
 * fbp_team_send_piece() (GIVEN) and fbp_team_offer() (OFFERED).  The pieces of a lane arrive in
 * order. */
enum lane { GIVEN, OFFERED, LANES };

/* Header of every message.  Larger contents are sent as several messages. */
struct head {
    uint16_t kind, lane;
    int32_t status;
    uint64_t serial; /* number of a piece */
    /* offset of this message's bytes in the whole contents, and size of the contents */
    uint64_t at, total;
};

enum { PART = FBP_TEAM_MESSAGE - sizeof(struct head) };

/* Beginning of a REPORT or VERDICT (messages of a barrier); the data of the barrier follow. */
struct words {
    int32_t status;
    char where[32];
    char message[1000];
};

/* Received contents of a REPORT or VERDICT, which may consist of several messages. */
struct letter {
    struct letter *next;
    struct head head;
    size_t have; /* bytes received, of head.total */
    char data[];
};

/* In rank 0: piece of data that another rank has announced (fbp_team_offer()), and that
 * fbp_team_next_offer() has not returned yet. */
struct offered {
    struct offered *next;
    size_t from;
    uint64_t z, n;
};

/* Counts and destination of the pieces of data in one lane, to and from another process. */
struct pieces {
    /* given: number of pieces for the other process; asks: how many of them it has requested */
    uint64_t given, asks;
    uint64_t asked; /* number of pieces that this process has requested */
    char *to; /* destination of the piece that this process requested last; NULL: the piece is no
                 longer needed */
    /* have: bytes received of the piece that was requested last; wants: size of this piece */
    size_t have, wants;
};

struct peer {
    char host[64];
    double heard; /* time of the peer's last message [s] */
    bool lost;
    struct letter *coming; /* incomplete REPORT or VERDICT */
    struct letter *first;  /* complete REPORTs or VERDICTs */
    uint64_t told[FBP_TEAM_COUNTERS];
    struct pieces pieces[LANES];
};

struct fbp_team {
    struct fbp_team_functions call;
    struct peer *peers; /* [size] */
    size_t local_rank, local_size;
    pthread_mutex_t order; /* held while an offer is sent */
    pthread_mutex_t lock;  /* protects the members below, and `peers` */
    pthread_cond_t changed;
    pthread_t listener, beater;
    bool has_listener, has_beater;
    double stop_heard;   /* time when a call of fbp_stop() was noticed [s]; 0: fbp_stop() was not
                            called */
    bool closing, ended; /* closing: the team is being destroyed; ended: the last barrier is passed,
                            after which a silent process has left and is not lost */
    atomic_bool stopped;
    atomic_bool *flag;
    struct offered *offers; /* oldest first */
    double woke;   /* time when this process noticed that it had been suspended [s]; 0: never */
    bool headless; /* rank 0 was lost before it sent a verdict */
    /* rank that reports errors after rank 0 is lost; 0: not chosen; team size: another rank, not
     * known which */
    size_t speaker;
    /* status of the barrier that has failed, with the message `why`; FBP_OK: none has failed */
    fbp_status over;
    char why[1000];
    char message[FBP_TEAM_MESSAGE]; /* buffer of the listener thread */
};

char *fbp_team_name(const fbp_team *t, size_t rank, char *buf, size_t n)
{
    snprintf(buf, n, "rank %zu on %.63s", rank,
             t->peers[rank].host[0] ? t->peers[rank].host : "an unknown host");
    return buf;
}

static fbp_status post(fbp_team *t, size_t to, struct head head, const void *data, size_t n)
{
    struct {
        struct head head;
        char part[PART];
    } *message = NULL;
    fbp_status st = FBP_OK;
    char name[100];
    size_t at = 0;

    FBP_TRY(fbp_alloc((void **)&message, sizeof *message, "a message"));
    message->head = head;
    message->head.total = n;
    do {
        const size_t part = n - at < PART ? n - at : PART;
        message->head.at = at;
        if (part > 0)
            memcpy(message->part, (const char *)data + at, part);
        if (t->call.send(t->call.user, to, message, sizeof message->head + part) != 0)
            st = fbp_fail(FBP_ERR_IO,
                          "team: cannot send data to %s; see the message of that process, and "
                          "check the network",
                          fbp_team_name(t, to, name, sizeof name));
        at += part;
    } while (at < n && st == FBP_OK);
    fbp_free(message);
    return st;
}

/* Stop the exchange of pieces of data, and set the flag of fbp_team_cancel_flag(); rank 0 sends a
 * stop message to all others that are not lost. The caller holds t->lock. */
static void stop(fbp_team *t)
{
    if (atomic_exchange(&t->stopped, true))
        return;
    for (size_t r = 0; r < t->call.size; r++)
        for (size_t i = 0; i < LANES; i++)
            t->peers[r].pieces[i].to = NULL; /* the caller frees its memory */
    if (t->flag)
        atomic_store(t->flag, true);
    pthread_cond_broadcast(&t->changed);
    for (size_t r = 1; t->call.rank == 0 && r < t->call.size; r++)
        if (!t->peers[r].lost)
            (void)!post(t, r, (struct head){.kind = STOP}, NULL, 0);
}

void fbp_team_cancel_flag(fbp_team *t, atomic_bool *flag)
{
    pthread_mutex_lock(&t->lock);
    t->flag = flag;
    if (flag && atomic_load(&t->stopped))
        atomic_store(flag, true);
    pthread_mutex_unlock(&t->lock);
}

void fbp_team_send_progress(fbp_team *t, const uint64_t values[FBP_TEAM_COUNTERS])
{
    if (t->call.rank > 0)
        (void)!post(t, 0, (struct head){.kind = PROGRESS}, values,
                    FBP_TEAM_COUNTERS * sizeof *values);
    else
        memcpy(t->peers[0].told, values, sizeof t->peers[0].told);
}

void fbp_team_sum_progress(fbp_team *t, uint64_t sum[FBP_TEAM_COUNTERS])
{
    memset(sum, 0, FBP_TEAM_COUNTERS * sizeof *sum);
    pthread_mutex_lock(&t->lock);
    for (size_t r = 0; r < t->call.size; r++)
        for (int i = 0; i < FBP_TEAM_COUNTERS; i++)
            sum[i] += t->peers[r].told[i];
    pthread_mutex_unlock(&t->lock);
}

/* Pieces of data */

static fbp_status stopped(void)
{
    return fbp_fail(FBP_ERR_CANCELLED, "team: another process of this run has failed or was "
                                       "interrupted; see the message of that process");
}

/* Send as post() does, but return FBP_ERR_CANCELLED if that fails: rank 0 also notices that a
 * process is lost, and reports it with a better message. */
static fbp_status reach(fbp_team *t, size_t to, struct head head, const void *data, size_t n)
{
    return post(t, to, head, data, n) == FBP_OK ? FBP_OK : FBP_ERR_CANCELLED;
}

/* Wait until the receiver requests piece `number` of a lane, and send it. */
static fbp_status give(fbp_team *t, size_t to, enum lane lane, uint64_t number, const void *data,
                       size_t n)
{
    const struct head head = {.kind = PIECE, .lane = (uint16_t)lane, .serial = number};

    pthread_mutex_lock(&t->lock);
    while (t->peers[to].pieces[lane].asks <= number && !atomic_load(&t->stopped))
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    if (atomic_load(&t->stopped))
        return stopped();
    return reach(t, to, head, data, n);
}

fbp_status fbp_team_send_piece(fbp_team *t, size_t to, const void *data, size_t n)
{
    return give(t, to, GIVEN, t->peers[to].pieces[GIVEN].given++, data, n);
}

fbp_status fbp_team_offer(fbp_team *t, uint64_t z, uint64_t n, const void *data, size_t bytes)
{
    struct pieces *p = &t->peers[0].pieces[OFFERED];
    struct head head = {.kind = OFFER};
    const uint64_t offer[2] = {z, n};

    pthread_mutex_lock(&t->order); /* the lock keeps the numbers of pieces in the order of the
                                      announcements, in which rank 0 requests them */
    head.serial = p->given;
    p->given += data != NULL;
    const fbp_status st = reach(t, 0, head, offer, sizeof offer);
    pthread_mutex_unlock(&t->order);
    return st == FBP_OK && data ? give(t, 0, OFFERED, head.serial, data, bytes) : st;
}

fbp_status fbp_team_next_offer(fbp_team *t, size_t *from, uint64_t *z, uint64_t *n)
{
    pthread_mutex_lock(&t->lock);
    while (!t->offers && !atomic_load(&t->stopped))
        pthread_cond_wait(&t->changed, &t->lock);
    struct offered *first = atomic_load(&t->stopped) ? NULL : t->offers;
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

static fbp_status ask(fbp_team *t, size_t from, enum lane lane, void *to, size_t n)
{
    struct pieces *p = &t->peers[from].pieces[lane];
    struct head head = {.kind = ASK, .lane = (uint16_t)lane};

    pthread_mutex_lock(&t->lock);
    head.serial = p->asked++;
    p->to = atomic_load(&t->stopped) ? NULL : to;
    p->have = 0;
    p->wants = n;
    pthread_mutex_unlock(&t->lock);
    return reach(t, from, head, NULL, 0);
}

static fbp_status taken(fbp_team *t, size_t from, enum lane lane)
{
    struct pieces *p = &t->peers[from].pieces[lane];

    pthread_mutex_lock(&t->lock);
    while (p->have < p->wants && !atomic_load(&t->stopped))
        pthread_cond_wait(&t->changed, &t->lock);
    const bool complete = p->have == p->wants;
    p->to = NULL;
    pthread_mutex_unlock(&t->lock);
    return complete ? FBP_OK : stopped();
}

fbp_status fbp_team_request_piece(fbp_team *t, size_t from, void *to, size_t n)
{
    return ask(t, from, GIVEN, to, n);
}

fbp_status fbp_team_wait_piece(fbp_team *t, size_t from)
{
    return taken(t, from, GIVEN);
}

fbp_status fbp_team_accept(fbp_team *t, size_t from, void *to, size_t n)
{
    FBP_TRY(ask(t, from, OFFERED, to, n));
    return taken(t, from, OFFERED);
}

/* Receiving */

/* Times [s].  PATIENCE: a process that sends nothing for longer counts as lost.  BEAT_EVERY: from
 * one BEAT to the next; STOPPED_BEAT: the same after a failure or cancellation.  LISTEN: greatest
 * wait for one message. */
static const double PATIENCE = 6, BEAT_EVERY = 1, STOPPED_BEAT = 0.1, LISTEN = 0.1;

static void lose(fbp_team *t, size_t rank)
{
    if (t->peers[rank].lost || (t->ended && !t->headless))
        return; /* the process has left the team */
    t->peers[rank].lost = true;
    stop(t);
    pthread_cond_broadcast(&t->changed);
}

/* Part of a REPORT or VERDICT. */
static void take_letter(fbp_team *t, size_t from, const struct head *h, const char *data, size_t n)
{
    struct peer *p = &t->peers[from];
    struct letter **end = &p->first;

    if (h->at == 0) {
        free(p->coming);
        p->coming = calloc(1, sizeof *p->coming + h->total);
    }
    if (!p->coming || p->coming->have != h->at || h->total - h->at < n) {
        lose(t, from); /* out of memory, or a part is missing */
        return;
    }
    p->coming->head = *h;
    memcpy(p->coming->data + h->at, data, n);
    p->coming->have += n;
    if (p->coming->have < h->total)
        return;
    while (*end)
        end = &(*end)->next;
    *end = p->coming;
    p->coming = NULL;
    if (h->kind == REPORT && h->status != FBP_OK)
        stop(t);
}

/* Handle a message, with the lock held. */
static void take(fbp_team *t, size_t from, const char *message, size_t n)
{
    struct peer *p = &t->peers[from];
    const char *data = message + sizeof(struct head);
    struct head h;

    if (n < sizeof h)
        return;
    n -= sizeof h;
    memcpy(&h, message, sizeof h);
    if (h.lane >= LANES)
        return;
    struct pieces *s = &p->pieces[h.lane];
    if (h.kind == REPORT || h.kind == VERDICT)
        take_letter(t, from, &h, data, n);
    /* Store data only of the piece that this process requested last and still needs. */
    if (h.kind == PIECE && s->to && s->asked == h.serial + 1 && h.total == s->wants &&
        h.at == s->have && n <= s->wants - s->have) {
        memcpy(s->to + h.at, data, n);
        s->have += n;
    }
    if (h.kind == ASK)
        s->asks = h.serial + 1;
    if (h.kind == PROGRESS && n == sizeof p->told)
        memcpy(p->told, data, n);
    if (h.kind == OFFER && n == 2 * sizeof(uint64_t)) {
        struct offered **end = &t->offers, *offer = calloc(1, sizeof *offer);
        while (*end)
            end = &(*end)->next;
        *end = offer;
        if (offer) {
            offer->from = from;
            memcpy(&offer->z, data, sizeof offer->z);
            memcpy(&offer->n, data + sizeof offer->z, sizeof offer->n);
        } else {
            lose(t, from);
        }
    }
    if (h.kind == SPEAKS && t->speaker == 0)
        t->speaker = from;
    if (h.kind == STOP)
        stop(t);
    if (h.kind != BEAT && h.kind != PROGRESS)
        pthread_cond_broadcast(&t->changed);
}

static void *listen_main(void *arg)
{
    fbp_team *t = arg;
    double before = fbp_seconds();

    pthread_mutex_lock(&t->lock);
    while (!t->closing) {
        size_t from = 0, n = 0;
        pthread_mutex_unlock(&t->lock);
        const int result = t->call.receive(t->call.user, LISTEN, &from, t->message, &n);
        const double now = fbp_seconds();
        pthread_mutex_lock(&t->lock);
        if (result == 2)
            lose(t, from);
        if (result == 0) {
            t->peers[from].heard = now;
            take(t, from, t->message, n);
        }
        if (now - before > PATIENCE / 2) { /* this process itself was suspended */
            t->woke = now;
            for (size_t r = 0; r < t->call.size; r++)
                t->peers[r].heard = now;
        }
        before = now;
        if (t->stop_heard == 0 && fbp_stopped()) { /* beats become more frequent */
            t->stop_heard = now;
            pthread_cond_broadcast(&t->changed);
        }

        /* Rank 0 checks that the others still send messages; these check only rank 0. */
        const bool soon = t->call.stop_patience > 0 && t->stop_heard > 0;
        const double patience = soon ? t->call.stop_patience : PATIENCE;
        for (size_t r = 0; r < t->call.size; r++) {
            const double heard = t->peers[r].heard;
            const double since = soon && heard < t->stop_heard ? t->stop_heard : heard;
            if (r != t->call.rank && (r == 0 || t->call.rank == 0) && now - since > patience)
                lose(t, r);
        }
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Interval at which this process sends the message that it is running [s].  t->lock is held. */
static double beat(const fbp_team *t)
{
    return t->stop_heard > 0 || atomic_load(&t->stopped) ? STOPPED_BEAT : BEAT_EVERY;
}

/* Main function of the thread that sends the message that this process is running, at regular
 * intervals: to rank 0, or from rank 0 to all others. */
static void *beat_main(void *arg)
{
    fbp_team *t = arg;

    pthread_mutex_lock(&t->lock);
    while (!t->closing) {
        pthread_mutex_unlock(&t->lock);
        for (size_t r = 0; r < t->call.size; r++)
            if (r != t->call.rank && (r == 0 || t->call.rank == 0) && !t->peers[r].lost)
                (void)!post(t, r, (struct head){.kind = BEAT}, NULL, 0);
        pthread_mutex_lock(&t->lock);
        const struct timespec next = fbp_deadline(CLOCK_REALTIME, beat(t));
        for (const double was = beat(t); !t->closing && was <= beat(t);)
            if (pthread_cond_timedwait(&t->changed, &t->lock, &next) != 0)
                break;
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Barriers: every rank sends its status to rank 0 (message REPORT), which sends the common status
 * to all ranks (message VERDICT). */

/* Data of a barrier. */
struct brought {
    const void *mine; /* [n] */
    size_t n;
    void *all;     /* [n_all], in rank 0 */
    size_t n_all;  /* bytes of `all`: size * n (gather, collect), n (broadcast) */
    size_t n_told; /* bytes of `all` that every rank gets: n_all or 0 */
};

static struct words other_release(const fbp_team *t, size_t rank)
{
    struct words words = {.status = FBP_ERR_INVALID};
    char name[100];

    snprintf(words.message, sizeof words.message,
             "%s uses another release of fbp; install the same release everywhere",
             fbp_team_name(t, rank, name, sizeof name));
    return words;
}

/* Return a copy of the status and error message in a received REPORT or VERDICT, whose data may be
 * unaligned.  letter NULL: the rank is lost, which is an error. */
static struct words read_words(const fbp_team *t, size_t rank, const struct letter *letter)
{
    struct words words = {.status = FBP_ERR_IO};
    char name[100];

    if (!letter) {
        snprintf(words.message, sizeof words.message,
                 "%s is lost, because its process has ended or its machine is unreachable; start "
                 "again with --resume, with any number of ranks, to continue",
                 fbp_team_name(t, rank, name, sizeof name));
        return words;
    }
    if (letter->head.total < sizeof words)
        return other_release(t, rank);
    memcpy(&words, letter->data, sizeof words);
    words.where[sizeof words.where - 1] = words.message[sizeof words.message - 1] = '\0';
    return words;
}

/* Return the common status and error message of a barrier, from words[size] of all ranks. */
static struct words judge(const fbp_team *t, const struct words *words)
{
    const size_t size = t->call.size;
    size_t failed = size; /* lowest rank that has failed and was not only cancelled; if none, the
                             lowest cancelled rank */
    bool same = true;     /* all ranks have the same message */
    struct words verdict = words[0];
    char name[100];

    for (size_t r = size; r-- > 0;)
        if (words[r].status != FBP_OK && (failed == size || words[r].status != FBP_ERR_CANCELLED ||
                                          words[failed].status == FBP_ERR_CANCELLED))
            failed = r;
    if (failed < size) {
        verdict = words[failed];
        for (size_t r = 0; r < size; r++)
            same = same && strcmp(words[r].message, verdict.message) == 0;
        (void)fbp_team_name(t, failed, name, sizeof name);
        if (!same && strncmp(verdict.message, name, strlen(name)) != 0)
            snprintf(verdict.message, sizeof verdict.message, "%s: %.*s", name,
                     (int)(sizeof verdict.message - sizeof name - 3), words[failed].message);
        return verdict;
    }
    for (size_t r = 1; r < size; r++)
        if (strcmp(words[r].where, words[0].where) != 0) {
            verdict = (struct words){.status = FBP_ERR_INVALID};
            snprintf(verdict.message, sizeof verdict.message,
                     "%s is at another step (%s) than rank 0 (%s); start all processes with the "
                     "same command",
                     fbp_team_name(t, r, name, sizeof name), words[r].where, words[0].where);
            break;
        }
    return verdict;
}

/* Wait for the next REPORT or VERDICT from a rank; NULL: the rank is lost. */
static struct letter *hear(fbp_team *t, size_t rank)
{
    struct peer *p = &t->peers[rank];

    pthread_mutex_lock(&t->lock);
    while (!p->first && !p->lost)
        pthread_cond_wait(&t->changed, &t->lock);
    struct letter *letter = p->first;
    p->first = letter ? letter->next : NULL;
    pthread_mutex_unlock(&t->lock);
    return letter;
}

/* A barrier in rank 0. */
static fbp_status preside(fbp_team *t, const struct words *own, const struct brought *b,
                          struct words *verdict)
{
    const size_t size = t->call.size;
    struct letter **letters = NULL; /* [size]; NULL: rank 0, or a lost one */
    struct words *words = NULL;     /* [size] */
    char *answer = NULL;            /* the verdict, then the data */
    fbp_status st = FBP_OK;

    if (own->status != FBP_OK) {
        pthread_mutex_lock(&t->lock);
        stop(t);
        pthread_mutex_unlock(&t->lock);
    }
    FBP_TRY_GOTO(fbp_calloc((void **)&letters, size, sizeof *letters, "a barrier"));
    FBP_TRY_GOTO(fbp_calloc((void **)&words, size, sizeof *words, "a barrier"));
    FBP_TRY_GOTO(fbp_calloc((void **)&answer, 1, sizeof *own + b->n_all, "a barrier"));
    words[0] = *own;
    for (size_t r = 1; r < size; r++) {
        letters[r] = hear(t, r);
        words[r] = read_words(t, r, letters[r]);
    }
    *verdict = judge(t, words);

    char *data = answer + sizeof *own;
    if (b->n > 0)
        memcpy(data, b->mine, b->n);
    for (size_t r = 1; r < size && verdict->status == FBP_OK; r++) {
        if (letters[r]->head.total != sizeof *verdict + b->n)
            *verdict = other_release(t, r);
        else if (b->n_all > b->n)
            memcpy(data + r * b->n, letters[r]->data + sizeof *verdict, b->n);
    }

    const struct head head = {.kind = VERDICT, .status = verdict->status};
    const size_t n_told = verdict->status == FBP_OK ? b->n_told : 0;
    memcpy(answer, verdict, sizeof *verdict);
    for (size_t r = 1; r < size; r++)
        if (letters[r])
            (void)!post(t, r, head, answer, sizeof *verdict + n_told);
    fbp_message_clear(); /* clear the message of a failed post(): the next barrier reports the rank
                            as lost */
    if (verdict->status == FBP_OK && b->n_all > 0)
        memcpy(b->all, data, b->n_all);
fail:
    for (size_t r = 1; letters && r < size; r++)
        free(letters[r]);
    free(letters);
    free(words);
    free(answer);
    return st;
}

/* A barrier in any other rank. */
static fbp_status attend(fbp_team *t, const struct words *own, const struct brought *b,
                         struct words *verdict)
{
    const struct head head = {.kind = REPORT, .status = own->status};
    const size_t n = sizeof *own + b->n;
    char *report = NULL;

    FBP_TRY(fbp_calloc((void **)&report, 1, n, "a barrier"));
    memcpy(report, own, sizeof *own);
    if (b->n > 0)
        memcpy(report + sizeof *own, b->mine, b->n);
    (void)!post(t, 0, head, report, n);
    fbp_message_clear(); /* clear the message of a failed post(): hear() then returns that rank 0 is
                            lost */
    free(report);
    struct letter *heard = hear(t, 0);
    t->headless |= !heard;
    *verdict = read_words(t, 0, heard);
    if (heard && verdict->status == FBP_OK && heard->head.total != sizeof *verdict + b->n_told)
        *verdict = other_release(t, 0);
    if (heard && verdict->status == FBP_OK && b->n_told > 0)
        memcpy(b->all, heard->data + sizeof *verdict, b->n_told);
    free(heard);
    return FBP_OK;
}

static fbp_status meet(fbp_team *t, const char *where, fbp_status status, const struct brought *b)
{
    static const struct brought nothing = {.n = 0};
    struct words own = {.status = status}, verdict;

    if (t->over != FBP_OK) { /* later barriers fail in the same way */
        fbp_message_clear();
        return fbp_fail(t->over, "%s", t->why);
    }
    snprintf(own.where, sizeof own.where, "%s", where);
    if (status != FBP_OK) {
        snprintf(own.message, sizeof own.message, "%s", fbp_message());
        b = &nothing;
    }
    fbp_message_clear();
    fbp_status st =
        t->call.rank == 0 ? preside(t, &own, b, &verdict) : attend(t, &own, b, &verdict);
    if (st == FBP_OK && verdict.status == FBP_OK)
        return FBP_OK;
    snprintf(t->why, sizeof t->why, "%s", st != FBP_OK ? fbp_message() : verdict.message);
    t->over = st != FBP_OK ? st : (fbp_status)verdict.status;
    pthread_mutex_lock(&t->lock);
    stop(t);
    pthread_mutex_unlock(&t->lock);
    fbp_message_clear(); /* clear the message that stop() leaves if it cannot reach a rank */
    return fbp_fail(t->over, "%s", t->why);
}

fbp_status fbp_team_meet(fbp_team *t, const char *where, fbp_status status)
{
    FBP_REQUIRE(t, where);
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

int fbp_team_speaks(fbp_team *t)
{
    /* Time that every lower rank has to take over the report of errors [s]: TURN, or, if
     * stop_patience (fbp/team.h) is set, TURN_PART of it. */
    static const double TURN = 5, TURN_PART = 0.2;
    /* A rank that was suspended within this time [s] does not report errors, because the other
     * ranks may count it as lost. */
    static const double DROWSY = 12;

    if (!t || t->call.rank == 0)
        return 1;
    if (!t->headless)
        return 0;
    pthread_mutex_lock(&t->lock);
    if (t->woke == 0 || fbp_seconds() - t->woke > DROWSY) {
        /* Wait until a lower rank announces SPEAKS or all lower ranks are lost, but at most one
         * turn for each rank from 1 to the rank below this one. */
        const double turn = t->call.stop_patience > 0 ? TURN_PART * t->call.stop_patience : TURN;
        const struct timespec until =
            fbp_deadline(CLOCK_REALTIME, turn * (double)(t->call.rank - 1));
        for (size_t r = 1; t->speaker == 0 && r < t->call.rank;)
            if (t->peers[r].lost)
                r++;
            else if (pthread_cond_timedwait(&t->changed, &t->lock, &until) != 0)
                break;
    } else if (t->speaker == 0) {
        t->speaker = t->call.size;
    }
    if (t->speaker == 0) {
        t->speaker = t->call.rank;
        for (size_t r = 1; r < t->call.size; r++)
            if (r != t->call.rank && !t->peers[r].lost)
                (void)!post(t, r, (struct head){.kind = SPEAKS}, NULL, 0);
    }
    const bool speaks = t->speaker == t->call.rank;
    pthread_mutex_unlock(&t->lock);
    return speaks;
}

/* Creation and end */

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

/* Free a team, also an incomplete one. */
static void destroy(fbp_team *t)
{
    bool lost = false;

    pthread_mutex_lock(&t->lock);
    t->closing = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    if (t->has_beater)
        pthread_join(t->beater, NULL);
    if (t->has_listener)
        pthread_join(t->listener, NULL);
    for (size_t r = 0; t->peers && r < t->call.size; r++) {
        struct peer *p = &t->peers[r];
        lost |= p->lost;
        for (struct letter *next; p->first; p->first = next) {
            next = p->first->next;
            free(p->first);
        }
        free(p->coming);
    }
    for (struct offered *next; t->offers; t->offers = next) {
        next = t->offers->next;
        free(t->offers);
    }
    t->call.close(t->call.user, lost);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    pthread_mutex_destroy(&t->order);
    free(t->peers);
    free(t);
}

fbp_status fbp_team_create(fbp_team **out, const struct fbp_team_functions *functions)
{
    FBP_REQUIRE(out);
    struct introduction {
        char build[48], host[64];
    } self = {.build = ""}, *all = NULL;
    struct fbp_team_functions own;
    fbp_team *t = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(FBP_COPY_IN(team_functions, &own, functions));
    if (!own.send || !own.receive || !own.close)
        return FBP_INVALID("fbp_team_functions: send, receive and close: found NULL, expected a "
                           "function each");
    if (own.rank >= own.size)
        return FBP_INVALID(
            "fbp_team_functions: rank %zu of %zu does not exist; ranks are counted from 0",
            own.rank, own.size);
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
    for (size_t r = 0; r < own.size; r++)
        t->peers[r].heard = fbp_seconds();
    t->has_listener = pthread_create(&t->listener, NULL, listen_main, t) == 0;
    t->has_beater = t->has_listener && pthread_create(&t->beater, NULL, beat_main, t) == 0;
    if (!t->has_beater)
        FBP_TRY_GOTO(
            fbp_fail(FBP_ERR_NOMEM,
                     "threads: the system cannot start another thread; close other programs"));

    /* Exchange hosts and releases. */
    snprintf(self.build, sizeof self.build, "%s", fbp_build());
    (void)gethostname(self.host, sizeof self.host - 1);
    snprintf(t->peers[own.rank].host, sizeof self.host, "%s", self.host);
    FBP_TRY_GOTO(fbp_calloc((void **)&all, own.size, sizeof *all, "a team"));
    FBP_TRY_GOTO(fbp_team_gather(t, "start", FBP_OK, &self, sizeof self, all));
    for (size_t r = 0; r < own.size; r++) {
        snprintf(t->peers[r].host, sizeof all[r].host, "%.63s", all[r].host);
        if (strcmp(all[r].host, self.host) == 0) {
            t->local_size++;
            t->local_rank += r < own.rank;
        }
        if (strncmp(all[r].build, all[0].build, sizeof all[r].build) != 0) /* rank 0 reports it */
            FBP_TRY_GOTO(fbp_fail(own.rank == 0 ? FBP_ERR_INVALID : FBP_ERR_CANCELLED,
                                  "rank %zu on %.63s has fbp %.47s, but rank 0 on %.63s has %.47s; "
                                  "install the same release on both",
                                  r, all[r].host, all[r].build, all[0].host, all[0].build));
    }
    free(all);
    *out = t;
    return FBP_OK;
fail:
    free(all);
    if (t->over != FBP_OK && !fbp_team_speaks(t))
        st = FBP_ERR_CANCELLED; /* another rank reports the error */
    destroy(t);
    return st;
}

fbp_status fbp_team_end(fbp_team *t, const char *failure)
{
    fbp_message_clear();
    if (!t || (t->ended && t->over == FBP_OK))
        return FBP_OK;
    const fbp_status mine = failure ? FBP_INVALID("%s", failure) : FBP_OK;
    const fbp_status st = fbp_team_meet(t, "end", mine);
    pthread_mutex_lock(&t->lock);
    t->ended = true;
    pthread_mutex_unlock(&t->lock);
    return st;
}

fbp_status fbp_team_leave(fbp_team **team, const char *failure)
{
    FBP_REQUIRE(team);
    const fbp_status st = fbp_team_end(*team, failure);

    if (*team)
        destroy(*team);
    *team = NULL;
    return st;
}
