//! The check of all lines before the first is sent: a file with an error changes nothing.

use crate::failure::Failure;
use crate::upload::line::LineParser;
use crate::upload::progress::UploadProgress;
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
        if let Err(refused) = parser.parse(raw) {
            invalid += 1;
            progress.refused(&refused);
        }
    })?;
    progress.finish();
    Ok(invalid)
}
