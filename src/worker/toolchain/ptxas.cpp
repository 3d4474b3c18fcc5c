#include "worker/toolchain/ptxas.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include "common/base/demangle.hpp"

namespace kernelpro {
namespace {

using std::string_view;

// The quoted words of "Compiling entry function 'NAME' for 'sm_90a'".
struct Entry {
  std::string name;
  std::string architecture;
};

std::optional<std::string> take_quoted(string_view& text) {
  const std::size_t open = text.find('\'');
  const std::size_t close = open == string_view::npos ? open : text.find('\'', open + 1);
  if (close == string_view::npos) {
    return std::nullopt;
  }
  std::string word(text.substr(open + 1, close - open - 1));
  text.remove_prefix(close + 1);
  return word;
}

std::optional<Entry> entry_of(string_view said) {
  if (!said.starts_with("Compiling entry function")) {
    return std::nullopt;
  }
  const std::optional<std::string> name = take_quoted(said);
  const std::optional<std::string> architecture = take_quoted(said);
  if (!name || !architecture) {
    return std::nullopt;
  }
  return Entry{*name, *architecture};
}

// "used 24 registers" and "656 bytes smem" are amounts of "registers" and "bytes smem".
struct Amount {
  int value = 0;
  string_view what;
};

std::optional<Amount> amount_of(string_view item) {
  const std::size_t start = item.find_first_of("0123456789");
  if (start == string_view::npos) {
    return std::nullopt;
  }
  Amount amount;
  const char* end_of_item = item.data() + item.size();
  const auto [end, failure] = std::from_chars(item.data() + start, end_of_item, amount.value);
  if (failure != std::errc()) {
    return std::nullopt;
  }
  amount.what = item.substr(static_cast<std::size_t>(end - item.data()));
  amount.what.remove_prefix(std::min(amount.what.size(), amount.what.find_first_not_of(' ')));
  return amount;
}

void take(KernelResources& kernel, const Amount& amount) {
  if (amount.what == "registers") {
    kernel.registers = amount.value;
  } else if (amount.what == "barriers") {
    kernel.barriers = amount.value;
  } else if (amount.what == "bytes smem") {
    kernel.shared_bytes = amount.value;
  } else if (amount.what.starts_with("bytes cmem")) {
    kernel.constant_bytes = std::max(kernel.constant_bytes, 0) + amount.value;
  } else if (amount.what == "bytes spill stores") {
    kernel.spill_stores = amount.value;
  } else if (amount.what == "bytes spill loads") {
    kernel.spill_loads = amount.value;
  } else if (amount.what == "bytes stack frame" || amount.what == "bytes cumulative stack size") {
    kernel.stack_bytes = std::max(kernel.stack_bytes, amount.value);
  }
}

void take_amounts(KernelResources& kernel, string_view list) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (const std::optional<Amount> amount = amount_of(list.substr(0, comma))) {
      take(kernel, *amount);
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

class Reader {
 public:
  // False: the line is not ptxas' information.
  bool take_line(const std::string& line);
  [[nodiscard]] std::vector<KernelResources> finish();

 private:
  std::vector<KernelResources> kernels_;  // by their mangled names
  bool of_kernel_ = false;                // whether properties that follow are the last kernel's
};

bool Reader::take_line(const std::string& line) {
  if (line.starts_with("    ") && line.find(" bytes stack frame, ") != std::string::npos) {
    if (of_kernel_) {
      take_amounts(kernels_.back(), line);
    }
    return true;
  }
  constexpr string_view separator = ": ";
  const std::size_t colon = line.find(separator);
  if (!line.starts_with("ptxas info") || colon == std::string::npos) {
    return false;
  }
  const string_view said = string_view(line).substr(colon + separator.size());
  constexpr string_view properties = "Function properties for ";
  if (std::optional<Entry> entry = entry_of(said)) {
    KernelResources kernel;
    kernel.kernel = std::move(entry->name);
    kernel.architecture = std::move(entry->architecture);
    kernels_.push_back(std::move(kernel));
    of_kernel_ = true;
  } else if (said.starts_with(properties)) {
    of_kernel_ = !kernels_.empty() && kernels_.back().kernel == said.substr(properties.size());
  } else if (said.starts_with("Used ") && of_kernel_) {
    take_amounts(kernels_.back(), said);
  }
  return true;
}

std::vector<KernelResources> Reader::finish() {
  for (KernelResources& kernel : kernels_) {
    kernel.kernel = demangled(kernel.kernel);
  }
  return std::move(kernels_);
}

// What costs speed: "(C7510) Potential Performance Loss: wgmma.mma_async instructions are
// serialized …", spills that were asked about.
bool costs_speed(const std::string& line) {
  return line.starts_with("ptxas") &&
         (line.find("Performance Loss") != std::string::npos || line.starts_with("ptxas warning"));
}

// The function that it is about is named in what a person would call it.
std::string with_plain_name(const std::string& line) {
  const std::size_t open = line.find('\'');
  const std::size_t close = line.find('\'', open + 1);
  return open == std::string::npos || close == std::string::npos
             ? line
             : line.substr(0, open + 1) + demangled(line.substr(open + 1, close - open - 1)) +
                   line.substr(close);
}

void take_warning(const std::string& line, std::vector<std::string>& warnings) {
  constexpr std::size_t most = 8;
  constexpr std::size_t longest = 400;
  const std::string text = with_plain_name(line).substr(0, longest);
  if (warnings.size() < most && std::ranges::find(warnings, text) == warnings.end()) {
    warnings.push_back(text);
  }
}

}  // namespace

PtxasReport read_ptxas(const std::string& text) {
  PtxasReport report;
  Reader reader;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (costs_speed(line)) {
      take_warning(line, report.warnings);
    }
    if (!reader.take_line(line)) {
      report.rest += line + "\n";
    }
  }
  report.kernels = reader.finish();
  return report;
}

}  // namespace kernelpro
