// The words of messages about blobs.
#pragma once

#include "tenure/tenure.h"

namespace tenure {

inline const char* tenure_name(tnr_tenure tenure) {
  switch (tenure) {
    case TNR_TENURE_ALLOCATED: return "allocated";
    case TNR_TENURE_COPIED: return "copied";
    case TNR_TENURE_ADOPTED: return "adopted";
    case TNR_TENURE_SHARED: return "shared";
    case TNR_TENURE_BORROWED: return "borrowed";
    default: return "borrowed mutably";
  }
}

// After "is", of a blob that a sparse matrix has sealed.
inline constexpr char kSealedText[] = "sealed by a sparse matrix, whose indices nobody may write";

}  // namespace tenure
