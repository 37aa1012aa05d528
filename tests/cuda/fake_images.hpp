// Images of code for the fake driver, which finds their contents by the words of PTX.
#pragma once

#include <string>
#include <vector>

#include "cuda/driver.hpp"

namespace fake {

// The contents of a user's image.
struct Image {
  // The names after `.entry`. None: of machine code nothing is known, and it may have any kernel
  // that was compiled for the host.
  std::vector<std::string> entries;
  std::string log;  // of the compiler, where it fails
};

// A fat binary or a cubin is read as far as its header says; PTX, which ends with a 0, is compiled:
// its braces are counted.
tenure::cuda::Result read_image(const void* code, Image& image);

// The name of each kernel in a text, after a word that announces it and up to its parenthesis.
std::vector<std::string> names_after(const std::string& text, const std::string& word);
// The number of the line in which a brace of the text has no other; 0 for none.
int line_of_lone_brace(const std::string& text);

}  // namespace fake
