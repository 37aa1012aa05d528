# TENURE_EMBEDDED_FAT_BINARY: the file with the kernels for GPUs that the library embeds, or empty.
#
# It is the file that TENURE_CUDA_FAT_BINARY names, here or in the environment. Without that name it
# is the file of `./x kernels`, where the digests beside it are those of these sources: kernels of
# other sources may read other arguments.
set(TENURE_CUDA_FAT_BINARY "" CACHE FILEPATH
  "The file with kernels for GPUs to embed, in the place of build/cuda/kernels.fatbin")

set(TENURE_EMBEDDED_FAT_BINARY "${TENURE_CUDA_FAT_BINARY}")
if(TENURE_EMBEDDED_FAT_BINARY STREQUAL "")
  set(TENURE_EMBEDDED_FAT_BINARY "$ENV{TENURE_CUDA_FAT_BINARY}")
endif()
if(NOT TENURE_EMBEDDED_FAT_BINARY STREQUAL "")
  if(NOT EXISTS "${TENURE_EMBEDDED_FAT_BINARY}" OR NOT IS_ABSOLUTE "${TENURE_EMBEDDED_FAT_BINARY}")
    message(FATAL_ERROR "TENURE_CUDA_FAT_BINARY is ${TENURE_EMBEDDED_FAT_BINARY} but must be the "
      "absolute path of a file")
  endif()
else()
  # Each build looks at the glob, which notices that the file appears. Dependencies of the
  # configuration notice the rest: that it, or a source of it, changes or vanishes.
  file(GLOB lock CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/build/cuda/kernels.lock)
  if(lock)
    file(STRINGS ${lock} digested REGEX "^[0-9a-f]+  ")
    list(TRANSFORM digested REPLACE "^[0-9a-f]+  " "${PROJECT_SOURCE_DIR}/")
    foreach(file IN LISTS lock digested)
      if(EXISTS ${file})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
      endif()
    endforeach()
    execute_process(COMMAND sha256sum --check --status ${lock} RESULT_VARIABLE differs
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(differs STREQUAL "0")
      set(TENURE_EMBEDDED_FAT_BINARY ${PROJECT_SOURCE_DIR}/build/cuda/kernels.fatbin)
    else()
      message(STATUS "build/cuda/kernels.fatbin is not of these sources: run ./x kernels")
    endif()
  endif()
endif()
if(TENURE_EMBEDDED_FAT_BINARY)
  message(STATUS "Kernels for GPUs: ${TENURE_EMBEDDED_FAT_BINARY}")
else()
  message(STATUS "Kernels for GPUs: none")
endif()
