/** @file fft_lock.h  FFTW's planner is one per process and not thread-safe (internal). */
#ifndef FBP_SRC_FFT_LOCK_H
#define FBP_SRC_FFT_LOCK_H

/** Hold this around every call that makes or destroys an FFTW plan. */
void fbp_fft_lock(void);
void fbp_fft_unlock(void);

#endif /* FBP_SRC_FFT_LOCK_H */
