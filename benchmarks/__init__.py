"""Speed and memory, measured in a real browser; run as `python -m benchmarks.latency`."""
