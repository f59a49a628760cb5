/* A simulated scanner, which writes views at a given rate in a thread of its own. Called by
 * follow.c. */
#include "bench/pipeline/player.h"

#include "cli.h"

#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *const player_forms[] = {"raw", "mha", "files", NULL};

enum { NAME_BYTES = 500 };

static size_t view_bytes(const struct player *p)
{
    return p->columns * p->rows * sizeof(float);
}

struct fbp_raw player_raw(const struct player *p)
{
    if (p->form == PLAYER_MHA)
        return (struct fbp_raw){0};
    return (struct fbp_raw){.type = FBP_F32, .n = {p->columns, p->rows, p->n_views}};
}

/* The file of view k under its final name, or under the one it is written with. */
static void name_view(char *out, const struct player *p, size_t k, bool final)
{
    const size_t n = (size_t)(strchr(p->path, '%') - p->path);

    snprintf(out, NAME_BYTES, "%.*s%06zu.raw%s", (int)n, p->path, k, final ? "" : ".tmp");
}

static bool put(int fd, const void *data, size_t n)
{
    for (size_t done = 0; done < n;) {
        const ssize_t put = write(fd, (const char *)data + done, n - done);
        if (put < 0 && errno != EINTR)
            return false;
        done += put > 0 ? (size_t)put : 0;
    }
    return true;
}

static bool put_header(const struct player *p)
{
    char head[300];
    const int n = snprintf(head, sizeof head,
                           "ObjectType = Image\nNDims = 3\nBinaryData = True\n"
                           "BinaryDataByteOrderMSB = False\nDimSize = %zu %zu %zu\n"
                           "ElementType = MET_FLOAT\nElementDataFile = LOCAL\n",
                           p->columns, p->rows, p->n_views);

    return put(p->fd, head, (size_t)n);
}

static bool put_file(const struct player *p, size_t k)
{
    char name[NAME_BYTES], final[NAME_BYTES];

    name_view(name, p, k, false);
    name_view(final, p, k, true);
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const bool good = fd >= 0 && put(fd, p->views + k * p->columns * p->rows, view_bytes(p));

    const int error = errno;
    if (fd >= 0 && close(fd) == 0 && good)
        return rename(name, final) == 0;
    errno = fd >= 0 && good ? errno : error;
    return false;
}

static void sleep_until(double at)
{
    const struct timespec t = {(time_t)at, (long)((at - (double)(time_t)at) * 1e9)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

static void *play(void *arg)
{
    struct player *p = arg;
    const double start = fbp_seconds();

    for (size_t k = 0; k < p->n_views && !p->failed; k++) {
        sleep_until(start + (double)(k + 1) / p->rate);
        errno = 0;
        p->failed = p->form == PLAYER_FILES
                        ? !put_file(p, k)
                        : !put(p->fd, p->views + k * p->columns * p->rows, view_bytes(p));
        p->error = p->failed ? errno : 0;
    }
    p->written = fbp_seconds();
    if (p->failed)
        fbp_stopper_stop(p->reader);
    return NULL;
}

int player_prepare(struct player *p, const char *folder)
{
    static const char *const names[] = {"live.raw", "live.mha", "live%06d.raw 0 "};
    char name[NAME_BYTES];

    p->fd = -1;
    p->failed = false;
    p->error = 0;
    snprintf(p->path, sizeof p->path, "%s/%s", folder, names[p->form]);
    if (p->form == PLAYER_FILES) {
        for (size_t k = 0; k < p->n_views; k++) {
            name_view(name, p, k, true);
            unlink(name);
        }
        snprintf(p->path + strlen(p->path), sizeof p->path - strlen(p->path), "%zu",
                 p->n_views - 1);
        return 0;
    }
    unlink(p->path);
    p->fd = open(p->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (p->fd < 0 || (p->form == PLAYER_MHA && !put_header(p)))
        return cli_error("%s: cannot write: %s: check the free space and the permissions", p->path,
                         strerror(errno));
    return 0;
}

int player_begin(struct player *p, struct fbp_stopper *reader)
{
    p->reader = reader;
    if (pthread_create(&p->thread, NULL, play, p) == 0)
        return 0;
    return cli_error("threads: the system grants no more: close other programs");
}

int player_end(struct player *p)
{
    pthread_join(p->thread, NULL);
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
    return p->failed
               ? cli_error(
                     "%s: cannot write the views: %s: free some space or choose another --dir",
                     p->path, strerror(p->error))
               : 0;
}
