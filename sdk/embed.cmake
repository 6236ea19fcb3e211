# cmake -DOUTPUT=file.c -DFILES="a;b" -P embed.cmake - the templates as a C table, so that the
# program carries them and "osafl plugin new" works wherever it is.
set(table "")
set(text "/* Made by sdk/embed.cmake from sdk/template/. */\n#include \"command/plugin/plugin_template.h\"\n")
set(i 0)
foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(................................................................................)"
           "\\1\n" bytes "${bytes}")
    string(APPEND text "static const unsigned char text_${i}[] = {\n${bytes}0};\n")
    string(APPEND table "    {\"${name}\", text_${i}, sizeof text_${i} - 1},\n")
    math(EXPR i "${i} + 1")
endforeach()
string(APPEND text "const struct plugin_template plugin_templates[] = {\n${table}};\n"
       "const size_t plugin_n_templates = ${i};\n")
file(WRITE ${OUTPUT} "${text}")
