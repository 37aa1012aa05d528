# tenure_add_plugin(NAME SOURCE...): a shared library that programs load while they run, for its
# operations. Its sources define `tnr_plugin_entry`. It is linked with the shared library, for those
# of its functions that it calls; without one it may call none, because a second copy of the library
# would know neither the memory nor the errors of the first.
function(tenure_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  if(TARGET tenure::tenure_static AND NOT tenure_shared_FOUND)
    target_include_directories(${name} PRIVATE
      $<TARGET_PROPERTY:tenure::tenure_static,INTERFACE_INCLUDE_DIRECTORIES>)
  else()
    target_link_libraries(${name} PRIVATE tenure::tenure)
  endif()
endfunction()
