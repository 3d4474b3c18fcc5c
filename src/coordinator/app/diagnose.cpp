#include "coordinator/app/diagnose.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/wire/finding_json.hpp"
#include "common/wire/json.hpp"
#include "common/wire/profile_json.hpp"
#include "coordinator/app/header_folders.hpp"
#include "coordinator/app/opening.hpp"
#include "coordinator/app/runs.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/propose/tool_belief.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

// What is diagnosed, and the task that must be open for it.
struct Subject {
  DiagnoseOrder order;
  std::optional<Task> task;
  JudgingSettings judging;
  std::string name;  // for people
};

std::string absolute_text(const fs::path& path) {
  std::error_code failed;
  const fs::path whole = fs::absolute(path, failed);
  return failed ? path.string() : whole.lexically_normal().string();
}

// "m=512,n=512", and whatever axes of it are request.
Result<Axes> parse_shape(const std::string& text) {
  Axes shape;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t at = part.find('=');
    const char* end = part.data() + part.size();
    std::int64_t extent = 0;
    const auto read = at == std::string::npos
                          ? std::from_chars_result{part.data(), std::errc::invalid_argument}
                          : std::from_chars(part.data() + at + 1, end, extent);
    if (read.ec != std::errc() || read.ptr != end) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("expected AXIS=NUMBER, found \"{}\"", part), "--shape");
    }
    shape[part.substr(0, at)] = extent;
  }
  return shape;
}

bool has_axes(const Axes& shape, const Axes& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& axis) {
    const auto found = shape.find(axis.first);
    return found != shape.end() && found->second == axis.second;
  });
}

Result<std::optional<Axes>> chosen_shape(const std::string& text, const Task& task,
                                         Backend backend) {
  if (text.empty()) {
    return std::optional<Axes>();
  }
  KP_LET(const Axes wanted, parse_shape(text));
  std::string known;
  std::vector<Axes> fitting;
  for (const Axes& shape : timed_shapes(task, backend)) {
    known += (known.empty() ? "" : "; ") + axes_text(shape);
    if (has_axes(shape, wanted)) {
      fitting.push_back(shape);
    }
  }
  if (fitting.size() != 1) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("{} of the timed shapes of {} fit \"{}\"; they are: {}",
                                  fitting.size(), task.name, text, known),
                      "--shape");
  }
  return std::optional(fitting.front());
}

bool is_shared_object(const std::string& file) {
  constexpr std::string_view magic =
      "\x7f"
      "ELF";
  std::string begin(magic.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  return stream.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == magic;
}

Backend backend_of(const DiagnoseRequest& request, const Task& task) {
  if (request.backend) {
    return *request.backend;
  }
  for (const auto* list : {&task.baselines, &task.comparators}) {
    if (const ImplementationSpec* found = find_implementation(*list, request.source)) {
      return found->backend;
    }
  }
  const std::string extension = fs::path(request.source).extension().string();
  for (const Backend backend : backends) {
    if (extension == traits_of(backend).extension) {
      return backend;
    }
  }
  return Backend::cuda;
}

Status fill_source(const DiagnoseRequest& request, Subject& subject) {
  const std::string& source = request.source;
  DiagnoseOrder& order = subject.order;
  if (is_shared_object(source)) {
    order.kind = DiagnoseKind::library;
    order.library = absolute_text(source);
    return {};
  }
  order.kind = DiagnoseKind::candidate;
  if (is_implementation(*subject.task, source)) {
    order.implementation = source;
    return {};
  }
  Result<Candidate> candidate =
      request.foreign
          ? load_foreign(source, *subject.task, subject.judging.backend, request.build)
          : load_candidate(source, *subject.task, subject.judging.backend, request.build);
  if (!candidate) {
    return make_error(
        ErrorKind::bad_input,
        fmt::format("{}; expected a source, a shared object, or one of the task's own: "
                    "{}",
                    candidate.error().message, implementation_names(*subject.task)));
  }
  order.candidate = std::move(*candidate);
  return {};
}

Result<Subject> task_subject(const DiagnoseRequest& request, Subject subject) {
  KP_LET(Task task, load_named_task(request.task));
  subject.task = std::move(task);
  subject.judging = request.judging;
  subject.judging.backend = backend_of(request, *subject.task);
  subject.name = subject.task->name + " " + fs::path(request.source).filename().string();
  KP_TRY(fill_source(request, subject));
  KP_LET(std::optional<Axes> shape,
         chosen_shape(request.shape, *subject.task, subject.judging.backend));
  subject.order.shape = std::move(shape);
  return subject;
}

Result<Subject> program_subject(const DiagnoseRequest& request, Subject subject) {
  const std::string& program = request.program.front();
  const bool found = program.find('/') == std::string::npos
                         ? find_program(program).has_value()
                         : fs::is_regular_file(program) && ::access(program.c_str(), X_OK) == 0;
  if (!found) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("there is no program \"{}\" that can be run", program), "--");
  }
  subject.order.kind = DiagnoseKind::program;
  subject.order.program = request.program;
  subject.order.directory = fs::current_path().string();
  subject.name = program;
  return subject;
}

// A profile as --keep writes it, or all that --json printed.
Result<Profile> read_saved_profile(const fs::path& file) {
  const Result<std::string> text = read_file(file);
  if (!text) {
    return make_error(ErrorKind::bad_input, text.error().message, text.error().context);
  }
  Result<nlohmann::json> json = parse_json(*text);
  if (json && json->is_object() && json->contains("diagnosis") && json->contains("profile")) {
    *json = nlohmann::json((*json)["profile"]);
  }
  Result<Profile> profile = json ? profile_from_json(*json) : json.error();
  if (!profile) {
    return make_error(ErrorKind::bad_input, "this is no profile: " + profile.error().text(),
                      file.string());
  }
  return profile;
}

Result<Subject> file_subject(const DiagnoseRequest& request, Subject subject) {
  if (!request.profile.empty()) {
    KP_LET(Profile profile, read_saved_profile(request.profile));
    subject.order.kind = DiagnoseKind::profile;
    subject.order.profile = std::move(profile);
    subject.name = request.profile.filename().string();
    return subject;
  }
  std::error_code failed;
  if (!fs::is_regular_file(request.nsys, failed)) {
    return make_error(ErrorKind::bad_input, "there is no such file", request.nsys.string());
  }
  subject.order.kind = DiagnoseKind::nsys;
  subject.order.nsys_report = absolute_text(request.nsys);
  subject.name = request.nsys.filename().string();
  return subject;
}

Result<Subject> find_subject(const DiagnoseRequest& request) {
  Subject subject;
  subject.order.all_tools = request.all_tools;
  subject.order.rules = request.rules;
  subject.order.counters = request.counters;
  subject.order.timeout_ms = static_cast<std::int64_t>(request.timeout_seconds * 1000);
  subject.order.backend = request.backend;
  subject.order.device = request.judging.device;
  subject.order.keep = request.keep.empty() ? "" : absolute_text(request.keep);
  if (!request.task.empty()) {
    return task_subject(request, std::move(subject));
  }
  return request.program.empty() ? file_subject(request, std::move(subject))
                                 : program_subject(request, std::move(subject));
}

Result<Diagnosed> ask_worker(const Subject& subject, const Watcher& watcher, std::stop_token stop) {
  KP_LET(WorkerClient worker, WorkerClient::start());
  const auto doing = [&](const std::string& text) {
    tell(watcher, Activity{subject.name + ": " + text});
  };
  worker.on_event([&](const WorkerEvent& event) { doing(event.text); });
  if (subject.task) {
    doing("opening (reference, baseline, ceilings)");
    KP_LET(const OpenOrder opening,
           with_headers({.task = *subject.task, .judging = subject.judging, .timed = false}));
    KP_TRY(open_task(worker, opening, stop));
  }
  doing("profiling");
  return worker.diagnose(subject.order, stop);
}

// By what the tools' findings gained in the runs of that store.
void correct(Diagnosed& diagnosed, const fs::path& store) {
  std::error_code failed;
  if (store.empty() || !fs::exists(store, failed)) {
    return;
  }
  const Result<Store> open = Store::open(store, StoreMode::read);
  const auto records =
      open ? recent_tool_records(*open, "") : Result<std::vector<ToolRecord>>(open.error());
  if (records) {
    correct_predictions(diagnosed.report.findings, diagnosed.report.kind, diagnosed.profile.device,
                        *records);
  }
}

// Beside the raw files that the worker left there.
Status keep(const std::string& folder, const Diagnosed& diagnosed) {
  if (folder.empty()) {
    return {};
  }
  KP_TRY(make_directories(folder));
  KP_TRY(write_file_atomic(fs::path(folder) / "profile.json",
                           to_json(diagnosed.profile).dump() + "\n"));
  return write_file_atomic(fs::path(folder) / "diagnosis.json",
                           to_json(diagnosed.report).dump(2) + "\n");
}

}  // namespace

Result<DiagnosisOutcome> diagnose(const DiagnoseRequest& request, const Watcher& watcher,
                                  std::stop_token stop) {
  KP_LET(const Subject subject, find_subject(request));
  const std::string& folder = subject.order.keep;
  if (!folder.empty()) {
    KP_TRY(make_directories(folder));
  }
  KP_LET(Diagnosed diagnosed, ask_worker(subject, watcher, stop));
  correct(diagnosed, request.store);
  DiagnosisOutcome out;
  const Status kept = keep(folder, diagnosed);
  out.diagnosed = std::move(diagnosed);
  if (!kept) {
    out.not_kept = kept.error();
  }
  return out;
}

}  // namespace kernelpro
