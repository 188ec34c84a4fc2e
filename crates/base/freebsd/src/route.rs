//! route(8): `route -n get HOST`.

use crate::text::lines;

/// A route to a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// Destination of the route, `default` or an address.
    pub destination: String,
    /// Next router; `None` on the link itself.
    pub gateway: Option<String>,
    /// Interface that packets leave by.
    pub interface: String,
    /// `UP`, `GATEWAY`, `HOST` and others.
    pub flags: Vec<String>,
    /// MTU of the route; `None` where it says none.
    pub mtu: Option<u32>,
}

/// The route; `None` if there is none.
pub fn read(text: &str) -> Option<Route> {
    let mut route = Route::default();
    let mut columns: Vec<&str> = Vec::new();
    for line in lines(text) {
        let words = || line.split_whitespace();
        match line.trim().split_once(": ") {
            Some(("destination", value)) => value.clone_into(&mut route.destination),
            Some(("gateway", value)) => route.gateway = Some(value.to_owned()),
            Some(("interface", value)) => value.clone_into(&mut route.interface),
            Some(("flags", value)) => {
                let names = value.trim_matches(['<', '>']).split(',').filter(|name| !name.is_empty());
                route.flags = names.map(str::to_owned).collect();
            }
            Some(_) => {}
            None if words().next() == Some("recvpipe") => columns = words().collect(),
            None => {
                let at = columns.iter().position(|column| *column == "mtu");
                let mtu = at.and_then(|at| words().nth(at)).and_then(|word| word.parse().ok());
                route.mtu = mtu.filter(|mtu| *mtu > 0).or(route.mtu);
            }
        }
    }
    (!route.interface.is_empty()).then_some(route)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::ROUTE_13;

    #[test]
    fn a_route_has_an_interface_and_a_smaller_mtu() {
        let route = read(ROUTE_13).expect("there is one");
        assert_eq!((route.destination.as_str(), route.gateway.as_deref()), ("10.6.6.6", Some("10.0.16.2")));
        assert_eq!((route.interface.as_str(), route.mtu), ("tun0", Some(1452)));
        assert_eq!(route.flags, ["UP", "GATEWAY", "DONE", "STATIC"]);
    }

    #[test]
    fn no_route_is_none() {
        assert_eq!(read("route: route has not been found\n"), None);
        assert_eq!(read(" recvpipe  sendpipe\n 0 0\n"), None);
    }
}
