# tenure_exports(TARGET): the shared library exports the functions of capi/tenure.map and no others.
# Hidden visibility is not enough: weak symbols of the standard library would get out.
function(tenure_exports target)
  set(map ${PROJECT_SOURCE_DIR}/capi/tenure.map)
  if(WIN32)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${map})
    file(STRINGS ${map} names REGEX "^ +(tnr|tenure_private)_[a-z0-9_]+;$")
    list(TRANSFORM names REPLACE ";" "")
    list(JOIN names "\n" names)
    file(CONFIGURE OUTPUT tenure.def CONTENT "EXPORTS\n@names@\n" @ONLY)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/tenure.def)
  else()
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
    target_link_options(${target} PRIVATE
      LINKER:--version-script=${map}
      LINKER:--no-undefined-version
      # Threads that used the library tell it of their end, after a dlclose too.
      LINKER:-z,nodelete
      # clang leaves the sanitizers' symbols to the program.
      $<$<STREQUAL:${TENURE_SANITIZE},>:LINKER:--no-undefined>)
  endif()
endfunction()
