#include "coordinator/app/own_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <system_error>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/base/paths.hpp"
#include "coordinator/app/evaluate.hpp"
#include "coordinator/app/own_build.hpp"
#include "coordinator/app/own_flags.hpp"
#include "coordinator/app/own_patch.hpp"
#include "coordinator/task/cuda_function.hpp"
#include "coordinator/task/fixed_chain.hpp"
#include "coordinator/task/inline_includes.hpp"
#include "coordinator/task/learn.hpp"
#include "coordinator/task/plan_values.hpp"
#include "coordinator/task/signature.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

// As tasks are called: "blur" of "image::Blur<float>".
std::string task_name(const std::string& function) {
  const std::string whole = function.substr(0, function.find('<'));
  const std::size_t scope = whole.rfind("::");
  std::string name = scope == std::string::npos ? whole : whole.substr(scope + 2);
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(std::isalnum(c) != 0 ? std::tolower(c) : '_');
  });
  name.erase(0, name.find_first_not_of('_'));
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "f" + name : name;
}

// All that the user said, as one text.
std::string wishes_text(const NewTask& wishes) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += part + "\n"; };
  for (const auto* list : {&wishes.fixed, &wishes.values, &wishes.derived}) {
    for (const auto& [name, value] : *list) {
      add(name + "=" + value);
    }
    add("");
  }
  for (const auto& [name, shape] : wishes.shapes) {
    add(fmt::format("{}={}", name, fmt::join(shape, ",")));
  }
  for (const auto& [name, size] : wishes.sizes) {
    add(fmt::format("{}={}", name, size));
  }
  for (const auto& [name, range] : wishes.held_out) {
    add(fmt::format("{}={}", name, range_text(range)));
  }
  for (const auto* list :
       {&wishes.inouts, &wishes.only_read, &wishes.workspaces, &wishes.flags, &wishes.options}) {
    add(fmt::format("{}", fmt::join(*list, "\n")) + "\n");
  }
  add(wishes.reference + "\n" + wishes.flops + "\n" + wishes.reduction);
  return text;
}

// With a line to paste.
Error missing_flags(const OwnRequest& request, const std::vector<Question>& missing) {
  std::vector<std::string> about;
  std::string line = request.command;
  for (const Question& question : missing) {
    about.push_back(question.about);
    for (const std::string& one : question.proposal) {
      line += " " + question.flag + " " + shell_line({one});
    }
    line += question.proposal.empty() ? fmt::format(" {} NAME=FORMULA", question.flag) : "";
  }
  return make_error(
      ErrorKind::bad_input,
      fmt::format("calling it does not tell {}; say so with formulas over its sizes (+ - * / as in "
                  "C), for example:\n  {}",
                  fmt::join(about, " and "), line),
      fmt::format("{}:{}", request.target.file.string(), request.target.function));
}

// Whether every question has an answer. `changed`: one is not what was proposed.
Result<bool> ask_all(const OwnRequest& request, const std::vector<Question>& questions,
                     NewTask& wishes, bool& changed) {
  for (const Question& question : questions) {
    std::vector<std::string> answer = request.ask(question);
    changed = changed || (!answer.empty() && answer != question.proposal);
    if (question.proposal.empty() && answer.empty()) {
      return false;
    }
    // What was not answered stays as it was proposed.
    answer.insert(answer.begin(), question.proposal.begin(), question.proposal.end());
    for (const std::string& one : answer) {
      KP_TRY(take_flag(wishes, question.flag, one));
    }
  }
  return true;
}

// The function as a plain one needs no bridge, if today's reader agrees.
bool is_plain(const OwnSource& source, const OwnCall& call, const Learned& learned) {
  if (!call.plain) {
    return false;
  }
  for (const Leaf& leaf : call.leaves) {
    const bool tensor = leaf.kind == Leaf::Kind::tensor;
    const bool read = std::ranges::find(learned.only_read, leaf.name) != learned.only_read.end();
    if (tensor && read == leaf.may_write) {
      return false;
    }
  }
  const auto text = inline_marked(source.file, {}, {});
  return text.ok() && parse_signature(*text, source.function, source.file.string()).ok();
}

Result<Learned> learn(const OwnRequest& request, const OwnSource& source,
                      const OwnFunction& function, const OwnCall& call, NewTask wishes,
                      const Watcher& watcher, std::stop_token stop) {
  const std::string name = task_name(source.function);
  const auto say = [&](const std::string& text) { tell(watcher, Activity{name + ": " + text}); };
  for (;;) {
    KP_LET(Learned learned, learn_function(source, function, call, wishes, say, stop));
    const bool open = !learned.missing.empty();
    if (!request.ask) {
      return open ? Result<Learned>(missing_flags(request, learned.missing)) : learned;
    }
    bool changed = open;
    KP_LET(const bool answered,
           ask_all(request, open ? learned.missing : learned.chosen, wishes, changed));
    if (!answered) {
      return missing_flags(request, learned.missing);
    }
    if (!changed) {
      return learned;
    }
  }
}

// Why the function itself does not pass its own task; empty when it does.
Result<std::string> own_complaint(const fs::path& folder, Backend backend, const Watcher& watcher,
                                  std::stop_token stop) {
  EvaluationRequest request;
  request.task = folder.string();
  // Sizes and values are drawn anew each time.
  request.sources = {"original", "original", "original"};
  request.timed = false;
  request.judging.backend = backend;
  KP_LET(const EvaluationResult result, evaluate(request, watcher, std::move(stop)));
  for (const Evaluated& one : result.evaluations) {
    const Verdict& verdict = one.certificate.verdict;
    if (verdict.outcome != Outcome::passed && verdict.outcome != Outcome::not_judged) {
      return verdict.summary;
    }
  }
  return std::string();
}

// ". Leave out …", with lines to paste: fewer sizes, where there are several, and other numbers in
// tensors of whole ones.
std::string other_sizes(const NewTask& request, const OwnSource& source) {
  std::vector<std::string> lines;
  for (const auto& [name, range] : request.held_out) {
    const bool added = std::ranges::find(request.more_axes, name) != request.more_axes.end();
    const std::int64_t low = range.at_most(std::min(range.high, 4 * range.low + 4));
    if (!added && range.low < low && low < range.high) {
      lines.push_back(fmt::format("--held-out {}={}:{}{}", name, low, range.high,
                                  range.step == 1 ? "" : fmt::format(":{}", range.step)));
    }
  }
  for (const auto& [name, values] : request.values) {
    const auto range = parse_range(values);
    if (range && request.shapes.contains(name) && range->high - range->low > 1) {
      lines.push_back(fmt::format("--values {}=uniform:{}:{}", name, std::max(0.0, range->low),
                                  std::max(0.0, range->low) + 1));
    }
  }
  return lines.empty()
             ? std::string()
             : ". Leave out sizes or values that it is not made for" + source.example(lines);
}

// Makes the task, which its own function must pass. One that magnifies rounding, as a norm of
// nearly equal values does, gets a wider tolerance, or its own results are what is right.
Result<fs::path> create_checked(const OwnSource& source, OwnTask own,
                                std::vector<std::string>& notes, const Watcher& watcher,
                                std::stop_token stop) {
  KP_LET(fs::path folder, create_own_task(own));
  Result<std::string> first = own_complaint(folder, Backend::cpu, watcher, stop);
  if (!first.ok() && is_of_a_call(first.error())) {
    return make_error(ErrorKind::bad_input,
                      "at sizes or values of its task the function fails: " + first.error().text() +
                          other_sizes(own.request, source));
  }
  KP_LET(std::string complaint, std::move(first));
  if (complaint.empty()) {
    return folder;
  }
  constexpr const char* wider = "\n[tolerance]\nrounding_factor = 64\n";
  KP_LET(const std::string toml, read_file(folder / "task.toml"));
  KP_TRY(write_file_atomic(folder / "task.toml", toml + wider));
  KP_LET(complaint, own_complaint(folder, Backend::cpu, watcher, stop));
  if (complaint.empty()) {
    notes.emplace_back(
        "it magnifies rounding at some values: the tolerance is eight times as wide as usual");
    return folder;
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (own.request.reference.empty()) {
    own.request.reference = original_reference;
    notes.push_back("its results at some values are rounding alone (" + complaint +
                    "): what it computes today is right (--reference FILE says otherwise)");
    return create_checked(source, std::move(own), notes, watcher, std::move(stop));
  }
  return make_error(ErrorKind::bad_input,
                    fmt::format("the function does not pass its own task: {}{}", complaint,
                                other_sizes(own.request, source)));
}

Status make_cpu_task(const OwnRequest& request, const OwnSource& source, const NewTask& wishes,
                     OwnTaskMade& made, const Watcher& watcher, std::stop_token stop) {
  KP_LET(const OwnFunction function, read_own_function(source, stop));
  const OwnCall call = plan_call(function);
  KP_LET(Learned learned, learn(request, source, function, call, wishes, watcher, stop));
  OwnTask own{std::move(learned.request), "", "", function.heading, {}};
  if (!is_plain(source, call, learned)) {
    own.bridge_declaration = bridge_declaration(call, learned.only_read);
    own.bridge = bridge_text(call, learned.only_read);
  }
  made.notes = std::move(learned.notes);
  tell(watcher, Activity{wishes.name + ": checking that it passes its own task"});
  KP_LET(made.folder, create_checked(source, std::move(own), made.notes, watcher, std::move(stop)));
  return {};
}

OwnTask without_needless_bridge(OwnTask own, const OwnSource& source, const std::string& text) {
  const auto plain = parse_signature(text, source.function, source.file.string());
  if (plain.ok() && own.is_plain) {
    own.bridge.clear();
  }
  return own;
}

// What a launcher leaves open is learned by calling the C++ function that computes the same.
Status make_cuda_task(const OwnRequest& request, const OwnSource& source, const std::string& text,
                      NewTask wishes, OwnTaskMade& made, const Watcher& watcher,
                      std::stop_token stop) {
  const CudaParts parts = take_cuda_apart(text);
  KP_LET(const CudaLauncher launcher, read_cuda_launcher(source, parts, stop));
  std::optional<TrustedFunction> trusted;
  std::vector<std::string> only_read = wishes.only_read;
  if (wishes.reference != original_reference) {
    KP_LET(trusted, find_trusted(source, parts, launcher, wishes, stop));
    KP_LET(Learned learned, learn(request, trusted->source, trusted->function,
                                  plan_call(trusted->function), wishes, watcher, stop));
    wishes = std::move(learned.request);
    only_read = std::move(learned.only_read);
    made.notes = std::move(learned.notes);
    made.notes.push_back("right is what " + trusted->source.function + " computes");
  }
  KP_LET(made.folder, create_own_task(without_needless_bridge(
                          cuda_task(wishes, launcher, trusted, only_read), source, text)));
  const auto complaint = own_complaint(made.folder, Backend::cuda, watcher, std::move(stop));
  if (!complaint.ok() && complaint.error().kind == ErrorKind::environment) {
    made.untried = complaint.error();
    return {};
  }
  if (complaint.ok() && complaint->empty()) {
    return {};
  }
  std::error_code ignored;
  fs::remove_all(made.folder, ignored);
  return complaint.ok() ? make_error(ErrorKind::bad_input,
                                     "the function does not pass its own task: " + *complaint,
                                     source.file.string())
                        : complaint.error();
}

}  // namespace

Result<fs::path> make_new_task(NewTask request, std::stop_token stop) {
  KP_TRY(add_own_build(request.source, {}, request));
  KP_TRY(resolve_fixed(request));
  std::error_code failed;
  request.root = fs::current_path(failed);
  if (request.source.extension() != ".cu" || check_plain_source(request).ok()) {
    return create_task(request);
  }
  KP_LET(const std::string text,
         inline_marked(request.source, include_folders(request.flags), request.root));
  const CudaParts parts = take_cuda_apart(text);
  const OwnSource source{request.source, request.entry, request.flags,
                         fmt::format("kernelpro task new {} --from {} --entry {}", request.name,
                                     request.source.string(), request.entry)};
  KP_LET(const CudaLauncher launcher, read_cuda_launcher(source, parts, stop));
  std::optional<TrustedFunction> trusted;
  if (!request.reference.empty() && request.reference != original_reference) {
    KP_LET(trusted, find_trusted(source, parts, launcher, request, std::move(stop)));
  }
  const std::vector<std::string> only_read = request.only_read;
  return create_own_task(without_needless_bridge(
      cuda_task(std::move(request), launcher, trusted, only_read), source, text));
}

bool is_of_a_call(const Error& error) {
  const std::string text = error.text();
  const auto says = [&text](const char* part) { return text.find(part) != std::string::npos; };
  return error.kind == ErrorKind::bad_input &&
         (says("the task's baseline: ") || says(": the reference ")) &&
         !says("does not build:\n") && !says("does not compile:\n");
}

std::optional<OwnTarget> parse_own_target(const std::string& text) {
  static const std::set<std::string> extensions = {".cpp", ".cc", ".cxx", ".c",  ".C",
                                                   ".cu",  ".h",  ".hpp", ".hh", ".hxx"};
  for (std::size_t at = text.find(':'); at != std::string::npos; at = text.find(':', at + 1)) {
    const fs::path file = text.substr(0, at);
    if (extensions.contains(file.extension().string()) && at + 1 < text.size()) {
      return OwnTarget{file, text.substr(at + 1)};
    }
  }
  return {};
}

Result<OwnTaskMade> make_own_task(const OwnRequest& request, const Watcher& watcher,
                                  std::stop_token stop) {
  std::error_code failed;
  const fs::path& file = request.target.file;
  if (!fs::is_regular_file(file, failed)) {
    return make_error(ErrorKind::bad_input, "there is no such file", file.string());
  }
  NewTask wishes = request.wishes;
  KP_TRY(add_own_build(file, request.compile_commands, wishes));
  KP_TRY(resolve_fixed(wishes));
  wishes.source = file;
  wishes.entry = request.target.function;
  wishes.name = task_name(wishes.entry);
  wishes.directory = request.store / "tasks";
  wishes.root = fs::weakly_canonical(fs::absolute(request.store), failed).parent_path();
  KP_LET(const std::string content, read_file(file));
  KP_LET(const std::string whole, inline_marked(file, include_folders(wishes.flags), wishes.root));
  wishes.folder =
      fmt::format("{}-{}", wishes.name,
                  sha256(whole + "\n" + wishes.entry + "\n" + wishes_text(wishes)).substr(0, 8));
  const fs::path folder = wishes.directory / wishes.folder;
  if (read_origin(folder).ok()) {
    return OwnTaskMade{folder, false, {}, {}};
  }
  // Where it came from is written last: without that it was never finished.
  fs::remove_all(folder, failed);
  OwnTaskMade made{folder, true, {}, {}};
  KP_TRY(make_directories(wishes.directory));
  const OwnSource source{file, wishes.entry, wishes.flags, request.command};
  tell(watcher, Activity{wishes.name + ": reading the function"});
  KP_TRY(file.extension() == ".cu"
             ? make_cuda_task(request, source, whole, wishes, made, watcher, stop)
             : make_cpu_task(request, source, wishes, made, watcher, stop));
  KP_TRY(write_origin(
      made.folder, {portable_path(file, wishes.root), wishes.root, sha256(content), wishes.entry}));
  return made;
}

}  // namespace kernelpro
