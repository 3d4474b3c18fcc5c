#include "coordinator/app/export_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/model/adapter.hpp"
#include "common/wire/json.hpp"
#include "coordinator/app/own_patch.hpp"
#include "coordinator/task/callers.hpp"

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
  KP_LET(const std::string source, store.load_source(node.source_hash));
  Candidate own = certificate.candidate;
  own.source = source;
  return to_json(own) == to_json(certificate.candidate)
             ? Status()
             : Status(make_error(ErrorKind::bad_input,
                                 "its certificate is of another source; judge it again", where));
}

// Why the node's code cannot stand for the user's function; empty: it can.
std::string patch_objection(const Run& run, const Node& node, const SourceOrigin& origin,
                            const std::string& changed) {
  const auto baseline =
      std::ranges::find(run.task.baselines, Backend::cpu, &ImplementationSpec::backend);
  if (run.settings.judging.backend != Backend::cpu || baseline == run.task.baselines.end()) {
    return "";
  }
  const auto original = take_adapter_off(run.task.files.at(baseline->file));
  if (!original || original->own == changed) {
    return "";
  }
  const auto callers =
      Callers::prepare(original->own, origin.function, run.task, {node.compiler, node.options}, {});
  const auto objection = callers.ok() ? callers->objection(changed, {}) : callers.error();
  return objection.ok() ? *objection : "cannot be checked: " + objection.error().text();
}

// Of a function of the user's own: what to change in its file.
Result<ExportFile> patch_file(const ChosenNode& chosen, const Certificate& certificate) {
  const Run& run = chosen.report.run;
  KP_LET(const SourceOrigin origin, read_origin(run.task_path));
  const auto parts = take_adapter_off(certificate.candidate.source);
  if (!parts) {
    return make_error(ErrorKind::bad_input, "it is not called through your function any more");
  }
  const std::string objection = patch_objection(run, chosen.node, origin, parts->own);
  if (!objection.empty()) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("the patch of node {} {}", chosen.node.id, objection));
  }
  const std::string about = fmt::format(
      "{}: {:.2f} times as fast, built with {} {}\nFrom run {}, node {}; apply with "
      "`patch -p1` or `git apply`.\n",
      origin.function, chosen.node.speedup,
      chosen.node.compiler.empty() ? "g++" : chosen.node.compiler,
      fmt::join(chosen.node.options, " "), run.id, chosen.node.id);
  KP_LET(std::string patch, make_patch(origin, parts->own, about));
  if (patch.empty()) {
    return make_error(ErrorKind::bad_input, "its source is the file's own; only its flags differ");
  }
  return ExportFile{run.task.name + ".patch", std::move(patch)};
}

// With a source goes the patch, where there is one.
Status add_patch(const ExportRequest& request, const ChosenNode& chosen,
                 const Certificate& certificate, std::vector<ExportFile>& files, Exported& out) {
  const ExportForm form = request.form.value_or(ExportForm::source);
  const bool known = read_origin(chosen.report.run.task_path).ok();
  if (form != ExportForm::patch && (form != ExportForm::source || !known)) {
    return {};
  }
  Result<ExportFile> patch = patch_file(chosen, certificate);
  if (!patch.ok() && form == ExportForm::patch) {
    return refuse_form(certificate, form, patch.error().text());
  }
  if (patch.ok()) {
    files.push_back(*std::move(patch));
  } else {
    out.without_patch = patch.error().text();
  }
  return {};
}

Result<std::vector<ExportFile>> files_of(const ExportRequest& request, const Store& store,
                                         const ChosenNode& chosen, Exported& out) {
  const std::string where = fmt::format("run {}, node {}", request.what.run, chosen.node.id);
  const bool accepted = request.accept_suspect || chosen.report.run.settings.accept_suspect;
  if (chosen.node.suspect && !accepted) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("its result is suspect (`kernelpro show {} {}` says why); "
                                  "--accept-suspect exports it",
                                  request.what.run, chosen.node.id),
                      where);
  }
  KP_LET(const std::optional<Certificate> certificate,
         store.load_certificate(request.what.run, chosen.node.id));
  if (!certificate) {
    return make_error(ErrorKind::bad_input, "it was not judged, so it has no certificate", where);
  }
  KP_TRY(check_source(store, chosen.node, *certificate, where));
  KP_LET(std::vector<ExportFile> files, export_files(*certificate, request.form));
  KP_TRY(add_patch(request, chosen, *certificate, files, out));
  return files;
}

}  // namespace

Result<Exported> export_run(const ExportRequest& request) {
  KP_LET(const Store store, Store::open(request.what.store, StoreMode::read));
  KP_LET(const ChosenNode chosen, choose_node(store, request.what));
  Exported out;
  out.node = chosen.node.id;
  out.confirmed = request.what.node || chosen.report.confirmed;
  if (out.node == root_node && !request.what.node) {
    out.nothing = make_error(ErrorKind::bad_input, nothing_to_export(chosen.report),
                             "run " + request.what.run);
    return out;
  }
  KP_LET(const std::vector<ExportFile> files, files_of(request, store, chosen, out));
  KP_TRY(write_export(request.directory, files, request.overwrite));
  for (const ExportFile& file : files) {
    out.files.push_back(file.path);
  }
  return out;
}

}  // namespace kernelpro
