//! The upload of `wrangler deploy`: a form with metadata and modules.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use test_support::{Value, root, target};

pub const ENVIRONMENTS: [&str; 3] = ["default", "preview", "production"];

/// The upload of one environment.
pub struct Upload {
    /// The complete form.
    pub form: Vec<u8>,
    /// Bindings and settings.
    pub metadata: Value,
    /// Name and content of the modules, sorted by name.
    pub modules: Vec<(String, Vec<u8>)>,
    /// The folder that contains the modules as files.
    pub folder: PathBuf,
}

impl Upload {
    /// Returns the upload to an environment; a dry deployment runs once per process.
    pub fn to(environment: &str) -> Self {
        static FOLDER: OnceLock<PathBuf> = OnceLock::new();
        let folder = FOLDER.get_or_init(|| dry_deploy(&target().join("deploy")));
        let form = std::fs::read(folder.join(format!("{environment}.upload")));
        Self::read(form.expect("a form"), folder.join(environment))
    }

    fn read(form: Vec<u8>, folder: PathBuf) -> Self {
        let boundary = form.split(|byte| *byte == b'\r').next();
        let boundary = boundary.expect("a boundary");
        let mut modules: Vec<(String, Vec<u8>)> =
            split(&form, boundary).into_iter().map(part).collect();
        modules.sort();
        let metadata = modules.iter().position(|(name, _)| name == "metadata");
        let (_, metadata) = modules.remove(metadata.expect("metadata"));
        let metadata = serde_json::from_slice(&metadata).expect("JSON");
        Self {
            form,
            metadata,
            modules,
            folder,
        }
    }
}

/// Runs `scripts/dry-deploy` into a folder.
///
/// Sets the same variables as the Makefile, so that wrangler sends no metrics.
fn dry_deploy(folder: &Path) -> PathBuf {
    let mut command = Command::new(root().join("scripts/dry-deploy"));
    command.arg(folder);
    command.env("WRANGLER_SEND_METRICS", "false");
    command.env("CLOUDFLARE_CF_FETCH_ENABLED", "false");
    command.env("WRANGLER_LOG_PATH", folder.with_extension("logs"));
    let output = command.output().expect("scripts/dry-deploy runs");
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "scripts/dry-deploy:\n{out}\n{err}");
    let warns = [&out, &err].iter().any(|text| text.contains("WARNING"));
    assert!(!warns, "scripts/dry-deploy:\n{out}\n{err}");
    folder.to_owned()
}

/// Splits a form into the parts between its boundaries.
fn split<'a>(form: &'a [u8], boundary: &[u8]) -> Vec<&'a [u8]> {
    let is_start = |at: &usize| form[*at..].starts_with(boundary);
    let starts: Vec<usize> = (0..form.len()).filter(is_start).collect();
    let part = |pair: &[usize]| &form[pair[0] + boundary.len()..pair[1]];
    starts.windows(2).map(part).collect()
}

/// Parses a part, `\r\n<head>\r\n\r\n<content>\r\n`, into name and content.
fn part(part: &[u8]) -> (String, Vec<u8>) {
    let mut windows = part.windows(4);
    let end = windows.position(|four| four == b"\r\n\r\n");
    let end = end.expect("a head");
    let head = String::from_utf8_lossy(&part[..end]);
    let name = head.split("; name=\"").nth(1);
    let name = name.and_then(|rest| rest.split('"').next());
    let name = name.expect("a name").trim_start_matches("./");
    (name.to_owned(), part[end + 4..part.len() - 2].to_owned())
}
