# FBP_PERMISSIVE: nothing under a copyleft licence is linked, or loaded by what is linked
# (docs/licences.md, scripts/licences).
set(libraries ${TIFF_LINK_LIBRARIES} ${HDF5_LINK_LIBRARIES}
    ${CJSON_LINK_LIBRARIES} ${EXPAT_LINK_LIBRARIES} ${PNG_LIBRARIES}
    ${ZLIB_LIBRARIES})
list(FILTER libraries INCLUDE REGEX "^/.*[.](so|a)")
list(FILTER libraries EXCLUDE REGEX "/lib(m|dl|rt|pthread)[.](so|a)$") # the system's
list(REMOVE_DUPLICATES libraries)
set(files)
foreach(library IN LISTS libraries)
    file(REAL_PATH ${library} file) # libpng.so is libpng16.so.16
    list(APPEND files ${file})
endforeach()
execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/licences ${files}
    OUTPUT_QUIET ERROR_VARIABLE refused RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "FBP_PERMISSIVE: programs that others embed may have no part under the GPL, but\n"
        "${refused}"
        "For libtiff without JBIG, run scripts/permissive-libs DIR and configure again with "
        "-DCMAKE_PREFIX_PATH=DIR, in an empty folder. docs/licences.md has the rest.")
endif()

# The notices of what was made by scripts/permissive-libs, and is linked in; shared libraries bring
# their own.
set(FBP_NOTICES ${TIFF_PREFIX}/share/licences/)
list(FILTER files INCLUDE REGEX "[.]a$")
if(NOT EXISTS ${FBP_NOTICES})
    if(files)
        message(WARNING "FBP_PERMISSIVE: the notices of ${files} are not in ${FBP_NOTICES}: "
            "what is installed lacks them, and may not be passed on")
    endif()
    set(FBP_NOTICES)
endif()
install(FILES LICENSE docs/licences.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/fbp/licences
    COMPONENT library)
if(FBP_NOTICES)
    install(DIRECTORY ${FBP_NOTICES} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/fbp/licences
        COMPONENT library)
endif()
