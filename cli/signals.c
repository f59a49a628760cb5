/* Handler of SIGINT, SIGTERM and SIGHUP. program_main() installs it; commands and progress
 * callbacks call signals_status(). */
#include "signals.h"

#include "fbp/types.h"

#include "base/threads.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

/* Number of the first signal; 0: none. Atomic, because all threads read it. */
static atomic_int received;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler sets it");

static void on_signal(int number)
{
    int none = 0;

    if (!atomic_compare_exchange_strong(&received, &none, number))
        _exit(128 + number);
    fbp_stop();
}

void signals_start(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    /* SA_RESTART: blocked system calls continue; their callers end by themselves or check the flag.
     */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, was;

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] != SIGHUP || sigaction(SIGHUP, NULL, &was) != 0 || was.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
}

int signals_status(void)
{
    const int number = atomic_load(&received);

    return number ? 128 + number : 0;
}
