# cmake -D SOURCE=DIR -D HEADER=FILE -P commit.cmake: FBP_COMMIT, "abcdef123456", with a + where
# tracked files differ from it, or "unknown" outside a repository.
execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --exclude=* --dirty=+
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
    set(commit unknown)
endif()
set(text "#define FBP_COMMIT \"${commit}\"\n")
if(EXISTS ${HEADER})
    file(READ ${HEADER} before)
endif()
if(NOT "${before}" STREQUAL "${text}")
    file(WRITE ${HEADER} "${text}")
endif()
