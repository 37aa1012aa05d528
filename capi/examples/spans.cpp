// The same in C++20: views of what a program has, and errors as exceptions.
#include <cstdio>
#include <tenure/tenure.hpp>
#include <vector>

int main() try {
  std::vector<float> matrix{1, 2, 3, 4, 5, 6};
  std::vector<float> means(3);

  // Lent: a view converts to what the functions of tenure.h take.
  const tnr::View<const float> rows(matrix, {2, 3});
  const tnr::View<float> out(means, {3});
  tnr::check(tnr_reduce(nullptr, TNR_REDUCE_OP_MEAN, rows, 1u << 0, nullptr, out));

  // Handed over, changed in place, and taken back: the same allocation.
  const float* const before = matrix.data();
  auto centred = tnr::Tensor<float>::adopt(std::move(matrix), {2, 3});
  tnr::check(tnr_binary(nullptr, TNR_BINARY_OP_SUB, centred.view(), out, nullptr, centred.view()));
  matrix = std::move(centred).into_vector();
  std::printf("%g %g %g, %s\n", matrix[0], matrix[1], matrix[2],
              matrix.data() == before ? "where they were" : "moved");

  // A sparse matrix of three vectors, times a vector.
  const std::vector<std::int32_t> offsets{0, 2, 3}, columns{0, 2, 1};
  const std::vector<float> values{1, 2, 3};
  const auto sparse = tnr::SparseView::csr<std::int32_t, float>(2, 3, offsets, columns, values);
  std::vector<float> product(2);
  const tnr_scalar one = tnr::scalar(1.0f), zero = tnr::scalar(0.0f);
  tnr::check(tnr_sparse_matmul(nullptr, TNR_ORIENTATION_AS_IS, &one, sparse, out, &zero, nullptr,
                               tnr::View<float>(product)));
  std::printf("%g %g\n", product[0], product[1]);

  // Errors name the value and the bound.
  try {
    tnr::check(tnr_copy(nullptr, rows, nullptr, out));
  } catch (const tnr::Error& error) {
    std::printf("%s: %s\n", tnr_status_name(error.status()), error.what());
  }
  return 0;
} catch (const tnr::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
