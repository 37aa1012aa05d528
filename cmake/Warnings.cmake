# One set of warnings for everything that is ours. Nothing of that is deprecated; but clang reports
# std::stable_sort of libstdc++ 12 for what it calls itself.
function(tenure_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow
    $<$<COMPILE_LANGUAGE:CXX>:-Wconversion;-Wno-sign-conversion;-Werror=missing-declarations>
    # A switch over the operations of a kind has a case for each of them.
    $<$<COMPILE_LANGUAGE:CXX>:-Werror=switch>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>
    $<$<BOOL:${TENURE_WERROR}>:-Werror>)
endfunction()
