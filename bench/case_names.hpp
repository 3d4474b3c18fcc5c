// Which cases a command line means.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace kernelpro {

// At its commas.
inline std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    out.push_back(word);
  }
  return out;
}

// Those of `all` that `patterns` name, in the order of `all`.
inline std::vector<std::string> chosen(const std::vector<std::string>& all,
                                       const std::vector<std::string>& patterns) {
  const auto fits = [](const std::string& name, const std::string& pattern) {
    return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                  : name == pattern;
  };
  std::vector<std::string> out;
  for (const std::string& name : all) {
    if (patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                        [&](const auto& pattern) { return fits(name, pattern); })) {
      out.push_back(name);
    }
  }
  return out;
}

}  // namespace kernelpro
