"""The Model Context Protocol server: the verbs of `tools`, for agents, over standard input and output."""
