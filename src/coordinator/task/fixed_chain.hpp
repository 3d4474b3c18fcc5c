// Numbers that others settle, where those are settled by others again.
#pragma once

#include "common/base/result.hpp"
#include "coordinator/task/create.hpp"

namespace kernelpro {

// Puts what --fix says of a name in its place, in the other --fix and in formulas over sizes:
// after "lda=ldb" and "ldb=n" both are n. A bad_input error where one depends on itself.
[[nodiscard]] Status resolve_fixed(NewTask& request);

}  // namespace kernelpro
