// Random numbers as a function of a seed and a place.
//
// The contracts are those of tenure.h; docs/random.md states each number. All throw Error, with the
// output untouched.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

void random(const Context& context, tnr_random_distribution distribution, std::uint64_t seed,
            std::uint64_t offset, const tnr_random_attributes& attributes, const tnr_view_mut& out);
void random_permutation(const Context& context, std::uint64_t seed, std::uint64_t offset,
                        const tnr_view_mut& out);

}  // namespace tenure
