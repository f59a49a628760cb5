# fbp-bench: benchmarks and the jobs of papers.  It contains the library's objects and those of the
# command.  libfbp_bench_cuda.so, libfbp_bench_gl.so: backends with the kernels of papers.  bench/fft is a
# program of its own (tests/CMakeLists.txt).
file(GLOB_RECURSE FBP_BENCH_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)
list(FILTER FBP_BENCH_SOURCES EXCLUDE REGEX "/bench/(main\\.c|rabbitct/module\\.c|(cuda|gl)/|fft/)")
add_library(fbp_bench_objects OBJECT ${FBP_BENCH_SOURCES})
target_include_directories(fbp_bench_objects PUBLIC ${CMAKE_SOURCE_DIR} src include cli)
target_link_libraries(fbp_bench_objects PUBLIC PkgConfig::CJSON PRIVATE fbp_small_frames fbp_commit)

# What fbp-bench and tests consist of, beside their main().
set(FBP_BENCH_PARTS fbp_bench_objects fbp_cli_objects fbp_gpu fbp_objects)
add_executable(fbp_bench bench/main.c)
set_target_properties(fbp_bench PROPERTIES OUTPUT_NAME fbp-bench)
target_link_libraries(fbp_bench PRIVATE ${FBP_BENCH_PARTS} fbp_small_frames)

if(TARGET fbp_cuda)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/cuda/*.c ${CMAKE_CURRENT_LIST_DIR}/cuda/*.cu)
    list(FILTER sources EXCLUDE REGEX "/(s0_[a-z]*|s4_kernels)\\.cu$") # the latter: part of s4.cu, and PTX by itself
    # The kernels of Okitsu 2008, and the instructions counted in their machine code; none without cuobjdump.
    fbp_cuda_library(fbp_bench_s0 OBJECT ${CMAKE_CURRENT_LIST_DIR}/cuda/s0_filter.cu ${CMAKE_CURRENT_LIST_DIR}/cuda/s0_ladder.cu)
    target_include_directories(fbp_bench_s0 PRIVATE ${CMAKE_SOURCE_DIR})
    find_program(FBP_CUOBJDUMP cuobjdump HINTS ${CUDAToolkit_BIN_DIR})
    set(FBP_S0_CODE ${CMAKE_BINARY_DIR}/generated/s0_code.c)
    add_custom_command(OUTPUT ${FBP_S0_CODE}
        COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/cuda/s0_code.sh $<IF:$<BOOL:${FBP_CUOBJDUMP}>,${FBP_CUOBJDUMP},true>
            ${FBP_S0_CODE} $<TARGET_OBJECTS:fbp_bench_s0>
        DEPENDS ${CMAKE_CURRENT_LIST_DIR}/cuda/s0_code.sh fbp_bench_s0 $<TARGET_OBJECTS:fbp_bench_s0>
        COMMENT "Instructions of the kernels of Okitsu 2008" COMMAND_EXPAND_LISTS VERBATIM)
    fbp_cuda_library(fbp_bench_cuda MODULE ${sources} $<TARGET_OBJECTS:fbp_bench_s0> ${FBP_S0_CODE})
    target_include_directories(fbp_bench_cuda PRIVATE ${CMAKE_SOURCE_DIR})
endif()

if(TARGET fbp_gl)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/gl/*.c)
    fbp_gl_library(fbp_bench_gl MODULE ${sources})
    target_include_directories(fbp_bench_gl PRIVATE ${CMAKE_SOURCE_DIR})
endif()

# Modules for RabbitCT's runners.
foreach(device cuda cpu)
    add_library(rabbit_fbp_${device} MODULE bench/rabbitct/module.c)
    target_compile_definitions(rabbit_fbp_${device} PRIVATE RABBITCT_DEVICE="${device}")
    target_link_libraries(rabbit_fbp_${device} PRIVATE ${FBP_BENCH_PARTS} fbp_options)
    target_link_options(rabbit_fbp_${device} PRIVATE
        "LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/rabbitct/module.map")
    set_target_properties(rabbit_fbp_${device} PROPERTIES
        LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/rabbitct/module.map)
endforeach()

if(FBP_BENCH)
    install(TARGETS fbp_bench COMPONENT bench)
    foreach(module fbp_bench_cuda fbp_bench_gl)
        if(TARGET ${module})
            install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT bench)
        endif()
    endforeach()
    install(TARGETS rabbit_fbp_cuda rabbit_fbp_cpu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT bench)
endif()
