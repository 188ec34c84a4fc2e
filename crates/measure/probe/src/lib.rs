//! Ways of measuring: a server and a client side each.
