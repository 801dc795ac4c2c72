"""Speed measurements: ours beside the peers that install from the package index."""
