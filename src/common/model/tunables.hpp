// Numbers in a source that may be varied without understanding it.
//
// A tunable stands in the source as two lines, a comment with the values worth trying and, on the
// next line, its definition with the present value:
//
//   // kp:tune BLOCK = 16 32 64
//   constexpr int64_t BLOCK = 32;        or        #define BLOCK 32
//
// So a source always compiles as it is.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

struct Tunable {
  std::string name;
  std::vector<std::int64_t> values;  // in the order of the comment, none twice
  std::int64_t current = 0;          // need not be one of `values`
  int line = 0;                      // of the comment, from 1

  bool operator==(const Tunable&) const = default;
};

// In the order of the source. A bad_input error says the line and what is expected there.
[[nodiscard]] Result<std::vector<Tunable>> parse_tunables(const std::string& source);

// The source with other present values; nothing but these numbers changes. A bad_input error when a
// name is not a tunable of this source.
[[nodiscard]] Result<std::string> set_tunables(const std::string& source,
                                               const std::map<std::string, std::int64_t>& values);

}  // namespace kernelpro
