# The library exports the functions of tenure.map, each in the node of the version that introduced
# it, and nothing else. Needs LIBRARY, MAP and NM; for a DLL, whose names nm does not list and which
# has no nodes, OBJDUMP.
if(OBJDUMP)
  execute_process(COMMAND ${OBJDUMP} -p ${LIBRARY}
    OUTPUT_VARIABLE exported COMMAND_ERROR_IS_FATAL ANY)
  # One "[number] +base[ordinal] hint name" a line, the last part of the export table.
  string(REGEX REPLACE ".*\\[Ordinal/Name Pointer\\] Table[^\n]*" "" exported "${exported}")
  string(REGEX REPLACE "\n\n.*" "" exported "${exported}")
  string(STRIP "${exported}" exported)
  string(REPLACE "\n" ";" exported "${exported}")
  list(TRANSFORM exported REPLACE ".* " "")
else()
  execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY}
    OUTPUT_VARIABLE exported COMMAND_ERROR_IS_FATAL ANY)
  # One "name@@TENURE_0.1 T address size" a line; a node's own name is an absolute symbol, A.
  string(REPLACE "\n" ";" exported "${exported}")
  list(FILTER exported EXCLUDE REGEX "^[^ ]+ A |^$")
  list(TRANSFORM exported REPLACE " .*" "")
endif()
list(SORT exported)

file(STRINGS ${MAP} lines REGEX "^ +(tnr|tenure_private)_[a-z0-9_]+;$|^TENURE_[A-Z0-9._]+ {")
set(declared "")
foreach(line IN LISTS lines)
  if(line MATCHES "^(TENURE_[A-Z0-9._]+)")
    set(node "@@${CMAKE_MATCH_1}")
    if(OBJDUMP)
      set(node "")
    endif()
  elseif(line MATCHES "((tnr|tenure_private)_[a-z0-9_]+)")
    list(APPEND declared ${CMAKE_MATCH_1}${node})
  endif()
endforeach()
list(SORT declared)

set(extra ${exported})
list(REMOVE_ITEM extra ${declared})
set(missing ${declared})
list(REMOVE_ITEM missing ${exported})
list(LENGTH declared count)
if(count EQUAL 0 OR extra OR missing)
  message(FATAL_ERROR "of ${count} functions, missing: ${missing}; exported besides: ${extra}")
endif()
