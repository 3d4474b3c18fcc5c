#include "common/wire/bundle_line.hpp"

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "common/wire/reader.hpp"
#include "common/wire/sealed_line.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {

namespace {

constexpr std::string_view requests_format = "kernelpro-bundle";
constexpr std::string_view results_format = "kernelpro-results";

std::string header_line(std::string_view format, const BundleHeader& header) {
  const nlohmann::json json = {{"format", format},
                               {"v", bundle_version},
                               {"owner", wire::write_text(header.owner)},
                               {"part", header.part},
                               {"requests", header.requests}};
  return wire::sealed(json.dump()) + "\n";
}

BundleHeader read_header(const wire::Place& place, std::string_view format) {
  wire::Fields fields(place);
  const wire::Place kind = fields.at("format");
  if (kind.text() != format) {
    kind.complain_expected("\"" + std::string(format) + "\"");
  }
  // Before the rest, since another version may have other keys.
  const wire::Place version = fields.at("v");
  if (const std::int64_t found = version.integer(); found != bundle_version) {
    version.complain("it has version " + std::to_string(found) + ", this program reads version " +
                     std::to_string(bundle_version) + ": install the same kernelpro on both sides");
  }
  BundleHeader header;
  header.owner = fields.at("owner").text();
  header.part = fields.at("part").integer();
  header.requests = fields.at("requests").integer();
  (void)fields.maybe("sum");
  fields.end();
  return header;
}

Result<BundleHeader> parse_header(const std::string& line, std::string_view format) {
  const Result<nlohmann::json> json = parse_json(line);
  if (!json) {
    return json.error();
  }
  Result<BundleHeader> header = wire::read_document(
      *json, [format](const wire::Place& place) { return read_header(place, format); });
  if (header) {
    KP_TRY(wire::check_seal(line));
  }
  return header;
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
