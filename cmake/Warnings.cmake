# One set of warnings for everything that is ours. Nothing of that is deprecated; but clang reports
# std::stable_sort of libstdc++ 12 for what it calls itself.
function(tenure_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow
    $<$<COMPILE_LANGUAGE:CXX>:-Wconversion;-Wno-sign-conversion;-Werror=missing-declarations>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>
    $<$<BOOL:${TENURE_WERROR}>:-Werror>)
endfunction()
