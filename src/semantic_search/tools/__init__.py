"""What a person or an agent can ask: one function each, the same for the library, the command and MCP."""
