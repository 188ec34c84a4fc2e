//! The path to a host that runs nothing of ours.

use std::{
    io::{IsTerminal, stderr},
    net::{IpAddr, ToSocketAddrs},
};

use agent::{PathControl, PathError, Toward, toward};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{IpVersion, PathTo};
use report::PathToDocument;

use super::{answer, language};
use crate::{
    cli::{Common, PathOptions},
    exit::{Exit, Words},
    output::say,
};

/// `wireproof path DEST`: the first address of each IP version, unless one version is asked for.
pub(super) fn path_to(destination: &str, options: &PathOptions, common: &Common) -> anyhow::Result<Exit> {
    let addresses = addresses(destination, options.ip)?;
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    for address in addresses {
        match search(address, options, common) {
            Ok(path) => {
                let conclusion = verdict::path_to(&path);
                found.push((path, conclusion));
            }
            Err(error) => failed.push(error),
        }
    }
    if found.is_empty() {
        anyhow::bail!(failed.iter().map(PathError::to_string).collect::<Vec<_>>().join("; "));
    }
    if !common.quiet {
        failed.iter().for_each(|error| say(&error.to_string()));
    }
    let words = report::path_to(destination, &found, language(common));
    answer(&PathToDocument::of(destination, found), || words, common)?;
    Ok(Exit::Done)
}

fn search(address: IpAddr, options: &PathOptions, common: &Common) -> Result<PathTo, PathError> {
    let wanted = Toward { address, method: options.method, rounds: options.hops.unwrap_or(0), tcp: options.tcp };
    let (table, lang) = (live_table(common), language(common));
    let found = toward(&wanted, &PathControl::default(), |hops| table.set_message(report::hops(&hops, lang)));
    table.finish_and_clear();
    found
}

/// Words on a terminal that the next ones replace; nothing elsewhere.
fn live_table(common: &Common) -> ProgressBar {
    let is_shown = !common.quiet && stderr().is_terminal();
    let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let table = ProgressBar::with_draw_target(None, target);
    let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    table.with_style(style)
}

fn addresses(destination: &str, ip: Option<IpVersion>) -> Result<Vec<IpAddr>, Words> {
    let plain = destination.trim_start_matches('[').trim_end_matches(']');
    let all: Vec<IpAddr> = match plain.parse() {
        Ok(address) => vec![address],
        Err(_) => {
            let resolved = (plain, 0).to_socket_addrs();
            let resolved = resolved.map_err(|error| {
                Words(format!("{destination} is no address, and its name cannot be resolved: {error}; write an address, like 198.18.0.2"))
            })?;
            resolved.map(|address| address.ip()).collect()
        }
    };
    let first = |wanted: IpVersion| all.iter().copied().find(|address| IpVersion::of(*address) == wanted);
    let chosen: Vec<IpAddr> = [IpVersion::V4, IpVersion::V6]
        .into_iter()
        .filter(|it| ip.is_none_or(|ip| ip == *it))
        .filter_map(first)
        .collect();
    if chosen.is_empty() {
        let version = ip.map_or_else(String::new, |ip| format!("{ip} "));
        return Err(Words(format!(
            "{destination} has no {version}address; leave --ip out to search the other version"
        )));
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_as_it_is_and_the_wrong_version_refused() {
        let v4: IpAddr = "198.18.0.2".parse().unwrap();
        assert_eq!(addresses("198.18.0.2", None).unwrap(), [v4]);
        assert_eq!(addresses("[2001:2::1]", None).unwrap(), ["2001:2::1".parse::<IpAddr>().unwrap()]);
        let error = addresses("198.18.0.2", Some(IpVersion::V6)).unwrap_err().to_string();
        assert!(error.contains("198.18.0.2 has no IPv6 address"), "{error}");
    }
}
