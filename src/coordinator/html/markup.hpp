// HTML that is safe to put on a page: text becomes markup by escaping alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelpro::html {

// Text of whatever origin between tags or in an attribute. Sources, names, and what candidates and
// models say come from programs that nobody vouches for: what would end a text, hide it or turn its
// direction is shown and not obeyed. Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

using Attributes = std::vector<std::pair<const char*, std::string>>;

class Markup {
 public:
  Markup() = default;
  [[nodiscard]] static Markup text(std::string_view text) { return Markup(escaped(text)); }
  // What stands in our own source, as it is.
  template <std::size_t N>
  [[nodiscard]] static Markup literal(const char (&source)[N]) {
    return Markup(std::string(source, N - 1));
  }

  Markup& operator+=(const Markup& more) {
    html_ += more.html_;
    return *this;
  }
  friend Markup operator+(Markup a, const Markup& b) { return std::move(a += b); }

  [[nodiscard]] bool empty() const { return html_.empty(); }
  [[nodiscard]] const std::string& str() const { return html_; }

 private:
  friend Markup element(std::string_view name, const Attributes& attributes, const Markup& inner);
  explicit Markup(std::string html) : html_(std::move(html)) {}
  std::string html_;
};

// <name a="…">inner</name>. Names of elements and attributes are ours, values are escaped.
[[nodiscard]] Markup element(std::string_view name, const Attributes& attributes,
                             const Markup& inner);
[[nodiscard]] Markup element(std::string_view name, const Attributes& attributes,
                             std::string_view text);

// <name class="kind">text</name>
[[nodiscard]] Markup classed(std::string_view name, const std::string& kind, std::string_view text);

}  // namespace kernelpro::html
