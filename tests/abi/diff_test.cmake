# The functions of the library have the types that they had when they were frozen. New functions are
# no difference, nor are fields at the end of a struct that grows. Needs ABIDIFF, LIBRARY, INCLUDE,
# TABLES (each beside its baseline) and OUTPUT (a folder).
set(compared 0)
foreach(table IN LISTS TABLES)
  get_filename_component(folder ${table} DIRECTORY)
  if(NOT EXISTS ${folder}/libtenure.abi)
    continue()
  endif()
  file(STRINGS ${table} facts REGEX "^struct [a-z0-9_]+ [0-9.]+ grows ")
  set(growing "")
  foreach(fact IN LISTS facts)
    string(REGEX MATCH "^struct ([a-z0-9_]+)" matched "${fact}")
    string(APPEND growing "[suppress_type]\n  name = ${CMAKE_MATCH_1}\n"
      "  has_data_member_inserted_at = end\n")
  endforeach()
  file(WRITE ${OUTPUT}/growing.abignore "${growing}")
  execute_process(COMMAND ${ABIDIFF} --headers-dir2 ${INCLUDE} --drop-private-types --no-added-syms
    --suppressions ${OUTPUT}/growing.abignore ${folder}/libtenure.abi ${LIBRARY}
    RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "the library differs from ${folder}:\n${said}")
  endif()
  math(EXPR compared "${compared} + 1")
endforeach()
if(compared EQUAL 0)
  message(FATAL_ERROR "no version has a baseline: build the target abi_freeze")
endif()
