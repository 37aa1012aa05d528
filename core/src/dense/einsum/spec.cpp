#include "dense/einsum/spec.hpp"

#include <bit>
#include <cinttypes>
#include <cstdio>

#include "tenure/status.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

struct OperandNames {
  char text[EinsumSpec::kMaxOperands][sizeof "operands[31]"];

  constexpr OperandNames() : text{} {
    for (unsigned operand = 0; operand < EinsumSpec::kMaxOperands; ++operand) {
      char* end = text[operand];
      for (const char* from = "operands["; *from != 0; ++from) *end++ = *from;
      if (operand >= 10) *end++ = static_cast<char>('0' + operand / 10);
      *end++ = static_cast<char>('0' + operand % 10);
      *end = ']';
    }
  }
};
constexpr OperandNames kOperandNames;

constexpr unsigned kNoLabel = EinsumSpec::kLabelCount;

unsigned label_of(char letter) noexcept {
  if (letter >= 'A' && letter <= 'Z') return static_cast<unsigned>(letter - 'A');
  if (letter >= 'a' && letter <= 'z') return static_cast<unsigned>(letter - 'a') + 26;
  return kNoLabel;
}

struct LabelText {
  char text[32];
};
LabelText label_text(unsigned label) noexcept {
  LabelText name = {};
  if (label < EinsumSpec::kLetterCount) {
    const unsigned letter = label < 26 ? 'A' + label : 'a' + label - 26;
    std::snprintf(name.text, sizeof name.text, "label '%c'", static_cast<char>(letter));
  } else {
    std::snprintf(name.text, sizeof name.text, "axis -%u of \"...\"",
                  label - EinsumSpec::kLetterCount + 1);
  }
  return name;
}

}  // namespace

const char* einsum_operand_name(unsigned operand) noexcept { return kOperandNames.text[operand]; }

EinsumSpec::EinsumSpec(const char* text, const tnr_view* operands, std::uint32_t operand_count)
    : text_(text), operands_(operands), operand_count_(operand_count) {
  if (operand_count == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "operand_count is 0 but must be 1 at least");
  }
  if (operand_count > kMaxOperands) {
    fail(TNR_STATUS_UNSUPPORTED, "operand_count is %" PRIu32 " but must be %u at most",
         operand_count, kMaxOperands);
  }
  for (unsigned operand = 0; operand < operand_count; ++operand) {
    check_view(operands[operand], einsum_operand_name(operand));
  }
  read_operands();
  if (text_[at_] == 0) {
    infer_result();
  } else {
    at_ += 2;  // "->"
    read_result();
  }
}

// The byte, as it may stand in a message, and its place.
void EinsumSpec::refuse(const char* why) const {
  const auto byte = static_cast<unsigned char>(text_[at_]);
  char character[16];
  if (byte == 0) {
    std::snprintf(character, sizeof character, "the end");
  } else if (byte > ' ' && byte < 0x7f) {
    std::snprintf(character, sizeof character, "'%c'", static_cast<char>(byte));
  } else {
    std::snprintf(character, sizeof character, "byte 0x%02x", byte);
  }
  fail(TNR_STATUS_INVALID_ARGUMENT, "spec[%zu] is %s%s", at_, character, why);
}

void EinsumSpec::skip_spaces() noexcept {
  while (text_[at_] == ' ') ++at_;
}

void EinsumSpec::read_ellipsis(bool& has_ellipsis) {
  if (text_[at_ + 1] != '.' || text_[at_ + 2] != '.') refuse(", which is no \"...\"");
  if (has_ellipsis) refuse(", but a term has \"...\" once");
  has_ellipsis = true;
  at_ += 3;
}

// Reads letters and "..." up to the first other character. Refuses more than `most` letters.
void EinsumSpec::read_term(Term& term, std::uint32_t most, const char* whose) {
  for (skip_spaces();; skip_spaces()) {
    char why[96];
    if (text_[at_] == '.') {
      read_ellipsis(term.has_ellipsis);
      term.before_ellipsis = term.count;
      continue;
    }
    const unsigned label = label_of(text_[at_]);
    if (label == kNoLabel) return;
    if (term.count == most) {
      std::snprintf(why, sizeof why, ", a label too many: the rank of %s is %" PRIu32, whose, most);
      refuse(why);
    }
    term.letters[term.count++] = static_cast<std::uint8_t>(label);
    ++at_;
  }
}

void EinsumSpec::read_operands() {
  for (unsigned operand = 0;; ++operand) {
    char why[96];
    const std::uint32_t rank = operands_[operand].rank;
    Term term;
    read_term(term, rank, einsum_operand_name(operand));
    const char next = text_[at_];
    if (next != 0 && next != ',' && !(next == '-' && text_[at_ + 1] == '>')) {
      refuse(", but must be a letter, \"...\", ',' or \"->\"");
    }
    if (!term.has_ellipsis && term.count != rank) {
      std::snprintf(why, sizeof why, " after %" PRIu32 " labels, but the rank of %s is %" PRIu32,
                    term.count, einsum_operand_name(operand), rank);
      refuse(why);
    }
    add_operand(operand, term);
    if ((next == ',') == (operand + 1 < operand_count_)) {
      if (next != ',') return;
      ++at_;
      continue;
    }
    std::snprintf(why, sizeof why, " after term %u, but operand_count is %" PRIu32, operand + 1,
                  operand_count_);
    refuse(why);
  }
}

void EinsumSpec::add_operand(unsigned operand, const Term& term) {
  const std::uint32_t rank = operands_[operand].rank;
  const std::uint32_t ellipsis_rank = rank - term.count;
  ellipsis_rank_ = ellipsis_rank > ellipsis_rank_ ? ellipsis_rank : ellipsis_rank_;
  const std::uint32_t before = term.has_ellipsis ? term.before_ellipsis : rank;
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    unsigned label;
    if (axis < before) {
      label = term.letters[axis];
    } else if (axis < before + ellipsis_rank) {
      label = kLetterCount + (before + ellipsis_rank - 1 - axis);
    } else {
      label = term.letters[axis - ellipsis_rank];
    }
    add_axis(operand, axis, label);
  }
}

void EinsumSpec::add_axis(unsigned operand, std::uint32_t axis, unsigned label) {
  const std::int64_t extent = operands_[operand].shape[axis];
  labels_[operand][axis] = static_cast<std::uint8_t>(label);
  has_empty_axis_ |= extent == 0;
  const LabelSet bit = set_of(label);
  const bool is_new = ((once_ | more_) & bit) == 0;
  if (!is_new) {
    // A diagonal repeats nothing: its axes are equally long.
    for (std::uint32_t other = 0; other < axis; ++other) {
      if (labels_[operand][other] != label) continue;
      if (operands_[operand].shape[other] == extent) continue;
      origin_operand_[label] = static_cast<std::uint8_t>(operand);
      origin_axis_[label] = static_cast<std::uint8_t>(other);
      refuse_extent(operand, axis, label);
    }
    if (extent != 1 && extents_[label] != 1 && extent != extents_[label]) {
      refuse_extent(operand, axis, label);
    }
  }
  more_ |= once_ & bit;
  once_ = (once_ | bit) & ~more_;
  if (is_new || extents_[label] == 1) {
    extents_[label] = extent;
    origin_operand_[label] = static_cast<std::uint8_t>(operand);
    origin_axis_[label] = static_cast<std::uint8_t>(axis);
  }
}

void EinsumSpec::refuse_extent(unsigned operand, std::uint32_t axis, unsigned label) const {
  const unsigned origin = origin_operand_[label];
  const unsigned origin_axis = origin_axis_[label];
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s.shape[%" PRIu32 "] is %" PRId64 " but %s.shape[%u] is %" PRId64 ", and both are %s",
       einsum_operand_name(operand), axis, operands_[operand].shape[axis],
       einsum_operand_name(origin), origin_axis, operands_[origin].shape[origin_axis],
       label_text(label).text);
}

void EinsumSpec::add_to_result(unsigned label) {
  if (result_rank_ == TNR_MAX_RANK) {
    fail(TNR_STATUS_UNSUPPORTED, "the result has more than %d axes",
         static_cast<int>(TNR_MAX_RANK));
  }
  result_labels_[result_rank_++] = static_cast<std::uint8_t>(label);
}

void EinsumSpec::add_ellipsis_to_result() {
  for (std::uint32_t axis = ellipsis_rank_; axis-- > 0;) add_to_result(kLetterCount + axis);
}

void EinsumSpec::infer_result() {
  add_ellipsis_to_result();
  LabelSet letters = once_ & (set_of(kLetterCount) - 1);
  for (; letters != 0; letters &= letters - 1) {
    add_to_result(static_cast<unsigned>(std::countr_zero(letters)));
  }
}

void EinsumSpec::read_result() {
  bool has_ellipsis = false;
  LabelSet taken = 0;
  for (skip_spaces();; skip_spaces()) {
    if (text_[at_] == '.') {
      read_ellipsis(has_ellipsis);
      add_ellipsis_to_result();
      continue;
    }
    const unsigned label = label_of(text_[at_]);
    if (label == kNoLabel) break;
    if ((labels() & set_of(label)) == 0) refuse(", a label that no operand has");
    if ((taken & set_of(label)) != 0) refuse(", a label that the result has already");
    taken |= set_of(label);
    add_to_result(label);
    ++at_;
  }
  if (text_[at_] != 0) refuse(", but must be a letter, \"...\" or the end of the result");
  if (!has_ellipsis && ellipsis_rank_ != 0) {
    refuse(" of the result, which lacks the \"...\" of the operands");
  }
}

}  // namespace tenure
