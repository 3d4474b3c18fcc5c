#include "coordinator/task/adapt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "common/model/adapter.hpp"
#include "coordinator/task/bad.hpp"
#include "coordinator/task/lexer.hpp"
#include "coordinator/task/nearest.hpp"
#include "coordinator/task/signature.hpp"

namespace kernelpro {
namespace {

using Role = EntryParameter::Role;

constexpr const char* stream_name = "stream";
constexpr int workspace_alignment = 256;

template <typename List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names(list.size());
  std::ranges::transform(list, names.begin(), [](const auto& item) { return item.name; });
  return names;
}

template <typename List>
std::optional<std::size_t> place_of(const List& list, const std::string& name) {
  const auto found =
      std::ranges::find_if(list, [&name](const auto& item) { return item.name == name; });
  return found == list.end() ? std::nullopt
                             : std::optional(static_cast<std::size_t>(found - list.begin()));
}

constexpr const char* order_function =
    R"(// `second` goes on only when `first` has done what it was given until now.
static int kp_adapter_order(cudaStream_t first, cudaStream_t second) {
  static cudaEvent_t event = nullptr;
  if (event == nullptr && cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess) {
    return 1;
  }
  return cudaEventRecord(event, first) != cudaSuccess ||
         cudaStreamWaitEvent(second, event, 0) != cudaSuccess;
}

)";

constexpr const char* bytes_function = R"(static size_t kp_adapter_bytes(const kp_tensor& tensor) {
  size_t bytes = tensor.dtype.bits / 8;
  for (int32_t i = 0; i < tensor.rank; ++i) {
    bytes *= static_cast<size_t>(tensor.shape[i]);
  }
  return bytes;
}

)";

class Adapter {
 public:
  explicit Adapter(const Task& task) : task_(task), entry_(*task.entry) {}

  Result<std::string> text() {
    KP_LET(auto signature, parse_signature(entry_.signature + " {}", last_name(entry_.function),
                                           "entry.signature"));
    signature_ = std::move(signature);
    KP_TRY(check_counts());
    KP_TRY(lay_out_workspace());
    KP_TRY(add_arguments());
    KP_TRY(add_copies());
    return block();
  }

 private:
  [[nodiscard]] bool cuda() const { return entry_.backend == Backend::cuda; }

  [[nodiscard]] Status check_counts() const {
    const std::size_t wanted = signature_.parameters.size();
    if (entry_.arguments.size() != wanted) {
      return bad("entry.arguments",
                 fmt::format("there are {} for the {} parameters of `{}`; name one for each, in "
                             "their order",
                             entry_.arguments.size(), wanted, entry_.signature));
    }
    if (!cuda() && signature_.returns == "cudaError_t") {
      return bad("entry.signature", "cudaError_t belongs to the backend cuda; this one is cpu");
    }
    return {};
  }

  // A formula over axes as C++.
  [[nodiscard]] Result<std::string> axes_expression(const std::string& key,
                                                    const std::string& formula) const {
    const auto parsed = Formula::parse(formula);
    if (!parsed.ok()) {
      return bad(key, parsed.error().text());
    }
    if (!is_plain_arithmetic(formula)) {
      return bad(key,
                 fmt::format("\"{}\": expected axes and whole numbers with + - * and /", formula));
    }
    std::string text;
    for (const Token& token : lex_cpp(formula)) {
      if (token.kind != Token::Kind::word) {
        text += token.text;
        continue;
      }
      const auto axis = place_of(task_.axes, token.text);
      if (!axis) {
        return bad(key, fmt::format("\"{}\" is not an axis{}", token.text,
                                    suggest(token.text, names_of(task_.axes))));
      }
      text += fmt::format("context->axes[{}]", *axis);
    }
    return text;
  }

  // Each begins behind the ones before it.
  Status lay_out_workspace() {
    std::string place = "0";
    for (const auto& [name, bytes] : entry_.workspace) {
      KP_LET(auto size, axes_expression("entry.workspace", bytes.text()));
      workspaces_.push_back({name, place});
      place += fmt::format(" + ({} + {}) / {} * {}", size, workspace_alignment - 1,
                           workspace_alignment, workspace_alignment);
    }
    workspace_bytes_ = place;
    return {};
  }

  Status add_arguments() {
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
      auto argument = argument_for(signature_.parameters[i], entry_.arguments[i]);
      if (!argument.ok()) {
        return bad("entry.arguments", fmt::format("for {}: {}", signature_.parameters[i].name,
                                                  argument.error().message));
      }
      arguments_.push_back(*std::move(argument));
    }
    return {};
  }

  Result<std::string> argument_for(const EntryParameter& parameter, const std::string& name) {
    switch (parameter.role) {
      case Role::axis:
      case Role::flag: {
        const auto expression = axes_expression("", name);
        return expression.ok() ? fmt::format("static_cast<{}>({})", parameter.type, *expression)
                               : Result<std::string>(expression.error());
      }
      case Role::scalar:
        return scalar_argument(parameter, name);
      case Role::input:
      case Role::output:
      case Role::untyped:
        return pointer_argument(parameter, name);
      case Role::stream:
        takes_stream_ = true;
        return name == stream_name && cuda()
                   ? Result<std::string>("kp_stream")
                   : bad("", "a cudaStream_t is given \"stream\", on the backend cuda");
    }
    return bad("", "unknown");
  }

  [[nodiscard]] Result<std::string> scalar_argument(const EntryParameter& parameter,
                                                    const std::string& name) const {
    const bool half = parameter.dtype == DType::f16 || parameter.dtype == DType::bf16;
    const auto cast = [&](const std::string& value) {
      return half ? fmt::format("static_cast<{}>(static_cast<float>({}))", parameter.type, value)
                  : fmt::format("static_cast<{}>({})", parameter.type, value);
    };
    if (const auto place = place_of(task_.scalars, name)) {
      return cast(fmt::format("context->scalars[{}]", *place));
    }
    const auto tokens = lex_cpp(name);
    const bool negative = tokens.size() == 2 && tokens[0].text == "-";
    if (!tokens.empty() && tokens.size() == (negative ? 2U : 1U) &&
        tokens.back().kind == Token::Kind::number) {
      return cast(name);
    }
    return bad("", fmt::format("\"{}\" is neither a scalar nor a number{}", name,
                               suggest(name, names_of(task_.scalars))));
  }

  [[nodiscard]] Result<std::string> pointer_argument(const EntryParameter& parameter,
                                                     const std::string& name) const {
    const auto workspace = std::ranges::find(workspaces_, name, &Workspace::name);
    if (workspace != workspaces_.end()) {
      return fmt::format(
          "reinterpret_cast<{}*>(static_cast<unsigned char*>(context->workspace) + {})",
          parameter.type, workspace->place);
    }
    const auto input = place_of(task_.inputs, name);
    const auto output = place_of(task_.outputs, name);
    const bool constant = parameter.role == Role::input;
    if (constant ? !input : !input && !output) {
      return bad("", fmt::format("\"{}\" is not {}", name,
                                 constant ? "an input" : "a tensor or a workspace"));
    }
    const bool reads = constant || !output;
    const TensorSpec& tensor = reads ? task_.inputs[*input] : task_.outputs[*output];
    if (parameter.role == Role::untyped || tensor.dtype != parameter.dtype) {
      return bad("", fmt::format("{} holds {}, the parameter points to {}", name,
                                 name_of(tensor.dtype), parameter.type));
    }
    // What is only read may still be declared without const.
    return fmt::format("static_cast<{}{}*>(tensors[{}].data)", constant ? "const " : "",
                       parameter.type, reads ? *input : task_.inputs.size() + *output);
  }

  Status add_copies() {
    for (const auto& [to, from] : entry_.copies) {
      const auto input = place_of(task_.inputs, from);
      const auto output = place_of(task_.outputs, to);
      if (!input || !output) {
        return bad("entry.copies",
                   fmt::format("{} = \"{}\": expected an output and the input that it is filled "
                               "from",
                               to, from));
      }
      const TensorSpec& source = task_.inputs[*input];
      const TensorSpec& target = task_.outputs[*output];
      const bool same =
          source.dtype == target.dtype &&
          std::ranges::equal(source.shape, target.shape, {}, &Formula::text, &Formula::text);
      if (!same) {
        return bad("entry.copies", fmt::format("{} and {} differ in type or shape", to, from));
      }
      copies_ += copy_text(*input, task_.inputs.size() + *output);
    }
    return {};
  }

  [[nodiscard]] std::string copy_text(std::size_t from, std::size_t to) const {
    if (!cuda()) {
      return fmt::format(
          "  __builtin_memcpy(tensors[{0}].data, tensors[{1}].data, "
          "kp_adapter_bytes(tensors[{0}]));\n",
          to, from);
    }
    return fmt::format(
        "  if (cudaMemcpyAsync(tensors[{0}].data, tensors[{1}].data, "
        "kp_adapter_bytes(tensors[{0}]),\n"
        "                      cudaMemcpyDeviceToDevice, kp_stream) != cudaSuccess) {{\n"
        "    return 1;\n  }}\n",
        to, from);
  }

  [[nodiscard]] std::string block() const {
    std::string text(adapter_begin);
    text += fmt::format("// How KernelPro calls {}; `kernelpro export` takes this off again.\n",
                        entry_.function);
    if (const auto bridge = task_.files.find(bridge_file); bridge != task_.files.end()) {
      text += bridge->second;
    }
    text += copies_.empty() ? "" : bytes_function;
    if (!workspaces_.empty()) {
      text += fmt::format(
          "extern \"C\" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) "
          "{{\n  return static_cast<size_t>({});\n}}\n\n",
          workspace_bytes_);
    }
    text += cuda() && !takes_stream_ ? order_function : "";
    text +=
        "extern \"C\" int kp_launch([[maybe_unused]] const kp_context* context,\n"
        "                         const kp_tensor* tensors, int32_t) {\n";
    text += cuda() ? "  const auto kp_stream = static_cast<cudaStream_t>(context->stream);\n" : "";
    text += copies_;
    text += cuda() ? cuda_call() : host_call();
    return text + "}\n" + std::string(adapter_end);
  }

  [[nodiscard]] std::string call() const {
    return fmt::format("{}({})", entry_.function, fmt::join(arguments_, ",\n      "));
  }

  [[nodiscard]] std::string host_call() const {
    return signature_.returns == "int" ? "  return " + call() + ";\n"
                                       : "  " + call() + ";\n  return 0;\n";
  }

  // Without a stream of its own the function works on the default stream.
  [[nodiscard]] std::string cuda_call() const {
    std::string text;
    if (!takes_stream_) {
      text += "  if (kp_adapter_order(kp_stream, nullptr) != 0) {\n    return 1;\n  }\n";
    }
    if (signature_.returns == "void") {
      text += "  " + call() + ";\n";
    } else {
      text += "  if (const auto kp_code = " + call() +
              ";\n      static_cast<int>(kp_code) != 0) {\n"
              "    return static_cast<int>(kp_code);\n  }\n";
    }
    if (!takes_stream_) {
      text += "  if (kp_adapter_order(nullptr, kp_stream) != 0) {\n    return 1;\n  }\n";
    }
    return text + "  return cudaGetLastError() == cudaSuccess ? 0 : 1;\n";
  }

  struct Workspace {
    std::string name;
    std::string place;  // in bytes, as C++
  };

  const Task& task_;
  const EntrySpec& entry_;
  Signature signature_;
  std::vector<std::string> arguments_;
  std::string copies_;
  std::vector<Workspace> workspaces_;
  std::string workspace_bytes_;
  bool takes_stream_ = false;
};

// C's keyword, which C++ compilers know by another name.
std::string without_restrict(const std::string& source) {
  std::vector<Edit> edits;
  for (const Token& token : lex_cpp(source)) {
    if (token.text == "restrict" && token.kind == Token::Kind::word) {
      edits.push_back({token.offset, token.text.size(), "__restrict__"});
    }
  }
  return apply_edits(source, edits);
}

}  // namespace

bool is_plain_arithmetic(const std::string& formula) {
  if (formula.find_first_of(".,") != std::string::npos) {
    return false;
  }
  const auto tokens = lex_cpp(formula);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::word && tokens[i + 1].text == "(") {
      return false;
    }
  }
  return true;
}

Result<std::string> adapter_block(const Task& task) {
  return Adapter(task).text();
}

Result<std::string> adapted(const Task& task, const std::string& source, Backend backend) {
  if (!task.entry || task.entry->backend != backend) {
    return source;
  }
  const auto tokens = lex_cpp(source);
  const bool launches =
      std::ranges::any_of(tokens, [](const Token& token) { return token.text == "kp_launch"; });
  if (launches) {
    return source;
  }
  KP_LET(const auto block, adapter_block(task));
  std::string text = std::string(adapter_head) + without_restrict(source);
  text += text.ends_with('\n') ? "" : "\n";
  return text + block;
}

}  // namespace kernelpro
