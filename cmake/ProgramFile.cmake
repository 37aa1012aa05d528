# tenure/program_file.h and its archive, which is Rust: cargo compiles it without a core, so that a
# program links it in addition to the installed library.
find_program(CARGO cargo REQUIRED)
set(archive ${PROJECT_BINARY_DIR}/cargo/release/libtenure_program_file.a)
# For documentation the build script of tenure-sys looks for no installed library. An archive needs
# none before a program links it.
add_custom_target(tenure_program_file ALL
  COMMAND ${CMAKE_COMMAND} -E env DOCS_RS=1 ${CARGO} build --quiet --release --no-default-features
    -p tenure-program-file --target-dir ${PROJECT_BINARY_DIR}/cargo
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  BYPRODUCTS ${archive}
  VERBATIM)

install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES rust/tenure-program-file/include/tenure/program_file.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenure)
configure_file(cmake/tenure-program-file.pc.in tenure-program-file.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tenure-program-file.pc DESTINATION ${pkgconfig_dir})
