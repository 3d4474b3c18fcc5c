#include "common/wire/bundle_line.hpp"

#include <nlohmann/json.hpp>

#include "common/wire/form.hpp"
#include "common/wire/json.hpp"
#include "common/wire/sealed_line.hpp"

namespace kernelpro {

struct HeaderLine {
  std::string format;
  BundleHeader header;
};

void describe(Form& form, HeaderLine& line) {
  const std::string expected = line.format;
  form("format", line.format);
  form.expect(line.format == expected, "\"" + expected + "\"");
  form.version(bundle_version, "a bundle", wire::same_on_both_sides);
  KP_FIELDS(form, line.header, owner, part, requests);
  form.may_hold("sum");
}

namespace {

constexpr const char* requests_format = "kernelpro-bundle";
constexpr const char* results_format = "kernelpro-results";

std::string header_line(const char* format, const BundleHeader& header) {
  return wire::sealed(wire::written(HeaderLine{format, header}).dump()) + "\n";
}

Result<BundleHeader> parse_header(const std::string& line, const char* format) {
  KP_LET(const nlohmann::json json, parse_json(line));
  KP_LET(HeaderLine read, wire::read_whole(json, HeaderLine{format, {}}));
  KP_TRY(wire::check_seal(line));
  return std::move(read.header);
}

}  // namespace

std::string bundle_header_line(const BundleHeader& header) {
  return header_line(requests_format, header);
}

std::string results_header_line(const BundleHeader& header) {
  return header_line(results_format, header);
}

Result<BundleHeader> parse_bundle_header(const std::string& line) {
  return parse_header(line, requests_format);
}

Result<BundleHeader> parse_results_header(const std::string& line) {
  return parse_header(line, results_format);
}

std::vector<std::string> whole_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace kernelpro
