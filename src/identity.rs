//! From words on the command line, a file and photos to the identity of a document.

use std::{io::Cursor, path::Path};

use model::{Identity, Photo, PhotoKind};
use zune_jpeg::JpegDecoder;

use crate::{cli::Identify, exit::Words, paths};

/// All photos of a document together, in bytes: with them, the report still is one file that can be sent by mail.
const MOST_PHOTOS: usize = 1024 * 1024;
/// No single photo is even read when it is larger, in MiB.
const LARGEST_PHOTO: u64 = 10;
/// Memory that the points of one photo may take, in bytes.
const MOST_DECODED: usize = 512 * 1024 * 1024;

/// What options and file say of the document, the photos read; `None` when they say nothing.
pub(crate) fn read(options: &Identify) -> anyhow::Result<Option<Identity>> {
    let file = options.meta.as_deref().map_or_else(|| Ok(Identity::default()), read_file)?;
    let said = options.said();
    said.check().map_err(|error| Words(format!("whose document it is: {error}")))?;
    let identity = said.or(file);
    Ok((identity != Identity::default()).then_some(identity))
}

fn read_file(path: &Path) -> anyhow::Result<Identity> {
    let words = |why: String| Words(format!("{}: {why}", path.display()));
    let text = paths::read_text(path, "such a file", paths::LONGEST).map_err(words)?;
    let mut identity = Identity::parse(&text).map_err(|error| words(error.to_string()))?;
    read_photos(&mut identity, path.parent().unwrap_or(Path::new(""))).map_err(words)?;
    Ok(identity)
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

/// A photo that cannot be shown would cost the report that is to show it.
fn check_readable(content: &[u8], kind: PhotoKind) -> Result<(), String> {
    let decoded = match kind {
        PhotoKind::Png => decode_png(content).map_err(|error| error.to_string()),
        PhotoKind::Jpeg => decode_jpeg(content),
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
        read(&Identify { meta: Some(folder.path().join("meta.toml")), ..Identify::default() })
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
}
