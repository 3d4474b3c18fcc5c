#include "coordinator/rewrite/cuda_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "coordinator/rewrite/cuda_source.hpp"

namespace kernelpro {

namespace {

constexpr const char* launch_bounds = "cuda_launch_bounds";
constexpr const char* cuda_unroll = "cuda_unroll";

// What a transformation does to one kernel: text put in front of places, and a tunable.
struct Edit {
  std::string site;
  std::string summary;
  std::vector<std::pair<std::size_t, std::string>> insertions;  // by place
  std::string tunable;
  std::string values;
  int value = 0;
};

// Behind the last #include; the first line where there is none.
std::size_t place_of_tunables(const std::string& text) {
  std::size_t place = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t word = text.find_first_not_of(" \t", begin);
    if (word < end && text[word] == '#' && text.find("include", word) < end) {
      place = std::min(end + 1, text.size());
    }
    begin = end + 1;
  }
  return place;
}

std::string applied(const std::string& source, const std::string& text, const Edit& edit) {
  std::string out = source;
  for (const auto& [place, text_there] : std::ranges::reverse_view(edit.insertions)) {
    out.insert(place, text_there);
  }
  const std::size_t place = place_of_tunables(text);
  out.insert(place, fmt::format("{}\n// kp:tune {} = {}\nconstexpr int {} = {};\n",
                                place > 0 && source[place - 1] != '\n' ? "\n" : "", edit.tunable,
                                edit.values, edit.tunable, edit.value));
  return out;
}

Error refusal(const std::string& text) {
  return make_error(ErrorKind::bad_input, text);
}

Result<Edit> bound_launches(const std::string& text, const CudaKernel& kernel) {
  if (kernel.bounded) {
    return refusal(kernel.name + " has launch bounds already");
  }
  const std::vector<std::string> launches = launch_threads(text, kernel.name);
  if (launches.empty()) {
    return refusal(kernel.name + " is not launched in this source");
  }
  std::optional<std::string> threads;
  for (const std::string& launch : launches) {
    const std::optional<std::string> one = constant_threads(text, launch, kernel.begin);
    if (!one) {
      return refusal(fmt::format("the threads of {} are no constant of the file: \"{}\"",
                                 kernel.name, launch));
    }
    if (threads && *threads != *one) {
      return refusal(kernel.name + " is launched with blocks of different sizes");
    }
    threads = one;
  }
  Edit edit;
  edit.tunable = "KP_BLOCKS_" + kernel.name;
  edit.values = "1 2 3 4 6 8";
  edit.value = 2;
  const std::string word = "__global__";
  edit.insertions = {{kernel.begin + word.size(),
                      fmt::format(" __launch_bounds__({}, {})", *threads, edit.tunable)}};
  edit.summary =
      fmt::format("registers for {} blocks of {} threads on an SM", edit.tunable, *threads);
  return edit;
}

// Whether nothing but blanks stands between the line's begin and `at`.
bool begins_line(const std::string& text, std::size_t at) {
  const std::size_t line = text.rfind('\n', at);
  const std::size_t begin = line == std::string::npos ? 0 : line + 1;
  return text.find_first_not_of(" \t", begin) == at;
}

bool is_unrolled(const std::string& text, std::size_t loop) {
  const std::size_t line = text.rfind('\n', loop);
  if (line == std::string::npos || line == 0) {
    return false;
  }
  const std::size_t before = text.rfind('\n', line - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, line - begin).find("unroll") != std::string::npos;
}

Result<Edit> unroll_loops(const std::string& text, const CudaKernel& kernel) {
  Edit edit;
  edit.tunable = "KP_UNROLL_" + kernel.name;
  edit.values = "1 2 4 8 16";
  edit.value = 4;
  for (const std::size_t loop : find_innermost_loops(text, kernel.body, kernel.end)) {
    if (begins_line(text, loop) && !is_unrolled(text, loop)) {
      edit.insertions.emplace_back(text.rfind('\n', loop) + 1,
                                   fmt::format("#pragma unroll {}\n", edit.tunable));
    }
  }
  if (edit.insertions.empty()) {
    return refusal(kernel.name + " has no innermost loop without a pragma");
  }
  edit.summary = fmt::format("unroll {} innermost loop{} of {}", edit.insertions.size(),
                             edit.insertions.size() == 1 ? "" : "s", kernel.name);
  return edit;
}

}  // namespace

std::vector<std::string> cuda_rewriter_names() {
  return {launch_bounds, cuda_unroll};
}

bool is_cuda_rewriter(const std::string& name) {
  return name == launch_bounds || name == cuda_unroll;
}

Result<std::vector<Rewritten>> rewrite_cuda(const std::string& name, const std::string& source,
                                            const std::map<std::string, std::string>& arguments) {
  for (const auto& [key, value] : arguments) {
    if (key != "site") {
      return refusal(fmt::format("{} takes no argument \"{}\"; it takes site", name, key));
    }
  }
  const auto wanted = arguments.find("site");
  const std::string text = without_text(source);
  std::vector<Rewritten> out;
  std::string reason = "there is no kernel";
  for (const CudaKernel& kernel : find_kernels(text)) {
    if (wanted != arguments.end() && kernel.name.find(wanted->second) == std::string::npos) {
      continue;
    }
    const Result<Edit> edit =
        name == cuda_unroll ? unroll_loops(text, kernel) : bound_launches(text, kernel);
    if (edit) {
      out.push_back({kernel.name, edit->summary, applied(source, text, *edit)});
    } else {
      reason = edit.error().message;
    }
  }
  if (out.empty()) {
    return refusal(fmt::format("{} does not apply: {}", name, reason));
  }
  return out;
}

}  // namespace kernelpro
