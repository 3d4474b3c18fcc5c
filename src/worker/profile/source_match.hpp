// Which block of ncu's source page belongs to which launch of its raw page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "worker/profile/ncu_source.hpp"

namespace kernelpro {

// For each of `launches` (kernel names of the raw page, in its order) the kernel of the source
// page, as an index. The page has no ids, so its order decides: a launch has one block, or the same
// one several times over. What is held against that: the number of blocks, and the functions' bare
// names, the only part that both pages write alike ("scale" of "void <unnamed>::scale<(int)3>(…)";
// mangled names may stand in for it). An error: these do not agree, and nothing may be concluded.
[[nodiscard]] Result<std::vector<std::size_t>> match_source(
    const NcuSourceReport& source, const std::vector<std::string>& launches);

// The bare name of a function: no namespaces, arguments or templates.
[[nodiscard]] std::string bare_name(std::string_view name);

}  // namespace kernelpro
