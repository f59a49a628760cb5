/* Meetings: everybody comes, rank 0 hears all and tells the verdict. */
#include "team/team_parts.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
