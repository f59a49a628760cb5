# libfbp_gl.so: the OpenGL backend.  It is linked with libepoxy, which loads EGL and OpenGL.
file(GLOB FBP_GL_SOURCES CONFIGURE_DEPENDS src/backend/gl/*.c)
list(FILTER FBP_GL_SOURCES EXCLUDE REGEX "/load\\.c$")
file(GLOB FBP_GL_TEXTS CONFIGURE_DEPENDS src/backend/gl/*.glsl)
set(FBP_GL_TEXT_SOURCE ${CMAKE_BINARY_DIR}/generated/gl_texts.c)
add_custom_command(OUTPUT ${FBP_GL_TEXT_SOURCE}
    COMMAND ${CMAKE_COMMAND} -D FOLDER=${CMAKE_SOURCE_DIR}/src/backend/gl -D PATTERNS=*.glsl
        -D SOURCE=${FBP_GL_TEXT_SOURCE} -D HEADER=backend/gl/program.h
        -D "TABLE=struct gl_text_built gl_texts_built" -P ${CMAKE_SOURCE_DIR}/cmake/texts.cmake
    DEPENDS ${FBP_GL_TEXTS} ${CMAKE_SOURCE_DIR}/cmake/texts.cmake
    COMMENT "Texts of OpenGL's programs" VERBATIM)

# fbp_gl_library(NAME KIND SOURCES…)
function(fbp_gl_library name kind)
    add_library(${name} ${kind} ${ARGN})
    target_include_directories(${name} PRIVATE include src)
    target_link_libraries(${name} PRIVATE fbp_small_frames PkgConfig::EPOXY Threads::Threads m)
    if(kind STREQUAL "MODULE")
        target_link_libraries(${name} PRIVATE fbp_gl_objects fbp_gpu ${CMAKE_DL_LIBS})
        target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
        if(NOT FBP_SANITIZE) # symbols of the sanitizer are defined by the program
            target_link_options(${name} PRIVATE -Wl,--no-undefined)
        endif()
        set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C BUILD_RPATH "$ORIGIN"
            INSTALL_RPATH "$ORIGIN")
    endif()
endfunction()
fbp_gl_library(fbp_gl_objects OBJECT ${FBP_GL_SOURCES} ${FBP_GL_TEXT_SOURCE})
fbp_gl_library(fbp_gl MODULE)
# The message about an unusable device depends on whether this build has the module.
target_compile_definitions(fbp_objects PRIVATE FBP_HAS_GL_MODULE)
install(TARGETS fbp_gl LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT gl)
