"""Around the tabs: knobs, the bar of the run, lessons, and the address."""
