// docs/support.md says which dtypes and sparse formats every operation takes, wherever its operands
// lie, and on which device. The page is what calls of all operations answer; the target
// support_record writes it anew.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "sweep.hpp"

namespace tenure::sweeps {
namespace {

std::string in_capitals(std::string name) {
  for (char& letter : name) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return name;
}

// The name as the docs write it.
std::string short_name(const Constant& dtype) {
  std::string name = dtype.name.substr(std::strlen("TNR_DTYPE_"));
  for (char& letter : name) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return name;
}

// "ADD" of "BINARY_OP_ADD"; "" of a word that is no code.
std::string code_of(std::string word) {
  if (!word.empty() && word.back() == ',') word.pop_back();
  for (std::string prefix : code_types()) {
    prefix = in_capitals(prefix.substr(std::strlen("tnr_"))) + "_";
    if (word.rfind(prefix, 0) == 0) return word.substr(prefix.size());
  }
  return "";
}

// A function, and the code that it is called with, with which its variant begins.
std::string call_of(const Operation& operation) {
  std::istringstream words(operation.variant);
  std::string first;
  std::string second;
  words >> first >> second;
  const std::string code = first == "to" ? code_of(second) : code_of(first);
  if (code.empty()) return operation.function;
  return operation.function + (first == "to" ? " to " : " ") + code;
}

std::string layout_of(const Operation& operation) {
  const std::size_t comma = operation.variant.rfind(", ");
  return comma == std::string::npos ? "" : operation.variant.substr(comma + 2);
}

using Dtypes = std::set<std::string>;

// Classes of dtypes by their names where all of a class are there.
std::string text_of(const Dtypes& taken) {
  static const std::pair<const char*, std::vector<std::string>> kClasses[] = {
      {"floats", {"f64", "f32", "f16", "bf16"}},
      {"integers", {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}},
      {"bool8", {"bool8"}},
      {"complex", {"c64", "c128"}}};
  std::string text;
  std::size_t named = 0;
  const auto add = [&](const std::string& name) { text += (text.empty() ? "" : ", ") + name; };
  for (const auto& [name, members] : kClasses) {
    const auto is_taken = [&](const std::string& dtype) { return taken.count(dtype) == 1; };
    named += members.size();
    if (std::all_of(members.begin(), members.end(), is_taken)) {
      add(name);
      continue;
    }
    for (const std::string& dtype : members) {
      if (is_taken(dtype)) add(dtype);
    }
  }
  if (taken.empty()) return "-";
  return taken.size() == named ? "all" : text;
}

// Without a gap, so that it is also one of blocks.
const Pattern& pattern() {
  static const Pattern square = [] {
    Pattern full{"square", 8, 8, {}};
    for (std::int64_t at = 0; at < 64; ++at) full.positions.push_back({at / 8, at % 8});
    return full;
  }();
  return square;
}

Operands operands_of(const Matrix& a) {
  return {.a = a.view(kBothFlags), .right = a.view(kBothFlags), .mask = a.view(kBothFlags)};
}

// Elements, or the dtype of an output, may be refused of a dtype that is taken.
tnr_status answer_of(const Operation& operation, const Matrix& a) {
  return operation(operands_of(a)).status;
}

// In the order of the list: a map sorts, and the page is read by families.
struct Row {
  std::string call;
  std::map<std::string, Dtypes> by_column;
  std::set<std::string> computed;  // columns where a call succeeds, with some dtype

  void add(const std::string& column, const std::string& dtype, tnr_status status) {
    Dtypes& taken = by_column[column];
    if (status != TNR_STATUS_UNSUPPORTED) taken.insert(dtype);
    if (status == TNR_STATUS_OK) computed.insert(column);
  }
};

// Nothing is taken where every call is refused, whatever the reason.
std::vector<Row> without_refused(std::vector<Row> rows) {
  for (Row& row : rows) {
    for (auto& [column, taken] : row.by_column) {
      if (row.computed.count(column) == 0) taken.clear();
    }
  }
  return rows;
}

std::string function_of(const std::string& call) { return call.substr(0, call.find(' ')); }

// Behind those of the same function.
Row& row_of(std::vector<Row>& rows, const std::string& call) {
  const auto at =
      std::find_if(rows.begin(), rows.end(), [&](auto& row) { return row.call == call; });
  if (at != rows.end()) return *at;
  const auto last = std::find_if(rows.rbegin(), rows.rend(), [&](const Row& row) {
    return function_of(row.call) == function_of(call);
  });
  return *rows.insert(last == rows.rend() ? rows.end() : last.base(), Row{call, {}, {}});
}

// Matrices made of dense elements among them, whose columns are their formats.
std::vector<Row> dense_support() {
  std::vector<Row> rows;
  for (const Constant& dtype : dtypes()) {
    const Matrix a(pattern(),
                   {TNR_SPARSE_FORMAT_COO, TNR_DTYPE_I32, static_cast<tnr_dtype>(dtype.value)});
    for (const Operation& operation : dense_operations()) {
      row_of(rows, call_of(operation))
          .add(layout_of(operation), short_name(dtype), answer_of(operation, a));
    }
    for (const Operation& operation : sparse_operations()) {
      if (!operation.is_of_dense()) continue;
      std::istringstream words(operation.variant);
      std::string first;
      std::string second;
      words >> first >> second;
      const std::string format = second.empty() ? "" : code_of(first);
      const std::string code = code_of(second.empty() ? first : second);
      row_of(rows, operation.function + (code.empty() ? "" : " " + code))
          .add(format, short_name(dtype), answer_of(operation, a));
    }
  }
  return without_refused(std::move(rows));
}

std::vector<Row> sparse_support() {
  std::vector<Row> rows;
  for (const Constant& format : codes_of("tnr_sparse_format")) {
    for (const Constant& dtype : dtypes()) {
      const Matrix a(pattern(), {static_cast<tnr_sparse_format>(format.value), TNR_DTYPE_I32,
                                 static_cast<tnr_dtype>(dtype.value)});
      for (const Operation& operation : sparse_operations()) {
        if (operation.is_of_dense()) continue;
        row_of(rows, call_of(operation))
            .add(format.name, short_name(dtype), answer_of(operation, a));
      }
    }
  }
  return without_refused(std::move(rows));
}

// Codes of one function that take the same share a row.
std::vector<Row> merged(const std::vector<Row>& rows) {
  std::vector<Row> shared;
  for (const Row& row : rows) {
    const std::string function = function_of(row.call);
    const auto at = std::find_if(shared.begin(), shared.end(), [&](const Row& other) {
      return function_of(other.call) == function && other.by_column == row.by_column;
    });
    if (at == shared.end()) {
      shared.push_back(row);
    } else {
      const std::string code = row.call.substr(function.size());
      if (!code.empty()) at->call += "," + code;
    }
  }
  return shared;
}

// The function as code, the codes as text.
std::string title_of(const Row& row) {
  const std::string function = function_of(row.call);
  return "`" + function + "`" + row.call.substr(function.size());
}

std::string page() {
  std::ostringstream text;
  text
      << "# Support\n\n"
         "Which dtypes every operation takes, and sparse ones of which formats. The tables are "
         "the\n"
         "answers of calls, of every operation with every dtype, and a test compares them\n"
         "(`tests/sweeps/support_test.cpp`, written by the target `support_record`). What is not\n"
         "taken is `UNSUPPORTED`; [operations.md](operations.md) says what the result is.\n\n"
         "- **Layouts**: every cell holds for operands of any strides. It is called with operands\n"
         "  side by side, lying across each other, and with elements apart.\n"
         "- **Devices**: the CPU; GPUs for what [cuda.md](cuda.md) lists. Each other operation\n"
         "  refuses views of another device, by its name.\n\n"
         "## Dense\n\n| call |";
  for (const Constant& dtype : dtypes()) text << ' ' << short_name(dtype) << " |";
  text << "\n| --- |";
  for (std::size_t i = 0; i < dtypes().size(); ++i) text << " --- |";
  for (const Row& row : merged(dense_support())) {
    text << "\n| " << title_of(row) << " |";
    const Dtypes& taken = row.by_column.begin()->second;
    for (const Constant& dtype : dtypes())
      text << (taken.count(short_name(dtype)) ? " x |" : "  |");
  }
  text << "\n\n## Sparse\n\nBy the dtype of the values.\n\n| call |";
  const std::vector<Constant>& formats = codes_of("tnr_sparse_format");
  for (const Constant& format : formats) {
    text << ' ' << format.name.substr(std::strlen("TNR_SPARSE_FORMAT_")) << " |";
  }
  text << "\n|" << std::string(" --- |") << " --- | --- | --- | --- |";
  for (const Row& row : merged(sparse_support())) {
    text << "\n| " << title_of(row) << " |";
    for (const Constant& format : formats) {
      text << ' ' << text_of(row.by_column.at(format.name)) << " |";
    }
  }
  text << '\n';
  return text.str();
}

TEST(Support, EveryCellOfTheTablesIsWhatACallAnswers) {
  const std::string expected = page();
  if (std::getenv("TENURE_RECORD") != nullptr) {
    std::ofstream file(TENURE_SUPPORT);
    file << expected;
    return;
  }
  std::ifstream file(TENURE_SUPPORT);
  const std::string found{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::istringstream lines(expected);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_NE(found.find(line + "\n"), std::string::npos)
        << "docs/support.md lacks this line; the target support_record writes it:\n"
        << line;
  }
  EXPECT_EQ(found.size(), expected.size());
}

TEST(Support, DoesNotDependOnTheLayout) {
  for (const Row& row : dense_support()) {
    for (const auto& [layout, taken] : row.by_column) {
      EXPECT_EQ(text_of(taken), text_of(row.by_column.begin()->second))
          << row.call << " of operands " << layout;
    }
  }
}

// Whatever it computes, before it has looked at a byte.
TEST(Support, IsRefusedOfAnotherDevice) {
  const Matrix a(pattern(), {});
  const Operands with = operands_of(a);
  const OnDevice on_device;
  const auto refuses = [&](const Operation& operation) {
    const Answer answer = operation(with);
    // Operations that a device has would need a context with one.
    const bool names_context =
        answer.message.find("the context of the call has no device") != std::string::npos;
    EXPECT_EQ(answer.status, names_context ? TNR_STATUS_INVALID_ARGUMENT : TNR_STATUS_UNSUPPORTED)
        << operation.name() << ": " << answer.message;
    EXPECT_NE(answer.message.find("cuda:0"), std::string::npos)
        << operation.name() << ": " << answer.message;
  };
  for (const Operation& operation : dense_operations()) {
    // It makes memory, which is the CPU's.
    if (operation.function != "tnr_blob_alloc_view") refuses(operation);
  }
}

}  // namespace
}  // namespace tenure::sweeps
