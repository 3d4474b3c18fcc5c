#include "worker/host/remarks.hpp"

#include <algorithm>
#include <charconv>

#include "common/base/text.hpp"

namespace kernelpro {

namespace {

// "candidate.cpp:12:20: missed: …" or "… remark: … [-Rpass…]"
bool read_remark(std::string_view line, std::string_view source, CompilerRemark& out) {
  const std::size_t at = line.find(source);
  if (at == std::string_view::npos || !line.substr(at + source.size()).starts_with(':')) {
    return false;
  }
  std::string_view rest = line.substr(at + source.size() + 1);
  const auto number = std::from_chars(rest.data(), rest.data() + rest.size(), out.line);
  if (number.ec != std::errc()) {
    return false;
  }
  for (const std::string_view mark : {"missed: ", "remark: "}) {
    const std::size_t found = rest.find(mark);
    if (found != std::string_view::npos) {
      rest = rest.substr(found + mark.size());
      out.text = trimmed(rest.substr(0, rest.find(" [-R")));
      return true;
    }
  }
  return false;
}

// Of the many things that g++ says, those with a reason.
bool says_why(const CompilerRemark& remark) {
  for (const std::string_view sign : {"not vectorized", "couldn't vectorize", "cannot prove",
                                      "loop not", "unsafe", "call instr"}) {
    if (remark.text.find(sign) != std::string::npos) {
      return !remark.text.starts_with("couldn't vectorize loop");
    }
  }
  return false;
}

}  // namespace

std::vector<CompilerRemark> parse_remarks(std::string_view text, std::string_view source) {
  std::vector<CompilerRemark> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    CompilerRemark one;
    if (read_remark(text.substr(0, end), source, one) && says_why(one) &&
        std::none_of(out.begin(), out.end(), [&one](const CompilerRemark& other) {
          return other.line == one.line && other.text == one.text;
        })) {
      out.push_back(std::move(one));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace kernelpro
