//! Lists the files of texts, so that a new one needs no line anywhere.

use std::{env, error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let texts = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("texts");
    let mut list = String::new();
    for (name, language) in [("ENGLISH", "en"), ("JAPANESE", "ja")] {
        let folder = texts.join(language);
        println!("cargo::rerun-if-changed={}", folder.display());
        let files = fs::read_dir(folder)?.map(|file| Ok(file?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
        let mut files: Vec<_> =
            files.into_iter().filter(|path| path.extension().is_some_and(|it| it == "ftl")).collect();
        files.sort();
        let included = files.iter().map(|file| format!("include_str!({file:?}), ")).collect::<String>();
        list += &format!("const {name}: &[&str] = &[{included}];\n");
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("texts.rs"), list)?;
    Ok(())
}
