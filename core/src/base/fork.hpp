// fork copies the process with one of its threads. The others are missing in the child, with
// whatever they had locked.
#pragma once

namespace tenure {

// From the first call on, the locks of the library are free in every child of fork, what they guard
// is whole there, and the contexts have no threads but the caller's. To be called before the first
// lock is taken that a child may want, with none held. False when the system refused.
bool prepare_for_fork() noexcept;

}  // namespace tenure
