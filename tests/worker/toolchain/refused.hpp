// Options that a toolchain refuses, for the tests of each.
#pragma once

#include <string>
#include <vector>

namespace kernelpro {

using Options = std::vector<std::string>;

struct Refused {
  Options options;
  const char* named;   // the option as the message must show it
  const char* reason;  // and why
};

}  // namespace kernelpro
