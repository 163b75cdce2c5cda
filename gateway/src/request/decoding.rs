//! What holds of every request that is decoded. Here, and not with the fuzz target that calls it
//! (`fuzz/`), because what it calls is nobody else's business.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a property fails by panicking; no binary has this module"
)]

use axum::body::{Body, Bytes};
use futures_util::stream;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use serde_json::Value;
use std::{convert::Infallible, sync::LazyLock, time::Duration};
use tokio::runtime::{Builder, Runtime};

use super::{body, json, path, query};
use crate::{command::Command, error::Fault, rules};

const MOST_COMMANDS: usize = 4;

/// Reads a line as path and query, and what follows it as a body; without a line end all of it
/// is a body.
pub fn check(input: &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n');
    let (line, sent) = end.map_or((&b"/"[..], input), |end| (&input[..end], &input[end + 1..]));
    let line = String::from_utf8_lossy(line);
    let (path, query) = match line.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (&*line, None),
    };
    collected(sent);
    single(sent);
    batch(sent);
    in_path(path, query, sent);
}

/// A body in pieces is the same as in one, up to its limit.
fn collected(sent: &[u8]) {
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
    let read = RUNTIME.block_on(body::read(body, limit, Duration::from_secs(60)));
    let actual = sent.len();
    if actual > limit {
        assert_eq!(
            read,
            Err(Fault::BodyTooLarge {
                limit,
                actual: actual as u64
            })
        );
    } else {
        assert_eq!(read, Ok(Bytes::copy_from_slice(sent)));
    }
}

fn single(sent: &[u8]) {
    let decoded = json::single(sent);
    let nested = [b"[", sent, b"]"].concat();
    match &decoded {
        Ok(command) => {
            command_of_json(command);
            same_as_parsed(&serde_json::from_slice(sent).ok(), command);
            assert_same(json::single(&written([command])[0]), Ok(command));
            let slots = json::batch(&nested, MOST_COMMANDS).expect("a batch of one");
            assert_eq!(slots.len(), 1);
            assert_same(slots.into_iter().next().expect("a slot"), Ok(command));
        }
        Err(Fault::EmptyCommand) => {
            let slots = json::batch(&nested, MOST_COMMANDS).expect("a batch of one");
            assert!(matches!(slots[..], [Err(Fault::EmptyPipelineCommand)]));
        }
        Err(fault) => assert!(is_told(fault), "{fault:?}"),
    }
}

fn batch(sent: &[u8]) {
    match json::batch(sent, MOST_COMMANDS) {
        Ok(slots) => {
            assert!((1..=MOST_COMMANDS).contains(&slots.len()));
            for slot in &slots {
                match slot {
                    Ok(command) => command_of_json(command),
                    Err(fault) => assert_eq!(*fault, Fault::EmptyPipelineCommand),
                }
            }
            let commands: Vec<&Command> = slots.iter().flatten().collect();
            let mut again = written(commands.iter().copied()).join(&b","[..]);
            again.insert(0, b'[');
            again.push(b']');
            match json::batch(&again, MOST_COMMANDS) {
                Ok(again) => {
                    assert_eq!(again.len(), commands.len());
                    again
                        .into_iter()
                        .zip(commands)
                        .for_each(|(again, sent)| assert_same(again, Ok(sent)));
                }
                Err(fault) => assert_eq!((fault, commands.len()), (Fault::EmptyPipeline, 0)),
            }
        }
        Err(Fault::TooManyCommands { limit, actual }) => {
            assert!(limit == MOST_COMMANDS && actual > limit);
        }
        Err(Fault::EmptyPipeline) => {}
        Err(fault) => assert!(is_told(&fault), "{fault:?}"),
    }
}

/// The faults of a body that is no command, or none that can be sent.
fn is_told(fault: &Fault) -> bool {
    fault.status() == 400
        && !fault.text().is_empty()
        && !matches!(fault, Fault::EmptyCommand | Fault::EmptyPipelineCommand)
}

/// Arguments from JSON are text, and there is one at least.
fn command_of_json(command: &Command) {
    goes_out_as_it_is(command);
    assert!(
        command
            .arguments()
            .all(|argument| str::from_utf8(argument).is_ok())
    );
}

/// What another reader makes of the same body, where it can: it takes no half surrogate pairs
/// and no numbers beyond its range.
fn same_as_parsed(parsed: &Option<Value>, command: &Command) {
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
            Value::Null | Value::Array(_) | Value::Object(_) => panic!("{item} is no argument"),
        }
    }
}

fn in_path(path: &str, raw_query: Option<&str>, sent: &[u8]) {
    let segments: Vec<Vec<u8>> = path::segments(path).collect();
    let encode = |bytes: &[u8]| percent_encode(bytes, NON_ALPHANUMERIC).to_string();
    // The slash at the end is the one that is no segment.
    let written: String = segments
        .iter()
        .map(|segment| encode(segment) + "/")
        .collect();
    assert_eq!(
        path::segments(&format!("/{written}")).collect::<Vec<_>>(),
        segments
    );

    let raw_query = raw_query.unwrap_or_default();
    let pairs = || raw_query.split('&').filter(|pair| !pair.is_empty());
    let is_token = |pair: &&str| *pair == "_token" || pair.starts_with("_token=");
    let of_query: Vec<Vec<u8>> = query::arguments(raw_query).collect();
    let two_each = |pair: &str| 1 + usize::from(pair.contains('='));
    assert_eq!(
        of_query.len(),
        pairs()
            .filter(|pair| !is_token(pair))
            .map(two_each)
            .sum::<usize>()
    );
    assert_eq!(
        query::token(raw_query).is_some(),
        pairs().any(|pair| pair.starts_with("_token="))
    );
    // A token, wherever it stands, changes no argument.
    let signed = format!("_token=a&{raw_query}&_token=b%00");
    assert_eq!(query::token(&signed).as_deref(), Some(&b"a"[..]));
    assert_eq!(query::arguments(&signed).collect::<Vec<_>>(), of_query);

    let command = path::command(segments.clone(), Some(raw_query), sent);
    goes_out_as_it_is(&command);
    let body = (!sent.is_empty()).then(|| sent.to_vec());
    let expected: Vec<Vec<u8>> = segments.into_iter().chain(body).chain(of_query).collect();
    assert_eq!(command.arguments().collect::<Vec<_>>(), expected);
}

/// At least a name; and Redis is sent exactly these arguments, whatever bytes are in them.
fn goes_out_as_it_is(command: &Command) {
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
    // Which commands may be sent does not depend on how their names are written.
    let lower = command.argument(0).unwrap_or_default().to_ascii_lowercase();
    let rest = command.arguments().skip(1);
    let lower = Command::of([lower.as_slice()].into_iter().chain(rest));
    assert_eq!(lower.name(), command.name());
    assert_eq!(
        rules::check(&lower.name(), &lower),
        rules::check(&command.name(), command)
    );
}

/// Commands as JSON; their arguments are text.
fn written<'a>(commands: impl IntoIterator<Item = &'a Command>) -> Vec<Vec<u8>> {
    let text = |argument: &[u8]| Value::from(str::from_utf8(argument).expect("text"));
    let array = |command: &Command| Value::Array(command.arguments().map(text).collect());
    commands
        .into_iter()
        .map(|command| array(command).to_string().into_bytes())
        .collect()
}

#[track_caller]
fn assert_same(decoded: Result<Command, Fault>, expected: Result<&Command, Fault>) {
    let decoded = decoded
        .as_ref()
        .map(|command| command.arguments().collect::<Vec<_>>());
    let expected = expected
        .as_ref()
        .map(|command| command.arguments().collect::<Vec<_>>());
    assert_eq!(decoded, expected);
}

/// The inputs that fuzzing began with, and those it found: bytes as the characters of a JSON
/// string, one to a line.
#[cfg(test)]
#[test]
fn what_fuzzing_has_found_holds() {
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
        let held = std::panic::catch_unwind(|| check(&bytes));
        assert!(held.is_ok(), "{line}");
    }
}
