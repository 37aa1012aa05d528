# `cmake --install`: the libraries, the headers, tenureConfig.cmake and tenure.pc. All paths in the
# last two are relative to themselves, so that the prefix can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tenure)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(TENURE_LIBS_PRIVATE "${TENURE_CXX_RUNTIME};pthread")
list(APPEND TENURE_LIBS_PRIVATE ${CMAKE_DL_LIBS})
if(TENURE_WITH_ONEDNN)
  list(PREPEND TENURE_LIBS_PRIVATE dnnl)
endif()
list(TRANSFORM TENURE_LIBS_PRIVATE PREPEND "-l")
list(JOIN TENURE_LIBS_PRIVATE " " TENURE_LIBS_PRIVATE)
if(TENURE_WITH_ONEDNN)
  get_target_property(dnnl_dir DNNL::dnnl LOCATION)
  get_filename_component(dnnl_dir ${dnnl_dir} DIRECTORY)
  string(PREPEND TENURE_LIBS_PRIVATE "-L${dnnl_dir} ")
endif()
# Nobody passes --static where there is no choice.
if(NOT TENURE_BUILD_SHARED)
  set(TENURE_LIBS "${TENURE_LIBS_PRIVATE}")
  set(TENURE_LIBS_PRIVATE "")
endif()

foreach(kind shared static)
  string(TOUPPER ${kind} upper)
  if(TENURE_BUILD_${upper})
    install(TARGETS tenure_${kind} EXPORT tenure_${kind}
      RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}  # a DLL
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
      INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(EXPORT tenure_${kind} NAMESPACE tenure:: DESTINATION ${config_dir}
      FILE tenure_${kind}_targets.cmake)
  endif()
endforeach()
install(DIRECTORY capi/include/tenure DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_package_config_file(cmake/tenureConfig.cmake.in tenureConfig.cmake
  INSTALL_DESTINATION ${config_dir} NO_SET_AND_CHECK_MACRO)
# An ABI of the same major version only grows.
write_basic_package_version_file(tenureConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES
  cmake/tenureAddPlugin.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/tenureConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/tenureConfigVersion.cmake
  DESTINATION ${config_dir})

file(RELATIVE_PATH TENURE_PC_TO_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/tenure.pc.in tenure.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tenure.pc DESTINATION ${pkgconfig_dir})
if(TENURE_PROGRAM_FILE)
  include(cmake/ProgramFile.cmake)
endif()
