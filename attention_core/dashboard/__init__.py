"""The screen half that all pages share: frame, controls, pictures, cached tensors, exercises."""
