#include "team.h"

#include "cli.h"
#include "say.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static fbp_team *team;

fbp_team *team_own(void)
{
    return team;
}

int team_start(void)
{
    if (fbp_team_join(&team) != FBP_OK)
        return cli_fail();
    if (fbp_team_rank(team) > 0)
        say_nothing();
    return 0;
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

int team_end(int rc)
{
    const bool first = fbp_team_rank(team) == 0;
    const char *failure = rc == 0 ? NULL : say_failed() ? say_first_error() : "failed";

    if (fbp_team_leave(&team, failure) == FBP_OK)
        return rc;
    if (first && !say_failed())
        return cli_fail();
    return rc ? rc : 1;
}
