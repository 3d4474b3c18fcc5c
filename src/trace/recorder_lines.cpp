#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/cupti_records.hpp"
#include "trace/recorder_state.hpp"

namespace kernelpro::trace {
namespace {

using cupti::Kind;
using cupti::read_at;

std::string_view function_name(Recorder& all, std::uint32_t domain, std::uint32_t function) {
  std::string& name = all.functions[(std::uint64_t{domain} << 32U) | function];
  const char* text = nullptr;
  if (name.empty() && all.cupti.callback_name(domain, function, &text) == 0 && text != nullptr) {
    name = base_name(text);
  }
  return name;
}

std::string_view text_at(const void* record, std::size_t offset) {
  const auto* text = reinterpret_cast<const char*>(read_at<std::uintptr_t>(record, offset));
  return text != nullptr ? text : std::string_view();
}

template <typename T>
void add(TraceWriter& writer, const void* record, std::size_t offset) {
  writer.add_signed(read_at<T>(record, offset));
}

void add_times(TraceWriter& writer, const void* record) {
  writer.add_times(read_at<std::uint64_t>(record, cupti::start),
                   read_at<std::uint64_t>(record, cupti::end));
}

void note_kernel(Recorder& all, const void* record) {
  namespace at = cupti::kernel;
  const std::string_view text = text_at(record, at::name);
  const std::uint64_t name = all.writer.name(text, all.modules.module_of(text));
  if (!all.writer.start('K')) {
    return;
  }
  all.writer.add(name);
  for (const std::size_t offset : {at::device, at::context, at::stream, at::correlation}) {
    add<std::uint32_t>(all.writer, record, offset);
  }
  add_times(all.writer, record);
  for (const std::size_t offset :
       {at::grid, at::grid + 4, at::grid + 8, at::block, at::block + 4, at::block + 8}) {
    add<std::int32_t>(all.writer, record, offset);
  }
  add<std::uint16_t>(all.writer, record, at::registers);
  for (const std::size_t offset : {at::static_shared, at::dynamic_shared, at::local}) {
    add<std::int32_t>(all.writer, record, offset);
  }
  all.writer.end();
}

void note_copy(Recorder& all, const void* record, std::size_t correlation) {
  namespace at = cupti::copy;
  if (!all.writer.start('C')) {
    return;
  }
  add<std::uint8_t>(all.writer, record, at::kind);
  const bool pageable = read_at<std::uint8_t>(record, at::source) == at::pageable ||
                        read_at<std::uint8_t>(record, at::target) == at::pageable;
  all.writer.add(pageable ? 1 : 0);
  all.writer.add(read_at<std::uint64_t>(record, at::bytes));
  add<std::uint32_t>(all.writer, record, at::stream);
  add<std::uint32_t>(all.writer, record, correlation);
  add_times(all.writer, record);
  all.writer.end();
}

void note_fill(Recorder& all, const void* record) {
  namespace at = cupti::fill;
  if (!all.writer.start('F')) {
    return;
  }
  all.writer.add(read_at<std::uint64_t>(record, at::bytes));
  add<std::uint32_t>(all.writer, record, at::stream);
  add<std::uint32_t>(all.writer, record, at::correlation);
  add_times(all.writer, record);
  all.writer.end();
}

void note_call(Recorder& all, const void* record, std::uint32_t domain) {
  namespace at = cupti::call;
  const std::string_view text =
      function_name(all, domain, read_at<std::uint32_t>(record, at::function));
  const std::uint64_t name = all.writer.name(text, "-");
  if (!all.writer.start('A')) {
    return;
  }
  all.writer.add(name);
  add<std::uint32_t>(all.writer, record, at::thread);
  add<std::uint32_t>(all.writer, record, at::correlation);
  all.writer.add_times(read_at<std::uint64_t>(record, at::start),
                       read_at<std::uint64_t>(record, at::end));
  all.writer.end();
}

void note_device(Recorder& all, const void* record) {
  namespace at = cupti::device;
  std::string text;
  for (const std::size_t offset : {at::id, at::major, at::minor}) {
    text += std::to_string(read_at<std::uint32_t>(record, offset)) + " ";
  }
  all.writer.line('D', text.append(text_at(record, at::name)));
}

}  // namespace

std::string_view base_name(std::string_view name) {
  const auto cut = [&name](std::size_t at) {
    const std::string_view tail = at == std::string_view::npos ? "" : name.substr(at);
    const bool version = tail.size() > 2 && tail.starts_with("_v") &&
                         tail.find_first_not_of("0123456789", 2) == std::string_view::npos;
    return version || tail == "_ptsz" || tail == "_ptds";
  };
  for (std::size_t at = name.rfind('_'); cut(at); at = name.rfind('_')) {
    name = name.substr(0, at);
  }
  return name;
}

void note(Recorder& all, const void* record) {
  switch (static_cast<Kind>(read_at<std::uint32_t>(record, 0))) {
    case Kind::kernel:
      note_kernel(all, record);
      break;
    case Kind::copy:
      note_copy(all, record, cupti::copy::correlation);
      break;
    case Kind::peer_copy:
      note_copy(all, record, cupti::copy::peer_correlation);
      break;
    case Kind::fill:
      note_fill(all, record);
      break;
    case Kind::runtime_call:
      note_call(all, record, cupti::runtime_domain);
      break;
    case Kind::driver_call:
      note_call(all, record, cupti::driver_domain);
      break;
    case Kind::device:
      note_device(all, record);
      break;
  }
}

}  // namespace kernelpro::trace
