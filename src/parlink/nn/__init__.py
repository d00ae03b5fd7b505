"""The neural network: logits only, no I/O, no strings."""
