# MEX files for Octave, by its own compiler script: a build of their own, which needs libfbp.so alone.
# MATLAB's are compiled by bindings/matlab/fbp_epr_build.m.
set(FBP_MEX_DIR ${CMAKE_BINARY_DIR}/share/fbp/matlab)
set(sources ${CMAKE_SOURCE_DIR}/bindings/matlab)
file(GLOB headers CONFIGURE_DEPENDS include/fbp/*.h)
set(mex_files)
# mkoctfile hands its words to a shell: quotes keep $ORIGIN.
foreach(name fbp_epr fbp_epr_directions fbp_epr_simulate fbp_epr_weights)
    set(files ${sources}/${name}.c ${sources}/mex_args.c)
    if(name STREQUAL fbp_epr)
        list(APPEND files ${sources}/epr_options.c ${sources}/epr_run.c)
    endif()
    add_custom_command(OUTPUT ${FBP_MEX_DIR}/${name}.mex
        COMMAND ${CMAKE_COMMAND} -E make_directory ${FBP_MEX_DIR}
        COMMAND ${CMAKE_COMMAND} -E env "CFLAGS=-std=gnu11 -O2 -fPIC -Wall -Wextra -Wshadow"
            ${FBP_MKOCTFILE} --mex -o ${FBP_MEX_DIR}/${name}.mex ${files}
            -I${CMAKE_SOURCE_DIR}/include -L$<TARGET_FILE_DIR:fbp> -lfbp
            "-Wl,-rpath,'$ORIGIN/../../../${CMAKE_INSTALL_LIBDIR}:$ORIGIN/../../../lib'"
        DEPENDS ${files} ${sources}/mex_args.h ${sources}/epr_call.h ${headers}
        COMMENT "MEX file ${name}" VERBATIM)
    list(APPEND mex_files ${FBP_MEX_DIR}/${name}.mex)
endforeach()
file(GLOB scripts CONFIGURE_DEPENDS bindings/matlab/*.m)
foreach(script ${scripts})
    get_filename_component(name ${script} NAME)
    configure_file(${script} ${FBP_MEX_DIR}/${name} COPYONLY)
endforeach()
add_custom_target(fbp_mex ALL DEPENDS ${mex_files})
add_dependencies(fbp_mex fbp) # before them; they need not be made anew with it
if(FBP_MATLAB)
    install(FILES ${mex_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/fbp/matlab COMPONENT matlab)
endif()
