/** @file fft_lock.h  FFTW's planner serves one thread at a time (internal). */
#ifndef FBP_SRC_FFT_LOCK_H
#define FBP_SRC_FFT_LOCK_H

/** Hold this around every fftw_plan_* and fftw_destroy_plan, of either precision. */
void fbp_fft_lock(void);
void fbp_fft_unlock(void);

#endif /* FBP_SRC_FFT_LOCK_H */
