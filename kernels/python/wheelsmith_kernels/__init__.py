"""Attention kernels for every torch and Python, from compute capability 7.5 on."""

__version__ = "0.1.0"
