# fbp_fftw: FFTW of both precisions.  From its archives where they can go into a shared library, so
# that its allocator is this library's (src/fft/fftw_memory.c) in whatever process it is loaded, and
# its planner is nobody else's; else from the shared libraries.
include(CheckCSourceCompiles)
find_library(FFTW_ARCHIVE NAMES libfftw3.a HINTS ${FFTW_LIBDIR} ${FFTW_LIBRARY_DIRS})
find_library(FFTWF_ARCHIVE NAMES libfftw3f.a HINTS ${FFTWF_LIBDIR} ${FFTWF_LIBRARY_DIRS})
mark_as_advanced(FFTW_ARCHIVE FFTWF_ARCHIVE)
if(FFTW_ARCHIVE AND FFTWF_ARCHIVE)
    set(CMAKE_REQUIRED_INCLUDES ${FFTW_INCLUDE_DIRS})
    set(CMAKE_REQUIRED_FLAGS "-fPIC -shared -fvisibility=hidden")
    set(CMAKE_REQUIRED_LIBRARIES ${FFTW_ARCHIVE} ${FFTWF_ARCHIVE} m)
    check_c_source_compiles("
#include <fftw3.h>
#include <stdlib.h>
void *fftw_kernel_malloc(size_t n); void *fftw_kernel_malloc(size_t n) { return malloc(n); }
void *fftwf_kernel_malloc(size_t n); void *fftwf_kernel_malloc(size_t n) { return malloc(n); }
void fftw_kernel_free(void *p); void fftw_kernel_free(void *p) { free(p); }
void fftwf_kernel_free(void *p); void fftwf_kernel_free(void *p) { free(p); }
fftw_plan a(double *v) { return fftw_plan_r2r_1d(9, v, v, FFTW_REDFT00, FFTW_ESTIMATE); }
fftwf_plan b(fftwf_complex *v) { return fftwf_plan_dft_1d(9, v, v, 1, FFTW_ESTIMATE); }
int main(void) { return 0; }" FBP_FFTW_ARCHIVES)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_FLAGS)
    unset(CMAKE_REQUIRED_LIBRARIES)
endif()
target_include_directories(fbp_fftw INTERFACE ${FFTW_INCLUDE_DIRS})
if(FBP_FFTW_ARCHIVES)
    target_link_libraries(fbp_fftw INTERFACE ${FFTW_ARCHIVE} ${FFTWF_ARCHIVE} m)
else()
    message(STATUS "FFTW: no archives for a shared library: where memory ends it may stop the process")
    target_link_libraries(fbp_fftw INTERFACE PkgConfig::FFTW PkgConfig::FFTWF)
endif()
set_property(SOURCE src/fft/fftw_memory.c APPEND PROPERTY COMPILE_DEFINITIONS
    FBP_FFTW_VISIBILITY=$<IF:$<BOOL:${FBP_FFTW_ARCHIVES}>,"hidden","default">)
