"""Finished figures: what a user keeps."""
