//! Whether a program's file allows preloading: pure, on the bytes of the file.

use object::{
    Endianness, ReadRef,
    elf::FileHeader64,
    read::elf::{FileHeader, ProgramHeader},
};

/// Kind of an executable file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Image {
    /// A script: its interpreter, and the rest of its first line.
    Script {
        /// The interpreter's path.
        interpreter: String,
        /// The rest of the line.
        rest: String,
    },
    /// A program.
    Program {
        /// Machine (`e_machine`).
        machine: u16,
        /// Dynamic loader (`PT_INTERP`); `None` for a static program.
        loader: Option<String>,
        /// Whether it is from the Go compiler: Go programs make system calls without libc.
        go: bool,
    },
    /// Another file, such as a 32-bit program.
    Other,
}

impl Image {
    /// From the bytes of a file.
    pub(super) fn read<'data>(file: impl ReadRef<'data>) -> Self {
        // As much of the line as the kernel reads (`BINPRM_BUF_SIZE`).
        let line = file.read_bytes_at(0, file.len().unwrap_or_default().min(256)).unwrap_or_default();
        if let Some(line) = line.strip_prefix(b"#!") {
            return Self::script(line);
        }
        program(file).unwrap_or(Self::Other)
    }

    fn script(line: &[u8]) -> Self {
        let line = String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned();
        let (interpreter, rest) = line.trim().split_once([' ', '\t']).unwrap_or((line.trim(), ""));
        Self::Script { interpreter: interpreter.to_owned(), rest: rest.trim().to_owned() }
    }
}

fn program<'data>(file: impl ReadRef<'data>) -> object::Result<Image> {
    let header = FileHeader64::<Endianness>::parse(file)?;
    let endian = header.endian()?;
    let (mut loader, mut go) = (None, false);
    for segment in header.program_headers(endian, file)? {
        if let Some(path) = segment.interpreter(endian, file)? {
            loader = Some(String::from_utf8_lossy(path).into_owned());
        }
        let Some(mut notes) = segment.notes(endian, file)? else { continue };
        while let Some(note) = notes.next()? {
            go |= note.name() == b"Go";
        }
    }
    Ok(Image::Program { machine: header.e_machine(endian), loader, go })
}
