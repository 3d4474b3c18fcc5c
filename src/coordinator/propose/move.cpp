#include "coordinator/propose/move.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <sstream>

#include "common/base/file.hpp"
#include "common/base/text.hpp"

namespace kernelpro {

namespace {

constexpr const char* fence = "---";

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

Result<double> number_of(const std::string& text, double low, double high) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("expected a number from {} to {}, not \"{}\"", low, high, text));
  }
  return value;
}

Result<Condition> condition_of(const std::string& text) {
  static const std::map<std::string, Condition::Kind> kinds = {
      {"option", Condition::Kind::option}, {"compiler", Condition::Kind::compiler},
      {"source", Condition::Kind::source}, {"after", Condition::Kind::after},
      {"policy", Condition::Kind::policy}, {"task", Condition::Kind::task},
  };
  Condition condition;
  std::string rest = text;
  if (rest.starts_with("not ")) {
    condition.wanted = false;
    rest = trimmed(rest.substr(4));
  }
  const std::size_t space = rest.find(' ');
  const auto kind = kinds.find(rest.substr(0, space));
  if (space == std::string::npos || kind == kinds.end()) {
    return make_error(
        ErrorKind::bad_input,
        fmt::format(R"(expected "[not] option|compiler|source|after|policy|task VALUE", not "{}")",
                    text));
  }
  condition.kind = kind->second;
  condition.value = trimmed(rest.substr(space + 1));
  if (condition.kind == Condition::Kind::task && condition.value != "constant" &&
      condition.value != "products") {
    return make_error(
        ErrorKind::bad_input,
        fmt::format(R"(expected "task constant" or "task products", not "{}")", text));
  }
  return condition;
}

Status read_when(Move& move, const std::string& value) {
  std::istringstream stream(value);
  for (std::string part; std::getline(stream, part, ';');) {
    KP_LET(Condition condition, condition_of(std::string(trimmed(part))));
    move.when.push_back(std::move(condition));
  }
  return {};
}

Status read_rewriter(Move& move, const std::string& value) {
  bool named = false;
  for (const std::string& word : words_of(value)) {
    const std::size_t equals = word.find('=');
    if (word == "then" && named) {
      named = false;
    } else if (!named && equals == std::string::npos && word != "then") {
      const bool optional = word.ends_with("?");
      move.rewriters.push_back({optional ? word.substr(0, word.size() - 1) : word, optional, {}});
      named = true;
    } else if (named && equals != std::string::npos) {
      move.rewriters.back().arguments[word.substr(0, equals)] = word.substr(equals + 1);
    } else {
      named = false;
      break;
    }
  }
  return named
             ? Status()
             : Status(make_error(
                   ErrorKind::bad_input,
                   fmt::format(R"(expected "NAME[?] key=value … then NAME …", not "{}")", value)));
}

Status read_tier(Move& move, const std::string& value) {
  const std::vector<std::string>& tiers = move_tiers();
  if (std::find(tiers.begin(), tiers.end(), value) == tiers.end()) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("expected one of {}, not \"{}\"", fmt::join(tiers, ", "), value));
  }
  move.tier = value;
  return {};
}

Status read_classes(Move& move, const std::string& value) {
  for (const std::string& word : words_of(value)) {
    const std::optional<Bottleneck> bottleneck = parse_bottleneck(word);
    if (!bottleneck) {
      return make_error(
          ErrorKind::bad_input,
          fmt::format("expected memory, compute, latency or overhead, not \"{}\"", word));
    }
    move.classes.push_back(*bottleneck);
  }
  return {};
}

Status read_number(double& out, const std::string& value, double low, double high) {
  KP_LET(out, number_of(value, low, high));
  return {};
}

Status read_tune(Move& move, const std::string& value) {
  if (value != "neighbors") {
    return make_error(ErrorKind::bad_input,
                      fmt::format(R"(expected "neighbors", not "{}")", value));
  }
  move.tune = true;
  return {};
}

using Reader = std::function<Status(Move&, const std::string&)>;

Reader text_reader(std::string Move::* member) {
  return [member](Move& move, const std::string& value) {
    move.*member = value;
    return Status();
  };
}

const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> known = {
      {"id", text_reader(&Move::id)},
      {"title", text_reader(&Move::title)},
      {"compiler", text_reader(&Move::compiler)},
      {"example", text_reader(&Move::example)},
      {"tier", read_tier},
      {"when", read_when},
      {"rewriter", read_rewriter},
      {"classes", read_classes},
      {"tune", read_tune},
      {"options",
       [](Move& move, const std::string& value) {
         move.options = words_of(value);
         return Status();
       }},
      {"gain",
       [](Move& move, const std::string& value) { return read_number(move.gain, value, 1, 1000); }},
      {"chance",
       [](Move& move, const std::string& value) { return read_number(move.chance, value, 0, 1); }},
  };
  return known;
}

Status read_line(Move& move, const std::string& line) {
  const std::size_t colon = line.find(':');
  const std::string key(trimmed(line.substr(0, colon)));
  const auto reader = readers().find(key);
  if (colon == std::string::npos || reader == readers().end()) {
    std::string keys;
    for (const auto& [name, unused] : readers()) {
      keys += (keys.empty() ? "" : ", ") + name;
    }
    return make_error(
        ErrorKind::bad_input,
        fmt::format(R"(expected "key: value" with a key of {}, not "{}")", keys, line));
  }
  const Status read = reader->second(move, std::string(trimmed(line.substr(colon + 1))));
  return read ? read : Status(make_error(ErrorKind::bad_input, key + ": " + read.error().message));
}

Status check_whole(const Move& move) {
  std::string missing;
  for (const auto& [name, value] : {std::pair("id", &move.id), std::pair("tier", &move.tier),
                                    std::pair("title", &move.title)}) {
    if (value->empty()) {
      missing += std::string(missing.empty() ? "" : ", ") + name;
    }
  }
  if (!missing.empty()) {
    return make_error(ErrorKind::bad_input, "missing: " + missing);
  }
  const bool changes =
      !move.rewriters.empty() || !move.options.empty() || !move.compiler.empty() || move.tune;
  if (changes == (move.tier == written_tier)) {
    return make_error(ErrorKind::bad_input,
                      changes ? "a move of the tier write is advice alone: no rewriter, options, "
                                "compiler or tune"
                              : "it changes nothing: expected rewriter, options, compiler or tune");
  }
  if (!move.example.empty() && move.tier != written_tier) {
    return make_error(ErrorKind::bad_input, "only a move of the tier write has an example");
  }
  if (trimmed(move.advice).empty()) {
    return make_error(ErrorKind::bad_input, "expected advice for people after the second ---");
  }
  return {};
}

}  // namespace

const std::vector<std::string>& move_tiers() {
  static const std::vector<std::string> tiers = {"build", "pragmas", "nest", "tune", written_tier};
  return tiers;
}

Result<Move> parse_move(const std::string& text, const std::string& file) {
  std::istringstream stream(text);
  Move move;
  std::string line;
  int number = 1;
  if (!std::getline(stream, line) || trimmed(line) != fence) {
    return make_error(ErrorKind::bad_input, "expected --- before the keys", file + ":1");
  }
  bool closed = false;
  while (!closed && std::getline(stream, line)) {
    ++number;
    closed = trimmed(line) == fence;
    if (closed || trimmed(line).empty()) {
      continue;
    }
    if (const Status read = read_line(move, line); !read) {
      return make_error(ErrorKind::bad_input, read.error().message,
                        file + ":" + std::to_string(number));
    }
  }
  if (!closed) {
    return make_error(ErrorKind::bad_input, "expected --- after the keys",
                      file + ":" + std::to_string(number));
  }
  move.advice.assign(std::istreambuf_iterator<char>(stream), {});
  if (const Status whole = check_whole(move); !whole) {
    return make_error(ErrorKind::bad_input, whole.error().message, file);
  }
  return move;
}

namespace {

Result<Move> load_move(const std::filesystem::path& file, const std::filesystem::path& examples) {
  KP_LET(const std::string text, read_file(file));
  KP_LET(Move move, parse_move(text, file.string()));
  if (!move.example.empty()) {
    KP_LET(move.example_source, read_file(examples / move.example));
  }
  return move;
}

}  // namespace

Result<std::vector<Move>> load_moves(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".md") {
      files.push_back(entry.path());
    }
  }
  if (error || files.empty()) {
    return make_error(ErrorKind::environment,
                      "no moves are there; reinstall KernelPro or set KERNELPRO_SHARE",
                      folder.string());
  }
  std::sort(files.begin(), files.end());
  const std::filesystem::path examples =
      folder.parent_path().parent_path() / "examples" / folder.filename();
  std::vector<Move> moves;
  for (const std::filesystem::path& file : files) {
    KP_LET(Move move, load_move(file, examples));
    if (std::any_of(moves.begin(), moves.end(),
                    [&move](const Move& known) { return known.id == move.id; })) {
      return make_error(ErrorKind::bad_input, "the id " + move.id + " is taken by another file",
                        file.string());
    }
    moves.push_back(std::move(move));
  }
  return moves;
}

namespace {

double elements_of(const TensorSpec& tensor, const Axes& axes) {
  const Result<std::vector<std::int64_t>> shape = evaluate_shape(tensor.shape, axes);
  double elements = 1;
  for (std::size_t i = 0; shape && i < shape->size(); ++i) {
    elements *= static_cast<double>((*shape)[i]);
  }
  return elements;
}

}  // namespace

bool has_products(const Task& task, Backend backend) {
  constexpr double least_operations = 16;
  const std::vector<Axes>& shapes = timed_shapes(task, backend);
  const Result<Axes> axes = complete_axes(task, shapes.empty() ? Axes() : shapes.front());
  if (!axes) {
    return true;
  }
  const Result<double> flops = task.reference.products ? Result<double>(*task.reference.products)
                                                       : task.work.flops.evaluate(*axes);
  double outputs = 0;
  for (const TensorSpec& output : task.outputs) {
    outputs += elements_of(output, *axes);
  }
  return !flops || *flops >= least_operations * outputs;
}

bool suits(const Move& move, const Task& task, Backend backend) {
  return std::ranges::all_of(move.when, [&](const Condition& condition) {
    if (condition.kind != Condition::Kind::task) {
      return true;
    }
    const bool has = condition.value == "constant"
                         ? std::ranges::any_of(task.inputs, &TensorSpec::constant)
                         : has_products(task, backend);
    return has == condition.wanted;
  });
}

}  // namespace kernelpro
