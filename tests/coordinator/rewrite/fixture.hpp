// Parsing in tests, with the programs of this build.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "coordinator/rewrite/parse.hpp"
#include "coordinator/rewrite/print.hpp"
#include "coordinator/rewrite/rewriter.hpp"

namespace kernelpro::testing {

inline ParseSettings parse_settings() {
  ParseSettings settings;
  settings.jail = std::filesystem::path(KERNELPRO_BIN_DIR) / "kernelpro-jail";
  settings.abi_include = std::filesystem::path(KERNELPRO_SOURCE_DIR) / "include";
  return settings;
}

inline Program parsed(const std::string& source) {
  Result<Program> program = parse_program(source, parse_settings());
  EXPECT_TRUE(program.ok()) << program.error().text() << "\n" << source;
  return program.ok() ? std::move(*program) : Program();
}

inline std::string text_of(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  EXPECT_TRUE(text.ok()) << text.error().text();
  return text.ok() ? *text : "";
}

// The folders of all bundled tasks.
inline std::vector<std::filesystem::path> task_folders() {
  std::vector<std::filesystem::path> folders;
  const std::filesystem::path tasks = std::filesystem::path(KERNELPRO_SOURCE_DIR) / "tasks";
  for (const auto& entry : std::filesystem::directory_iterator(tasks)) {
    if (std::filesystem::exists(entry.path() / "baseline.cpp")) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// The sources a rewriter makes; a failure of the test when it refuses.
inline std::vector<Rewritten> rewritten(const std::string& name, const std::string& source,
                                        const std::map<std::string, std::string>& arguments = {}) {
  Result<std::vector<Rewritten>> results = rewrite(name, parsed(source), arguments);
  EXPECT_TRUE(results.ok()) << results.error().text();
  return results.ok() ? std::move(*results) : std::vector<Rewritten>();
}

inline std::string refusal(const std::string& name, const std::string& source,
                           const std::map<std::string, std::string>& arguments = {}) {
  const Result<std::vector<Rewritten>> results = rewrite(name, parsed(source), arguments);
  return results.ok() ? "it applies: " + (*results)[0].source : results.error().text();
}

inline const std::string& gemm() {
  static const std::string source =
      "#include <cstdint>\n"
      "void gemm(int64_t m, int64_t n, int64_t k, const float* A, const float* B, float* C) {\n"
      "  for (int64_t i = 0; i < m; ++i) {\n"
      "    for (int64_t j = 0; j < n; ++j) {\n"
      "      float sum = 0.0F;\n"
      "      for (int64_t p = 0; p < k; ++p) {\n"
      "        sum += A[i * k + p] * B[p * n + j];\n"
      "      }\n"
      "      C[i * n + j] = sum;\n"
      "    }\n"
      "  }\n"
      "}\n";
  return source;
}

}  // namespace kernelpro::testing
