/* cli_scan_in_folder(): finds the scan file if the user names a folder instead; called by recon.c
 * and geometry_from.c. */
#include "cli.h"
#include "say.h"

#include "fbp/folder.h"

#include "scan/folder/folder.h"

#include <stdlib.h>
#include <string.h>

static void tell(void *user, enum fbp_log_level level, const char *line)
{
    const bool *quiet = user;

    if (level == FBP_LOG_WARNING)
        say_warning(false, "%s", line);
    else
        say_note(*quiet, "%s", line);
}

int cli_scan_in_folder(const char *path, bool quiet, char **out)
{
    const struct fbp_folder_known known = {
        .struct_size = sizeof known, .log = tell, .user = &quiet};

    return fbp_folder_scan(out, path, &known) == FBP_OK ? 0 : cli_fail();
}
