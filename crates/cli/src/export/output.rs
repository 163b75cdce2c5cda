//! The file that `export` writes.

use std::fs;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// Writes lines to standard output, a stream, or a new file that appears only when it is complete.
pub struct Output {
    name: String,
    file: File,
    /// Number of lines written.
    pub lines: u64,
}

enum File {
    Stdout(BufWriter<io::Stdout>),
    /// A pipe or a device.
    Stream(BufWriter<fs::File>),
    /// Renamed when complete. Only the owner may read it, because it contains personal data.
    New {
        file: BufWriter<NamedTempFile>,
        overwrites: bool,
    },
}

impl Output {
    /// Opens the output; standard output for `None` and `-`. `overwrites` permits to replace a file.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if the file exists and must not be replaced, [`Failure::File`] if it cannot be created.
    pub fn open(name: Option<&str>, overwrites: bool) -> Result<Self, Failure> {
        let file = match name {
            None | Some("-") => Ok(File::Stdout(BufWriter::new(io::stdout()))),
            Some(name) if !overwrites && Path::new(name).is_file() => {
                let message = format!("{name} exists: add --force to overwrite it");
                return Err(Failure::Usage(message));
            }
            Some(name) => create(Path::new(name), overwrites),
        };
        let name = name.unwrap_or("standard output").to_owned();
        match file {
            Ok(file) => Ok(Self {
                name,
                file,
                lines: 0,
            }),
            Err(cause) => Err(Failure::File { name, cause }),
        }
    }

    /// Returns whether the output is standard output.
    #[must_use]
    pub fn is_stdout(&self) -> bool {
        matches!(self.file, File::Stdout(_))
    }

    /// Writes a line.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the output cannot be written.
    pub fn write(&mut self, line: &str) -> Result<(), Failure> {
        let file: &mut dyn Write = match &mut self.file {
            File::Stdout(file) => file,
            File::Stream(file) => file,
            File::New { file, .. } => file,
        };
        writeln!(file, "{line}").map_err(|cause| self.failure(cause))?;
        self.lines += 1;
        Ok(())
    }

    /// Flushes the output and gives a new file its name.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the output cannot be written or renamed.
    pub fn finish(mut self) -> Result<(), Failure> {
        let flushed = match &mut self.file {
            File::Stdout(file) => file.flush(),
            File::Stream(file) => file.flush(),
            File::New { file, .. } => file
                .flush()
                .and_then(|()| file.get_ref().as_file().sync_all()),
        };
        flushed.map_err(|cause| self.failure(cause))?;
        if let File::New { file, overwrites } = self.file {
            let file = file.into_inner().map_err(|error| error.into_error());
            let renamed = file.and_then(|file| {
                let persisted = match overwrites {
                    true => file.persist(&self.name),
                    false => file.persist_noclobber(&self.name),
                };
                persisted.map_err(|error| error.error)
            });
            renamed.map_err(|cause| Failure::File {
                name: self.name,
                cause,
            })?;
        }
        Ok(())
    }

    fn failure(&self, cause: io::Error) -> Failure {
        match (&self.file, cause.kind()) {
            (File::Stdout(_), ErrorKind::BrokenPipe) => Failure::StdoutClosed,
            (File::Stdout(_), _) => Failure::Output(cause),
            (File::Stream(_) | File::New { .. }, _) => Failure::File {
                name: self.name.clone(),
                cause,
            },
        }
    }
}

fn create(path: &Path, overwrites: bool) -> io::Result<File> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Ok(File::Stream(BufWriter::new(
            fs::OpenOptions::new().write(true).open(path)?,
        )));
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) | None => Path::new("."),
    };
    Ok(File::New {
        file: BufWriter::new(NamedTempFile::new_in(folder)?),
        overwrites,
    })
}
