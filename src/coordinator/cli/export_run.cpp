// A candidate taken home.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "coordinator/cli/chosen_node.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/report/export.hpp"

namespace kernelpro {

namespace {

// The baseline is nobody's result: it is exported only to who names it.
std::string nothing_to_export(const RunReport& report) {
  const std::string& run = report.run.id;
  std::string out = "it has no candidate that is confirmed to be faster than the baseline. ";
  if (!report.faster.empty()) {
    out += fmt::format(
        "`kernelpro confirm {0}` measures the fastest again; `kernelpro export {0} {1} DIR` takes "
        "node {1} as it is",
        run, report.faster.front().node);
  } else {
    out += fmt::format("`kernelpro resume {} -n N` tries more", run);
  }
  return out +
         fmt::format("; `kernelpro export {} NODE DIR` takes any node, 0 is the baseline", run);
}

// What is exported was proposed by the run, whatever a certificate says.
Status check_source(const Store& store, const Node& node, const Certificate& certificate,
                    const std::string& where) {
  const Result<std::string> source = store.load_source(node.source_hash);
  if (!source) {
    return source.error();
  }
  Candidate own = certificate.candidate;
  own.source = *source;
  return to_json(own) == to_json(certificate.candidate)
             ? Status()
             : Status(make_error(ErrorKind::bad_input,
                                 "its certificate is of another source; judge it again", where));
}

Result<std::vector<ExportFile>> files_of(const Options& options, const Store& store,
                                         const ChosenNode& chosen) {
  const std::string where = fmt::format("run {}, node {}", options.run, chosen.node.id);
  const bool accepted = options.accept_suspect || chosen.report.run.settings.accept_suspect;
  if (chosen.node.suspect && !accepted) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("its result is suspect (`kernelpro show {} {}` says why); "
                                  "--accept-suspect exports it",
                                  options.run, chosen.node.id),
                      where);
  }
  const Result<std::optional<Certificate>> certificate =
      store.load_certificate(options.run, chosen.node.id);
  if (!certificate) {
    return certificate.error();
  }
  if (!*certificate) {
    return make_error(ErrorKind::bad_input, "it was not judged, so it has no certificate", where);
  }
  KP_TRY(check_source(store, chosen.node, **certificate, where));
  return export_files(**certificate, parse_export_form(options.export_form));
}

// What to do with an export.
const char* first_step(const std::string& form) {
  if (form == "kernelbench") {
    return "cat README.md";
  }
  return form == "torch" ? "python3 test_op.py" : "sh build.sh && ./bench";
}

void print_exported(const Options& options, const std::vector<ExportFile>& files) {
  if (!options.json) {
    fmt::print("exported to {}: `{}` there\n", options.export_directory.string(),
               first_step(options.export_form));
    return;
  }
  nlohmann::json names = nlohmann::json::array();
  for (const ExportFile& file : files) {
    names.push_back(file.path.string());
  }
  print_json({{"directory", options.export_directory.string()}, {"files", std::move(names)}});
}

}  // namespace

int export_run(const Options& options) {
  const Result<Store> store = open_store(options);
  const Result<ChosenNode> chosen =
      store ? choose_node(options, *store) : Result<ChosenNode>(store.error());
  if (!chosen) {
    return report_error(options, chosen.error());
  }
  if (chosen->node.id == root_node && !options.node) {
    (void)report_error(options, make_error(ErrorKind::bad_input, nothing_to_export(chosen->report),
                                           "run " + options.run));
    return exit_not_passed;
  }
  const Result<std::vector<ExportFile>> files = files_of(options, *store, *chosen);
  const Status written = files ? write_export(options.export_directory, *files, options.overwrite)
                               : Status(files.error());
  if (!written) {
    return report_error(options, written.error());
  }
  if (!options.node && !chosen->report.confirmed) {
    print_note(options, fmt::format("node {} is not confirmed: `kernelpro confirm {}` measures it "
                                    "against the baseline",
                                    chosen->node.id, options.run));
  }
  print_exported(options, *files);
  return exit_done;
}

}  // namespace kernelpro
