# Includes of core/src go one way. The folders stand here in their order: a file includes headers of
# its own folder and of those above it in this list. A folder that is not listed, a file directly in
# core/src, a folder without a README.md and one of more than 25 files fail; the last also in capi/src
# and below rust/tenure/src. So do two headers that define the same name.
cmake_minimum_required(VERSION 3.21)
set(order
  base
  cpu
  cpu/kernels
  cpu/kernels/elementwise/double
  cpu/kernels/elementwise/single
  cpu/kernels/elementwise
  cpu/kernels/random
  cpu/kernels/compress
  cpu/kernels/move
  cpu/kernels/matmul
  cpu/kernels/ordering
  cpu/kernels/product
  cpu/kernels/reduce
  cpu/kernels/normalize
  cpu/kernels/quantize
  cpu/kernels/scan
  cpu/kernels/sparse
  cpu/kernels/window
  threads
  memory/region
  memory
  engine
  onednn
  view
  dense/loops
  dense
  dense/elementwise
  dense/movement
  dense/random
  dense/reduce
  dense/normalize
  dense/scan
  dense/ordering
  dense/image
  dense/product
  dense/quantize
  dense/filters
  dense/einsum
  cuda/kernels
  cuda/kernels/images
  cuda/kernels/ordering
  cuda/kernels/scan
  cuda/kernels/sparse
  cuda
  cuda/compiled
  cuda/libraries
  cuda/operations
  cuda/operations/images
  cuda/operations/sparse
  expression
  sparse
  sparse/convert
  sparse/from_dense
  sparse/product
  sparse/packed
  sparse/values
  program
  program/rewrites
  program/kinds
  program/passes
  program/rewrites/quantization
  program/schedule
  program/device
  program/debug
  program/run)
set(most_files 25)

set(errors "")
set(include_count 0)
set(name_count 0)
file(GLOB_RECURSE sources RELATIVE ${ROOT}/core/src ${ROOT}/core/src/*.cpp ${ROOT}/core/src/*.hpp)
foreach(source IN LISTS sources)
  get_filename_component(folder ${source} DIRECTORY)
  list(FIND order "${folder}" place)
  if(place EQUAL -1)
    string(APPEND errors "core/src/${source}: its folder is not in the order of this test\n")
    continue()
  endif()
  string(MAKE_C_IDENTIFIER "${folder}" key)
  math(EXPR count_${key} "0${count_${key}} + 1")
  file(STRINGS ${ROOT}/core/src/${source} includes REGEX "^#include \"")
  foreach(line IN LISTS includes)
    string(REGEX MATCH "\"([^\"]+)\"" matched "${line}")
    set(header ${CMAKE_MATCH_1})
    # The public headers are below all of them; explored.hpp is the protocols test's.
    if(header MATCHES "^tenure/" OR header STREQUAL "explored.hpp")
      continue()
    endif()
    math(EXPR include_count "${include_count} + 1")
    if(NOT EXISTS ${ROOT}/core/src/${header})
      string(APPEND errors "core/src/${source}: \"${header}\" is not a path below core/src\n")
      continue()
    endif()
    get_filename_component(target ${header} DIRECTORY)
    list(FIND order "${target}" target_place)
    if(target_place GREATER place)
      string(APPEND errors "core/src/${source} includes ${header}: ${target}/ is above ${folder}/\n")
    endif()
  endforeach()
endforeach()

# Two headers that define one name of a namespace differently compile, also where no file includes
# both; the linker keeps one of the two for all.
file(GLOB_RECURSE headers RELATIVE ${ROOT}/core/src ${ROOT}/core/src/*.hpp)
list(FILTER headers EXCLUDE REGEX "/kernels/")
foreach(header IN LISTS headers)
  file(STRINGS ${ROOT}/core/src/${header} space REGEX "^namespace " LIMIT_COUNT 1)
  file(STRINGS ${ROOT}/core/src/${header} lines
    REGEX "^(struct|class|enum class) [A-Za-z0-9_]+( final)?( :[^;]*)? {|^inline constexpr ")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^(struct|class|enum class) ([A-Za-z0-9_]+).*" "\\2" name "${line}")
    string(REGEX REPLACE "^inline constexpr [^=({]*[ *](k[A-Za-z0-9]+).*" "\\1" name "${name}")
    string(MAKE_C_IDENTIFIER "${space}${name}" key)
    math(EXPR name_count "${name_count} + 1")
    if(DEFINED header_${key} AND NOT header_${key} STREQUAL header)
      string(APPEND errors
        "core/src/${header} and core/src/${header_${key}} define the same name, ${name}\n")
    endif()
    set(header_${key} ${header})
  endforeach()
endforeach()

foreach(folder IN LISTS order)
  string(MAKE_C_IDENTIFIER "${folder}" key)
  if(NOT DEFINED count_${key})
    string(APPEND errors "core/src/${folder} is in the order of this test and has no file\n")
  elseif(count_${key} GREATER most_files)
    string(APPEND errors "core/src/${folder} has ${count_${key}} files, and may have ${most_files}\n")
  endif()
  if(NOT EXISTS ${ROOT}/core/src/${folder}/README.md)
    string(APPEND errors "core/src/${folder} has no README.md\n")
  endif()
endforeach()

foreach(root IN ITEMS capi/src rust/tenure/src)
  file(GLOB_RECURSE sources LIST_DIRECTORIES true RELATIVE ${ROOT} ${ROOT}/${root}/*)
  foreach(folder IN ITEMS ${root} LISTS sources)
    if(IS_DIRECTORY ${ROOT}/${folder})
      file(GLOB files LIST_DIRECTORIES false ${ROOT}/${folder}/*.[ch]pp ${ROOT}/${folder}/*.rs)
      list(LENGTH files count)
      if(count GREATER most_files)
        string(APPEND errors "${folder} has ${count} files, and may have ${most_files}\n")
      endif()
    endif()
  endforeach()
endforeach()

if(include_count LESS 100)
  string(APPEND errors "only ${include_count} includes were found: the pattern is wrong\n")
endif()
if(name_count LESS 100)
  string(APPEND errors "only ${name_count} names were found: the pattern is wrong\n")
endif()
if(errors)
  message(FATAL_ERROR "\n${errors}")
endif()
