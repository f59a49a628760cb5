/* Implementation of team.h: joins the processes of fbp recon that compute one volume together
 * (MPI) to a team (team_start()), lets only rank 0 print, and waits for all ranks at the end
 * (team_end()). src/team contains the functions of the library.
 * Used by: cmd_plan.c, cmd_recon.c, program.c, progress.c. */
#include "team.h"

#include "cli.h"
#include "say.h"

#include "team/team.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static fbp_team *team;
/* reason why the processes that the launcher started cannot connect; "": none */
static char apart[1200];

fbp_team *team_own(void)
{
    return team;
}

/* True if `rank`, the value of an environment variable, is set (not NULL) and is not "0". */
static bool is_later(const char *rank)
{
    return rank && strcmp(rank, "0") != 0;
}

int team_start(void)
{
    const fbp_status st = fbp_team_join(&team);

    if (st == FBP_ERR_CANCELLED) /* rank 0 prints why it was interrupted */
        say_nothing();
    /* FBP_ERR_UNSUPPORTED: no connection, which is no error with --part (team_check()). */
    if (st != FBP_OK && (st != FBP_ERR_UNSUPPORTED || getenv("FBP_TEAM_MODULE")))
        return cli_fail();
    if (st != FBP_OK)
        snprintf(apart, sizeof apart, "%s", fbp_message());
    if (fbp_team_rank(team) > 0)
        say_nothing();
    return 0;
}

int team_check(bool has_part)
{
    if (!apart[0] || has_part)
        return 0;
    /* Without PMI_RANK and SLURM_PROCID the rank is unknown: every process prints the error. With
     * Open MPI or PMIx, too, because the error may concern one machine only. */
    const bool by_mpi = getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK");
    if (!by_mpi && is_later(getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("SLURM_PROCID")))
        say_nothing();
    return cli_error("%s", apart);
}

void team_let_first_speak(void)
{
    if (is_later(getenv("PMIX_RANK")))
        say_nothing();
}

bool team_has_terminal(void)
{
    char path[64];

    if (!team || fbp_team_rank(team) > 0)
        return false;
    snprintf(path, sizeof path, "/proc/%ld/fd/2", (long)getppid());
    const int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    const bool shown = fd >= 0 && isatty(fd);
    if (fd >= 0)
        close(fd);
    return shown;
}

bool team_is_first(void)
{
    return fbp_team_rank(team) == 0;
}

int team_end(int rc)
{
    const char *failure = rc == 0 ? NULL : say_failed() ? say_first_error() : "failed";

    if (fbp_team_end(team, failure) == FBP_OK)
        return rc;
    if (!say_failed())
        (void)cli_fail();
    if (!team_is_first() && fbp_team_speaks(team))
        say_again();
    return rc ? rc : 1;
}

void team_leave(void)
{
    (void)!fbp_team_leave(&team, NULL); /* errors were reported by team_end() */
}
