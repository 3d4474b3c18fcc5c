// A gate before single calls, and the clock from there to their end, both on the GPU.
//
// Two processes take turns on a GPU; each turn costs about 145 us on an H200, the same within some
// tenths of a microsecond. So what lies between two stamps of ours, one before the gate opens and
// one behind the call's end, tells how long the call took, beside one that does nothing.
#pragma once

#include <array>
#include <functional>

#include "worker/cuda/device_compare.hpp"

namespace kernelpro {

class DeviceGate : public Gate {
 public:
  // What is queued before the gate opens and behind the call.
  struct Around {
    std::function<cuda::Code(Caches)> give;
    std::function<cuda::Code()> take;
  };
  DeviceGate(Gpu& gpu, DeviceTrouble& trouble, Around around)
      : gpu_(gpu), trouble_(trouble), around_(std::move(around)) {}
  ~DeviceGate() override;
  DeviceGate(const DeviceGate&) = delete;
  DeviceGate& operator=(const DeviceGate&) = delete;

  [[nodiscard]] Status allocate();
  [[nodiscard]] int descriptor() const override { return shared_.descriptor(); }
  [[nodiscard]] std::size_t bytes() const override { return shared_.bytes(); }
  [[nodiscard]] std::uint32_t close() override;
  void open(Caches caches) override;
  void open_blindly() override;
  [[nodiscard]] std::optional<double> pass() override;
  void abandon() override;

 private:
  // Whether all that our stream waits for comes in that time.
  [[nodiscard]] bool ends_within(std::int64_t milliseconds);
  void must(cuda::Code code, const char* doing) { trouble_.must(code, doing); }
  // Writes the number there, past everything that our stream waits for.
  void write_aside(std::uint64_t at);

  Gpu& gpu_;
  DeviceTrouble& trouble_;
  Around around_;
  DeviceBlock shared_;        // with the runner of the side
  cuda::Pointer stamps_ = 0;  // ours: when it opened, and when the calls had ended
  cuda::Stream aside_ = nullptr;
  std::uint32_t number_ = 0;  // 0: of no call
};

}  // namespace kernelpro
