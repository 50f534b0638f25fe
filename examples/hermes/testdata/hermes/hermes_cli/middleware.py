"""As much of Hermes' module as its documentation names."""

VALID_MIDDLEWARE = {"tool_request", "tool_execution", "llm_request", "llm_execution"}
