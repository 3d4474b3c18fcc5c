// A judged kernel as files that build and run without KernelPro.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/certificate.hpp"

namespace kernelpro {

struct ExportFile {
  std::filesystem::path path;  // relative, within the exported folder
  std::string content;
  bool executable = false;
};

// source: kernel.cpp, kernelpro/candidate.h, baseline.cpp, bench.cpp, build.sh. What the
// certificate
//   compares with is called incumbent.cpp when it is not the task's baseline; headers of the task
//   that it includes lie in a folder of the same name. Of a task with an entry, kernel.cpp (or
//   kernel.cu) is the author's source with that signature, and adapter.cpp calls it for the bench.
// patch: what to change in the author's file; whoever knows that file adds it.
// header: kernelpro_NAME.h, one file with the kernel and a function for C and C++.
// cmake: the same function as a target of CMake, kernelpro_NAME.
// library: the same function, and build.sh that makes libkernelpro_NAME.so and .a.
// kernelbench: model_new.py, one file with the problem, the kernel and ModelNew.
// torch: NAME_op, a package with the kernel as an operator and a module in place of the problem's;
//   test_op.py.
// All have certificate.json, and all but patch README.md.
enum class ExportForm { source, patch, header, cmake, library, kernelbench, torch };

// Their names, in that order, and the form of such a name.
[[nodiscard]] const std::vector<std::string>& export_form_names();
[[nodiscard]] std::optional<ExportForm> parse_export_form(std::string_view name);

// Refuses a form, and names those that there are instead.
[[nodiscard]] Error refuse_form(const Certificate& certificate, ExportForm form,
                                const std::string& why);

// Without a form: source, which a task of a PyTorch module does not have; it alone has kernelbench
// and torch. A bad_input error when the candidate did not pass or, as source, was not timed;
// suspect and unverified results say so in the README.
[[nodiscard]] Result<std::vector<ExportFile>> export_files(
    const Certificate& certificate, std::optional<ExportForm> form = std::nullopt);

// What is in the way of any export into that folder: for who would work long before one.
[[nodiscard]] Status check_export_place(const std::filesystem::path& directory);

// Writes all files or none: on an error the folder is as it was, or is not there. Files that exist
// are a bad_input error that names them, unless `overwrite`.
[[nodiscard]] Status write_export(const std::filesystem::path& directory,
                                  const std::vector<ExportFile>& files, bool overwrite);

}  // namespace kernelpro
