// What the generated files of an export have in common. For the files of this room only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/certificate.hpp"
#include "coordinator/report/export.hpp"

namespace kernelpro::report {

// "baseline", or "incumbent" when the certificate compares with something else: the name of the
// rival's source, library and folder.
[[nodiscard]] std::string rival_name(const Certificate& certificate);

// The threads the kernel was timed with; of a certificate that does not say, the machine's cores.
[[nodiscard]] int certified_threads(const Certificate& certificate);

// The task's files that the rival includes, directly or through others, by name.
[[nodiscard]] std::map<std::string, std::string> rival_headers(const Certificate& certificate);

// The candidate's source with the task's files in the place of their #include lines, each once, and
// without the one of kernelpro/candidate.h.
[[nodiscard]] std::string whole_source(const Certificate& certificate);

// Of libraries of headers that the kernel includes: the variable that names such a folder in what
// is exported, how the README tells of them, and how `kernelpro verify` is called.
[[nodiscard]] std::string include_variable(const IncludedLibrary& library);
[[nodiscard]] std::string includes_section(const Certificate& certificate);
[[nodiscard]] std::string verify_section(const Certificate& certificate);

// The extents of the task's axes, in its order; `axes` completed.
[[nodiscard]] std::vector<std::int64_t> axis_values(const Task& task, const Axes& axes);

// A certificate is foreign text. As part of a comment: no control characters, no backslash at the
// end. As a C++ string literal, quotes included. As one word of a shell command.
[[nodiscard]] std::string comment_text(std::string_view text);
[[nodiscard]] std::string cpp_literal(std::string_view text);
[[nodiscard]] std::string shell_word(std::string_view text);

// As a Python string literal over several lines, quotes included.
[[nodiscard]] std::string python_literal(std::string_view text);

// As Markdown in a table's cell or a sentence.
[[nodiscard]] std::string cell(const std::string& text);

// What an input may hold: "in [0, n)".
[[nodiscard]] std::string values_text(const TensorSpec& input);

// The table of what was measured; what a reader must know before relying on the result.
[[nodiscard]] std::string measured(const Certificate& certificate, const std::string& rival);
[[nodiscard]] std::string warnings(const Verdict& verdict);

// A name that every language takes: letters, digits and _, a letter first.
[[nodiscard]] std::string plain_name(std::string_view text);

// The kernel of a task that has an entry: the author's source, and the adapter around it.
struct EntryKernel {
  std::string own;
  std::string adapter;  // a file that includes the other
};

// Nothing where the task has no entry, or the candidate is called otherwise than the baseline.
[[nodiscard]] std::optional<EntryKernel> entry_kernel(const Certificate& certificate);

// ".cpp" or ".cu".
[[nodiscard]] std::string source_extension(const Certificate& certificate);

// Of the README: how such a kernel is used.
[[nodiscard]] std::string entry_section(const Certificate& certificate);

// The flags as an author would write them in a build of theirs: not those that make a library.
[[nodiscard]] std::vector<std::string> own_flags(const BuildRecord& build);

// The kernel as a function for C: its name, that in capitals, its declaration with a comment, and
// its definition in terms of kernelpro/candidate.h.
[[nodiscard]] std::string c_name(const Certificate& certificate);
[[nodiscard]] std::string c_macro(const Certificate& certificate);
[[nodiscard]] std::string c_declaration(const Certificate& certificate);
[[nodiscard]] Result<std::string> c_definition(const Certificate& certificate);

// The files with that function. `header` is the text of kernelpro/candidate.h.
[[nodiscard]] Result<std::vector<ExportFile>> header_files(const Certificate& certificate,
                                                           const std::string& header);
[[nodiscard]] Result<std::vector<ExportFile>> cmake_files(const Certificate& certificate,
                                                          const std::string& header);
[[nodiscard]] Result<std::vector<ExportFile>> library_files(const Certificate& certificate,
                                                            const std::string& header);

[[nodiscard]] ExportFile certificate_file(const Certificate& certificate);
[[nodiscard]] std::string build_script(const Certificate& certificate);
[[nodiscard]] std::string library_script(const Certificate& certificate);
[[nodiscard]] Result<std::string> bench_source(const Certificate& certificate);
// What every README begins with: the title, and what was measured where.
[[nodiscard]] std::string readme_head(const Certificate& certificate);
[[nodiscard]] Result<std::string> export_readme(const Certificate& certificate);

// The files of a kernel that PyTorch calls, for a certificate whose task is a PyTorch module.
// `header` is the text of kernelpro/candidate.h.
[[nodiscard]] Result<std::vector<ExportFile>> benchmark_files(const Certificate& certificate,
                                                              const std::string& header);
[[nodiscard]] Result<std::vector<ExportFile>> package_files(const Certificate& certificate,
                                                            const std::string& header);
[[nodiscard]] std::string benchmark_readme(const Certificate& certificate);
[[nodiscard]] std::string package_readme(const Certificate& certificate,
                                         const std::string& package);

}  // namespace kernelpro::report
