//! Options of `wireproof router`.

use clap::{Args, Subcommand, builder::NonEmptyStringValueParser};

/// Uses of the router of this network namespace.
#[derive(Debug, Subcommand)]
pub(crate) enum RouterAction {
    /// Forward IPv4 and IPv6 between interfaces by XDP, as the kernel's routes and neighbours say. Everything else goes to the
    /// kernel. It ends with "router down", or with the process that this starts.
    Up(RouterOptions),
    /// Take the router down and undo its changes.
    Down,
    /// Show the ports of the router, and what became of the packets that each received.
    Stats,
}

/// Options of `wireproof router up`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RouterOptions {
    /// Its interfaces, two or more.
    #[arg(value_name = "IF", required = true, num_args = 2.., value_parser = NonEmptyStringValueParser::new())]
    pub(crate) interfaces: Vec<String>,
    /// Keep it without a process: until "router down", "clean" or a reboot.
    #[arg(long, conflicts_with = "own")]
    pub(crate) keep: bool,
    /// Run its programs in generic mode, where a driver's own XDP does not work.
    #[arg(long)]
    pub(crate) generic: bool,
    /// Also take the interface of the default route, or that of an ssh session.
    #[arg(long)]
    pub(crate) i_know_this_is_my_uplink: bool,
    /// Be the process that owns it (used by wireproof itself).
    #[arg(long, hide = true)]
    pub(crate) own: bool,
}
