#include "common/model/workers.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/model/judging.hpp"

namespace kernelpro {

namespace {

constexpr std::string_view local = "local";
constexpr std::string_view local_device = "local:";
constexpr std::string_view command_form = "cmd:";
constexpr std::string_view slurm_form = "slurm:";

struct FileScheme {
  WorkerScheme scheme;
  std::string_view prefix;
};

constexpr std::array file_schemes = {FileScheme{WorkerScheme::bundle, "bundle:"},
                                     FileScheme{WorkerScheme::replay, "replay:"}};

Error unknown(std::string_view text) {
  return make_error(ErrorKind::bad_input,
                    "expected " + worker_forms() + ", found \"" + std::string(text) + "\"");
}

Result<WorkerPlace> parse_place(std::string_view text) {
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
             ? Result<WorkerPlace>(WorkerPlace{.command = {}, .device = device})
             : unknown(text);
}

Status add_places(std::string_view text, std::vector<WorkerPlace>& places) {
  if (!text.starts_with(slurm_form)) {
    KP_LET(WorkerPlace place, parse_place(text));
    places.push_back(std::move(place));
    return {};
  }
  KP_LET(const SlurmPlaces jobs, parse_slurm_places(text.substr(slurm_form.size())));
  places.insert(places.end(), static_cast<std::size_t>(jobs.count),
                WorkerPlace{.command = {}, .device = {}, .slurm = jobs.place});
  return {};
}

// Where the next place begins, behind its comma: commands may have commas of their own.
std::size_t end_of_place(std::string_view text) {
  for (std::size_t at = text.find(','); at != std::string_view::npos; at = text.find(',', at + 1)) {
    const std::string_view next = text.substr(at + 1);
    if (next.starts_with(local) || next.starts_with(command_form) || next.starts_with(slurm_form)) {
      return at;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string text_of(const WorkerPlace& place) {
  if (place.slurm) {
    return std::string(slurm_form) + text_of(SlurmPlaces{.place = *place.slurm});
  }
  if (!place.here()) {
    return std::string(command_form) + place.command;
  }
  return place.device ? std::string(local_device) + std::to_string(*place.device)
                      : std::string(local);
}

std::string text_of(const Workers& workers) {
  for (const FileScheme& one : file_schemes) {
    if (workers.scheme == one.scheme) {
      return std::string(one.prefix) + workers.file.string();
    }
  }
  std::string text;
  for (auto place = workers.places.begin(); place != workers.places.end();) {
    text += text.empty() ? "" : ",";
    if (!place->slurm) {
      text += text_of(*place++);
      continue;
    }
    const auto other = std::find_if(place, workers.places.end(),
                                    [&place](const WorkerPlace& one) { return one != *place; });
    const int count = static_cast<int>(other - place);
    text += std::string(slurm_form) + text_of(SlurmPlaces{.place = *place->slurm, .count = count});
    place = other;
  }
  return text;
}

Result<Workers> parse_workers(std::string_view text) {
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
    KP_TRY(add_places(text.substr(0, end), workers.places));
    more = end != std::string_view::npos;
    text = more ? text.substr(end + 1) : std::string_view();
  }
  return workers;
}

std::string worker_forms() {
  std::string forms =
      R"("local", "local:DEVICE", "cmd:COMMAND" or "slurm:partition=P,…" (or several, with commas between))";
  for (const FileScheme& one : file_schemes) {
    forms += &one == &file_schemes.back() ? " or \"" : ", \"";
    forms += std::string(one.prefix) + "FILE\"";
  }
  return forms;
}

}  // namespace kernelpro
