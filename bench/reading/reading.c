/* How fast an array is read: samples as they are, and as float, by threads that take a slice each,
 * as the reading stage does.  Beside `cat`, for what the page cache gives (reading.sh). */
#include "io/format.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/pool.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct job {
    fbp_source *source;
    bool as_is;
    size_t slice_bytes; /* of a worker's buffer */
    char *buffers;
    _Atomic int failed;
};

static void read_slice(void *user, size_t item, int worker)
{
    struct job *j = user;
    const size_t rows = fbp_source_info(j->source)->n[1];
    void *to = j->buffers + (size_t)worker * j->slice_bytes;
    const fbp_status st = j->as_is ? fbp_source_read_as_is(j->source, item, 1, 0, rows, to)
                                   : fbp_source_read(j->source, item, 1, 0, rows, to);

    if (st != FBP_OK && !atomic_exchange(&j->failed, 1))
        fprintf(stderr, "reading: %s\n", fbp_message());
}

/* Seconds of one pass over all slices; negative after a failure. */
static double pass(fbp_source *source, bool as_is, int n_threads)
{
    const struct fbp_array_info *info = fbp_source_info(source);
    const size_t *n = info->n, size = as_is ? fbp_type_size(info->type) : sizeof(float);
    struct job j = {.source = source, .as_is = as_is, .slice_bytes = n[0] * n[1] * size};
    fbp_pool *pool = NULL;
    double seconds = -1;

    if (fbp_alloc((void **)&j.buffers, j.slice_bytes * (size_t)n_threads, "slices") == FBP_OK &&
        fbp_pool_create(&pool, n_threads) == FBP_OK) {
        memset(j.buffers, 0, j.slice_bytes * (size_t)n_threads);
        const double start = fbp_seconds();
        fbp_pool_for(pool, n[2], read_slice, &j);
        seconds = j.failed ? -1 : fbp_seconds() - start;
    }
    fbp_pool_destroy(&pool);
    fbp_free(j.buffers);
    return seconds;
}

int main(int argc, char **argv)
{
    const int most = fbp_core_count();
    fbp_source *source = NULL;

    if (argc != 2) {
        fprintf(stderr, "usage: reading ARRAY\n");
        return 2;
    }
    const double start = fbp_seconds();
    if (fbp_source_open(&source, argv[1], NULL) != FBP_OK) {
        fprintf(stderr, "reading: %s\n", fbp_message());
        return 1;
    }
    const struct fbp_array_info *info = fbp_source_info(source);
    const double bytes = (double)info->n[0] * (double)info->n[1] * (double)info->n[2] *
                         (double)fbp_type_size(info->type);
    printf("%zu x %zu x %zu %s (%s), %.3g GB, opened in %.1f ms\n", info->n[0], info->n[1],
           info->n[2], fbp_type_name(info->type), info->format, bytes * 1e-9,
           1e3 * (fbp_seconds() - start));
    int rc = 0;
    for (int n_threads = 1; n_threads <= most && rc == 0; n_threads *= 2)
        for (int as_is = 1; as_is >= 0 && rc == 0; as_is--) {
            const double seconds = pass(source, as_is, n_threads);
            rc = seconds < 0;
            if (rc == 0)
                printf("%-6s %2d threads: %6.3f s, %5.2f GB/s\n", as_is ? "as is" : "float",
                       n_threads, seconds, bytes * 1e-9 / seconds);
        }
    fbp_source_close(&source);
    return rc;
}
