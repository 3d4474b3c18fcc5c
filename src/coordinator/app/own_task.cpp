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
#include "coordinator/app/own_patch.hpp"
#include "coordinator/task/inline_includes.hpp"
#include "coordinator/task/learn.hpp"
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
    add(fmt::format("{}={}:{}", name, range.low, range.high));
  }
  for (const auto* list : {&wishes.inouts, &wishes.workspaces, &wishes.flags, &wishes.options}) {
    add(fmt::format("{}", fmt::join(*list, "\n")) + "\n");
  }
  add(wishes.reference + "\n" + wishes.flops + "\n" + wishes.reduction);
  return text;
}

Error missing_flags(const OwnRequest& request, const std::vector<std::string>& missing) {
  return make_error(
      ErrorKind::bad_input,
      fmt::format("calling it does not tell everything; add {} (formulas over its sizes, with "
                  "+ - * / as in C)",
                  fmt::join(missing, " and ")),
      fmt::format("{}:{}", request.target.file.string(), request.target.function));
}

// "--shape x=…" answered with "m,k".
void take_answer(NewTask& wishes, const std::string& flag, const std::string& answer) {
  const std::size_t space = flag.find(' ');
  const std::string name = flag.substr(space + 1, flag.find('=') - space - 1);
  std::vector<std::string>& shape = wishes.shapes[name];
  shape.clear();
  std::size_t at = 0;
  while (at <= answer.size()) {
    const std::size_t comma = std::min(answer.find(',', at), answer.size());
    shape.push_back(answer.substr(at, comma - at));
    at = comma + 1;
  }
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
    if (learned.missing.empty()) {
      return learned;
    }
    if (!request.ask) {
      return missing_flags(request, learned.missing);
    }
    for (const std::string& flag : learned.missing) {
      const std::string answer = request.ask(flag);
      if (answer.empty()) {
        return missing_flags(request, learned.missing);
      }
      take_answer(wishes, flag, answer);
    }
  }
}

// Why the function itself does not pass its own task; empty when it does.
Result<std::string> own_complaint(const fs::path& folder, const Watcher& watcher,
                                  std::stop_token stop) {
  EvaluationRequest request;
  request.task = folder.string();
  // Sizes and values are drawn anew each time.
  request.sources = {"original", "original", "original"};
  request.timed = false;
  KP_LET(const EvaluationResult result, evaluate(request, watcher, std::move(stop)));
  for (const Evaluated& one : result.evaluations) {
    const Verdict& verdict = one.certificate.verdict;
    if (verdict.outcome != Outcome::passed && verdict.outcome != Outcome::not_judged) {
      return verdict.summary;
    }
  }
  return std::string();
}

// Makes the task, which its own function must pass. One that magnifies rounding, as a norm of
// nearly equal values does, gets a wider tolerance, or its own results are what is right.
Result<fs::path> create_checked(OwnTask own, std::vector<std::string>& notes,
                                const Watcher& watcher, std::stop_token stop) {
  KP_LET(fs::path folder, create_own_task(own));
  KP_LET(std::string complaint, own_complaint(folder, watcher, stop));
  if (complaint.empty()) {
    return folder;
  }
  constexpr const char* wider = "\n[tolerance]\nrounding_factor = 64\n";
  KP_LET(const std::string toml, read_file(folder / "task.toml"));
  KP_TRY(write_file_atomic(folder / "task.toml", toml + wider));
  KP_LET(complaint, own_complaint(folder, watcher, stop));
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
    return create_checked(std::move(own), notes, watcher, std::move(stop));
  }
  return make_error(ErrorKind::bad_input,
                    fmt::format("the function does not pass its own task: {}. Leave out sizes or "
                                "values that it is not made for (--held-out n=LOW:HIGH, --values "
                                "x=uniform:LOW:HIGH)",
                                complaint));
}

}  // namespace

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
  if (fs::is_regular_file(folder / "task.toml", failed)) {
    return OwnTaskMade{folder, false, {}};
  }
  OwnTaskMade made{folder, true, {}};
  KP_TRY(make_directories(wishes.directory));
  if (file.extension() == ".cu") {
    KP_LET(made.folder, create_task(wishes));
  } else {
    const OwnSource source{file, wishes.entry, wishes.flags};
    tell(watcher, Activity{wishes.name + ": reading the function"});
    KP_LET(const OwnFunction function, read_own_function(source, stop));
    const OwnCall call = plan_call(function);
    KP_LET(Learned learned, learn(request, source, function, call, wishes, watcher, stop));
    OwnTask own{std::move(learned.request), "", "", function.heading};
    if (!is_plain(source, call, learned)) {
      own.bridge_declaration = bridge_declaration(call, learned.only_read);
      own.bridge = bridge_text(call, learned.only_read);
    }
    made.notes = std::move(learned.notes);
    tell(watcher, Activity{wishes.name + ": checking that it passes its own task"});
    KP_LET(made.folder, create_checked(std::move(own), made.notes, watcher, stop));
  }
  KP_TRY(write_origin(
      made.folder, {portable_path(file, wishes.root), wishes.root, sha256(content), wishes.entry}));
  return made;
}

}  // namespace kernelpro
