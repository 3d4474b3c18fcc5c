#include "coordinator/report/export.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/base/paths.hpp"
#include "common/wire/json.hpp"
#include "coordinator/report/export_parts.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro {

namespace {

Status check_exportable(const Certificate& certificate) {
  const std::string what = certificate.task.name + " · " + certificate.candidate.name;
  if (certificate.verdict.outcome != Outcome::passed) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("its verdict is \"{}\"; only a candidate that passed is exported",
                                  outcome_text(certificate.verdict)),
                      what);
  }
  if (certificate.verdict.timing.shapes.empty()) {
    return make_error(ErrorKind::bad_input,
                      "its certificate has no timing to reproduce; evaluate it with timing and "
                      "export that certificate",
                      what);
  }
  if (certificate.candidate.backend != "cpu") {
    return make_error(
        ErrorKind::bad_input,
        fmt::format("its backend is '{}'; only 'cpu' is exported", certificate.candidate.backend),
        what);
  }
  if (certificate.task.reference.torch) {
    return make_error(ErrorKind::bad_input,
                      "its inputs are drawn by PyTorch, which a bench in C++ cannot do: such tasks "
                      "are not exported; `show` prints the source",
                      what);
  }
  return validate_task(certificate.task);
}

}  // namespace

Result<std::vector<ExportFile>> export_files(const Certificate& certificate) {
  KP_TRY(check_exportable(certificate));
  const Result<std::filesystem::path> share = share_directory();
  if (!share) {
    return share.error();
  }
  const Result<std::string> header = read_file(*share / "include" / "kernelpro" / "candidate.h");
  if (!header) {
    return header.error();
  }
  const Result<std::string> bench = report::bench_source(certificate);
  if (!bench) {
    return bench.error();
  }
  const Result<std::string> readme = report::export_readme(certificate);
  if (!readme) {
    return readme.error();
  }
  const std::string rival = report::rival_name(certificate);
  std::vector<ExportFile> files = {
      {"README.md", *readme},
      {"bench.cpp", *bench},
      {"build.sh", report::build_script(certificate), true},
      {"certificate.json", to_json(certificate).dump(2) + "\n"},
      {"kernel.cpp", certificate.candidate.source},
      {"kernelpro/candidate.h", *header},
      {rival + ".cpp", certificate.incumbent.source},
  };
  for (const auto& [name, content] : report::rival_headers(certificate)) {
    files.push_back({std::filesystem::path(rival) / name, content});
  }
  return files;
}

}  // namespace kernelpro
