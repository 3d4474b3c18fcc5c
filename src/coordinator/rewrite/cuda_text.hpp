// Transformations of CUDA sources that look at text alone: clang need not read the source, and the
// rest of it stays as its author wrote it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/rewrite/rewriter.hpp"

namespace kernelpro {

// In alphabetical order; all begin with "cuda_".
[[nodiscard]] std::vector<std::string> cuda_rewriter_names();

[[nodiscard]] bool is_cuda_rewriter(const std::string& name);

// As `rewrite`, of the source itself: one site for each kernel that it applies to.
//   cuda_launch_bounds   says how many threads a block has and how many blocks an SM should hold;
//                        the threads must be constants of the file
//   cuda_unroll          asks for innermost loops to be unrolled
// Both leave a tunable behind.
[[nodiscard]] Result<std::vector<Rewritten>> rewrite_cuda(
    const std::string& name, const std::string& source,
    const std::map<std::string, std::string>& arguments);

}  // namespace kernelpro
