//! SHA-256 sums of files, as `sha256sum` writes and reads them.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
};

use sha2::{Digest, Sha256};

use crate::SealError;

/// The sum of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// Name, relative to the folder, with `/` between parts.
    pub name: String,
    /// SHA-256 of its content, 64 hexadecimal digits.
    pub sha256: String,
}

/// The sums of all files of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums(pub Vec<Sum>);

/// SHA-256 of this content, as 64 hexadecimal digits.
pub fn sha256(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// SHA-256 of a file, read piece by piece.
pub(crate) fn sha256_of(mut file: File) -> io::Result<String> {
    let (mut hasher, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex(&hasher.finalize())),
            length => hasher.update(&piece[..length]),
        }
    }
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Sums {
    /// Reads what `sha256sum` writes. Names with a line break or a backslash, which it would escape, are refused.
    pub fn parse(text: &str) -> Result<Self, SealError> {
        let sum = |(line, number)| parse_line(line).map_err(|why| SealError::Sums { line: number, why });
        text.lines().zip(1..).map(sum).collect::<Result<_, _>>().map(Self)
    }
}

fn parse_line(line: &str) -> Result<Sum, &'static str> {
    let (sha256, name) = line.split_at_checked(64).ok_or("there is no sum of 64 digits")?;
    if !sha256.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit)) {
        return Err("there is no sum of 64 hexadecimal digits");
    }
    // A space, and a space (text) or an asterisk (binary): on Linux these are the same.
    let name = name.strip_prefix("  ").or_else(|| name.strip_prefix(" *")).ok_or("there is no name behind the sum")?;
    if name.is_empty() || name.contains(['\\', '\n', '\r']) {
        return Err("there is no plain name behind the sum");
    }
    Ok(Sum { name: name.to_owned(), sha256: sha256.to_owned() })
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|sum| writeln!(f, "{}  {}", sum.sha256, sum.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_that_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), abc);
    }

    #[test]
    fn a_list_is_read_back() {
        let sum = |name: &str| Sum { name: name.to_owned(), sha256: sha256(name.as_bytes()) };
        let sums = Sums(vec![sum("report.html"), sum("raw/photo-1.jpg"), sum("表 1.csv")]);
        assert_eq!(Sums::parse(&sums.to_string()).unwrap(), sums);
        assert_eq!(Sums::parse(&sums.to_string().replace("  ", " *")).unwrap(), sums);
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_line() {
        let good = format!("{}  a\n", sha256(b"a"));
        for bad in [
            "x",
            "<html>",
            &good[1..],
            &good.replace("  a", " a"),
            &good.replace("  a", "  "),
            &good.replace("a\n", "a\r"),
            "ああああ",
        ] {
            let error = Sums::parse(&format!("{good}{bad}")).expect_err(bad).to_string();
            assert!(error.starts_with("SHA256SUMS, line 2: there is no"), "{error}");
        }
    }
}
