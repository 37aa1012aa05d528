# One set of warnings for everything that is ours.
function(tenure_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror=missing-declarations)
endfunction()
