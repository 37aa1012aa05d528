// The public header as text: its declarations are in the sweeps without an edit here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenure::sweeps {

struct Constant {
  std::string name;
  std::int64_t value;
};

// The constants of a type, in their order: those of "tnr_unary_op" are TNR_UNARY_OP_NEG and so on.
// Remembers the type.
const std::vector<Constant>& codes_of(const std::string& type);
// The types that codes_of() has been called for.
std::vector<std::string> types_asked_for();

struct Declaration {
  std::string function;
  std::string parameters;  // as they are written

  [[nodiscard]] bool mentions(const std::string& word) const;
};

// All functions that the library exports, by its version script.
std::vector<Declaration> exported_functions();
// The types of numbers that have names: tnr_status and so on.
std::vector<std::string> code_types();

}  // namespace tenure::sweeps
