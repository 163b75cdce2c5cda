//! Properties of request parsing, for the fuzz target in `crates/fuzz` and for a unit test.
//!
//! They live here because the functions they call are private to this crate.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a property fails by panicking, and no binary contains this module"
)]

use axum::body::{Body, Bytes};
use futures_util::stream;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use serde_json::Value;
use std::{convert::Infallible, sync::LazyLock, time::Duration};
use tokio::runtime::{Builder, Runtime};

use super::{body, json, url};
use crate::{
    command::Command,
    error::GatewayError,
    memory::{Share, SharedLimit},
    policy::{Access, Policy},
};

const MAX_COMMANDS: usize = 4;

/// Checks all properties. The first line of `input` is the path and query, the rest is the body.
/// Without a newline, all of `input` is the body.
///
/// # Panics
///
/// Panics if a property does not hold.
pub fn check(input: &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n');
    let (line, body) = end.map_or((&b"/"[..], input), |end| (&input[..end], &input[end + 1..]));
    let line = String::from_utf8_lossy(line);
    let (path, query) = match line.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (&*line, None),
    };
    check_body_limit(body);
    check_single(body);
    check_batch(body);
    check_url(path, query, body);
}

/// A body that arrives in chunks is read completely, up to its limit.
fn check_body_limit(sent: &[u8]) {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
        Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime")
    });
    let size = sent.first().map_or(1, |byte| usize::from(*byte % 16) + 1);
    let limit = 256;
    let chunks = sent
        .chunks(size)
        .map(|chunk| Ok::<_, Infallible>(Bytes::copy_from_slice(chunk)));
    let body = Body::from_stream(stream::iter(chunks.collect::<Vec<_>>()));
    let share = Share::new(&SharedLimit::new(limit));
    let read = RUNTIME.block_on(body::read(body, limit, &share, Duration::from_secs(60)));
    let actual = sent.len();
    if actual > limit {
        assert_eq!(
            read,
            Err(GatewayError::BodyTooLarge {
                limit,
                actual: actual as u64
            })
        );
    } else {
        assert_eq!(read, Ok(Bytes::copy_from_slice(sent)));
    }
}

fn unlimited() -> Share {
    Share::new(&SharedLimit::new(usize::MAX))
}

fn check_single(sent: &[u8]) {
    let decoded = json::single(sent, &unlimited());
    let nested = [b"[", sent, b"]"].concat();
    match &decoded {
        Ok(command) => {
            check_text_command(command);
            check_against_serde(&serde_json::from_slice(sent).ok(), command);
            assert_same(json::single(&to_json([command])[0], &unlimited()), command);
            let commands =
                json::batch(&nested, MAX_COMMANDS, &unlimited()).expect("a batch of one");
            assert_eq!(commands.len(), 1);
            assert_same(commands.into_iter().next().expect("a command"), command);
        }
        Err(GatewayError::EmptyCommand) => {
            let commands =
                json::batch(&nested, MAX_COMMANDS, &unlimited()).expect("a batch of one");
            assert!(matches!(
                commands[..],
                [Err(GatewayError::EmptyPipelineCommand)]
            ));
        }
        Err(error) => assert!(is_syntax_error(error), "{error:?}"),
    }
}

fn check_batch(sent: &[u8]) {
    match json::batch(sent, MAX_COMMANDS, &unlimited()) {
        Ok(parsed) => {
            assert!((1..=MAX_COMMANDS).contains(&parsed.len()));
            for command in &parsed {
                match command {
                    Ok(command) => check_text_command(command),
                    Err(error) => assert_eq!(*error, GatewayError::EmptyPipelineCommand),
                }
            }
            let commands: Vec<&Command> = parsed.iter().flatten().collect();
            let mut encoded = to_json(commands.iter().copied()).join(&b","[..]);
            encoded.insert(0, b'[');
            encoded.push(b']');
            match json::batch(&encoded, MAX_COMMANDS, &unlimited()) {
                Ok(parsed) => {
                    assert_eq!(parsed.len(), commands.len());
                    for (parsed, command) in parsed.into_iter().zip(commands) {
                        assert_same(parsed, command);
                    }
                }
                Err(error) => {
                    assert_eq!((error, commands.len()), (GatewayError::EmptyPipeline, 0));
                }
            }
        }
        Err(GatewayError::TooManyCommands { limit, actual }) => {
            assert!(limit == MAX_COMMANDS && actual > limit);
        }
        Err(GatewayError::EmptyPipeline) => {}
        Err(error) => assert!(is_syntax_error(&error), "{error:?}"),
    }
}

/// Returns whether an error is one of a malformed body or argument.
fn is_syntax_error(error: &GatewayError) -> bool {
    error.status() == 400
        && !error.message().is_empty()
        && !matches!(
            error,
            GatewayError::EmptyCommand | GatewayError::EmptyPipelineCommand
        )
}

/// A command from JSON has at least one argument, and all of them are UTF-8.
fn check_text_command(command: &Command) {
    check_encoding(command);
    assert!(
        command
            .arguments()
            .all(|argument| str::from_utf8(argument).is_ok())
    );
}

/// The arguments equal those that `serde_json::Value` parses. It rejects unpaired surrogates and
/// numbers outside its range, and then nothing is compared.
fn check_against_serde(parsed: &Option<Value>, command: &Command) {
    let Some(Value::Array(items)) = parsed else {
        return assert!(parsed.is_none());
    };
    assert_eq!(items.len(), command.arguments().len());
    for (item, argument) in items.iter().zip(command.arguments()) {
        match item {
            Value::String(text) => assert_eq!(argument, text.as_bytes()),
            Value::Bool(word) => assert_eq!(argument, word.to_string().as_bytes()),
            Value::Number(number) => {
                assert_eq!(serde_json::from_slice(argument).ok(), Some(number.clone()));
            }
            Value::Null | Value::Array(_) | Value::Object(_) => {
                panic!("{item} is not a valid argument")
            }
        }
    }
}

fn check_url(path: &str, raw_query: Option<&str>, sent: &[u8]) {
    let segments: Vec<Vec<u8>> = url::segments(path).collect();
    let encode = |bytes: &[u8]| percent_encode(bytes, NON_ALPHANUMERIC).to_string();
    // The trailing slash does not add a segment.
    let encoded: String = segments
        .iter()
        .map(|segment| encode(segment) + "/")
        .collect();
    assert_eq!(
        url::segments(&format!("/{encoded}")).collect::<Vec<_>>(),
        segments
    );

    let raw_query = raw_query.unwrap_or_default();
    let pairs = || raw_query.split('&').filter(|pair| !pair.is_empty());
    let is_token = |pair: &&str| *pair == "_token" || pair.starts_with("_token=");
    let from_query: Vec<Vec<u8>> = url::query_arguments(raw_query).collect();
    let argument_count = |pair: &str| 1 + usize::from(pair.contains('='));
    assert_eq!(
        from_query.len(),
        pairs()
            .filter(|pair| !is_token(pair))
            .map(argument_count)
            .sum::<usize>()
    );
    assert_eq!(
        url::token(raw_query).is_some(),
        pairs().any(|pair| pair.starts_with("_token="))
    );
    // A token at any position does not change the arguments.
    let with_token = format!("_token=a&{raw_query}&_token=b%00");
    assert_eq!(url::token(&with_token).as_deref(), Some(&b"a"[..]));
    assert_eq!(
        url::query_arguments(&with_token).collect::<Vec<_>>(),
        from_query
    );

    let command = url::command(segments.clone(), Some(raw_query), sent);
    check_encoding(&command);
    let body = (!sent.is_empty()).then(|| sent.to_vec());
    let expected: Vec<Vec<u8>> = segments.into_iter().chain(body).chain(from_query).collect();
    assert_eq!(command.arguments().collect::<Vec<_>>(), expected);
}

/// A command has a name, and Redis receives exactly its arguments.
fn check_encoding(command: &Command) {
    let arguments: Vec<&[u8]> = command.arguments().collect();
    assert!(!arguments.is_empty(), "an empty command");
    assert_eq!(
        command.bytes(),
        arguments
            .iter()
            .map(|argument| argument.len())
            .sum::<usize>()
    );
    let mut packed = format!("*{}\r\n", arguments.len()).into_bytes();
    for argument in arguments {
        packed.extend(format!("${}\r\n", argument.len()).into_bytes());
        packed.extend(argument);
        packed.extend(b"\r\n");
    }
    assert_eq!(command.clone().into_cmd().get_packed_command(), packed);
    // The policy ignores the case of names.
    let lower = command.argument(0).unwrap_or_default().to_ascii_lowercase();
    let rest = command.arguments().skip(1);
    let lower = Command::of([lower.as_slice()].into_iter().chain(rest));
    assert_eq!(lower.name(), command.name());
    let check = |command: &Command| Policy::default().check(&command.name(), command, Access::Full);
    assert_eq!(check(&lower), check(command));
}

/// Encodes commands with UTF-8 arguments as JSON.
fn to_json<'a>(commands: impl IntoIterator<Item = &'a Command>) -> Vec<Vec<u8>> {
    let text = |argument: &[u8]| Value::from(str::from_utf8(argument).expect("text"));
    let array = |command: &Command| Value::Array(command.arguments().map(text).collect());
    commands
        .into_iter()
        .map(|command| array(command).to_string().into_bytes())
        .collect()
}

#[track_caller]
fn assert_same(parsed: Result<Command, GatewayError>, expected: &Command) {
    let parsed = parsed
        .as_ref()
        .map(|command| command.arguments().collect::<Vec<_>>());
    assert_eq!(parsed, Ok(expected.arguments().collect()));
}

/// Runs the seeds and the corpus of the fuzz target. Each line is a JSON string with one character
/// per input byte.
#[cfg(test)]
#[test]
fn fuzz_corpus_holds() {
    let files = [
        include_str!("../../../fuzz/seeds/commands.jsonl"),
        include_str!("../../../fuzz/corpus/commands.jsonl"),
    ];
    for line in files.into_iter().flat_map(str::lines) {
        let text: String = serde_json::from_str(line).expect("a string");
        let bytes: Vec<u8> = text
            .chars()
            .map(|c| u8::try_from(c).expect("a byte"))
            .collect();
        let result = std::panic::catch_unwind(|| check(&bytes));
        assert!(result.is_ok(), "{line}");
    }
}
