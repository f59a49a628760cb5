# libfbp_cuda.so: the backend for NVIDIA GPUs.  It needs neither libfbp nor, before it is used, a
# driver; CUDA's runtime is linked statically.
set(supported 75 80 86 89 90 100 120)
set(capabilities ${FBP_CUDA_ARCHITECTURES})
if(capabilities STREQUAL "all")
    set(capabilities ${supported})
elseif(capabilities STREQUAL "native")
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
        OUTPUT_VARIABLE capabilities ERROR_QUIET RESULT_VARIABLE failed)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${capabilities}")
    string(REPLACE "." "" capabilities "${capabilities}")
    list(REMOVE_DUPLICATES capabilities)
    list(SORT capabilities COMPARE NATURAL)
endif()
set(architectures)
foreach(capability ${capabilities})
    list(APPEND architectures ${capability}-real)
endforeach()
if(capabilities)
    list(GET capabilities 0 oldest)
    list(GET capabilities -1 newest)
    message(STATUS "CUDA: code for compute capability ${capabilities}")
else() # the driver compiles PTX at the first call
    list(GET supported 0 oldest)
    set(newest ${oldest})
    message(STATUS "CUDA: no GPU found: PTX for compute capability ${newest} and later")
endif()
list(APPEND architectures ${newest}-virtual)
set(CMAKE_CUDA_ARCHITECTURES ${architectures})
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

file(GLOB FBP_CUDA_SOURCES CONFIGURE_DEPENDS src/backend/cuda/*.c src/backend/cuda/*.cu)
list(FILTER FBP_CUDA_SOURCES EXCLUDE REGEX "/load\\.c$")

# What is compiled for GPUs.
add_library(fbp_cuda_options INTERFACE)
target_include_directories(fbp_cuda_options INTERFACE include src)
target_compile_definitions(fbp_cuda_options INTERFACE _GNU_SOURCE)
target_compile_options(fbp_cuda_options INTERFACE
    $<$<COMPILE_LANGUAGE:C>:$<TARGET_PROPERTY:fbp_options,INTERFACE_COMPILE_OPTIONS>>
    $<$<COMPILE_LANGUAGE:CUDA>:--threads=2 -Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers
        $<$<BOOL:${FBP_WERROR}>:-Werror=all-warnings>>)
target_link_libraries(fbp_cuda_options INTERFACE CUDA::cudart_static)

# fbp_cuda_library(NAME KIND SOURCES…)
function(fbp_cuda_library name kind)
    add_library(${name} ${kind} ${ARGN})
    target_link_libraries(${name} PRIVATE fbp_cuda_options)
    set_target_properties(${name} PROPERTIES CUDA_STANDARD 20 CUDA_VISIBILITY_PRESET hidden
        CUDA_RUNTIME_LIBRARY Static)
    if(kind STREQUAL "MODULE")
        target_link_libraries(${name} PRIVATE fbp_cuda_objects fbp_gpu m ${CMAKE_DL_LIBS})
        target_link_options(${name} PRIVATE -Wl,--no-undefined -Wl,--exclude-libs,ALL)
        set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CUDA)
    endif()
endfunction()
fbp_cuda_library(fbp_cuda_objects OBJECT ${FBP_CUDA_SOURCES})
fbp_cuda_library(fbp_cuda MODULE)
# What reports that a device cannot be used tells whether there should be a module.
target_compile_definitions(fbp_objects PRIVATE FBP_HAS_CUDA_MODULE)
install(TARGETS fbp_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cuda)
# The Python package libfbp-cuda (bindings/python-cuda): into the folder of the package libfbp, whose
# library looks beside itself.
install(TARGETS fbp_cuda LIBRARY DESTINATION libfbp/lib COMPONENT python-cuda EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/bindings/python-cuda/cuda.txt DESTINATION libfbp/licences-cuda
    COMPONENT python-cuda EXCLUDE_FROM_ALL)

# The kernels with the arguments of S4's paper as PTX, beside their text, from which MATLAB takes the
# prototypes: code for later devices than the oldest, compiled by the driver.
set(FBP_EPR_PTX ${CMAKE_BINARY_DIR}/share/fbp/matlab/fbp_epr_kernels.ptx)
set(kernels ${CMAKE_SOURCE_DIR}/bench/cuda/s4_kernels.cu)
add_custom_command(OUTPUT ${FBP_EPR_PTX}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/share/fbp/matlab
    COMMAND ${CMAKE_CUDA_COMPILER} -ptx -arch=compute_${oldest} -o ${FBP_EPR_PTX} ${kernels}
    DEPENDS ${kernels} COMMENT "PTX for MATLAB" VERBATIM)
add_custom_target(fbp_epr_ptx ALL DEPENDS ${FBP_EPR_PTX})
install(FILES ${FBP_EPR_PTX} DESTINATION ${CMAKE_INSTALL_DATADIR}/fbp/matlab COMPONENT matlab)
install(FILES ${kernels} DESTINATION ${CMAKE_INSTALL_DATADIR}/fbp/matlab
    RENAME fbp_epr_kernels.cu COMPONENT matlab)
