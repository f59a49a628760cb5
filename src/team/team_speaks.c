/* Who speaks for all: rank 0, and where that is lost the lowest of those that are left. */
#include "team/team_parts.h"

#include "base/clock.h"

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
