/* Sending: letters of any length, cut into messages, and pieces that were asked for. */
#include "team/team_parts.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
