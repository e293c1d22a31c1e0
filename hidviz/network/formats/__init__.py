"""One file a format: each gives Spikes, or a sentence that says what is wrong with the file and what to do."""
