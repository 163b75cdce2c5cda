//! The check of all lines before the first is sent: a file with an error changes nothing.

use crate::failure::Failure;
use crate::upload::line::{LineParser, LineResult, Outcome};
use crate::upload::progress::UploadProgress;
use crate::upload::report::Report;
use crate::upload::source::Source;

/// Reads the whole input, prints at most `max_printed` invalid lines and returns their number. The input can be read again
/// afterwards.
///
/// # Errors
///
/// Returns [`Failure::File`] if the input cannot be read.
pub fn invalid_lines(
    source: &mut Source,
    parser: &LineParser,
    max_printed: u64,
) -> Result<u64, Failure> {
    let mut progress = UploadProgress::new(None, max_printed);
    let mut invalid = 0;
    source.read_ahead(|raw| {
        if let Err(refused) = parser.parse(raw, 0) {
            invalid += 1;
            progress.refused(&refused);
        }
    })?;
    progress.finish();
    Ok(invalid)
}

/// Writes the results of the check to the report: `valid` for each line that could be sent.
///
/// # Errors
///
/// Returns [`Failure::File`] if the input cannot be read, or the report cannot be written.
pub fn write_results(
    source: Source,
    parser: &LineParser,
    report: &mut Report,
) -> Result<(), Failure> {
    let mut written = Ok(());
    let mut index = 0;
    source.read(|raw| {
        let result = match parser.parse(raw, index) {
            Ok(None) => return true,
            Ok(Some(line)) => LineResult::new(&line, Ok(Outcome::valid())),
            Err(refused) => *refused,
        };
        index += 1;
        written = report.add(&[result]);
        written.is_ok()
    })?;
    written
}
