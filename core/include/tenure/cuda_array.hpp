// Arrays in memory of a GPU, as CUDA's array interface describes them between libraries.
#pragma once

#include "tenure/blob.hpp"

namespace tenure {

// tnr_blob_import_array(): a view whose owner is a blob with one reference. struct_size is not
// looked at. On failure nothing is taken.
tnr_view cuda_array_import(const Context& context, const tnr_cuda_array& array,
                           tnr_release_fn release, void* release_context);
// tnr_view_describe_array(); struct_size is 0.
tnr_cuda_array cuda_array_of(const Context& context, const tnr_view& view);

}  // namespace tenure
