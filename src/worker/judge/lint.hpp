// Is the task itself fit to judge by?
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/model/orders.hpp"
#include "worker/judge/judge.hpp"

namespace kernelpro {

// Outputs that need no work: zeros, the expected outputs' mean, each input passed through. An error
// for each that the tolerance would accept. Cheap: no candidate is built.
[[nodiscard]] Result<std::vector<LintFinding>> lint_trivial(Judge& judge);

// All of it: trivial outputs; each input has an effect; formulas against what the reference counts
// and the tensors hold; the reference works at the lowest held-out sizes; the tolerance passes
// honest builds of the baseline and fails broken ones. What could not be tried is an error. `say`
// is told what comes next.
[[nodiscard]] Result<std::vector<LintFinding>> lint_task(
    Judge& judge, const Toolchain& toolchain, std::stop_token stop = {},
    const std::function<void(const std::string&)>& say = {});

}  // namespace kernelpro
