#include "worker/runner/staged_library.hpp"

namespace kernelpro {

Result<StagedLibrary> StagedLibrary::copy(const std::filesystem::path& library) {
  KP_LET(ScratchDir directory, ScratchDir::create("run"));
  std::error_code failure;
  const std::filesystem::path real = std::filesystem::canonical(directory.path(), failure);
  const std::filesystem::path target = real / "candidate.so";
  std::filesystem::copy_file(library, target, failure);
  if (!failure) {
    using std::filesystem::perms;
    std::filesystem::permissions(target,
                                 perms::owner_all | perms::group_read | perms::group_exec |
                                     perms::others_read | perms::others_exec,
                                 failure);
  }
  if (failure) {
    return make_error(ErrorKind::io, failure.message(), "copying " + library.string());
  }
  return StagedLibrary(std::move(directory), target);
}

}  // namespace kernelpro
