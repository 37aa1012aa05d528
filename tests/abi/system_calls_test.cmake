# Only the objects of core/src/system_calls* among those of core/ and capi/ call the system: a call
# elsewhere would bypass the test that refuses each of them. Indirect calls by the C and C++
# libraries (malloc, std::thread, std::condition_variable) are theirs. Needs NM and OBJECTS, joined
# by |.

set(names
  # memory
  mmap mmap64 munmap mremap madvise posix_madvise process_madvise mprotect mlock mlock2 mlockall
  munlock mincore msync mbind memfd_create shm_open ftruncate ftruncate64 brk sbrk remap_file_pages
  # waiting, threads and processes
  syscall futex futex_wait fork vfork clone prctl pthread_atfork pthread_key_create
  pthread_setspecific eventfd pipe pipe2 sem_open sem_wait sched_setaffinity setrlimit
  # files
  open open64 openat openat64 creat read pread pread64 write pwrite pwrite64 close ioctl fcntl
  fopen fopen64
  # Windows
  VirtualAlloc VirtualAlloc2 VirtualFree VirtualProtect VirtualQuery MapViewOfFile
  CreateFileMappingA CreateFileMappingW CreateThread WaitOnAddress)
list(JOIN names "|" any)

string(REPLACE "|" ";" objects "${OBJECTS}")
execute_process(COMMAND ${NM} -A -u ${objects} OUTPUT_VARIABLE undefined
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]* (__imp_)?(${any})(@[^\n]*)?\n" calls "${undefined}")
set(seam ${calls})
list(FILTER seam INCLUDE REGEX "/system_calls_[a-z]+[.]cpp[.][^/]*$")
list(FILTER calls EXCLUDE REGEX "/system_calls_[a-z]+[.]cpp[.][^/]*$")
# That the names are found where they are.
if(NOT seam MATCHES " (munmap|__imp_VirtualFree)")
  message(FATAL_ERROR "core/src/system_calls* calls nothing: \"${seam}\"")
endif()
if(calls)
  list(JOIN calls "" text)
  message(FATAL_ERROR "outside core/src/system_calls* the system is called:\n${text}")
endif()
