// A judged kernel as files that build and run without KernelPro.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/certificate.hpp"

namespace kernelpro {

struct ExportFile {
  std::filesystem::path path;  // relative, within the exported folder
  std::string content;
  bool executable = false;
};

// kernel.cpp, kernelpro/candidate.h, baseline.cpp, bench.cpp, build.sh, certificate.json,
// README.md. What the certificate compares with is called incumbent.cpp when it is not the task's
// baseline; headers of the task that it includes lie in a folder of the same name. A bad_input
// error when the candidate did not pass or was not timed; suspect and unverified results say so in
// the README.
[[nodiscard]] Result<std::vector<ExportFile>> export_files(const Certificate& certificate);

// Writes all files or none: on an error the folder is as it was, or is not there. Files that exist
// are a bad_input error that names them, unless `overwrite`.
[[nodiscard]] Status write_export(const std::filesystem::path& directory,
                                  const std::vector<ExportFile>& files, bool overwrite);

}  // namespace kernelpro
