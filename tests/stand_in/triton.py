"""Hides a Triton that may be installed."""
raise ImportError("No module named 'triton'")
