# libfbp exports the interface, which is what include/fbp declares as FBP_API.
# With FBP_STATIC it is also built as an archive.
set(FBP_MAPS ${CMAKE_CURRENT_LIST_DIR})

add_library(fbp SHARED)
target_include_directories(fbp PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(fbp PRIVATE fbp_objects fbp_options)
# Calls of the library's own functions go straight there, exported or not.  On macOS they do so anyway,
# and symbols have no versions: what is hidden is not exported.
set(FBP_ORIGIN "$ORIGIN")
if(APPLE)
    set(FBP_ORIGIN "@loader_path")
else()
    target_link_options(fbp PRIVATE "LINKER:--version-script=${FBP_MAPS}/libfbp.map"
        LINKER:-Bsymbolic-functions)
endif()
set_target_properties(fbp PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINKER_LANGUAGE C LINK_DEPENDS ${FBP_MAPS}/libfbp.map
    BUILD_RPATH "${FBP_ORIGIN}" INSTALL_RPATH "${FBP_ORIGIN}")

if(FBP_STATIC)
    add_library(fbp_static STATIC $<TARGET_OBJECTS:fbp_objects>)
    set_target_properties(fbp_static PROPERTIES OUTPUT_NAME fbp LINKER_LANGUAGE C)
endif()

# How a program finds the libraries wherever both are installed.
file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(FBP_BIN_TO_LIB "${FBP_ORIGIN}/${bin_to_lib}")
# A program that holds the archive looks there for modules.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/system.c PROPERTIES
    COMPILE_DEFINITIONS "FBP_BIN_TO_LIB=\"${bin_to_lib}/\"")
