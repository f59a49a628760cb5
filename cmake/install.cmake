# What `cmake --install` puts where: command, libraries, headers, fbp.pc and a CMake package.
# The package is found again wherever the prefix is moved to.
include(CMakePackageConfigHelpers)
# In share, where find_package() looks whatever the libraries' folder is called: Debian's CMake does
# not look into lib64.
set(FBP_PACKAGE_DIR ${CMAKE_INSTALL_DATADIR}/cmake/fbp)

# All of it, without the tests.
add_custom_target(product)
add_dependencies(product fbp_cli fbp)
if(FBP_BENCH)
    add_dependencies(product fbp_bench rabbit_fbp_cpu rabbit_fbp_cuda)
endif()
foreach(module fbp_cuda fbp_gl fbp_mpi fbp_epr_ptx fbp_bench_cuda fbp_bench_gl)
    if(TARGET ${module})
        add_dependencies(product ${module})
    endif()
endforeach()
if(FBP_STATIC)
    add_dependencies(product fbp_static)
endif()

# Components are what cmake/package.cmake makes packages of.
install(TARGETS fbp_cli COMPONENT command)
install(TARGETS fbp EXPORT fbp-targets LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(EXPORT fbp-targets NAMESPACE fbp:: DESTINATION ${FBP_PACKAGE_DIR} COMPONENT development)
install(DIRECTORY include/fbp TYPE INCLUDE COMPONENT development)

# What the archive needs beside itself, for pkg-config --static and for fbp::fbp_static.
set(FBP_PC_REQUIRES "libcjson${FBP_FORMAT_MODULES} libpng zlib")
set(FBP_PC_LIBS "${FBP_FORMAT_LIBS} ${CMAKE_THREAD_LIBS_INIT} ${CMAKE_DL_LIBS} -lm")
if(CMAKE_DL_LIBS)
    string(REPLACE " ${CMAKE_DL_LIBS} " " -l${CMAKE_DL_LIBS} " FBP_PC_LIBS "${FBP_PC_LIBS}")
endif()
string(STRIP "${FBP_PC_LIBS}" FBP_PC_LIBS)
# pkg-config wants to find what is private even for --cflags: who has libfbp.so alone needs none of it.
set(FBP_PC_ARCHIVE "")
if(FBP_STATIC)
    set(FBP_PC_ARCHIVE "Requires.private: ${FBP_PC_REQUIRES}\nLibs.private: ${FBP_PC_LIBS}\n")
endif()

# From fbp.pc to the prefix, so that a folder that was moved still works.
file(RELATIVE_PATH FBP_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
    ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" FBP_PC_TO_PREFIX "${FBP_PC_TO_PREFIX}")
foreach(place INCLUDEDIR LIBDIR)
    if(IS_ABSOLUTE ${CMAKE_INSTALL_${place}})
        set(FBP_PC_${place} ${CMAKE_INSTALL_${place}})
    else()
        set(FBP_PC_${place} "\${prefix}/${CMAKE_INSTALL_${place}}")
    endif()
endforeach()
configure_file(cmake/fbp.pc.in fbp.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/fbp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT development)

configure_package_config_file(cmake/fbp-config.cmake.in fbp-config.cmake
    INSTALL_DESTINATION ${FBP_PACKAGE_DIR} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
# Before 1.0 a minor release may change the interface.
write_basic_package_version_file(fbp-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/fbp-config.cmake ${CMAKE_BINARY_DIR}/fbp-config-version.cmake
    DESTINATION ${FBP_PACKAGE_DIR} COMPONENT development)
if(FBP_STATIC)
    install(TARGETS fbp_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT development)
endif()
