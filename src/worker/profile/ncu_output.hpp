// What ncu prints: rows of a table, with its messages and the program's own output before, between
// and behind them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "worker/profile/csv.hpp"

namespace kernelpro {

// ncu's complaints, without "==ERROR==" before them. At most a hundred of each are kept.
struct NcuComplaints {
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
};

[[nodiscard]] NcuComplaints ncu_complaints(std::string_view output);

// Gives the rows of the tables in ncu's output and passes over all else. A row begins with a quote
// at the begin of a line; the first row of a table is found behind a program's unfinished line too.
class NcuRows {
 public:
  explicit NcuRows(std::string_view output) : reader_(output) {}

  // False: there are no more. A row that is cut off or garbled is passed over, and counted.
  bool next();
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return reader_.fields(); }
  // Where the row begins that next() gave last, and where the one behind it may begin.
  [[nodiscard]] std::size_t begin() const { return begin_; }
  [[nodiscard]] std::size_t end() const { return reader_.position(); }
  // Goes on behind `bytes` more of the output.
  void skip(std::size_t bytes) { reader_.seek(reader_.position() + bytes); }
  // Rows that began like one and were none, so far.
  [[nodiscard]] std::size_t broken() const { return broken_; }

 private:
  CsvReader reader_;
  std::size_t begin_ = 0;
  std::size_t broken_ = 0;
};

}  // namespace kernelpro
