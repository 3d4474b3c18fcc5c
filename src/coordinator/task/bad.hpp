// What somebody wrote and cannot be meant, for the files of this room.
#pragma once

#include <string>

#include "common/base/result.hpp"

namespace kernelpro {

// `where` is the key or the flag.
[[nodiscard]] inline Error bad(const std::string& where, const std::string& message) {
  return make_error(ErrorKind::bad_input, message, where);
}

}  // namespace kernelpro
