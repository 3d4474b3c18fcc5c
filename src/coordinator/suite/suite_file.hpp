// A suite's results on disk: a header, then lines that are only ever added.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/base/unique_fd.hpp"
#include "common/model/suite.hpp"

namespace kernelpro {

struct SuiteContent {
  SuiteHeader header;
  std::map<ProblemId, SuiteRecord> records;  // of several on one problem the last
};

// Reads a file without changing it. A cut last line is passed over; everything else that is not
// understood is bad_input, with the line's number.
[[nodiscard]] Result<SuiteContent> read_suite_file(const std::filesystem::path& path);

// "machine: NVIDIA H100, now NVIDIA H200" for each thing that makes times incomparable.
[[nodiscard]] std::vector<std::string> header_differences(const SuiteHeader& before,
                                                          const SuiteHeader& now);

class SuiteFile {
 public:
  // Begins the file, or goes on with it: a cut last line is dropped. Refuses one that is something
  // else or was measured elsewhere (bad_input) and one that another process writes (busy).
  [[nodiscard]] static Result<SuiteFile> open(const std::filesystem::path& path,
                                              const SuiteHeader& header);

  [[nodiscard]] const SuiteContent& content() const { return content_; }

  // When it returns, the record is on the disk.
  [[nodiscard]] Status append(const SuiteRecord& record);

 private:
  SuiteFile(std::filesystem::path path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  [[nodiscard]] Status write_line(const std::string& line);
  [[nodiscard]] Status take_up(const std::string& text, const SuiteHeader& header);

  std::filesystem::path path_;
  UniqueFd fd_;
  SuiteContent content_;
};

}  // namespace kernelpro
