// The folder that runs hand their requests out in. Several processes may share it.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "coordinator/llm/batch_id.hpp"

namespace kernelpro {

// The folder that "batch:DIR" names: "q" for "batch:q/" too. Empty where it names none.
[[nodiscard]] std::filesystem::path batch_directory(const std::string& spec);

// Those of all roles that are asked.
[[nodiscard]] std::set<std::filesystem::path> batch_directories(const LlmSettings& settings);

class BatchFolder {
 public:
  explicit BatchFolder(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // The names of all requests that are open, and those of the runs that share the folder.
  struct Content {
    std::vector<BatchId> open;
    std::set<std::string> runs;
  };
  // Empty where the folder is not there. An error names the line that is no request.
  [[nodiscard]] Result<Content> read() const;

  // An error where it cannot be made or written to. Leaves nothing behind.
  [[nodiscard]] Status check_usable() const;

  // Puts `lines` where those of `run` were; the lines of other runs stay, byte for byte. Waits
  // while another process does the same.
  [[nodiscard]] Status replace(const std::string& run, const std::vector<std::string>& lines) const;

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  [[nodiscard]] std::filesystem::path requests_file() const {
    return directory_ / "requests.jsonl";
  }

 private:
  [[nodiscard]] Status refuse_file() const;
  [[nodiscard]] std::filesystem::path runs_file() const { return directory_ / "runs"; }

  std::filesystem::path directory_;
};

}  // namespace kernelpro
