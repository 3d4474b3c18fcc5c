// When two candidates are the same.
#pragma once

#include <string>

#include "common/model/candidate.hpp"

namespace kernelpro {

// The source without comments and with one blank where there is any, outside of literals. Lines of
// the preprocessor stay lines.
[[nodiscard]] std::string normalized_source(const std::string& source);

// Hash of backend, normalized source, compiler and build options in any order.
[[nodiscard]] std::string candidate_key(const Candidate& candidate);

// The same for a candidate and all that differ from it in the values of tunables alone; no key of a
// candidate.
[[nodiscard]] std::string sweep_key(const Candidate& candidate);

}  // namespace kernelpro
