//! What `wrangler deploy` would send: a form of metadata and modules.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use test_support::{Value, root, target};

pub const ENVIRONMENTS: [&str; 3] = ["default", "preview", "production"];

/// A deployment up to the upload.
pub struct Upload {
    /// The whole form.
    pub form: Vec<u8>,
    /// Bindings, and how to run the modules.
    pub metadata: Value,
    /// Name and content of everything else, in alphabetical order.
    pub modules: Vec<(String, Vec<u8>)>,
    /// The folder with the same modules as files.
    pub folder: PathBuf,
}

impl Upload {
    /// The deployment to an environment, made once for all.
    pub fn to(environment: &str) -> Self {
        static FOLDER: OnceLock<PathBuf> = OnceLock::new();
        let folder = FOLDER.get_or_init(|| deployed(&target().join("deploy")));
        let form = std::fs::read(folder.join(format!("{environment}.upload")));
        Self::read(form.expect("a form"), folder.join(environment))
    }

    fn read(form: Vec<u8>, folder: PathBuf) -> Self {
        let boundary = form
            .split(|byte| *byte == b'\r')
            .next()
            .expect("a boundary");
        let mut modules: Vec<(String, Vec<u8>)> = split(&form, boundary).map(part).collect();
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

/// As the Makefile sets it up, or wrangler would ask and tell others.
fn deployed(folder: &Path) -> PathBuf {
    let mut command = Command::new(root().join("scripts/dry-deploy"));
    command.arg(folder);
    command
        .env("WRANGLER_SEND_METRICS", "false")
        .env("CLOUDFLARE_CF_FETCH_ENABLED", "false");
    command.env("WRANGLER_LOG_PATH", folder.with_extension("logs"));
    let output = command.output().expect("scripts/dry-deploy runs");
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "scripts/dry-deploy:\n{out}\n{err}");
    folder.to_owned()
}

/// What lies between boundaries: not what is before the first, nor the `--` behind the last.
fn split<'a>(form: &'a [u8], boundary: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let starts = form.windows(boundary.len()).enumerate();
    let starts: Vec<usize> = starts
        .filter(|(_, window)| *window == boundary)
        .map(|(at, _)| at)
        .collect();
    let ends = starts.clone().into_iter().skip(1);
    starts
        .into_iter()
        .zip(ends)
        .map(|(start, end)| &form[start + boundary.len()..end])
}

/// `\r\n<head>\r\n\r\n<content>\r\n`
fn part(part: &[u8]) -> (String, Vec<u8>) {
    let end = part
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .expect("a head");
    let head = String::from_utf8_lossy(&part[..end]);
    let name = head
        .split("; name=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let name = name.expect("a name").trim_start_matches("./");
    (name.to_owned(), part[end + 4..part.len() - 2].to_owned())
}
