// The libraries of headers that builds may include.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/result.hpp"
#include "common/model/header_library.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

// Laid out once, a folder for each, for the compiler to find out what a source includes. What
// builds see is laid out anew for each of them, and is no more than that.
class HeaderTree {
 public:
  [[nodiscard]] static Result<HeaderTree> lay(std::vector<HeaderLibrary> libraries);

  [[nodiscard]] const std::vector<HeaderLibrary>& libraries() const { return libraries_; }
  [[nodiscard]] const std::filesystem::path& root() const { return scratch_.path(); }

  // Whether a line of the request may include a header of a library; most sources include none.
  [[nodiscard]] bool may_serve(const BuildRequest& request) const;

  // What a rule of make, as compilers write it, names of the libraries; those without are left out.
  [[nodiscard]] std::vector<IncludedLibrary> named_in(std::string_view rule) const;

  [[nodiscard]] const HeaderLibrary& library(const std::string& name) const;

  // Why a header that `diagnostics` miss is not there, in lines of their own.
  [[nodiscard]] std::string notes_on(std::string_view diagnostics) const;

 private:
  HeaderTree(ScratchDir scratch, std::vector<HeaderLibrary> libraries)
      : scratch_(std::move(scratch)), libraries_(std::move(libraries)) {}
  [[nodiscard]] bool has(std::string_view include) const;
  [[nodiscard]] bool may_include(std::string_view text) const;

  ScratchDir scratch_;
  std::vector<HeaderLibrary> libraries_;
};

}  // namespace kernelpro
