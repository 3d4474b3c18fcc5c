#include "common/model/workers.hpp"

#include <array>
#include <charconv>

#include "common/model/judging.hpp"

namespace kernelpro {

namespace {

constexpr std::string_view local = "local";
constexpr std::string_view local_device = "local:";
constexpr std::string_view command_form = "cmd:";

struct FileScheme {
  WorkerScheme scheme;
  std::string_view prefix;
};

constexpr std::array file_schemes = {FileScheme{WorkerScheme::bundle, "bundle:"},
                                     FileScheme{WorkerScheme::replay, "replay:"}};

std::string text_of(const WorkerPlace& place) {
  if (!place.here()) {
    return std::string(command_form) + place.command;
  }
  return place.device ? std::string(local_device) + std::to_string(*place.device)
                      : std::string(local);
}

std::optional<WorkerPlace> parse_place(std::string_view text) {
  if (text == local) {
    return WorkerPlace();
  }
  if (text.starts_with(command_form) && text.size() > command_form.size()) {
    return WorkerPlace{.command = std::string(text.substr(command_form.size())), .device = {}};
  }
  int device = -1;
  if (text.starts_with(local_device)) {
    const auto [end, failed] =
        std::from_chars(text.data() + local_device.size(), text.data() + text.size(), device);
    device = failed == std::errc() && end == text.data() + text.size() ? device : -1;
  }
  return device >= 0 && device < most_devices
             ? std::optional(WorkerPlace{.command = {}, .device = device})
             : std::nullopt;
}

// Where the next place begins, behind its comma: commands may have commas of their own.
std::size_t end_of_place(std::string_view text) {
  for (std::size_t at = text.find(','); at != std::string_view::npos; at = text.find(',', at + 1)) {
    const std::string_view next = text.substr(at + 1);
    if (next.starts_with(local) || next.starts_with(command_form)) {
      return at;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string text_of(const Workers& workers) {
  for (const FileScheme& one : file_schemes) {
    if (workers.scheme == one.scheme) {
      return std::string(one.prefix) + workers.file.string();
    }
  }
  std::string text;
  for (const WorkerPlace& place : workers.places) {
    text += (text.empty() ? "" : ",") + text_of(place);
  }
  return text;
}

std::optional<Workers> parse_workers(std::string_view text) {
  Workers workers;
  for (const FileScheme& one : file_schemes) {
    if (text.starts_with(one.prefix) && text.size() > one.prefix.size()) {
      workers.scheme = one.scheme;
      workers.file = text.substr(one.prefix.size());
      return workers;
    }
  }
  workers.places.clear();
  for (bool more = true; more;) {
    const std::size_t end = end_of_place(text);
    std::optional<WorkerPlace> place = parse_place(text.substr(0, end));
    if (!place) {
      return std::nullopt;
    }
    workers.places.push_back(std::move(*place));
    more = end != std::string_view::npos;
    text = more ? text.substr(end + 1) : std::string_view();
  }
  return workers;
}

std::string worker_forms() {
  std::string forms =
      R"("local", "local:DEVICE" or "cmd:COMMAND" (or several, with commas between))";
  for (const FileScheme& one : file_schemes) {
    forms += &one == &file_schemes.back() ? " or \"" : ", \"";
    forms += std::string(one.prefix) + "FILE\"";
  }
  return forms;
}

}  // namespace kernelpro
