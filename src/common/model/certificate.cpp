#include "common/model/certificate.hpp"

namespace kernelpro {

std::string device_of(const MachineRecord& machine, Backend backend) {
  return traits_of(backend).gpu && !machine.gpus.empty() ? machine.gpus.front().name
                                                         : machine.processor;
}

}  // namespace kernelpro
