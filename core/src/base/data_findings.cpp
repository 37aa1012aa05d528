#include "base/data_findings.hpp"

#include <cstdarg>
#include <cstdio>

namespace tenure {
namespace {

constinit thread_local DataFindings* t_findings = nullptr;

}  // namespace

DataFindings::DataFindings() noexcept : before_(t_findings) { t_findings = this; }

DataFindings::~DataFindings() { t_findings = before_; }

void refuse_data(tnr_status status, const char* format, ...) {
  char message[sizeof(tnr_error::message)];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  const Error error(status, message);
  if (t_findings == nullptr) throw error;
  t_findings->noted_ = error;
}

}  // namespace tenure
