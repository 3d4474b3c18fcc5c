// The file of a trace: lines of text, a record each, so that a file cut anywhere can be read up to
// there. Fields are parted by one space; a name is the last field of its line, with backslash and
// control characters as \xHH. Times are nanoseconds after a moment near the program's start; "-"
// stands for a time that is not known.
//
//   kernelpro-trace 1                                   the first line
//   V cupti-version
//   D device major minor name                           of its architecture
//   N number module name                                a name used below; module: a hash,
//                                                       "-" not known, "?" several have it
//   K name device context stream correlation start end grid(3) block(3) registers
//     static-shared dynamic-shared local                a kernel
//   C kind pageable bytes stream correlation start end  a copy; kind as CUPTI numbers it
//   F bytes stream correlation start end                a fill
//   A name thread correlation start end                 a call
//   L records                                           CUPTI lost them for want of space
//   M records                                           not written: more than the file may hold
//   R reason                                            nothing is recorded, and why
//   E                                                   the program came to its end
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kernelpro::trace {

// What a file holds at most; later records are only counted.
inline constexpr std::uint64_t most_records = 4'000'000;

class TraceWriter {
 public:
  TraceWriter() = default;
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  ~TraceWriter() = default;  // the file is left to the end of the process

  // Makes `path`; where another process has it already, "path.PID". False when neither can be made.
  [[nodiscard]] bool open(const std::string& path, std::uint64_t limit = most_records);

  // Times of records are given as CUPTI counts and written from `moment` on.
  void begin_at(std::uint64_t moment) { moment_ = moment; }

  // Starts a record; false when the file is full.
  [[nodiscard]] bool start(char kind);
  void add(std::uint64_t value);
  void add_signed(std::int64_t value);
  // Both unknown unless they are a time and a later one.
  void add_times(std::uint64_t begin, std::uint64_t end);
  void end();

  // A line of its own, beside the limit.
  void line(char kind, std::string_view text);

  // The number of a name, with its line before it where it is new. 0: none, as for a null pointer.
  [[nodiscard]] std::uint64_t name(std::string_view text, std::string_view module);

  // Hands all to the system: it outlives the process from here on.
  void flush();
  // The last lines.
  void close();

 private:
  struct Known {
    std::uint64_t number = 0;
    std::string module;
  };

  void add_number(std::string_view digits);
  void add_escaped(std::string_view text);

  int file_ = -1;
  std::uint64_t written_ = 0;       // bytes
  std::uint64_t most_written_ = 0;  // the process's limit of file sizes: beyond it comes a signal
  std::uint64_t limit_ = most_records;
  std::uint64_t records_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t moment_ = 0;
  std::uint64_t names_ = 0;
  std::size_t name_bytes_ = 0;
  std::string pending_;
  std::unordered_map<std::string, Known> known_;
};

}  // namespace kernelpro::trace
