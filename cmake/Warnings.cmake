# One set of warnings for everything that is ours.
function(tenure_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow
    $<$<COMPILE_LANGUAGE:CXX>:-Wconversion;-Wno-sign-conversion;-Werror=missing-declarations>
    $<$<BOOL:${TENURE_WERROR}>:-Werror>)
endfunction()
