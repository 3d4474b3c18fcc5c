// The results of a bundle on disk: lines are added at the end, and nothing else changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "common/base/result.hpp"
#include "common/base/unique_fd.hpp"
#include "common/wire/bundle_line.hpp"

namespace kernelpro {

class ResultsFile {
 public:
  // Begins the file, or goes on with it: a cut last line is dropped. Results of an earlier part of
  // the same owner give way. Refuses a file that is something else, and one that another worker
  // works on.
  [[nodiscard]] static Result<ResultsFile> open(const std::filesystem::path& path,
                                                const BundleHeader& header);

  // Whether a line of it answers that request with a result. One that failed is tried again.
  [[nodiscard]] bool answers(std::int64_t id) const { return answered_.contains(id); }

  // When it returns, the line is on the disk.
  [[nodiscard]] Status append(const std::string& line);

 private:
  ResultsFile(std::filesystem::path path, UniqueFd fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}
  // Cuts the file after `bytes`.
  [[nodiscard]] Status cut(std::size_t bytes);
  [[nodiscard]] Status begin(const BundleHeader& header);
  [[nodiscard]] Status take_up(const std::string& content, const BundleHeader& header);

  std::filesystem::path path_;
  UniqueFd fd_;
  std::set<std::int64_t> answered_;
};

}  // namespace kernelpro
