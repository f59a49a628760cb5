# cmake -D FOLDER=… -D SOURCE=… -P glsl.cmake: the texts of all FOLDER/*.glsl as one C file.
file(GLOB texts ${FOLDER}/*.glsl)
set(out "/* Made by cmake/glsl.cmake. */\n#include \"backend/gl/text.h\"\n\n")
set(table "")
foreach(text ${texts})
    get_filename_component(name ${text} NAME_WE)
    file(READ ${text} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(................................................................................)"
        "\\1\n    " bytes "${bytes}")
    string(APPEND out "static const char ${name}_text[] = {\n    ${bytes}0};\n\n")
    string(APPEND table "    {\"${name}\", ${name}_text},\n")
endforeach()
file(WRITE ${SOURCE} "${out}const struct gl_text_built gl_texts_built[] = {\n${table}    {0, 0}};\n")
