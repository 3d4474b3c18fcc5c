#include "coordinator/task/torch_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/base/python.hpp"
#include "common/model/dtype.hpp"
#include "common/model/task.hpp"
#include "common/model/torch_mode.hpp"
#include "coordinator/task/draft_folder.hpp"
#include "coordinator/task/load.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t describe_timeout_ms = 600'000;
const char* const problem_file = "problem.py";

Result<fs::path> find_problem(const NewProblem& request) {
  const std::string level = fmt::format("level{}", request.level);
  std::error_code failure;
  fs::path folder = request.checkout / "KernelBench" / level;
  if (!fs::is_directory(folder, failure)) {
    folder = request.checkout / level;
  }
  if (!fs::is_directory(folder, failure)) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("neither KernelBench/{0} nor {0} is a folder in it: name a "
                                  "checkout of KernelBench, and a level that it has",
                                  level),
                      request.checkout.string());
  }
  const std::string start = fmt::format("{}_", request.problem);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(start) && name.ends_with(".py")) {
      return entry.path();
    }
  }
  return make_error(ErrorKind::bad_input,
                    fmt::format("it has no problem {} ({}*.py)", request.problem, start),
                    folder.string());
}

std::string failure_text(const Finished& finished) {
  if (finished.timed_out) {
    return "PyTorch did not get through it within ten minutes";
  }
  if (finished.signal != 0) {
    return fmt::format("PyTorch was ended by signal {}: too large for this machine's memory?",
                       finished.signal);
  }
  return "PyTorch failed: " + finished.errors;
}

Result<json> describe(const fs::path& problem, const fs::path& script) {
  KP_LET(const Python python, python_with_torch());
  Command command;
  command.arguments = {python.path, script.string(), "describe", problem.string()};
  command.inherit_environment = true;
  command.timeout_ms = describe_timeout_ms;
  KP_LET(const Finished finished, run_command(command));
  json described = json::parse(finished.output, nullptr, false);
  if (!finished.succeeded() || !described.is_object()) {
    return make_error(ErrorKind::bad_input, failure_text(finished), problem.string());
  }
  if (described.contains("refused")) {
    return make_error(ErrorKind::bad_input, described["refused"].get<std::string>(),
                      problem.string());
  }
  return described;
}

std::string identifier(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

std::int64_t elements(const json& tensor) {
  std::int64_t count = 1;
  for (const json& extent : tensor["shape"]) {
    count *= extent.get<std::int64_t>();
  }
  return count;
}

std::int64_t bytes(const json& tensor) {
  const std::optional<DType> dtype = parse_dtype(tensor["dtype"].get<std::string>());
  return elements(tensor) * static_cast<std::int64_t>(dtype ? size_of(*dtype) : 0);
}

bool has_effect(const json& described, const json& input, std::size_t index) {
  const std::string name =
      input["role"] == "input" ? fmt::format("input {}", index) : input["name"].get<std::string>();
  const json& without = described["insensitive_to"];
  return std::find(without.begin(), without.end(), name) == without.end();
}

// Over how many terms rounding adds up. Older descriptions do not say: then by the operations that
// were counted, which were those of products alone.
std::int64_t reduction(const json& described) {
  if (described.contains("reduction")) {
    return std::max<std::int64_t>(described["reduction"].get<std::int64_t>(), 1);
  }
  std::int64_t outputs = 0;
  for (const json& tensor : described["outputs"]) {
    outputs += elements(tensor);
  }
  const json& flops = described["flops"];
  return flops.is_number() && outputs > 0
             ? std::max<std::int64_t>(flops.get<std::int64_t>() / (2 * outputs), 1)
             : 1;
}

// What lies where in the one input that has them all.
std::string parts_toml(const json& packed) {
  std::string out = "parts = [\n";
  for (const json& one : packed) {
    out += fmt::format("  \"{} {} {}{}\",\n", one["offset"].get<std::int64_t>(),
                       one["name"].get<std::string>(), one["shape"].dump(),
                       one.value("buffer", false) ? " buffer" : "");
  }
  return out + "]\n";
}

std::string tensor_toml(const char* table, const json& tensor, bool input) {
  std::vector<std::string> shape;
  for (const json& extent : tensor["shape"]) {
    shape.push_back(fmt::format("\"{}\"", extent.get<std::int64_t>()));
  }
  return fmt::format("[[{}]]\nname = \"{}\"\ndtype = \"{}\"\nshape = [{}]\n{}\n", table,
                     identifier(tensor["name"].get<std::string>()),
                     tensor["dtype"].get<std::string>(), fmt::join(shape, ", "),
                     input ? "values = \"drawn\"\n" : "");
}

// The module as PyTorch runs it: in the contract's precision it is the baseline.
std::string modes_toml() {
  struct Mode {
    const char* table;
    const char* name;
    const char* backend;
    const char* mode;
  };
  constexpr Mode modes[] = {{"baseline", "torch-eager", "cuda", fp32_mode},
                            {"baseline", "torch-eager-cpu", "cpu", fp32_mode},
                            {"comparator", "torch-eager-as-it-comes", "cuda", eager_mode},
                            {"comparator", "torch-eager-tf32", "cuda", tf32_mode},
                            {"comparator", "torch-compile", "cuda", compile_mode}};
  std::string out;
  for (const Mode& mode : modes) {
    out += fmt::format(
        "\n[[{}]]\nname = \"{}\"\nbackend = \"{}\"\ncompiler = \"{}\"\noptions = [\"{}\"]\n"
        "file = \"{}\"\n",
        mode.table, mode.name, mode.backend, torch_compiler, mode.mode, problem_file);
  }
  return out;
}

std::vector<std::string> texts(const json& described, const char* list) {
  return described.value(list, std::vector<std::string>());
}

// What whoever writes a candidate should know.
std::string notes(const json& described) {
  std::string out;
  for (const std::string& why : texts(described, "degenerate")) {
    out += fmt::format("# Degenerate: {}.\n", why);
  }
  return out;
}

std::string toml_list(const std::string& key, const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& value : values) {
    out += fmt::format("  {},\n", json(value).dump());
  }
  return out.empty() ? "" : fmt::format("{} = [\n{}]\n", key, out);
}

std::string counted(std::int64_t count, const char* one, const char* more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

// The operators that take the most operations, then the kernels that take the most time.
std::vector<std::string> runs(const json& described) {
  constexpr std::size_t most = 8;
  constexpr std::size_t longest = 120;
  std::vector<std::string> out;
  const double flops = described["flops"].is_number() ? described["flops"].get<double>() : 0;
  const json operators = described.value("operators", json::array());
  for (std::size_t i = 0; i < std::min(most, operators.size()); ++i) {
    const json& one = operators[i];
    out.push_back(fmt::format("operator {}: {}, {:.3g} % of the operations",
                              one["name"].get<std::string>(),
                              counted(one["calls"].get<std::int64_t>(), "call", "calls"),
                              100 * one["flops"].get<double>() / std::max(flops, 1.0)));
  }
  const json kernels = described.value("kernels", json::array());
  for (std::size_t i = 0; i < std::min(most, kernels.size()); ++i) {
    const json& one = kernels[i];
    out.push_back(fmt::format("kernel {}: {}, {:.3g} % of the time on the GPU",
                              one["name"].get<std::string>().substr(0, longest),
                              counted(one["launches"].get<std::int64_t>(), "launch", "launches"),
                              100 * one["share"].get<double>()));
  }
  return out;
}

// By the names that the task has for them.
std::vector<std::string> without_effect(const json& described) {
  std::vector<std::string> out;
  const bool packed = described.contains("packed");
  for (const std::string& name : texts(described, "insensitive_to")) {
    if (name.starts_with("input ")) {
      out.push_back("input_" + name.substr(6));
    } else {
      out.push_back(packed ? name : identifier(name));
    }
  }
  return out;
}

// What was seen of the module, for whoever writes a kernel.
std::string seen_toml(const json& described) {
  const json products = described.value("products", json());
  return (products.is_number() ? fmt::format("products = {}\n", products.get<std::int64_t>())
                               : "") +
         toml_list("runs", runs(described)) +
         toml_list("without_effect", without_effect(described));
}

std::string task_toml(const NewProblem& request, const fs::path& problem, const json& described) {
  std::int64_t traffic = 0;
  std::string tensors;
  std::size_t index = 0;
  for (const json& input : described["inputs"]) {
    traffic += has_effect(described, input, index++) ? bytes(input) : 0;
    tensors += tensor_toml("input", input, true);
    if (described.contains("packed") && input["name"] == "parameters") {
      tensors.insert(tensors.size() - 1, parts_toml(described["packed"]));
    }
  }
  for (const json& output : described["outputs"]) {
    traffic += bytes(output);
    tensors += tensor_toml("output", output, false);
  }
  for (const json& scalar : described["scalars"]) {
    tensors += fmt::format("[[scalar]]\nname = \"{}\"\ndtype = \"f64\"\nvalue = {}\n\n",
                           scalar["name"].get<std::string>(), scalar["value"].get<double>());
  }
  return fmt::format(
      "# KernelBench, level {} problem {}. The precision is the module's own: no TF32, no halves, "
      "unless\n# `allow_precision` below says so.\n{}"
      "schema = 1\nname = \"{}\"\nfamily = \"kernelbench\"\nsummary = \"{}, by PyTorch {}\"\n"
      "reduction = \"{}\"\n\n{}"
      "[tolerance]\nallow_precision = []\n\n"
      "[work]\nflops = \"{}\"\nbytes = \"{}\"\n\n"
      "[shapes]\ntimed = [{{}}]\nheld_out = {{}}\n\n"
      "[reference]\ntorch = \"{}\"\n{}{}",
      request.level, request.problem, notes(described), request.name, problem.stem().string(),
      described["torch"].get<std::string>(), reduction(described), tensors,
      described["flops"].is_number() ? described["flops"].get<std::int64_t>() : 0, traffic,
      problem_file, seen_toml(described), modes_toml());
}

}  // namespace

Result<ProblemTask> create_problem_task(const NewProblem& wanted) {
  NewProblem request = wanted;
  if (request.name.empty()) {
    request.name = fmt::format("kernelbench_{}_{}", request.level, request.problem);
  }
  const fs::path folder = request.directory / request.name;
  KP_TRY(check_new_task(request.name, folder));
  KP_LET(const fs::path problem, find_problem(request));
  KP_LET(const std::string source, read_file(problem));
  KP_LET(const json described, request.described.empty()
                                   ? describe(problem, request.script)
                                   : Result<json>(json::parse(request.described, nullptr, false)));
  const DraftFolder draft(folder);
  KP_TRY(make_directories(draft.path()));
  KP_TRY(write_file_atomic(draft.path() / problem_file, source));
  KP_TRY(write_file_atomic(draft.path() / "task.toml", task_toml(request, problem, described)));
  if (const auto task = load_task(draft.path()); !task.ok()) {
    return draft.renamed(task.error());
  }
  KP_TRY(draft.keep());
  return ProblemTask{folder, texts(described, "insensitive_to"), texts(described, "degenerate")};
}

}  // namespace kernelpro
