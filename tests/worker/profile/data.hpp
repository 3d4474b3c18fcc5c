// What the profilers and disassemblers printed, kept in data/.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "common/base/file.hpp"

namespace kernelpro {

// A file of data/; ncu's are of ncu 2025.3.1 on an H200 for launches of tmpl, banks, atoms and tmpl
// again, cut to the columns used.
inline std::string data(const std::string& name) {
  const Result<std::string> text =
      read_file(KERNELPRO_SOURCE_DIR "/tests/worker/profile/data/" + name);
  EXPECT_TRUE(text) << name;
  return text ? *text : "";
}

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace kernelpro
