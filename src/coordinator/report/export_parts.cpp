#include "coordinator/report/export_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace kernelpro::report {

namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// The names between quotes in the #include lines of `source`.
std::vector<std::string> quoted_includes(const std::string& source) {
  std::vector<std::string> names;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t hash = line.find_first_not_of(" \t");
    const std::size_t open = line.find('"');
    const std::size_t close = line.find('"', open + 1);
    if (hash != std::string::npos && line[hash] == '#' && close != std::string::npos &&
        line.find("include") < open) {
      names.push_back(line.substr(open + 1, close - open - 1));
    }
  }
  return names;
}

}  // namespace

std::string rival_name(const Certificate& certificate) {
  const Task& task = certificate.task;
  const auto baseline = std::ranges::find(task.baselines, certificate.candidate.backend,
                                          &ImplementationSpec::backend);
  if (baseline == task.baselines.end()) {
    return "incumbent";
  }
  const auto source = task.files.find(baseline->file);
  const bool same = source != task.files.end() && source->second == certificate.incumbent.source;
  return same ? "baseline" : "incumbent";
}

std::map<std::string, std::string> rival_headers(const Certificate& certificate) {
  std::map<std::string, std::string> found;
  std::vector<std::string> sources = {certificate.incumbent.source};
  while (!sources.empty()) {
    const std::string source = std::move(sources.back());
    sources.pop_back();
    for (const std::string& name : quoted_includes(source)) {
      const auto file = certificate.task.files.find(name);
      if (file != certificate.task.files.end() && found.insert(*file).second) {
        sources.push_back(file->second);
      }
    }
  }
  return found;
}

int certified_threads(const Certificate& certificate) {
  return certificate.threads > 0 ? certificate.threads : std::max(certificate.machine.cores, 1);
}

std::vector<std::int64_t> axis_values(const Task& task, const Axes& axes) {
  std::vector<std::int64_t> values(task.axes.size());
  std::transform(task.axes.begin(), task.axes.end(), values.begin(),
                 [&axes](const AxisSpec& axis) { return axes.at(axis.name); });
  return values;
}

std::string comment_text(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(out, is_control, ' ');
  while (!out.empty() && (out.back() == '\\' || out.back() == ' ')) {
    out.pop_back();
  }
  return out;
}

std::string cpp_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (is_control(c)) {
      out += fmt::format("\\{:03o}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+,-./:=@_%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

std::string python_literal(std::string_view text) {
  std::string out = R"("""\)";
  out += '\n';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (is_control(c) && c != '\n' && c != '\t') {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out + R"(""")";
}

std::string plain_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  const bool letter = !out.empty() && std::isalpha(static_cast<unsigned char>(out.front())) != 0;
  return letter ? out : "k_" + out;
}

}  // namespace kernelpro::report
