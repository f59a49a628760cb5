#include "fft/fftw_planner.h"

#include "fft/fftw_memory.h"

#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;
static bool broken; /* left in the middle: its tables may hold anything */

/* In a function of its own: nothing here changes between setjmp() and longjmp(). */
static bool runs_through(fbp_fftw_fn *fn, void *arg)
{
    jmp_buf out;

    if (setjmp(out) != 0) {
        fbp_fftw_escape(NULL);
        return false;
    }
    fbp_fftw_escape(&out);
    fn(arg);
    fbp_fftw_escape(NULL);
    return true;
}

fbp_status fbp_fftw_plan(size_t n, fbp_fftw_fn *fn, void *arg)
{
    fbp_status st = FBP_OK;

    pthread_mutex_lock(&planner);
    if (!broken)
        st = fbp_fftw_reserve(n);
    if (st == FBP_OK && !broken) {
        broken = !runs_through(fn, arg);
        fbp_fftw_release();
    }
    if (broken)
        st = fbp_fail(FBP_ERR_NOMEM, "memory: it ended while FFTW planned a transform, which is "
                                     "of no use then: start the program again");
    pthread_mutex_unlock(&planner);
    return st;
}

void fbp_fftw_alone(fbp_fftw_fn *fn, void *arg)
{
    pthread_mutex_lock(&planner);
    fn(arg);
    pthread_mutex_unlock(&planner);
}
