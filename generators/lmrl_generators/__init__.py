"""Generation of the datasets: plans, shards, executors, and the validation of what was made."""
