// A measurement that cannot go on ends with the reason.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "common/base/result.hpp"

namespace kernelpro {

[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

template <typename T>
T must(Result<T> result) {
  if (!result) {
    give_up(result.error().text());
  }
  return std::move(*result);
}

inline void must(const Status& status) {
  if (!status) {
    give_up(status.error().text());
  }
}

}  // namespace kernelpro
