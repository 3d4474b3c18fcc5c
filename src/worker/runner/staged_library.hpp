// A shared object where a runner can reach it.
#pragma once

#include <filesystem>

#include "common/base/file.hpp"
#include "common/base/result.hpp"

namespace kernelpro {

// A copy in a scratch folder of its own: the build cache may lie where the runner's user cannot go.
class StagedLibrary {
 public:
  [[nodiscard]] static Result<StagedLibrary> copy(const std::filesystem::path& library);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  StagedLibrary(ScratchDir directory, std::filesystem::path path)
      : directory_(std::move(directory)), path_(std::move(path)) {}
  ScratchDir directory_;
  std::filesystem::path path_;
};

}  // namespace kernelpro
