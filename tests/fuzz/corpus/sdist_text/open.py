CUDAExtension(([{"a": f"{" \
  """x