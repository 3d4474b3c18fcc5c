// A worker answers what it was asked. One on another machine, or a file of results, may be of
// another task or candidate: what it says is refused then.
#pragma once

#include "common/base/result.hpp"
#include "common/model/orders.hpp"

namespace kernelpro {

// bad_input when the answer is of another order; the message says what differs.
[[nodiscard]] Status check_answer(const OpenOrder& asked, const Opened& answer);
[[nodiscard]] Status check_answer(const OpenOrder& opened, const EvaluateOrder& asked,
                                  const Evaluated& answer);

}  // namespace kernelpro
