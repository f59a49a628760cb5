/* Checks the queues of the mock device: commands of a cancelled run are skipped, and the next run
 * works. */
#include "base/threads.h"
#include "devices/mock/mock.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_bool stop, begun;
static atomic_int n_run;

/* As a kernel does: it is at work until it sees that the run is stopped. */
static fbp_status works_long(void *user)
{
    atomic_store(&begun, true);
    while (fbp_check_cancelled() == FBP_OK)
        ;
    atomic_fetch_add(&n_run, 1);
    return fbp_check_cancelled();
}

static fbp_status counts(void *user)
{
    atomic_fetch_add(&n_run, 1);
    return FBP_OK;
}

static void submit(struct mock_stream *s, mock_command_fn *fn)
{
    OK(mock_stream_submit(s, fn, malloc(1)));
}

TEST(a_stop_leaves_out_what_is_queued)
{
    const struct fbp_cancel_flag flag = {.set = &stop};
    struct fbp_cancel_scope scope = {.flag = &flag}, *const before = fbp_cancel_scope(&scope);
    struct mock_stream *a = NULL, *b = NULL;

    OK(mock_stream_create(&a, 0));
    OK(mock_stream_create(&b, 0));
    submit(a, works_long);
    submit(a, counts);
    OK(mock_stream_after(b, a, mock_stream_ticket(a)));
    submit(b, counts);
    while (!begun)
        ;
    atomic_store(&stop, true);
    assert_int_equal(mock_stream_wait(a, mock_stream_ticket(a)), FBP_ERR_CANCELLED);
    assert_int_equal(mock_stream_wait(b, mock_stream_ticket(b)), FBP_ERR_CANCELLED);
    assert_int_equal(n_run, 1);
    atomic_store(&stop, false);
    mock_stream_go_on(a);
    mock_stream_go_on(b);
    submit(a, counts);
    submit(b, counts);
    OK(mock_stream_wait(a, mock_stream_ticket(a)));
    OK(mock_stream_wait(b, mock_stream_ticket(b)));
    assert_int_equal(n_run, 3);
    mock_stream_destroy(&a);
    mock_stream_destroy(&b);
    (void)fbp_cancel_scope(before);
}

TEST_MAIN(NULL, NULL)
