#include "coordinator/report/export_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "common/base/text.hpp"
#include "common/wire/json.hpp"

namespace kernelpro::report {

namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// "kernelpro/candidate.h" of a line that includes it, with quotes or brackets; empty for others.
std::string included_name(const std::string& line) {
  const std::size_t hash = line.find_first_not_of(" \t");
  const std::size_t open = line.find_first_of("<\"");
  const std::size_t close = line.find_first_of(">\"", open + 1);
  const bool includes = hash != std::string::npos && line[hash] == '#' &&
                        close != std::string::npos && line.find("include") < open;
  return includes ? line.substr(open + 1, close - open - 1) : "";
}

// `seen`: the files that stand there already.
std::string with_files(const Task& task, const std::string& source, std::set<std::string>& seen) {
  std::string out;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = included_name(line);
    const auto file = task.files.find(name);
    if (file != task.files.end()) {
      out += seen.insert(name).second ? with_files(task, file->second, seen) : "";
    } else if (name != "kernelpro/candidate.h" && trimmed(line) != "#pragma once") {
      out += line + "\n";
    }
  }
  return out;
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
    std::istringstream lines(source);
    for (std::string line; std::getline(lines, line);) {
      const auto file = certificate.task.files.find(included_name(line));
      if (file != certificate.task.files.end() && found.insert(*file).second) {
        sources.push_back(file->second);
      }
    }
  }
  return found;
}

std::string whole_source(const Certificate& certificate) {
  std::set<std::string> seen;
  return with_files(certificate.task, certificate.candidate.source, seen);
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

ExportFile certificate_file(const Certificate& certificate) {
  return {"certificate.json", to_json(certificate).dump(2) + "\n"};
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
