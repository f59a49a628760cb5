/* Checks that devices start in a thread of their own (fbp_devices_start()): the caller works while
 * a slow device starts, and waits only for the rest; a plan waits for it, and so does fork(). */
#include "test.h"

#include "base/system.h"
#include "devices/mock/mock.h"
#include "pipeline/job.h"

#include <sys/wait.h>
#include <unistd.h>

enum { START_MS = 300 };

static void wait_ms(unsigned ms)
{
    usleep(ms * 1000);
}

static int begin(void **state)
{
    (void)state;
    fbp_mock_faults.start_ms = START_MS;
    return 0;
}

TEST(the_caller_works_while_a_device_starts)
{
    const double began = fbp_seconds();

    fbp_devices_start("mock");
    assert_true(fbp_seconds() - began < 1e-3 * START_MS);
    wait_ms(3 * START_MS); /* the scan is read */
    fbp_devices_await();
    const struct fbp_device_start times = fbp_devices_start_times();
    assert_true(times.seconds >= 0.9e-3 * START_MS);
    assert_true(times.waited < times.seconds);
}

TEST(a_wait_takes_the_rest_of_the_start)
{
    fbp_devices_start("mock");
    fbp_devices_await();
    const struct fbp_device_start times = fbp_devices_start_times();
    assert_true(times.waited >= 0.5 * times.seconds);
    fbp_devices_await(); /* nothing is running: returns at once */
    assert_true(fbp_devices_start_times().waited == times.waited);
}

/* A child process must not inherit locks of the thread. */
TEST(a_fork_waits_for_the_start)
{
    fbp_devices_start("mock");
    const double began = fbp_seconds();
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_true(fbp_seconds() - began >= 0.5e-3 * START_MS);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* A failure is found again, and reported, by the plan. */
TEST(an_unknown_device_fails_in_the_plan)
{
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    size_t n;

    fbp_devices_start("nothing");
    fbp_devices_await();
    assert_fails(fbp_devices_find("nothing", &backend, devices, &n), FBP_ERR_UNSUPPORTED,
                 "\"nothing\" is unknown");
}

TEST_MAIN(begin, NULL)
