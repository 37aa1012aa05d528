// The border between the core and its inner loops: plain structs and tables of functions, which
// families.hpp lists.
//
// A kernel runs along one axis. It sees pointers, a count and steps in bytes; it reads and writes
// the bytes of those elements and no byte between them (the halves of a split axis interleave in
// memory, and two threads may write them). It never throws, allocates or keeps anything.
//
// Every listed file of this folder is compiled once per instruction set. It includes only headers
// of this folder and no std templates: the linker may keep any one copy of a weak symbol, also the
// one that an older processor cannot run. Code per set therefore lives in the namespace TENURE_ISA,
// which the build defines as the set's name, and all but the tables is private to its file.
#pragma once

#include <stdint.h>

namespace tenure::kernels {

using Byte = unsigned char;  // may alias every type

// The real dtypes, in the order of every table. Complex and foreign types are only moved, by width.
enum class Type : uint8_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kBool8
};
inline constexpr unsigned kTypeCount = 13;

// Rows of the tables are the ABI's operation codes less one, which operations.hpp lists. GT and
// GE are LT and LE with the inputs exchanged, so they have no kernels.
inline constexpr unsigned kCompareKernelCount = 4;  // eq ne lt le

// Widths in bytes that have movement kernels of their own; the last entry takes any width.
enum class Width : uint8_t { k1, k2, k4, k8, k16, kAny };
inline constexpr unsigned kWidthCount = 6;

// An operand of a strip that is read.
struct StripInput {
  const Byte* data;
  int64_t step;         // bytes from one element to the next, of any sign; 0: one element, repeated
  int64_t width_bytes;  // of an element
};

// One run of an element-wise kernel: out[i] = f(in[0][i], in[1][i], ...) for i < count.
struct Strip {
  int64_t count;
  Byte* out;
  int64_t out_step;     // as that of an input
  int64_t width_bytes;  // of an element of the output
  uint32_t source_count;
  const StripInput* in;
  const void* parameters;  // the operation's constants, in a struct of its own; nullptr: none
};

// Conditions that a kernel reports about the data.
enum Finding : uint32_t { kNothing = 0, kZeroDivisor = 1, kNegativePower = 2 };

using StripKernel = Finding (*)(const Strip&);

// Conversion of the inputs of a kernel that computes in another type, and of its results. Both take
// adjacent elements and write them so.
struct Conversion {
  StripKernel load;   // nullptr: the kernel reads elements as they are
  StripKernel spill;  // nullptr: it writes them so
  int64_t in_bytes;   // of an element that the kernel reads
  int64_t out_bytes;  // of an element that it writes
};

// Kernels have vectors for adjacent elements and repeated ones (step 0), and take all others one by
// one. Whether that costs no more than gathering them would, or so much that they are better
// gathered.
enum class Steps : uint8_t { kAny, kDense };

// An operation on one dtype.
struct Elementwise {
  StripKernel kernel;            // nullptr: the dtype is not supported
  const Conversion* conversion;  // nullptr: the kernel reads and writes elements as they are
  Steps steps;
};

// Copies whole lines past the caches: `out` is aligned to 64 bytes, size_bytes a multiple of 64.
// The stores are not ordered with others.
using Streamer = void (*)(Byte* out, const Byte* from, uint64_t size_bytes);
// Copies as Streamer does, and clears the bytes of `from`.
using ClearingStreamer = void (*)(Byte* out, Byte* from, uint64_t size_bytes);
// Copies as Streamer does, and prefetches as many bytes at `next` and at `other_next`, which will
// be read soon.
using FetchingStreamer = void (*)(Byte* out, const Byte* from, uint64_t size_bytes,
                                  const Byte* next, const Byte* other_next);

struct Streaming {
  Streamer copy;
  ClearingStreamer copy_and_clear;
  FetchingStreamer copy_and_fetch;
};

// Parts of output lines that wait for the rest of them. Set-associative: each line belongs to one
// set.
inline constexpr unsigned kEdgeWays = 4;
struct EdgeSet {
  Byte* lines[kEdgeWays];
  uint8_t first[kEdgeWays];              // bytes of the line
  uint8_t last[kEdgeWays];               // the one after; 0: none waits
  uint32_t next;                         // to give way
  alignas(64) Byte from[kEdgeWays][64];  // as the line, where it has those bytes
};
// With no sets, no part of a line waits.
struct Edges {
  EdgeSet* sets;
  unsigned shift;  // 64 less the logarithm of how many there are
};

// Runs that wait in a buffer, one every `pitch` bytes, and the destination of each. A line's length
// can be read before and after every byte of them.
struct Flush {
  int64_t count;
  int64_t bytes;      // of each
  int64_t available;  // of each, with those after it that may fill its last line
  bool continues;     // bytes before the first whole line are not written: they were, with the rest
  const Byte* in;
  int64_t pitch;
  Byte* out;
  const int64_t* offsets;  // from out
  Edges edges;
};
// Lines that will be read soon.
struct Fetch {
  int64_t count;
  const Byte* first;
  const int64_t* offsets;  // from first
};
// Elements so long that memory is read and written in runs, not by turns of a few lines.
inline constexpr int64_t kLongElementBytes = 256;
// Elements that are moved: the one at the sum of in_steps is copied to the sum of out_steps.
// Meanwhile `flush` is written past the caches, with stores that are not ordered with others, and
// the lines of `fetch` are brought closer; each may be empty.
inline constexpr unsigned kMaxBlockRank = 8;
struct Block {
  unsigned rank;  // at least 2; the kernel's own axes are the last two
  int64_t extents[kMaxBlockRank];
  int64_t in_steps[kMaxBlockRank];  // bytes
  int64_t out_steps[kMaxBlockRank];
  const Byte* in;
  Byte* out;
  int64_t width_bytes;
  Flush flush;
  Fetch fetch;  // what a later block reads
};

using BlockKernel = void (*)(const Block&);

// Elements that are moved as by Permuting::transpose, but straight into whole lines past the
// caches, and with rows at any addresses: element (r, c), at row_offsets[r] + width * c, is copied
// to width * r + out_step * c.
struct Panel {
  int64_t rows;
  int64_t available;           // rows, with those after them that may fill a column's last line
  const int64_t* row_offsets;  // from in; followed by two lines' worth that may be read as well
  int64_t columns;             // at least 16 bytes
  const Byte* in;
  Byte* out;
  int64_t out_step;
  bool aligned;          // every column begins with a line
  bool conflict;         // the rows' lines evict each other
  bool continues;        // as Flush's
  bool first_continues;  // the same of column 0
  Edges edges;
  Fetch fetch;
};

using PanelKernel = void (*)(const Panel&);

struct Permuting {
  // By Width. The last axis has an out_step of one element, the one before it such an in_step.
  BlockKernel transpose[kWidthCount];
  BlockKernel move[kWidthCount];  // any steps
  BlockKernel flush;              // only the block's `flush`
  const PanelKernel* panel;       // by Width; nullptr where the registers are too small for it
};

// ---- sparse matrices ----

// The types of indices and offsets, in the order of every table.
enum class IndexType : uint8_t { kI32, kI64 };
inline constexpr unsigned kIndexTypeCount = 2;

// A compressed matrix: row r has the entries offsets[r] to offsets[r + 1] of indices and values.
// CSR as it is; CSC as its transpose, so that a row here is a column there; BSR with blocks instead
// of elements. The values of a block are block_rows * block_cols elements in row-major order.
//
// A row range of a larger matrix has a first offset other than 0 and the indices and values of the
// larger matrix: entry k is always at index k.
struct Compressed {
  int64_t rows;  // rows + 1 offsets
  int64_t cols;  // each index is below
  IndexType index_type;
  const Byte* offsets;
  const Byte* indices;
  const Byte* values;
};

// Entries by their coordinates.
struct Coordinates {
  int64_t rows;
  int64_t cols;
  int64_t count;
  IndexType index_type;
  const Byte* row_indices;
  const Byte* col_indices;
  const Byte* values;
};

// Questions to whole arrays of one index type.
struct IndexChecks {
  // Whether each is in [0, limit).
  bool (*are_below)(const Byte* indices, int64_t count, int64_t limit);
  // The number of indices less than the one before; and of those not greater.
  int64_t (*count_falls)(const Byte* indices, int64_t count);
  int64_t (*count_stays)(const Byte* indices, int64_t count);
  // Whether no pair is less than the one before, rows first; and whether each is greater.
  bool (*are_sorted)(const Byte* rows, const Byte* cols, int64_t count);
  bool (*are_rising)(const Byte* rows, const Byte* cols, int64_t count);
};

// Elements of a dense matrix, by the bytes between two of them.
struct Field {
  Byte* first;
  int64_t row_step;
  int64_t column_step;
};
// The block grid of a BSR.
struct Blocks {
  int64_t rows;
  int64_t columns;
  int64_t width_bytes;  // of an element
};
// Writes entries to the elements that they are, one after the other. `rows` and `blocks` write rows
// [first, end), and row `first` begins at the field's first element; `points` writes entries
// [first, end).
struct Scattering {
  void (*rows[5])(const Compressed&, int64_t first, int64_t end, const Field&);     // by Width
  void (*points[5])(const Coordinates&, int64_t first, int64_t end, const Field&);  // by Width
  void (*blocks)(const Compressed&, const Blocks&, int64_t first, int64_t end, const Field&);
};

// A product of two compressed matrices of one index type. Its rows are those of `a`, its columns
// those of `b`.
struct SparseProduct {
  Compressed a;
  Compressed b;
  bool b_is_coalesced;  // each row of b has rising indices
};

// Accumulator of one row of a product at a time: dense, or a hash table. Started once, and then the
// kernels' own. Up to kColumnSumsBytes there is a slot for each column in any case.
inline constexpr int64_t kColumnSumsBytes = int64_t{8} << 20;
inline constexpr int64_t kSumBlock = 16;          // slots that have one mark
inline constexpr unsigned kProductTypeCount = 2;  // of Type: f64 and f32
struct RowSums {
  int64_t cols;
  int64_t most;      // products of a row
  Byte* repeated;    // the pattern of rows that repeat
  Byte* slots;       // elements of the product's type, as many as whole blocks have; or nullptr
  Byte* marks;       // a byte for each block, and for as many more as 8 divides
  uint32_t* stamps;  // one for each column
  uint32_t stamp;    // the last one
  Byte* table;       // where there are no slots
};

// Destination of the rows of a matrix: entries from `position` on, and offsets that count as
// `position` does.
struct SparseRows {
  int64_t position;
  Byte* offsets;  // of the whole matrix; of rows begin to end those behind each row are written
  Byte* indices;
  Byte* values;
};

// Rows [begin, end) of a product. Every index has been checked.
struct RowProducts {
  // Bytes that a thread needs for a product with `cols` columns and at most `most` products in a
  // row. start() makes these bytes ready; `memory` is aligned to a line.
  int64_t (*scratch_bytes)(int64_t cols, int64_t most);
  RowSums (*start)(Byte* memory, int64_t cols, int64_t most);
  // The number of entries.
  int64_t (*count)(const SparseProduct& product, RowSums& sums, int64_t begin, int64_t end);
  // Writes them with rising indices; returns how many they are. The sum of an entry begins at 0 and
  // takes the products in the order of a's entries.
  int64_t (*fill)(const SparseProduct& product, RowSums& sums, int64_t begin, int64_t end,
                  const SparseRows& out);
};

}  // namespace tenure::kernels
