#include "filter/fft_lock.h"

#include <pthread.h>

static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

void fbp_fft_lock(void)
{
    pthread_mutex_lock(&planner);
}

void fbp_fft_unlock(void)
{
    pthread_mutex_unlock(&planner);
}
