# fbp, libfbp: exports the interface, and under a version of its own what libfbp_lab needs.
# fbp_lab, libfbp_lab: calls libfbp, and holds none of its objects.
# With FBP_STATIC both also as archives.
set(FBP_MAPS ${CMAKE_CURRENT_LIST_DIR})

function(fbp_public_headers library)
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

function(fbp_shared_library library soname)
    fbp_public_headers(${library})
    target_link_libraries(${library} PRIVATE ${library}_objects fbp_options)
    # Calls of a library's own functions go straight there, exported or not.
    target_link_options(${library} PRIVATE "LINKER:--version-script=${FBP_MAPS}/lib${library}.map"
        LINKER:-Bsymbolic-functions)
    set_target_properties(${library} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soname}
        LINKER_LANGUAGE C LINK_DEPENDS ${FBP_MAPS}/lib${library}.map
        BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
endfunction()

add_library(fbp SHARED)
fbp_shared_library(fbp ${PROJECT_VERSION_MAJOR})
# What the lab takes from libfbp may change with every release, and so may its own interface: its
# name for the loader is that of one release.
add_library(fbp_lab SHARED)
fbp_shared_library(fbp_lab ${PROJECT_VERSION})
target_link_libraries(fbp_lab PUBLIC fbp PRIVATE m)

if(FBP_STATIC)
    foreach(library fbp fbp_lab)
        add_library(${library}_static STATIC $<TARGET_OBJECTS:${library}_objects>)
        set_target_properties(${library}_static PROPERTIES OUTPUT_NAME ${library}
            LINKER_LANGUAGE C)
    endforeach()
endif()

# How a program finds the libraries wherever both are installed.
file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(FBP_BIN_TO_LIB "$ORIGIN/${bin_to_lib}")
# A program that holds the archive looks there for modules.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/beside.c PROPERTIES
    COMPILE_DEFINITIONS "FBP_BIN_TO_LIB=\"${bin_to_lib}/\"")
