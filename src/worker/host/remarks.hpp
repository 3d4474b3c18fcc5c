// What compilers say of loops that they did not vectorize.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelpro {

struct CompilerRemark {
  int line = 0;
  std::string text;  // "not vectorized: complicated access pattern"
};

// Of g++ (-fopt-info-vec-missed) and clang (-Rpass-missed=loop-vectorize and -Rpass-analysis),
// about the source itself: what they say of headers is left out. Without repetitions.
[[nodiscard]] std::vector<CompilerRemark> parse_remarks(std::string_view text,
                                                        std::string_view source);

}  // namespace kernelpro
