/* Do two processes see the same file system?  Whoever has just made a file that has no other name
 * like it tells the others of it, and they look. */
#include "array/joint.h"

#include "base/system.h"
#include "base/base.h"
#include "base/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* For so many seconds a file system may not have heard of it. */
static const double PATIENCE = 3;

void fbp_sink_token(const struct fbp_sink *s, struct fbp_sink_token *out)
{
    *out = (struct fbp_sink_token){.path = ""};
    if (!s->joint || !s->log || strlen(s->log) >= sizeof out->path)
        return;
    if (pread(s->log_fd, out->text, sizeof out->text - 1, 0) > 0)
        snprintf(out->path, sizeof out->path, "%s", s->log);
}

static bool begins_so(const struct fbp_sink_token *token)
{
    char text[sizeof token->text] = "";
    const int fd = open(token->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    const bool same = fd >= 0 && pread(fd, text, sizeof text - 1, 0) > 0 &&
                      strncmp(text, token->text, strlen(token->text)) == 0;
    if (fd >= 0)
        close(fd);
    return same;
}

void fbp_joint_look_anew(const char *journal)
{
    char *name = fbp_format("%s" FBP_JOINT_LOOK, journal);
    const int fd = name ? open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;

    if (fd >= 0) {
        close(fd);
        unlink(name);
    }
    free(name);
}

/* A folder that is opened is asked for anew, too. */
static void list_folder(const char *path)
{
    char *folder = fbp_path_join(path, ".");
    DIR *dir = folder ? opendir(folder) : NULL;

    if (dir) {
        (void)!readdir(dir);
        closedir(dir);
    }
    free(folder);
}

bool fbp_sink_sees(const struct fbp_sink_token *token)
{
    static const struct timespec moment = {.tv_nsec = 50000000L};
    const double until = fbp_seconds() + PATIENCE;

    while (!begins_so(token)) {
        if (fbp_seconds() > until)
            return false;
        fbp_joint_look_anew(token->path);
        list_folder(token->path);
        nanosleep(&moment, NULL);
    }
    return true;
}
