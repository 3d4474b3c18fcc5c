// The folder that runs hand their requests out in. Several processes may share it.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/llm/batch_id.hpp"

namespace kernelpro {

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

  // Puts `lines` where those of `run` were; the lines of other runs stay, byte for byte. Waits
  // while another process does the same.
  [[nodiscard]] Status replace(const std::string& run, const std::vector<std::string>& lines) const;

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  [[nodiscard]] std::filesystem::path requests_file() const {
    return directory_ / "requests.jsonl";
  }

 private:
  [[nodiscard]] std::filesystem::path runs_file() const { return directory_ / "runs"; }

  std::filesystem::path directory_;
};

}  // namespace kernelpro
