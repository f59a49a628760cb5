#include "filter/fft.h"

#include "filter/fft_memory.h"

#include <pthread.h>

static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;
static bool broken; /* left in the middle: its tables may hold anything */

/* In a function of its own: nothing here changes between setjmp() and longjmp(). */
static bool runs_through(fbp_fft_fn *fn, void *arg)
{
    jmp_buf out;

    if (setjmp(out) != 0) {
        fbp_fft_escape(NULL);
        return false;
    }
    fbp_fft_escape(&out);
    fn(arg);
    fbp_fft_escape(NULL);
    return true;
}

fbp_status fbp_fft_plan(size_t n, fbp_fft_fn *fn, void *arg)
{
    fbp_status st = FBP_OK;

    pthread_mutex_lock(&planner);
    if (!broken)
        st = fbp_fft_reserve(n);
    if (st == FBP_OK && !broken) {
        broken = !runs_through(fn, arg);
        fbp_fft_release();
    }
    if (broken)
        st = fbp_fail(FBP_ERR_NOMEM, "memory: it ended while FFTW planned a transform, which is "
                                     "of no use then: start the program again");
    pthread_mutex_unlock(&planner);
    return st;
}

void fbp_fft_destroy(fftw_plan a, fftw_plan b)
{
    pthread_mutex_lock(&planner);
    if (a)
        fftw_destroy_plan(a);
    if (b)
        fftw_destroy_plan(b);
    pthread_mutex_unlock(&planner);
}

void fbp_fft_destroyf(fftwf_plan a, fftwf_plan b)
{
    pthread_mutex_lock(&planner);
    if (a)
        fftwf_destroy_plan(a);
    if (b)
        fftwf_destroy_plan(b);
    pthread_mutex_unlock(&planner);
}
