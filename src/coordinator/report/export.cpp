#include "coordinator/report/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/paths.hpp"
#include "coordinator/report/export_parts.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro {

namespace {

std::string title(const Certificate& certificate) {
  return certificate.task.name + " · " + certificate.candidate.name;
}

Error refusal(const Certificate& certificate, std::string why) {
  return make_error(ErrorKind::bad_input, std::move(why), title(certificate));
}

Status check_source(const Certificate& certificate) {
  if (certificate.task.reference.torch) {
    return refuse_form(certificate, ExportForm::source,
                       "its inputs are drawn by PyTorch, which a bench in C++ cannot do");
  }
  if (certificate.verdict.timing.shapes.empty()) {
    return refusal(certificate,
                   "its certificate has no timing to reproduce; evaluate it with timing and export "
                   "that certificate");
  }
  return {};
}

Status check_torch(const Certificate& certificate, ExportForm form) {
  if (!certificate.task.reference.torch) {
    return refuse_form(certificate, form,
                       "its task is no PyTorch module, so there is none that the kernel could "
                       "stand in for");
  }
  const Candidate& candidate = certificate.candidate;
  if (!candidate.libraries.empty()) {
    return refusal(certificate, fmt::format("it links {}, which is not exported",
                                            fmt::join(candidate.libraries, ", ")));
  }
  return {};
}

Status check_form(const Certificate& certificate, ExportForm form) {
  if (certificate.candidate.compiler == torch_compiler) {
    return refusal(certificate, "it is PyTorch's own module, not a kernel");
  }
  switch (form) {
    case ExportForm::source:
      return check_source(certificate);
    case ExportForm::patch:
      return certificate.task.entry
                 ? Status()
                 : refuse_form(certificate, form, "its task was not made of a function of yours");
    case ExportForm::kernelbench:
    case ExportForm::torch:
      return check_torch(certificate, form);
    case ExportForm::header:
    case ExportForm::cmake:
    case ExportForm::library:
      break;
  }
  return {};
}

Status check_exportable(const Certificate& certificate, ExportForm form) {
  if (certificate.verdict.outcome != Outcome::passed) {
    return refusal(certificate,
                   fmt::format("its verdict is \"{}\"; only a candidate that passed is exported",
                               outcome_text(certificate.verdict)));
  }
  KP_TRY(check_form(certificate, form));
  return validate_task(certificate.task);
}

Result<std::string> candidate_header() {
  KP_LET(const std::filesystem::path share, share_directory());
  return read_file(share / "include" / "kernelpro" / "candidate.h");
}

Result<std::vector<ExportFile>> source_files(const Certificate& certificate,
                                             const std::string& header) {
  KP_LET(const std::string bench, report::bench_source(certificate));
  KP_LET(const std::string readme, report::export_readme(certificate));
  const std::string rival = report::rival_name(certificate);
  const std::string extension = report::source_extension(certificate);
  const auto entry = report::entry_kernel(certificate);
  std::vector<ExportFile> files = {
      {"README.md", readme},
      {"bench" + extension, bench},
      {"build.sh", report::build_script(certificate), true},
      report::certificate_file(certificate),
      {"kernel" + extension, entry ? entry->own : certificate.candidate.source},
      {"kernelpro/candidate.h", header},
      {rival + extension, certificate.incumbent.source},
  };
  if (entry) {
    files.push_back({"adapter" + extension, entry->adapter});
  }
  for (const auto& [name, content] : report::rival_headers(certificate)) {
    files.push_back({std::filesystem::path(rival) / name, content});
  }
  return files;
}

}  // namespace

const std::vector<std::string>& export_form_names() {
  static const std::vector<std::string> names = {"source",  "patch",       "header", "cmake",
                                                 "library", "kernelbench", "torch"};
  return names;
}

std::optional<ExportForm> parse_export_form(std::string_view name) {
  const std::vector<std::string>& names = export_form_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    return std::nullopt;
  }
  return static_cast<ExportForm>(found - names.begin());
}

Error refuse_form(const Certificate& certificate, ExportForm form, const std::string& why) {
  const bool torch = certificate.task.reference.torch;
  const bool patch = certificate.task.entry && form != ExportForm::patch;
  return refusal(certificate,
                 fmt::format("{}; --as can be {}{}header, cmake or library", why,
                             torch ? "kernelbench, torch, " : "source, ", patch ? "patch, " : ""));
}

Result<std::vector<ExportFile>> export_files(const Certificate& certificate,
                                             std::optional<ExportForm> form) {
  const ExportForm wanted = form.value_or(ExportForm::source);
  KP_TRY(check_exportable(certificate, wanted));
  KP_LET(const std::string header, candidate_header());
  switch (wanted) {
    case ExportForm::patch:
      return std::vector<ExportFile>{report::certificate_file(certificate)};
    case ExportForm::header:
      return report::header_files(certificate, header);
    case ExportForm::cmake:
      return report::cmake_files(certificate, header);
    case ExportForm::library:
      return report::library_files(certificate, header);
    case ExportForm::kernelbench:
      return report::benchmark_files(certificate, header);
    case ExportForm::torch:
      return report::package_files(certificate, header);
    case ExportForm::source:
      break;
  }
  return source_files(certificate, header);
}

}  // namespace kernelpro
