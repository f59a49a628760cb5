# The Python package libfbp: build/<preset>/python/libfbp, importable from there; its extension finds
# libfbp.so by $ORIGIN.  From Python 3.12 on, the extension is of the stable ABI (one for all later
# releases); with 3.10 and 3.11 it is of that release.
enable_language(CXX)
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module
    OPTIONAL_COMPONENTS Development.SABIModule)
if(NOT nanobind_DIR)
    execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
        OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
find_package(nanobind CONFIG)
if(NOT nanobind_FOUND)
    message(FATAL_ERROR "FBP_PYTHON needs nanobind in ${Python_EXECUTABLE}: pip install nanobind, "
        "or name another Python (-DPython_EXECUTABLE=…)")
endif()

set(FBP_PYTHON_DIR ${CMAKE_BINARY_DIR}/python)
set(package ${CMAKE_SOURCE_DIR}/bindings/python)
file(GLOB sources CONFIGURE_DEPENDS ${package}/src/*.cpp)
nanobind_add_module(fbp_python STABLE_ABI NB_STATIC NOMINSIZE NB_SUPPRESS_WARNINGS ${sources})
set_target_properties(fbp_python PROPERTIES OUTPUT_NAME _core CXX_STANDARD 17
    CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    LIBRARY_OUTPUT_DIRECTORY ${FBP_PYTHON_DIR}/libfbp LINK_DEPENDS ${FBP_MAPS}/_core.map
    BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "${FBP_ORIGIN}/lib")
# GCC 12 believes that nanobind reads optional strings which are not there.
target_compile_options(fbp_python PRIVATE -Wall -Wextra -Wshadow -Wconversion -Wno-maybe-uninitialized
    $<$<NOT:$<BOOL:${FBP_SANITIZE}>>:-Wframe-larger-than=16384>
    $<$<BOOL:${FBP_WERROR}>:-Werror>)
target_link_libraries(fbp_python PRIVATE fbp)
# One name, and none of the C++ library's or nanobind's, which other extensions have, too.
if(APPLE)
    target_link_options(fbp_python PRIVATE "LINKER:-exported_symbol,_PyInit__core")
else()
    target_link_options(fbp_python PRIVATE "LINKER:--version-script=${FBP_MAPS}/_core.map")
endif()
if(FBP_SANITIZE)
    target_compile_options(fbp_python PRIVATE -fsanitize=${FBP_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(fbp_python PRIVATE -fsanitize=${FBP_SANITIZE})
endif()

# The rest of the package beside it, so that the build folder is one.
file(GLOB_RECURSE modules CONFIGURE_DEPENDS RELATIVE ${package} ${package}/libfbp/*.py
    ${package}/libfbp/py.typed)
foreach(module ${modules})
    configure_file(${package}/${module} ${FBP_PYTHON_DIR}/${module} COPYONLY)
endforeach()
file(WRITE ${FBP_PYTHON_DIR}/libfbp/_version.py "__version__ = \"${FBP_RELEASE}\"\n")

# The sanitizer would have to be in the interpreter that makes the stub.
if(NOT FBP_SANITIZE)
    nanobind_add_stub(fbp_python_stub MODULE _core OUTPUT ${FBP_PYTHON_DIR}/libfbp/_core.pyi
        PYTHON_PATH ${FBP_PYTHON_DIR}/libfbp DEPENDS fbp_python)
endif()

# Installed only if it is asked for by name (--component python), as in a wheel: the folder libfbp with
# all that it needs, no file outside of it, and no links, which wheels cannot hold.  The libraries
# stand where the extension and the command look for them.
set(to libfbp)
install(TARGETS fbp_python LIBRARY DESTINATION ${to} COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY ${FBP_PYTHON_DIR}/libfbp DESTINATION . COMPONENT python EXCLUDE_FROM_ALL
    FILES_MATCHING PATTERN *.py PATTERN *.pyi PATTERN py.typed PATTERN __pycache__ EXCLUDE)
install(FILES $<TARGET_FILE:fbp> DESTINATION ${to}/lib COMPONENT python EXCLUDE_FROM_ALL
    RENAME $<TARGET_SONAME_FILE_NAME:fbp>)
foreach(module fbp_cuda fbp_gl)
    if(TARGET ${module})
        install(FILES $<TARGET_FILE:${module}> DESTINATION ${to}/lib COMPONENT python EXCLUDE_FROM_ALL)
    endif()
endforeach()
install(PROGRAMS $<TARGET_FILE:fbp_cli> DESTINATION ${to}/bin COMPONENT python EXCLUDE_FROM_ALL)
# These are copies of what is built, so it is built as it is to be there: what is built to be changed
# when it is installed looks for libraries in the build folder, and in that where it is started.
set(to_lib "${FBP_ORIGIN}/../lib" ${FBP_BIN_TO_LIB})
list(REMOVE_DUPLICATES to_lib)
set_target_properties(fbp_cli PROPERTIES INSTALL_RPATH "${to_lib}")
foreach(target fbp fbp_cuda fbp_gl fbp_cli)
    if(TARGET ${target})
        set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON
            INSTALL_RPATH_USE_LINK_PATH ON)
    endif()
endforeach()

# The notices of what the extension holds, nanobind with a table of hashes in it, and of what else is
# linked in (cmake/permissive.cmake).
execute_process(COMMAND ${Python_EXECUTABLE} -c "
from importlib.metadata import files
print([f.locate() for f in files('nanobind') if f.name == 'LICENSE'][0], end='')"
    OUTPUT_VARIABLE nanobind_notice ERROR_QUIET)
if(EXISTS "${nanobind_notice}")
    install(FILES ${nanobind_notice} DESTINATION ${to}/licences COMPONENT python EXCLUDE_FROM_ALL
        RENAME nanobind.txt)
endif()
set(robin_map ${nanobind_DIR}/../ext/robin_map/include/tsl/robin_map.h)
if(EXISTS ${robin_map}) # the notice is the comment that the file begins with
    file(READ ${robin_map} text)
    string(REGEX REPLACE "[*]/.*" "*/\n" text "${text}")
    file(WRITE ${CMAKE_BINARY_DIR}/generated/robin_map.txt "${text}")
    install(FILES ${CMAKE_BINARY_DIR}/generated/robin_map.txt DESTINATION ${to}/licences
        COMPONENT python EXCLUDE_FROM_ALL)
endif()
if(FBP_NOTICES)
    install(DIRECTORY ${FBP_NOTICES} DESTINATION ${to}/licences COMPONENT python EXCLUDE_FROM_ALL)
endif()
