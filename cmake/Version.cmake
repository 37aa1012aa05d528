# TENURE_VERSION is the crates' version, TENURE_ABI_MAJOR the header's: neither is written twice.

file(STRINGS Cargo.toml TENURE_VERSION REGEX "^version = ")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" TENURE_VERSION "${TENURE_VERSION}")
file(STRINGS capi/include/tenure/memory.h TENURE_ABI_MAJOR REGEX "^#define TNR_ABI_MAJOR ")
string(REGEX MATCH "[0-9]+$" TENURE_ABI_MAJOR "${TENURE_ABI_MAJOR}")

if(TENURE_VERSION STREQUAL "" OR TENURE_ABI_MAJOR STREQUAL "")
  message(FATAL_ERROR "Cargo.toml names no version, or memory.h no TNR_ABI_MAJOR")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  Cargo.toml capi/include/tenure/memory.h)
