//! `activity-rank completions` and `man`: what shells and `man` read.

use std::io;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::{Cli, CompletionsArgs};
use crate::failure::Failure;
use crate::screen::Screen;

const NAME: &str = "activity-rank";

/// Prints the completions of a shell.
///
/// # Errors
///
/// Returns [`Failure`] if stdout fails.
pub fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut script);
    print(&script)
}

/// Prints the man page, with a section for each command.
///
/// # Errors
///
/// Returns [`Failure`] if stdout fails.
pub fn man() -> Result<ExitCode, Failure> {
    print(&page().map_err(Failure::Output)?)
}

/// Returns the man page: that of the program, and the description and options of each command.
fn page() -> io::Result<Vec<u8>> {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    for command in command
        .get_subcommands()
        .filter(|command| command.get_name() != "help")
    {
        let name = format!("{NAME}-{}", command.get_name());
        page.extend(format!(".SH \"{}\"\n", name.to_uppercase()).bytes());
        let man = Man::new(command.clone());
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    Ok(page)
}

fn print(bytes: &[u8]) -> Result<ExitCode, Failure> {
    Screen::print(&String::from_utf8_lossy(bytes))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use clap_complete::Shell;

    use super::*;

    #[test]
    fn page_has_every_command() -> io::Result<()> {
        let page = String::from_utf8_lossy(&page()?).into_owned();
        for command in Cli::command().get_subcommands() {
            let heading = format!(
                ".SH \"ACTIVITY\\-RANK\\-{}\"",
                command.get_name().to_uppercase()
            );
            let plain = heading.replace("\\-", "-");
            assert!(page.contains(&heading) || page.contains(&plain), "{plain}");
        }
        Ok(())
    }

    #[test]
    fn every_shell_completes_commands() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), NAME, &mut script);
            let script = String::from_utf8_lossy(&script);
            assert!(
                script.contains("standing") && script.contains("doctor"),
                "{shell}"
            );
        }
    }
}
