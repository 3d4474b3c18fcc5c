#include "worker/profile/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "common/base/file.hpp"
#include "worker/profile/call_kind.hpp"
#include "worker/profile/line_fields.hpp"
#include "worker/profile/recording.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_line = "kernelpro-trace 1";
constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 30U;
// Each launch has its name with it; templates' names are long.
constexpr std::size_t most_name_bytes = std::size_t{512} << 20U;

struct KernelName {
  std::string text;
  std::string module;
};

std::string unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    const char* digits = text.data() + i + 2;
    if (text[i] == '\\' && text.size() - i >= 4 && text[i + 1] == 'x' &&
        std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
      out += static_cast<char>(code);
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// As CUPTI numbers kinds; arrays are memory of the device.
CopyKind copy_kind(int number) {
  switch (number) {
    case 1:
    case 3:
      return CopyKind::host_to_device;
    case 2:
    case 4:
      return CopyKind::device_to_host;
    case 5:
    case 6:
    case 7:
    case 8:
    case 10:
      return CopyKind::device_to_device;
    default:
      return CopyKind::other;
  }
}

class TraceReader {
 public:
  // False: it is not a line of ours, or a part of one.
  [[nodiscard]] bool take(std::string_view line) {
    LineFields fields(line.substr(std::min<std::size_t>(2, line.size())));
    switch (line.empty() || (line.size() > 1 && line[1] != ' ') ? '\0' : line[0]) {
      case 'V':
        (void)fields.number<std::uint32_t>();
        return fields.all_read();
      case 'D':
        return take_device(fields);
      case 'N':
        return take_name(fields);
      case 'K':
        return take_kernel(fields);
      case 'C':
        return take_copy(fields);
      case 'F':
        return take_fill(fields);
      case 'A':
        return take_call(fields);
      case 'L':
        lost_ += fields.number<std::uint64_t>();
        return fields.all_read();
      case 'M':
        refused_ += fields.number<std::uint64_t>();
        return fields.all_read();
      case 'R':
        reason_ = unescaped(fields.rest());
        return true;
      case 'E':
        ended_ = true;
        return line.size() == 1;
      default:
        return false;
    }
  }

  [[nodiscard]] const std::string& reason() const { return reason_; }

  // `bad_line`: the number of the first that could not be read; 0: none.
  [[nodiscard]] Recording finish(std::size_t bad_line) {
    for (std::size_t i = 0; i < recording_.launches.size(); ++i) {
      name(recording_.launches[i], kernel_names_[i]);
    }
    recording_.origin = "cupti";
    const auto device = devices_.find(kernel_device_.value_or(0));
    if (device != devices_.end()) {
      recording_.architecture = device->second;
    }
    recording_.problem = problem(bad_line);
    return std::move(recording_);
  }

 private:
  [[nodiscard]] bool take_device(LineFields& fields) {
    const auto device = fields.number<std::uint32_t>();
    const auto major = fields.number<std::uint32_t>();
    const auto minor = fields.number<std::uint32_t>();
    if (fields.bad() || major == 0 || major > 99 || minor > 9) {
      return false;
    }
    devices_[device] = fmt::format("sm_{}{}", major, minor);
    return true;
  }

  [[nodiscard]] bool take_name(LineFields& fields) {
    const auto number = fields.number<std::size_t>();
    const std::string_view module = fields.word();
    // They are numbered from 1 on.
    if (fields.bad() || fields.rest().empty() || number != names_.size() + 1) {
      return false;
    }
    names_.push_back({unescaped(fields.rest()), std::string(module == "-" ? "" : module)});
    if (module == "?") {
      ambiguous_.insert(names_.back().text);
    }
    return true;
  }

  [[nodiscard]] bool take_kernel(LineFields& fields) {
    TracedLaunch launch;
    const auto name = fields.number<std::size_t>();
    const auto device = fields.number<std::uint32_t>();
    launch.context = fields.number<std::uint32_t>();
    launch.stream = fields.number<std::uint32_t>();
    launch.correlation = fields.number<std::uint32_t>();
    fields.times(launch);
    for (Extent* extent : {&launch.grid, &launch.block}) {
      for (std::int64_t& side : *extent) {
        side = fields.amount();
      }
    }
    launch.registers = fields.number<std::uint16_t>();
    launch.static_shared_bytes = fields.amount();
    launch.dynamic_shared_bytes = fields.amount();
    launch.local_bytes = fields.amount();
    if (!fields.all_read() || name > names_.size()) {
      return false;
    }
    kernel_device_ = kernel_device_.value_or(device);
    kernel_names_.push_back(name);
    recording_.launches.push_back(std::move(launch));
    return true;
  }

  [[nodiscard]] bool take_copy(LineFields& fields) {
    TracedCopy copy;
    copy.kind = copy_kind(fields.number<std::uint8_t>());
    copy.pageable = fields.number<std::uint8_t>() != 0;
    copy.bytes = fields.amount();
    copy.stream = fields.number<std::uint32_t>();
    copy.correlation = fields.number<std::uint32_t>();
    fields.times(copy);
    if (fields.all_read()) {
      recording_.copies.push_back(copy);
    }
    return fields.all_read();
  }

  [[nodiscard]] bool take_fill(LineFields& fields) {
    TracedFill fill;
    fill.bytes = fields.amount();
    fill.stream = fields.number<std::uint32_t>();
    fill.correlation = fields.number<std::uint32_t>();
    fields.times(fill);
    if (fields.all_read()) {
      recording_.fills.push_back(fill);
    }
    return fields.all_read();
  }

  [[nodiscard]] bool take_call(LineFields& fields) {
    TracedCall call;
    const auto name = fields.number<std::size_t>();
    call.thread = fields.number<std::uint32_t>();
    call.correlation = fields.number<std::uint32_t>();
    fields.times(call);
    if (!fields.all_read() || name > names_.size()) {
      return false;
    }
    call.name = name == 0 ? "" : names_[name - 1].text;
    call.kind = call_kind(call.name);
    name_bytes_ += call.name.size();
    if (name_bytes_ <= most_name_bytes) {
      recording_.calls.push_back(std::move(call));
    }
    return true;
  }

  // A module that was sure at first is not any more once a second one has the same kernel.
  void name(TracedLaunch& launch, std::size_t number) {
    if (number == 0 || name_bytes_ > most_name_bytes) {
      return;
    }
    const KernelName& known = names_[number - 1];
    launch.name = known.text;
    launch.module = ambiguous_.contains(known.text) ? "" : known.module;
    name_bytes_ += launch.name.size();
  }

  [[nodiscard]] std::string problem(std::size_t bad_line) const {
    std::vector<std::string> problems;
    if (bad_line > 0) {
      problems.push_back(fmt::format("line {} of the trace cannot be read", bad_line));
    }
    if (!ended_) {
      problems.emplace_back("the program was cut off before it ended");
    }
    if (lost_ > 0) {
      problems.push_back(fmt::format("CUPTI lost {} records", lost_));
    }
    if (refused_ > 0) {
      problems.push_back(
          fmt::format("the program did more than a trace holds: {} records left out", refused_));
    }
    if (name_bytes_ > most_name_bytes) {
      problems.emplace_back("the names of the kernels need more memory than a trace may have");
    }
    return fmt::format("{}", fmt::join(problems, "; "));
  }

  Recording recording_;
  std::vector<KernelName> names_;
  std::set<std::string> ambiguous_;
  std::vector<std::size_t> kernel_names_;  // of recording_.launches
  std::map<std::uint32_t, std::string> devices_;
  std::optional<std::uint32_t> kernel_device_;  // of the first launch
  std::uint64_t lost_ = 0;
  std::uint64_t refused_ = 0;
  std::size_t name_bytes_ = 0;
  std::string reason_;
  bool ended_ = false;
};

Error no_trace(const fs::path& path) {
  return make_error(
      ErrorKind::bad_input,
      "the program left no trace: it did not start CUDA, or it is not allowed to write "
      "there",
      path.string());
}

// The next line off the front of `text`; it has none when the last one was cut.
std::optional<std::string_view> next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

Result<std::string> read_whole(const fs::path& path) {
  std::error_code failure;
  const std::uintmax_t bytes = fs::file_size(path, failure);
  if (failure) {
    return no_trace(path);
  }
  if (bytes > largest_file) {
    return make_error(
        ErrorKind::bad_input,
        "the trace has more than 1 GiB; profile a shorter part of the program, between "
        "cudaProfilerStart and cudaProfilerStop",
        path.string());
  }
  return read_file(path);
}

}  // namespace

Result<std::vector<Trace>> read_trace(const fs::path& path) {
  KP_LET(const std::string text, read_whole(path));
  std::string_view rest = text;
  if (next_line(rest) != first_line) {
    return make_error(ErrorKind::bad_input,
                      "this is no trace of this version of KernelPro: its first line is not '" +
                          std::string(first_line) + "'",
                      path.string());
  }
  TraceReader reader;
  std::size_t number = 1;
  std::size_t bad_line = 0;
  while (const std::optional<std::string_view> line = next_line(rest)) {
    ++number;
    if (!reader.take(*line) && bad_line == 0) {
      bad_line = number;
    }
  }
  if (!reader.reason().empty()) {
    return make_error(ErrorKind::environment,
                      "the program could not be traced: " + reader.reason());
  }
  return traces_of(reader.finish(bad_line));
}

std::vector<fs::path> trace_files(const fs::path& path) {
  std::vector<std::pair<std::uintmax_t, fs::path>> found;
  const std::string own = path.filename().string();
  std::error_code failure;
  for (fs::directory_iterator at(path.parent_path(), failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string name = at->path().filename().string();
    const bool of_child = name.size() > own.size() + 1 && name.starts_with(own + ".") &&
                          name.find_first_not_of("0123456789", own.size() + 1) == std::string::npos;
    if (std::error_code none; (name == own || of_child) && at->is_regular_file(none)) {
      found.emplace_back(at->file_size(none), at->path());
    }
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<fs::path> paths;
  paths.reserve(found.size());
  for (auto& [bytes, file] : found) {
    paths.push_back(std::move(file));
  }
  return paths;
}

}  // namespace kernelpro
