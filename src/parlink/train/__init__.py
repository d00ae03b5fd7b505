"""Training: data to batches, the loop, the schedule and the checkpoints."""
