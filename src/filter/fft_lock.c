#include "filter/fft_lock.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void fbp_fft_lock(void)
{
    pthread_mutex_lock(&lock);
}

void fbp_fft_unlock(void)
{
    pthread_mutex_unlock(&lock);
}
