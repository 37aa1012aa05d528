# The library exports the functions of tenure.map and nothing else. Needs NM, LIBRARY, MAP.
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY}
  OUTPUT_VARIABLE exported COMMAND_ERROR_IS_FATAL ANY)
# One "name@@TENURE_0 T address size" a line; the version's own name is an absolute symbol, A.
string(REPLACE "\n" ";" exported "${exported}")
list(FILTER exported EXCLUDE REGEX "^[^ ]+ A |^$")
list(TRANSFORM exported REPLACE "[@ ].*" "")
list(SORT exported)

file(STRINGS ${MAP} declared REGEX "^ +tnr_[a-z0-9_]+;$")
list(TRANSFORM declared REPLACE "[ ;]" "")
list(SORT declared)

set(extra ${exported})
list(REMOVE_ITEM extra ${declared})
set(missing ${declared})
list(REMOVE_ITEM missing ${exported})
list(LENGTH declared count)
if(count EQUAL 0 OR extra OR missing)
  message(FATAL_ERROR "of ${count} functions, missing: ${missing}; exported besides: ${extra}")
endif()
