// Work in machine code that often could be spared: threads that stand aside, double precision,
// long functions, divisions of indices, fences and polls.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/model/profile.hpp"
#include "worker/profile/code_loops.hpp"
#include "worker/profile/instruction.hpp"
#include "worker/profile/operands.hpp"

namespace kernelpro {

// Of what has counts; by the names of CodeFacts::patterns.
[[nodiscard]] std::map<std::string, CodePattern> find_patterns(
    const std::vector<Instruction>& code, const std::vector<DecodedInstruction>& decoded,
    const CodeLoops& loops);

}  // namespace kernelpro
