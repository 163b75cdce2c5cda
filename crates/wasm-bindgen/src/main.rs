//! Writes the JavaScript that loads a wasm file of wasm-bindgen, and the file without what only this program reads.

use std::env;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

const USAGE: &str = "usage: wasm-bindgen-glue FILE FOLDER NAME [--reset-state]";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (file, folder, name, reset_state) = match arguments[..] {
        [file, folder, name] => (file, folder, name, false),
        // Lets a new instance take over after a panic.
        [file, folder, name, "--reset-state"] => (file, folder, name, true),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut bindgen = Bindgen::new();
    let written = bindgen.module(true).and_then(|bindgen| {
        bindgen
            .input_path(file)
            .out_name(name)
            .typescript(false)
            .reset_state_function(reset_state)
            .generate(folder)
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wasm-bindgen-glue: {file}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
