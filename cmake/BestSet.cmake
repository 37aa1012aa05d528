# TENURE_BEST_SET: the last line of core/instruction_sets.txt that this machine runs, and
# TENURE_BEST_SET_MASK: its bit in TENURE_SET_MASK.
set(best 0)
if(TENURE_IS_X86_64 AND EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
  if(flags MATCHES " avx2 " AND flags MATCHES " fma " AND flags MATCHES " bmi2 ")
    set(best 1)
    if(flags MATCHES " avx512bw " AND flags MATCHES " avx512dq " AND flags MATCHES " avx512vl ")
      set(best 2)
    endif()
  endif()
endif()
list(GET TENURE_INSTRUCTION_SETS ${best} TENURE_BEST_SET)
math(EXPR TENURE_BEST_SET_MASK "1 << ${best}")
