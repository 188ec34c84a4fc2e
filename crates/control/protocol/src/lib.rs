//! Messages between controller and agents, their framing, and how an agent is launched.
