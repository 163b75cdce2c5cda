//! `activity-rank doctor`: checks a deployment from outside, and reports what to do.
//!
//! - [`facts`] requests what a deployment says of itself, and what it does.
//! - [`checks`] turns the facts into findings.

pub mod checks;
pub mod facts;

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::json;

use crate::args::{DoctorArgs, ServiceArgs};
use crate::client::client;
use crate::count::count;
use crate::failure::{Failure, UNHEALTHY};
use crate::screen::Screen;
use checks::{Finding, State, findings};
use facts::Facts;

/// Checks the service and prints the findings. The exit code is 1 after an error.
///
/// # Errors
///
/// Returns [`Failure`] if the arguments are invalid or stdout fails. An unreachable service is a finding.
pub async fn run(service: &ServiceArgs, args: &DoctorArgs) -> Result<ExitCode, Failure> {
    let url = args.address.as_ref().unwrap_or(&service.url);
    let client = client(&ServiceArgs {
        url: url.clone(),
        key: service.key.clone(),
    })?;
    let facts = Facts::read(&client, url, service.key.is_some(), args.origin.as_deref()).await;
    let findings = findings(&facts);
    if args.json {
        Screen::print(&json_text(&findings))?;
    } else {
        Screen::print(&text(url.as_str(), &findings))?;
    }
    let failed = findings.iter().any(|finding| finding.state == State::Error);
    Ok(ExitCode::from(if failed { UNHEALTHY } else { 0 }))
}

/// Formats the findings: one line each, with what to do below it.
fn text(url: &str, findings: &[Finding]) -> String {
    let mut text = format!("{url}\n\n");
    for finding in findings {
        let (state, check, detail) = (finding.state.name(), finding.check, &finding.detail);
        // Fails never: the text is in memory.
        let _ = writeln!(text, "{state:<8}{check:<15}{detail}");
        if let Some(remedy) = &finding.remedy {
            let _ = writeln!(
                text,
                "{:23}{}",
                "",
                remedy.replace('\n', "\n                       ")
            );
        }
    }
    let number = |state| {
        let matching = findings.iter().filter(|finding| finding.state == state);
        matching.count() as u64
    };
    let (errors, warnings) = (number(State::Error), number(State::Warning));
    let summary = format!("{}, {}", count(errors, "error"), count(warnings, "warning"));
    format!("{text}\n{summary}")
}

fn json_text(findings: &[Finding]) -> String {
    let list: Vec<_> = findings
        .iter()
        .map(|finding| {
            json!({
                "check": finding.check,
                "state": finding.state.name(),
                "detail": finding.detail,
                "remedy": finding.remedy,
            })
        })
        .collect();
    json!({ "findings": list }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_lines_with_a_summary() {
        let finding = |state, detail: &str, remedy: Option<&str>| Finding {
            check: "origins",
            state,
            detail: detail.to_owned(),
            remedy: remedy.map(str::to_owned),
        };
        let findings = [
            finding(State::Ok, "fine", None),
            finding(State::Warning, "none", Some("Set it:\nA = 1")),
        ];
        assert_eq!(
            text("https://a.example/", &findings),
            "https://a.example/\n\n\
             ok      origins        fine\n\
             warning origins        none\n                       Set it:\n                       A = 1\n\n\
             0 errors, 1 warning"
        );
        assert_eq!(
            json_text(&findings[..1]),
            r#"{"findings":[{"check":"origins","detail":"fine","remedy":null,"state":"ok"}]}"#
        );
    }
}
