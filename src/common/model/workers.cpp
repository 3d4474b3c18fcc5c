#include "common/model/workers.hpp"

namespace kernelpro {

namespace {

struct SchemeTraits {
  WorkerScheme scheme;
  std::string_view name;
  bool takes_file;
};

constexpr std::array schemes = {SchemeTraits{WorkerScheme::local, "local", false},
                                SchemeTraits{WorkerScheme::bundle, "bundle", true},
                                SchemeTraits{WorkerScheme::replay, "replay", true}};

std::string form_of(const SchemeTraits& one, const std::string& file) {
  return std::string(one.name) + (one.takes_file ? ":" + file : "");
}

}  // namespace

std::string text_of(const Workers& workers) {
  return form_of(schemes.at(static_cast<std::size_t>(workers.scheme)), workers.file.string());
}

std::optional<Workers> parse_workers(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view file =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  for (const SchemeTraits& one : schemes) {
    const bool fits = one.takes_file ? !file.empty() : colon == std::string_view::npos;
    if (fits && text.substr(0, colon) == one.name) {
      return Workers{one.scheme, file};
    }
  }
  return std::nullopt;
}

std::string worker_forms() {
  std::string forms;
  for (const SchemeTraits& one : schemes) {
    if (!forms.empty()) {
      forms += &one == &schemes.back() ? " or " : ", ";
    }
    forms += "\"" + form_of(one, "FILE") + "\"";
  }
  return forms;
}

}  // namespace kernelpro
