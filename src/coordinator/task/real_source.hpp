// A user's source turned into a reference: the same program over the scalar type `Real`.
#pragma once

#include <string>

#include "common/base/result.hpp"

namespace kernelpro {

// `float` and `double` become Real, floating literals Real(literal), and math calls (expf,
// std::exp) unqualified overloads, so that they are found for any class that stands for Real;
// OpenMP pragmas go. Sources that cannot be read over another type (vector intrinsics) or that
// define main() are errors; `file` is only named in them.
[[nodiscard]] Result<std::string> to_real(const std::string& source, const std::string& file);

}  // namespace kernelpro
