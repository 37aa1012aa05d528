// Every function of the public interface that takes or makes a sparse matrix, once: its arguments
// and its answer. The sweeps walk this list. Codes are walked as the header names them, and a
// function that is missing here fails a test (operations_test.cpp).
//
// A row makes its dense operands from the given matrix, whatever its shape is; where an output
// would be larger than memory, it is given one of another shape, which is to be refused.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "answer.hpp"
#include "matrix.hpp"

namespace tenure::sweeps {

struct Operands {
  tnr_context* context = nullptr;
  Byte fill = kFill;  // of outputs, before they are written
  tnr_sparse_view a = {};
  // [a.cols, n] in a's format, and [a.rows, n]: the right factor, and the mask. Format 0: none.
  tnr_sparse_view right = {};
  tnr_sparse_view mask = {};
};

struct Operation {
  std::string function;
  std::string variant;
  std::function<void(const Operands& with, Answer& answer)> run;

  // Whether its operands are dense: of a matrix it takes only the shape.
  [[nodiscard]] bool is_of_dense() const {
    return function.find("from_dense") != std::string::npos || function == "tnr_sparse_from_matmul";
  }
  // Whether it takes time only by the entries, however far apart they are.
  [[nodiscard]] bool is_by_entries() const;
  [[nodiscard]] std::string name() const { return function + " " + variant; }
  [[nodiscard]] Answer operator()(const Operands& with) const {
    Answer answer;
    run(with, answer);
    return answer;
  }
};

const std::vector<Operation>& sparse_operations();
// Operations on only dense memory, with elements of the dtype and of the shape of `a`.
const std::vector<Operation>& dense_operations();
// Parts of them.
void add_movement_operations(std::vector<Operation>& list);
void add_expressions(std::vector<Operation>& list);

}  // namespace tenure::sweeps
