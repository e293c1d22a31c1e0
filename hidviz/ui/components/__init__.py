"""What is pressed and read: one component a file, with its .js and .css beside it."""
