// Views of memory that other libraries describe.
#pragma once

#include "tenure/dlpack.hpp"

namespace tenure {

// Where the tensors of a context are.
tnr_device device_of(const Context& context) noexcept;

// A view of the tensor's elements, checked, without an owner; on the context's device where it has
// one. `name` is the parameter's, for messages.
tnr_view view_of_foreign(const Context& context, const DlTensor& tensor, const char* name);

}  // namespace tenure
