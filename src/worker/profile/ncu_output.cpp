#include "worker/profile/ncu_output.hpp"

#include "common/base/text.hpp"

namespace kernelpro {
namespace {

using std::string_view;

constexpr std::size_t most_complaints = 100;
constexpr std::size_t longest_complaint = 4096;
// How every table of ours begins; a program's output may stand before it on the same line.
constexpr string_view table_head = R"("ID","Process ID",)";

void keep(std::vector<std::string>& complaints, string_view text) {
  if (complaints.size() < most_complaints && !text.empty()) {
    complaints.emplace_back(text.substr(0, longest_complaint));
  }
}

}  // namespace

NcuComplaints ncu_complaints(string_view output) {
  constexpr string_view error = "==ERROR==";
  constexpr string_view warning = "==WARNING==";
  NcuComplaints complaints;
  for (std::size_t at = output.find("=="); at != string_view::npos; at = output.find("==", at)) {
    string_view line = output.substr(at, output.find('\n', at) - at);
    at += line.size();
    if (line.starts_with(error)) {
      keep(complaints.errors, trimmed(line.substr(error.size())));
    } else if (line.starts_with(warning)) {
      keep(complaints.warnings, trimmed(line.substr(warning.size())));
    }
  }
  return complaints;
}

bool NcuRows::next() {
  for (;; reader_.skip_line()) {
    const string_view line = reader_.line();
    if (!line.starts_with('"')) {
      const std::size_t head = line.find(table_head);
      if (head == string_view::npos) {
        if (line.empty() && reader_.ended()) {
          return false;
        }
        continue;
      }
      reader_.seek(reader_.position() + head);
    }
    begin_ = reader_.position();
    switch (reader_.next()) {
      case CsvRow::whole:
        return true;
      case CsvRow::end:
        return false;
      case CsvRow::cut:
        ++broken_;
        break;
      case CsvRow::malformed:
        // Words that a program prints in quotes are no row.
        broken_ += line.find(R"(",")") == string_view::npos ? 0 : 1;
        break;
    }
  }
}

}  // namespace kernelpro
