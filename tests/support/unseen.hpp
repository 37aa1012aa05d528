// Mistakes that gcc would refuse by itself, thanks to the annotations, made at run time instead.
#pragma once

namespace tenure::test {

// The value, which the compiler cannot know.
template <class T>
T unseen(T value) {
  volatile T hidden = value;
  return hidden;
}

}  // namespace tenure::test
