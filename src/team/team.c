#include "team/team_parts.h"

#include "base/build.h"
#include "base/mem.h"
#include "base/sizes.h"

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
