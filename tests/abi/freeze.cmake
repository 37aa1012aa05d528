# Freezes the ABI as it is: what headergen writes, and the types that abidw finds in the library.
# Needs ROOT, BUILD_DIR, ABIDW and LIBRARY.
execute_process(COMMAND cargo run -q -p headergen -- --freeze WORKING_DIRECTORY ${ROOT}
  COMMAND_ERROR_IS_FATAL ANY)
# It may have written the header too.
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD_DIR} --target tenure_boundary
  COMMAND_ERROR_IS_FATAL ANY)

file(STRINGS ${ROOT}/capi/include/tenure/memory.h lines REGEX "^#define TNR_ABI_(MAJOR|MINOR) ")
string(REGEX REPLACE "[^0-9;]" "" version "${lines}")
string(REPLACE ";" "." version "${version}")
set(baseline ${ROOT}/tests/abi/frozen/${version}/libtenure.abi)
execute_process(COMMAND ${ABIDW} --headers-dir ${ROOT}/capi/include --drop-private-types
  --no-show-locs --no-corpus-path --no-comp-dir-path --out-file ${baseline} ${LIBRARY}
  COMMAND_ERROR_IS_FATAL ANY)
message("wrote tests/abi/frozen/${version}/libtenure.abi")
