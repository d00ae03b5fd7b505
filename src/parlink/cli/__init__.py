"""The command line: one file a verb, each parses, calls one library function and prints."""
