"""One tab a file, named as in the link."""
