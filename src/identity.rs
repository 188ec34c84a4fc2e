//! From words on the command line, files, photos and a logo to the identity of a document.

mod svg;

use std::{io::Cursor, path::Path};

use model::{Identity, Photo, PhotoKind, nearest::nearest};
use zune_jpeg::JpegDecoder;

use crate::{cli::Identify, exit::Words, paths, zone};

/// All photos of a document together, in bytes: with them, the report still is one file that can be sent by mail.
const MOST_PHOTOS: usize = 1024 * 1024;
/// No single photo is even read when it is larger, in MiB.
const LARGEST_PHOTO: u64 = 10;
/// Memory that the points of one photo may take, in bytes.
const MOST_DECODED: usize = 512 * 1024 * 1024;
/// Longest logo, in bytes.
const LARGEST_LOGO: usize = 256 * 1024;

/// Identity from options, entries and files, the photos read; `None` where they say nothing. A later file overrides an earlier
/// one.
pub(crate) fn read(options: &Identify) -> anyhow::Result<Option<Identity>> {
    let (mut entries, mut files) = (Identity::default(), Identity::default());
    for given in &options.meta {
        match given.to_str().and_then(as_entry) {
            Some((key, value)) => set(&mut entries, key, value)?,
            None => files = read_file(given).map_err(|error| hinted(error, given))?.or(files),
        }
    }
    let mut said = options.said().or(entries);
    said.check().map_err(|error| Words(format!("identity of the document: {error}")))?;
    read_pictures(&mut said, Path::new("")).map_err(|why| Words(format!("--meta {why}")))?;
    let identity = said.or(files);
    if let Some(name) = &identity.timezone {
        zone::named(name)?;
    }
    Ok((identity != Identity::default()).then_some(identity))
}

/// Key and value, where this is no path: a file whose name is like an entry is named as `./a=b`.
fn as_entry(given: &str) -> Option<(&str, &str)> {
    let (key, value) = given.split_once('=')?;
    let is_key = |c: char| c.is_ascii_alphabetic() || "_-.".contains(c);
    (key.starts_with(|c: char| c.is_ascii_alphabetic()) && key.chars().all(is_key)).then_some((key, value))
}

/// An error about a file that is not there tells how an entry is written: perhaps one was meant.
fn hinted(error: anyhow::Error, given: &Path) -> anyhow::Error {
    if given.try_exists().unwrap_or(true) {
        return error;
    }
    Words(format!("{error}; name a file, or write an entry as KEY=VALUE, for example title=\"Link test\"")).into()
}

fn set(identity: &mut Identity, key: &str, value: &str) -> Result<(), Words> {
    let name = key.replace('-', "_");
    if Identity::KEYS.contains(&name.as_str()) {
        return identity.set(&name, value).map_err(|error| Words(format!("--meta {error}")));
    }
    let meant = nearest(&name, Identity::KEYS).map_or(".".to_owned(), |meant| format!("; did you mean {meant}?"));
    let all = Identity::KEYS.join(", ");
    Err(Words(format!(
        "--meta {key}=…: there is no entry \"{key}\" with a text for a value{meant} There are {all}; tables like [[device]] stand in \
         a file (\"wireproof report --meta-template\")"
    )))
}

fn read_file(path: &Path) -> anyhow::Result<Identity> {
    let words = |why: String| Words(format!("{}: {why}", path.display()));
    let text = paths::read_text(path, "an identity file", paths::LONGEST).map_err(words)?;
    let mut identity = Identity::parse(&text).map_err(|error| words(error.to_string()))?;
    read_pictures(&mut identity, path.parent().unwrap_or(Path::new(""))).map_err(words)?;
    Ok(identity)
}

/// Reads the photos and the logo that it names as they are seen from this folder.
fn read_pictures(identity: &mut Identity, folder: &Path) -> Result<(), String> {
    read_photos(identity, folder)?;
    let Some(name) = identity.issuer.as_mut().and_then(|issuer| issuer.logo.as_mut()) else { return Ok(()) };
    let logo = read_logo(&folder.join(&*name)).map_err(|why| format!("issuer.logo: {name}: {why}"))?;
    name.clone_from(&logo.name);
    identity.photos.push(logo);
    Ok(())
}

fn read_logo(path: &Path) -> Result<Photo, String> {
    let content = paths::read(path, "a logo", 1)?;
    if content.len() > LARGEST_LOGO {
        let (is, most) = (content.len().div_ceil(1024), LARGEST_LOGO / 1024);
        return Err(format!("it has {is} KiB, and a logo at most {most} KiB; make it smaller"));
    }
    let kind = PhotoKind::of(&content).unwrap_or(PhotoKind::Svg);
    check_readable(&content, kind)?;
    Ok(Photo { name: Photo::name_of_logo(kind), kind, sha256: seal::sha256(&content), content })
}

/// Reads each photo that an item names, and gives it the name that it has in the report's folder.
fn read_photos(identity: &mut Identity, folder: &Path) -> Result<(), String> {
    let mut photos: Vec<Photo> = Vec::new();
    for (number, item) in identity.items.iter_mut().enumerate() {
        for name in &mut item.photos {
            let photo = read_photo(&folder.join(&*name), photos.len() + 1)
                .map_err(|why| format!("[[item]] number {}: photo {name}: {why}", number + 1))?;
            name.clone_from(&photo.name);
            photos.push(photo);
        }
    }
    let together: usize = photos.iter().map(|photo| photo.content.len()).sum();
    if together > MOST_PHOTOS {
        return Err(format!(
            "the photos have {} KiB together, and a report takes {} KiB; make them smaller, for example with \
             \"magick photo.jpg -resize 1024x1024 -quality 75 small.jpg\"",
            together.div_ceil(1024),
            MOST_PHOTOS / 1024
        ));
    }
    identity.photos = photos;
    Ok(())
}

fn read_photo(path: &Path, number: usize) -> Result<Photo, String> {
    let content = paths::read(path, "a photo", LARGEST_PHOTO)?;
    let kind = PhotoKind::of(&content).ok_or("this is neither PNG nor JPEG; save it as one of these")?;
    check_readable(&content, kind)?;
    Ok(Photo { name: Photo::name_of(number, kind), kind, sha256: seal::sha256(&content), content })
}

/// Whether a stored photo is one that could have been read from a file: a store is a user's file, and may say anything.
pub(crate) fn check_stored(photo: &Photo) -> Result<(), String> {
    if photo.kind != PhotoKind::of(&photo.content).unwrap_or(PhotoKind::Svg) {
        return Err("it is of another kind than it says".to_owned());
    }
    if photo.sha256 != seal::sha256(&photo.content) {
        return Err("its content does not have the SHA-256 that it says".to_owned());
    }
    check_readable(&photo.content, photo.kind)
}

/// A photo that cannot be shown would cost the report that is to show it.
fn check_readable(content: &[u8], kind: PhotoKind) -> Result<(), String> {
    let decoded = match kind {
        PhotoKind::Png => decode_png(content).map_err(|error| error.to_string()),
        PhotoKind::Jpeg => decode_jpeg(content),
        PhotoKind::Svg => return svg::check(content),
    };
    decoded.map_err(|error| format!("it cannot be shown ({error}); save it again as PNG or JPEG"))?;
    if kind == PhotoKind::Jpeg && is_cut_off(content) {
        return Err("the end of the picture is missing; copy the file again".to_owned());
    }
    Ok(())
}

fn decode_png(content: &[u8]) -> Result<(), png::DecodingError> {
    let mut rows = png::Decoder::new(Cursor::new(content)).read_info()?;
    while rows.next_row()?.is_some() {}
    Ok(())
}

fn decode_jpeg(content: &[u8]) -> Result<(), String> {
    let mut decoder = JpegDecoder::new(Cursor::new(content));
    decoder.decode_headers().map_err(|error| error.to_string())?;
    let size = decoder.output_buffer_size().unwrap_or(usize::MAX);
    if size > MOST_DECODED {
        return Err(format!("it would take {} MiB of memory", size >> 20));
    }
    decoder.decode().map(drop).map_err(|error| error.to_string())
}

/// The decoder fills up with grey what a JPEG lacks. Its data begin behind a marker (SOS) and end with another (EOI), and have
/// neither in them (ITU-T T.81, B.1.1.5); a preview that is in the file as well stands before.
fn is_cut_off(jpeg: &[u8]) -> bool {
    let last = |marker: [u8; 2]| jpeg.windows(2).rposition(|two| two == marker);
    last([0xff, 0xd9]) <= last([0xff, 0xda])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use image::ImageFormat;
    use tempfile::TempDir;

    use super::*;

    const META: &str = "[[item]]\nwhat = \"card seated\"\nphotos = [\"card.jpg\", \"slot.png\"]\n";

    fn picture(format: ImageFormat) -> Vec<u8> {
        let mut content = Cursor::new(Vec::new());
        image::RgbImage::new(2, 2).write_to(&mut content, format).unwrap();
        content.into_inner()
    }

    fn folder(card: &[u8]) -> TempDir {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("meta.toml"), META).unwrap();
        fs::write(folder.path().join("card.jpg"), card).unwrap();
        fs::write(folder.path().join("slot.png"), picture(ImageFormat::Png)).unwrap();
        folder
    }

    fn read_in(folder: &TempDir) -> anyhow::Result<Option<Identity>> {
        read(&Identify { meta: vec![folder.path().join("meta.toml")], ..Identify::default() })
    }

    #[test]
    fn photos_are_read_from_beside_the_file_and_named_anew() {
        let card = picture(ImageFormat::Jpeg);
        let identity = read_in(&folder(&card)).unwrap().unwrap();
        assert_eq!(identity.items[0].photos, ["photo-1.jpg", "photo-2.png"]);
        assert_eq!(identity.photos[0].content, card);
        assert_eq!(identity.photos[0].sha256, seal::sha256(&card));
    }

    #[test]
    fn what_is_no_photo_and_what_is_too_much_is_refused_by_name() {
        let error = |card: &[u8]| read_in(&folder(card)).unwrap_err().to_string();
        let text = error(b"not a photo");
        assert!(text.contains("meta.toml: [[item]] number 1: photo card.jpg: this is neither PNG nor JPEG"), "{text}");
        let large = error(&[picture(ImageFormat::Jpeg), vec![0; MOST_PHOTOS]].concat());
        assert!(large.contains("1025 KiB together, and a report takes 1024 KiB; make them smaller"), "{large}");
        let png = picture(ImageFormat::Png);
        for damaged in [b"\xff\xd8\xff".as_slice(), b"\x89PNG\r\n\x1a\n", &png[..png.len() / 2]] {
            let text = error(damaged);
            assert!(text.contains("photo card.jpg: it cannot be shown (") && text.contains("save it again"), "{text}");
        }
        let whole = picture(ImageFormat::Jpeg);
        let cut = error(&whole[..whole.len() - 2]);
        assert!(cut.contains("photo card.jpg: the end of the picture is missing"), "{cut}");
        let folder = folder(&whole);
        fs::remove_file(folder.path().join("slot.png")).unwrap();
        let missing = read_in(&folder).unwrap_err().to_string();
        assert!(missing.contains("photo slot.png: No such file"), "{missing}");
    }

    #[test]
    fn nothing_said_is_no_identity() {
        assert_eq!(read(&Identify::default()).unwrap(), None);
    }

    fn with_meta(meta: &[&str]) -> Result<Identity, String> {
        let options = Identify { meta: meta.iter().map(Into::into).collect(), ..Identify::default() };
        read(&options).map(Option::unwrap_or_default).map_err(|error| error.to_string())
    }

    #[test]
    fn entries_of_the_command_line_override_files() {
        let folder = folder(&picture(ImageFormat::Jpeg));
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("a.toml"), "title = \"A\"\ncustomer = \"A\"\nsite = \"A\"").unwrap();
        fs::write(path("b=b.toml"), "title = \"B\"\ncustomer = \"B\"").unwrap();
        let read =
            with_meta(&["title=said = \"so\"", &path("a.toml"), &path("b=b.toml"), "made-by=H. Sato, 2026-11-21"]);
        let read = read.unwrap();
        assert_eq!(read.title.as_deref(), Some("said = \"so\""));
        assert_eq!((read.customer.as_deref(), read.site.as_deref()), (Some("B"), Some("A")));
        assert_eq!(read.made_by.map(|it| it.to_string()).as_deref(), Some("H. Sato, 2026-11-21"));
        let options =
            Identify { title: Some("option".into()), meta: vec!["title=entry".into()], ..Identify::default() };
        assert_eq!(super::read(&options).unwrap().unwrap().title.as_deref(), Some("option"));
    }

    #[test]
    fn a_file_that_is_not_there_may_have_been_meant_as_an_entry() {
        let error = with_meta(&["conclusion"]).unwrap_err();
        assert!(
            error.starts_with("conclusion: ") && error.contains("; name a file, or write an entry as KEY=VALUE"),
            "{error}"
        );
    }

    #[test]
    fn an_entry_that_there_is_not_is_told_with_the_nearest_one() {
        let error = |entry: &str| with_meta(&[entry]).unwrap_err();
        assert!(error("conclusoin=x").contains("no entry \"conclusoin\""), "{}", error("conclusoin=x"));
        assert!(error("conclusoin=x").contains("did you mean conclusion?"), "{}", error("conclusoin=x"));
        assert!(error("conclusoin=x").contains("? There are title, "), "{}", error("conclusoin=x"));
        assert!(error("zzz=x").contains("a text for a value. There are title, "), "{}", error("zzz=x"));
        assert!(error("item=x").contains("stand in a file"), "{}", error("item=x"));
        assert!(error("title=").contains("title: write one line"), "{}", error("title="));
        assert!(error("date=soon").contains("write it like 2026-11-21"), "{}", error("date=soon"));
        assert!(error("./title=x").contains("No such file"), "{}", error("./title=x"));
        assert!(error("timezone=Asia/Tokio").contains("did you mean Asia/Tokyo"), "{}", error("timezone=Asia/Tokio"));
    }

    #[test]
    fn a_logo_is_read_from_where_it_is_named_and_checked() {
        let folder = folder(&picture(ImageFormat::Jpeg));
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let svg = br#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 1"><rect width="2" height="1"/></svg>"#;
        fs::write(path("own.svg"), svg).unwrap();
        fs::write(path("own.png"), picture(ImageFormat::Png)).unwrap();
        fs::write(path("issuer.toml"), "[issuer]\nname = \"A\"\nlogo = \"own.png\"").unwrap();
        let from_file = with_meta(&[&path("issuer.toml")]).unwrap();
        assert_eq!(from_file.photos[0].name, "logo.png");
        let from_entry = with_meta(&[&path("issuer.toml"), &format!("issuer.logo={}", path("own.svg"))]).unwrap();
        let issuer = from_entry.issuer.unwrap();
        assert_eq!((issuer.name.as_deref(), issuer.logo.as_deref()), (Some("A"), Some("logo.svg")));
        assert_eq!(from_entry.photos.iter().map(|photo| photo.content.as_slice()).collect::<Vec<_>>(), [svg]);
        let error = |name: &str, content: &[u8]| {
            fs::write(path(name), content).unwrap();
            with_meta(&[&format!("issuer.logo={}", path(name))]).unwrap_err()
        };
        let text = error("no.txt", b"no picture");
        assert!(text.contains("issuer.logo: ") && text.contains("neither"), "{text}");
        let large = error("large.svg", &vec![b' '; LARGEST_LOGO + 1]);
        assert!(large.contains("it has 257 KiB, and a logo at most 256 KiB"), "{large}");
        let cut = error("cut.png", &picture(ImageFormat::Png)[..20]);
        assert!(cut.contains("it cannot be shown"), "{cut}");
    }

    #[test]
    fn a_stored_photo_is_one_that_could_have_been_given() {
        let photo = |content: Vec<u8>, kind| Photo {
            name: "photo-1".to_owned(),
            kind,
            sha256: seal::sha256(&content),
            content,
        };
        let good = photo(picture(ImageFormat::Png), PhotoKind::Png);
        assert_eq!(check_stored(&good), Ok(()));
        let svg =
            b"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"><script>x()</script></svg>".to_vec();
        assert!(check_stored(&photo(svg, PhotoKind::Svg)).is_err());
        assert!(check_stored(&photo(b"<script>".to_vec(), PhotoKind::Png)).is_err());
        assert!(check_stored(&Photo { kind: PhotoKind::Jpeg, ..good.clone() }).is_err());
        assert!(check_stored(&Photo { sha256: "0".to_owned(), ..good }).is_err());
    }
}
