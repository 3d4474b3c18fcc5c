// The folder of one build, and the jail around it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/base/result.hpp"

namespace kernelpro {

struct JailedRun {
  std::vector<std::string> program;
  std::int64_t file_bytes = 0;    // largest file it may write
  std::int64_t cpu_ms = 0;        // that it and all it starts may take of the processors together
  std::vector<std::string> read;  // what it may read beside the system and its own folder
};

// Lays a file into a folder of `root`, which jailed programs may read; what is missing of its
// folders is made.
[[nodiscard]] Status lay_below(const std::filesystem::path& root, const std::string& path,
                               std::string_view text);

// A scratch folder of four: src (read-only for what runs in the jail), abi (likewise, a copy of
// the public headers, so that no path of this machine gets into a binary), inc (likewise, what the
// source includes of libraries) and out (writable). As root all of it belongs to `nobody`, whom the
// jail becomes.
class Workplace {
 public:
  // `abi_include` holds kernelpro/candidate.h; empty: no headers are laid out.
  [[nodiscard]] static Result<Workplace> create(const std::filesystem::path& abi_include);

  [[nodiscard]] Status lay_source(const std::string& name, std::string_view text) const;
  [[nodiscard]] Status lay_header(const std::string& path, std::string_view text) const;
  // A file that a jailed program left in out; an error when it is no plain file.
  [[nodiscard]] Result<std::string> read_output(const std::string& name) const;

  // How much jailed programs have left in out, and in one file there; 0 when it is not there.
  [[nodiscard]] std::uintmax_t output_bytes() const;
  [[nodiscard]] std::uintmax_t output_bytes(const std::string& name) const;

  // Runs in src, with a neutral environment. An error also when the jail itself could not be built.
  // `timed_out`: it used up its time on the processors, or took many times as long without that.
  [[nodiscard]] Result<Finished> run(const std::filesystem::path& jail, bool landlock,
                                     const JailedRun& what, std::stop_token stop = {}) const;

  // `text` with this folder's own path taken out of it: equal builds say equal things.
  [[nodiscard]] std::string without_own_path(std::string text) const;

  [[nodiscard]] const std::filesystem::path& root() const { return scratch_.path(); }
  [[nodiscard]] std::filesystem::path source_folder() const { return root() / "src"; }
  [[nodiscard]] std::filesystem::path header_folder() const { return root() / "inc"; }
  [[nodiscard]] std::filesystem::path output_folder() const { return root() / "out"; }

 private:
  explicit Workplace(ScratchDir scratch) : scratch_(std::move(scratch)) {}
  ScratchDir scratch_;
};

}  // namespace kernelpro
