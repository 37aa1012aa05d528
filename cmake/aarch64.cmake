# 64-bit ARM Linux with Debian's cross compiler (g++-aarch64-linux-gnu); its programs run under
# qemu-user. Used by the preset `aarch64`.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# Where the package has the target's C library.
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64;-L;/usr/aarch64-linux-gnu")

# Tests that are left out, of what qemu-user cannot do: start a program of the target's once more,
# hold a process to the limits that it sets itself, and start a thread in a child of fork.
set(TENURE_LEFT_OUT
  *DeathTest.*
  Fork.TheChildMakesContextsOfItsOwn
  Memory.WorksWhereHugePagesAreRefused
  Memory.LimitOfAddressSpaceIsOutOfMemory
  Memory.CachedMemoryIsGivenUpBeforeACallFails
  Scarcity.*
  SystemCalls*.* */SystemCalls.*)
