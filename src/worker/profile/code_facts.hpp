// What the machine code of a kernel says about it.
#pragma once

#include <vector>

#include "common/model/profile.hpp"
#include "worker/profile/instruction.hpp"

namespace kernelpro {

// `code` in the order of its offsets, with branch targets as offsets (worker/profile/sass.hpp). The
// padding behind its end is left out.
[[nodiscard]] CodeFacts code_facts(const std::vector<Instruction>& code);

}  // namespace kernelpro
