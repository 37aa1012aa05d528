# Copies of the library's sources in which steps of its protocols can be exchanged, one pair at a
# time, as a scenario runs: `swapped` in the list of swaps.cmake becomes a question to the explorer.
# Nothing else is different, lines included. Needs SOURCES (separated by |) and OUT, a folder.
string(REPLACE "|" ";" SOURCES "${SOURCES}")
foreach(source IN LISTS SOURCES)
  get_filename_component(name ${source} NAME)
  file(READ ${source} text_of_${name})
endforeach()
set(swap_count 0)
set(swap_names "")

function(count_lines variable text)
  string(REGEX MATCHALL "\n" ends "${text}")
  list(LENGTH ends count)
  set(${variable} ${count} PARENT_SCOPE)
endfunction()

# swap(file "what comes before what" text replacement [text replacement]...): each text is there
# once. In a replacement @ is the text, `swapped` is true while the steps are exchanged, and an end
# of a line is a space, so that the lines of all that follows stay what they are.
function(swap file what)
  set(text "${text_of_${file}}")
  set(i 2)
  while(i LESS ARGC)
    set(found "${ARGV${i}}")
    math(EXPR i "${i} + 1")
    set(replacement "${ARGV${i}}")
    math(EXPR i "${i} + 1")
    string(FIND "${text}" "${found}" first)
    string(FIND "${text}" "${found}" last REVERSE)
    if(first EQUAL -1 OR NOT first EQUAL last)
      message(FATAL_ERROR "swaps.cmake, \"${what}\": ${file} does not have once:\n${found}")
    endif()
    string(REPLACE "\n" " " replacement "${replacement}")
    string(REPLACE "swapped" "::tenure::explore::is_swapped(${swap_count})" replacement "${replacement}")
    count_lines(lines "${found}")
    if(lines GREATER 0 AND NOT replacement MATCHES "@")
      message(FATAL_ERROR "swaps.cmake, \"${what}\": a replacement of several lines needs an @")
    endif()
    string(REPLACE "@" "${found}" replacement "${replacement}")
    string(REPLACE "${found}" "${replacement}" text "${text}")
  endwhile()
  set(text_of_${file} "${text}" PARENT_SCOPE)
  string(APPEND swap_names "    \"${file}: ${what}\",\n")
  set(swap_names "${swap_names}" PARENT_SCOPE)
  math(EXPR count "${swap_count} + 1")
  set(swap_count ${count} PARENT_SCOPE)
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/swaps.cmake)

foreach(source IN LISTS SOURCES)
  get_filename_component(name ${source} NAME)
  file(WRITE ${OUT}/${name} "#line 1 \"${source}\"\n${text_of_${name}}")
endforeach()
file(WRITE ${OUT}/swaps.hpp "// By swap_steps.cmake, from swaps.cmake.
#pragma once

namespace tenure::explore {

inline constexpr const char* kSwaps[] = {
${swap_names}};

}  // namespace tenure::explore
")
