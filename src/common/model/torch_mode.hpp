// How PyTorch runs a module: the words of oracle/torch_oracle.py.
#pragma once

namespace kernelpro {

inline constexpr const char* eager_mode = "eager";      // as it comes
inline constexpr const char* fp32_mode = "eager-fp32";  // TF32 off: the judge's own baseline
inline constexpr const char* tf32_mode = "eager-tf32";  // TF32 on
inline constexpr const char* compile_mode = "compile";  // torch.compile, TF32 off
inline constexpr const char* torch_modes[] = {eager_mode, fp32_mode, tf32_mode, compile_mode};

}  // namespace kernelpro
