"""Problems in KernelBench's form and what PyTorch is asked about them."""
