// Entries in blocks without gaps. Each block has one column index.
#pragma once

#include "sparse/packed/source.hpp"

namespace tenure {

// The shape in which the entries of each row are whole blocks, one after the other, that begin at
// multiples of it; of several the one that takes the fewest bytes. {1, 1}: no shape fits.
BlockShape find_blocks(const Context& context, const PackedSource& source);

std::int64_t blocks_bytes(const PackedSource& source, const BlockShape& shape) noexcept;

// Into blocks of a shape that was found.
void pack_blocks(const Context& context, const PackedSource& source, const BlockShape& shape,
                 PackedMatrix& packed);

}  // namespace tenure
