# A C user's ways to an installed library. One step per call:
#   install       `cmake --install` into a prefix, which is then moved: nothing may remember it
#   find_package  CMakeLists.txt beside this file, in plain C; and the examples, which it runs
#   pkg_config    the C compiler with the flags that pkg-config prints
# Needs STEP, BUILD_DIR (of tenure), WORK_DIR, C_COMPILER, CXX_COMPILER, GENERATOR, LIBDIR, VERSION
# and PROGRAM_FILE: whether the library of program files is installed.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    list(JOIN ARGV " " line)
    message(FATAL_ERROR "${line}\nended with ${code}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# The program's answer: the version is the installed one, 10+11+...: (1+2+3)+60 and (4+5+6)+60.
function(check_output program)
  run(${ARGV})
  if(NOT output MATCHES "^tenure ${VERSION},[^\n]*\nsums: 66 75\n$")
    message(FATAL_ERROR "${program} printed:\n${output}")
  endif()
endfunction()

set(prefix ${WORK_DIR}/moved)
set(libdir ${prefix}/${LIBDIR})

if(STEP STREQUAL "install")
  file(REMOVE_RECURSE ${WORK_DIR})
  run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/first)
  file(RENAME ${WORK_DIR}/first ${prefix})

elseif(STEP STREQUAL "find_package")
  set(build ${WORK_DIR}/find_package)
  run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR} -B ${build}
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
    -DCMAKE_BUILD_TYPE=Release -DPROGRAM_FILE=${PROGRAM_FILE})
  run(${CMAKE_COMMAND} --build ${build})
  check_output(${build}/sums)
  check_output(${build}/sums_static)

elseif(STEP STREQUAL "pkg_config")
  find_program(PKG_CONFIG pkg-config)
  if(NOT PKG_CONFIG)
    message("skipped: pkg-config is not installed")
    return()
  endif()
  set(ENV{PKG_CONFIG_PATH} ${libdir}/pkgconfig)
  set(ENV{LD_LIBRARY_PATH} ${libdir})
  run(${PKG_CONFIG} --exact-version=${VERSION} tenure)
  set(source ${CMAKE_CURRENT_LIST_DIR}/sums.c)

  run(${PKG_CONFIG} --cflags --libs tenure)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run(${C_COMPILER} -std=c99 ${source} ${flags} -o ${WORK_DIR}/sums)
  check_output(${WORK_DIR}/sums)

  # `-l:` because the linker prefers the shared library, and a fully static program would need a
  # static C library too.
  run(${PKG_CONFIG} --cflags --libs --static tenure)
  string(REPLACE "-ltenure" "-l:libtenure.a" output "${output}")
  separate_arguments(flags UNIX_COMMAND "${output}")
  run(${C_COMPILER} -std=c99 ${source} ${flags} -o ${WORK_DIR}/sums_static)
  set(ENV{LD_LIBRARY_PATH} "")
  check_output(${WORK_DIR}/sums_static)

  if(PROGRAM_FILE)
    set(ENV{LD_LIBRARY_PATH} ${libdir})
    set(source ${CMAKE_CURRENT_LIST_DIR}/../../rust/tenure-program-file/tests/saves_and_loads.c)
    run(${PKG_CONFIG} --cflags --libs tenure-program-file)
    separate_arguments(flags UNIX_COMMAND "${output}")
    run(${C_COMPILER} -std=c99 ${source} ${flags} -o ${WORK_DIR}/program_file)
    run(${WORK_DIR}/program_file ${WORK_DIR}/saved.tnrp)
  endif()

else()
  message(FATAL_ERROR "no step \"${STEP}\"")
endif()
