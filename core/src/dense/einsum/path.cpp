#include "dense/einsum/path.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "tenure/status.hpp"

namespace tenure {
namespace {

// 3^8 pairs of subsets take some 50 us; each operand more takes three times as long.
constexpr unsigned kMostForAllOrders = 8;

// The size of a product of two terms: at most 16 labels of 63 bits, which a double holds.
double elements_of(const EinsumSpec& spec, LabelSet labels) noexcept {
  double elements = 1;
  for (; labels != 0; labels &= labels - 1) {
    elements *= static_cast<double>(spec.extent(static_cast<unsigned>(std::countr_zero(labels))));
  }
  return elements;
}

bool fits_a_view(LabelSet labels) noexcept { return std::popcount(labels) <= TNR_MAX_RANK; }

[[noreturn]] void refuse_rank() {
  fail(TNR_STATUS_UNSUPPORTED,
       "no order of products was found in which none has more than %d labels",
       static_cast<int>(TNR_MAX_RANK));
}

// Every subset of the terms, by its bits, and the cheapest way to multiply it.
class AllOrders {
 public:
  AllOrders(const EinsumSpec& spec, const LabelSet* terms, unsigned count)
      : spec_(spec), count_(count), whole_((1u << count) - 1) {
    for (unsigned subset = 1; subset <= whole_; ++subset) {
      LabelSet inside = 0;
      LabelSet outside = spec.result_set();
      for (unsigned term = 0; term < count; ++term) {
        ((subset >> term & 1) != 0 ? inside : outside) |= terms[term];
      }
      Subset& entry = subsets_[subset];
      entry.kept = inside & outside;
      entry.cost = {0, 0};
      if (!std::has_single_bit(subset)) find_split(subset, entry);
    }
    if (subsets_[whole_].cost.multiplications == kNever) refuse_rank();
  }

  void write(EinsumPath& path) const noexcept {
    unsigned steps = 0;
    (void)write(path, steps, whole_);
  }

 private:
  // Among orders of equal multiplications, the one with smaller products.
  struct Cost {
    double multiplications;
    double product_elements;

    bool operator<(const Cost& other) const noexcept {
      return multiplications != other.multiplications ? multiplications < other.multiplications
                                                      : product_elements < other.product_elements;
    }
  };
  struct Subset {
    LabelSet kept;
    Cost cost;
    unsigned split;
  };
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  void find_split(unsigned subset, Subset& entry) const noexcept {
    entry.cost = {kNever, 0};
    if (!fits_a_view(entry.kept)) return;
    const double own_elements = elements_of(spec_, entry.kept);
    // The half with the lowest term, so that each split is seen once.
    const unsigned lowest = subset & (0 - subset);
    const unsigned others = subset ^ lowest;
    for (unsigned rest = (others - 1) & others;; rest = (rest - 1) & others) {
      const Subset& a = subsets_[lowest | rest];
      const Subset& b = subsets_[others ^ rest];
      const Cost cost = {
          a.cost.multiplications + b.cost.multiplications + elements_of(spec_, a.kept | b.kept),
          a.cost.product_elements + b.cost.product_elements + own_elements};
      if (cost < entry.cost) {
        entry.cost = cost;
        entry.split = lowest | rest;
      }
      if (rest == 0) return;
    }
  }

  // The term that is the product of the subset.
  unsigned write(EinsumPath& path, unsigned& steps, unsigned subset) const noexcept {
    if (std::has_single_bit(subset)) return static_cast<unsigned>(std::countr_zero(subset));
    const unsigned split = subsets_[subset].split;
    const unsigned a = write(path, steps, split);
    const unsigned b = write(path, steps, subset ^ split);
    path.steps[steps] = {static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b),
                         subsets_[subset].kept};
    return count_ + steps++;
  }

  const EinsumSpec& spec_;
  unsigned count_;
  unsigned whole_;
  Subset subsets_[1u << kMostForAllOrders] = {};
};

// Finds the path of opt_einsum's "greedy" without its random choices.
void multiply_smallest_first(const EinsumSpec& spec, const LabelSet* terms, unsigned count,
                             EinsumPath& path) {
  LabelSet labels[2 * EinsumSpec::kMaxOperands];
  std::uint8_t left[EinsumSpec::kMaxOperands];  // terms that are not multiplied yet
  for (unsigned term = 0; term < count; ++term) {
    labels[term] = terms[term];
    left[term] = static_cast<std::uint8_t>(term);
  }
  for (unsigned step = 0; step + 1 < count; ++step) {
    const unsigned left_count = count - step;
    double least = std::numeric_limits<double>::infinity();
    unsigned best_a = 0;
    unsigned best_b = 0;
    for (unsigned i = 0; i < left_count; ++i) {
      for (unsigned j = i + 1; j < left_count; ++j) {
        LabelSet needed = spec.result_set();
        for (unsigned other = 0; other < left_count; ++other) {
          if (other != i && other != j) needed |= labels[left[other]];
        }
        const LabelSet a = labels[left[i]];
        const LabelSet b = labels[left[j]];
        const LabelSet kept = (a | b) & needed;
        if (!fits_a_view(kept)) continue;
        const double growth = elements_of(spec, kept) - elements_of(spec, a) - elements_of(spec, b);
        if (growth >= least) continue;
        least = growth;
        best_a = i;
        best_b = j;
        path.steps[step] = {left[i], left[j], kept};
      }
    }
    if (best_b == 0) refuse_rank();
    labels[count + step] = path.steps[step].kept;
    left[best_a] = static_cast<std::uint8_t>(count + step);
    left[best_b] = left[left_count - 1];
  }
}

}  // namespace

EinsumPath einsum_path(const EinsumSpec& spec, const LabelSet* terms, unsigned count) {
  EinsumPath path;
  if (count == 2) {
    path.steps[0] = {0, 1, spec.result_set()};
  } else if (count <= kMostForAllOrders) {
    AllOrders(spec, terms, count).write(path);
  } else {
    multiply_smallest_first(spec, terms, count, path);
  }
  return path;
}

}  // namespace tenure
