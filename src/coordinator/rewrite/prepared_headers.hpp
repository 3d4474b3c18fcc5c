// Headers that many sources begin with, parsed once: <cmath> alone takes clang longer than a whole
// candidate behind it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "common/base/file.hpp"
#include "coordinator/rewrite/parse.hpp"

namespace kernelpro {

// The lines `#include <...>` that stand in front of everything else in a source, those of the
// public header with them.
[[nodiscard]] std::string leading_includes(const std::string& source);
// Whether something may be included behind them.
[[nodiscard]] bool includes_more(const std::string& source);

class PreparedHeaders {
 public:
  // The file for ParseSettings::prepared_headers, which lives as long as this; empty when the
  // source begins with no such header, or when clang could not prepare them: it is only slower
  // then. Blocks while clang runs, the first time.
  [[nodiscard]] std::filesystem::path of(const std::string& source, const ParseSettings& settings,
                                         const std::stop_token& stop);

 private:
  std::optional<ScratchDir> folder_;
  std::map<std::string, std::filesystem::path> known_;  // by their lines
};

}  // namespace kernelpro
