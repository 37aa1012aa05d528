# CLANG and CLANGXX for the tests that look at what clang says; empty where it is not installed.
set(versions 21 20 19 18 17 16)
list(TRANSFORM versions PREPEND clang- OUTPUT_VARIABLE c_names)
list(TRANSFORM versions PREPEND clang++- OUTPUT_VARIABLE cxx_names)
find_program(CLANG NAMES clang ${c_names})
find_program(CLANGXX NAMES clang++ ${cxx_names})
