# osafl_add_plugin(NAME name KIND kind SOURCES file...
#                  [LINK_LIBRARIES library...] [CHECK_SETTINGS key=value...]
#                  [CHECK_ARGUMENTS argument...])
#
# Builds the plugin KIND/NAME as the target KIND_NAME and the file plugins/KIND/NAME.so of the build
# tree, so that "osafl run --plugin-dir BUILD/plugins" finds it. The file exports its entry point and
# nothing else. With testing enabled, the test check.KIND.NAME runs "osafl plugin check" on it;
# CHECK_SETTINGS are the values with which it is tried, for settings that have no default;
# CHECK_ARGUMENTS are other words of that command, such as --shape 1x80 --integers. "cmake --install" puts it where a program installed below the same prefix looks for it.

set(_osafl_package_dir "${CMAKE_CURRENT_LIST_DIR}")
set(_osafl_kinds dataset model channel resource optimizer quantizer deletion aggregator
    partition drift arrival selection filter transport)

# Options that let a compiler change results: no run could be repeated on another machine, and
# linking with them switches the whole program to flush-to-zero.
function(_osafl_refuse_fast_math)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
    get_directory_property(compile_options COMPILE_OPTIONS)
    get_directory_property(link_options LINK_OPTIONS)
    set(all "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS} ${CMAKE_MODULE_LINKER_FLAGS} "
            "${CMAKE_C_FLAGS_${config}} ${CMAKE_CXX_FLAGS_${config}} "
            "${compile_options} ${link_options}")
    set(refused "-(Ofast|ffast-math|funsafe-math-optimizations|ffinite-math-only|")
    string(APPEND refused "fassociative-math|freciprocal-math)")
    if("${all}" MATCHES "${refused}")
        message(FATAL_ERROR "osafl_add_plugin: ${CMAKE_MATCH_0} changes the results of arithmetic "
            "(rule R9 of the plugin interface); remove it, or use -O3")
    endif()
endfunction()

# CMake itself says no more than that it "cannot determine the link language".
function(_osafl_require_languages)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    foreach(source IN LISTS ARGN)
        if(source MATCHES "\\.(cc|cpp|cxx|C)$" AND NOT CXX IN_LIST languages)
            message(FATAL_ERROR "osafl_add_plugin: ${source} is C++; write "
                "project(${PROJECT_NAME} CXX) at the top of CMakeLists.txt")
        elseif(source MATCHES "\\.c$" AND NOT C IN_LIST languages)
            message(FATAL_ERROR "osafl_add_plugin: ${source} is C; write "
                "project(${PROJECT_NAME} C CXX) at the top of CMakeLists.txt")
        endif()
    endforeach()
endfunction()

function(osafl_add_plugin)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;KIND"
        "SOURCES;LINK_LIBRARIES;CHECK_SETTINGS;CHECK_ARGUMENTS")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_KIND OR NOT arg_SOURCES)
        message(FATAL_ERROR "usage: osafl_add_plugin(NAME name KIND kind SOURCES file... "
            "[LINK_LIBRARIES library...] [CHECK_SETTINGS key=value...] "
            "[CHECK_ARGUMENTS argument...])")
    endif()
    if(NOT arg_NAME MATCHES "^[a-z][a-z0-9_]*$")
        message(FATAL_ERROR "osafl_add_plugin: \"${arg_NAME}\" is no name of a plugin: [a-z][a-z0-9_]*")
    endif()
    if(NOT arg_KIND IN_LIST _osafl_kinds)
        message(FATAL_ERROR "osafl_add_plugin: \"${arg_KIND}\" is no kind: ${_osafl_kinds}")
    endif()
    _osafl_refuse_fast_math()
    _osafl_require_languages(${arg_SOURCES})

    set(target ${arg_KIND}_${arg_NAME})
    add_library(${target} MODULE ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE osafl::headers ${arg_LINK_LIBRARIES} m)
    target_compile_options(${target} PRIVATE -ffp-contract=off)
    target_link_options(${target} PRIVATE
        "-Wl,--version-script=${_osafl_package_dir}/exports.map" -Wl,--exclude-libs,ALL
        -Wl,-z,defs -Wl,-z,now -Wl,-z,relro -Wl,-z,noexecstack)
    set_target_properties(${target} PROPERTIES
        PREFIX "" SUFFIX ".so" OUTPUT_NAME ${arg_NAME}
        C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        POSITION_INDEPENDENT_CODE ON
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/plugins/${arg_KIND})
    install(TARGETS ${target} DESTINATION ${osafl_PLUGIN_SUBDIR}/${arg_KIND})

    set(settings)
    foreach(setting IN LISTS arg_CHECK_SETTINGS)
        list(APPEND settings --set ${setting})
    endforeach()
    add_test(NAME check.${arg_KIND}.${arg_NAME}
        COMMAND osafl::program plugin check ${settings} ${arg_CHECK_ARGUMENTS}
            $<TARGET_FILE:${target}>)
endfunction()
