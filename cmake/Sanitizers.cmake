# TENURE_SANITIZE instruments the library and the tests alike. A report ends the program.
if(NOT TENURE_SANITIZE STREQUAL "")
  if(NOT TENURE_SANITIZE MATCHES "^(address|undefined|thread)$")
    message(FATAL_ERROR
      "TENURE_SANITIZE is \"${TENURE_SANITIZE}\" but must be address, undefined or thread")
  endif()
  add_compile_options(
    -fsanitize=${TENURE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TENURE_SANITIZE})
endif()

# Of the core that an ordinary build has for the address sanitizer.
set(TENURE_ASAN_FLAGS -O1 -g1 -UNDEBUG -fsanitize=address -fno-sanitize-recover=all
  -fno-omit-frame-pointer -fno-semantic-interposition)
