// fork copies the process with only the thread that calls it. The child has none of the other
// threads, but the locks that they held are still locked there.
#pragma once

namespace tenure {

// From the first call on, every child of fork finds the locks of the library free and the data that
// they guard consistent, and its contexts have no threads except the caller's. Must be called
// before the first lock is taken that a child may want, with none held. Returns false when the
// system refused.
bool prepare_for_fork() noexcept;

}  // namespace tenure
