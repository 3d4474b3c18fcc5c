#pragma once

#include <string>

namespace kernelpro {

// A place in the user's source; line 0: the binary has no line information.
struct SourcePlace {
  std::string file;
  int line = 0;
};

}  // namespace kernelpro
