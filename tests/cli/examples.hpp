// The recorded runs of examples/, as a user repeats them.
#pragma once

#include <sstream>

#include "cli/fixture.hpp"

namespace kernelpro::testing {

inline fs::path example_folder(const std::string& name) {
  return fs::path(KERNELPRO_SOURCE_DIR) / "examples" / name;
}

// A word a line. Paths start at the project's folder.
inline Words example_words(const std::string& name, const char* file) {
  Words words;
  std::istringstream lines(content_of(example_folder(name) / file));
  for (std::string line; std::getline(lines, line);) {
    const fs::path path = fs::path(KERNELPRO_SOURCE_DIR) / line;
    words.push_back(line.starts_with("examples/") ? path.string() : line);
  }
  return words;
}

// `optimize` with neither model nor worker.
inline Words example_command(const std::string& name) {
  Words words = {"optimize"};
  for (const std::string& option : example_words(name, "options")) {
    words.push_back(option);
  }
  const fs::path folder = example_folder(name);
  words.insert(words.end(), {"--llm", "replay:" + (folder / "transcript.jsonl").string(),
                             "--workers", "replay:" + (folder / "results.jsonl").string()});
  return words;
}

}  // namespace kernelpro::testing
