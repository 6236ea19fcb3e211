# What "cpack" in the build tree makes: osafl-VERSION-Linux.tar.gz, to be unpacked anywhere, and a
# Debian package.
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME osafl)
set(CPACK_PACKAGE_VENDOR "The osafl authors")
set(CPACK_PACKAGE_CONTACT "The osafl authors <osafl@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "dataset-fashion-mnist, gnuplot-nox")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gcc, cmake, pkg-config")
# The libraries that the program and the plugins link, asked for by name where Debian's own tool,
# which knows the packages they come from, is missing.
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(DPKG_SHLIBDEPS)
if(DPKG_SHLIBDEPS)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
else()
    set(CPACK_DEBIAN_PACKAGE_DEPENDS
        "libc6, libconfig9, libjansson4, libopenblas0-pthread | libopenblas0, zlib1g")
endif()

include(CPack)
