//! Every fault with its HTTP status and its public text.

use std::borrow::Cow;

use axum::http::StatusCode;

const TOO_LARGE: &str =
    "See https://upstash.com/docs/redis/troubleshooting/max_request_size_exceeded for details";

/// Why a request, or one slot of a pipeline, has no result.
///
/// | status | variants |
/// |---|---|
/// | 400 | everything the caller can mend: syntax, refused commands, errors Redis answers |
/// | 401 | `Unauthorized` |
/// | 408 | `BodyTimeout` |
/// | 413 | `CommandTooLarge`, `BodyTooLarge`, `TooManyCommands` |
/// | 500 | `Internal` |
/// | 503 | `RedisDown`, nothing ran; `ConnectionLost`, it may have run; `TooFewReplicas`, it ran and may be lost; `TooManyStreams` |
/// | 504 | `RedisTimeout`, it may still run |
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Unauthorized,
    EmptyBody,
    BodyAborted,
    BodyTimeout,
    BodyTooLarge {
        limit: usize,
        actual: u64,
    },
    NotAnArray,
    BadCommand,
    BadPipeline,
    EmptyCommand,
    EmptyPipeline,
    EmptyPipelineCommand,
    NullArgument,
    NestedArgument(char),
    BadResponseFormat,
    Base64OfResp2,
    CommandTooLarge {
        limit: usize,
        actual: usize,
    },
    ReplyTooLarge {
        limit: usize,
        actual: usize,
    },
    TooManyCommands {
        limit: usize,
        actual: usize,
    },
    TooManyStreams {
        limit: usize,
    },
    NoPermission(String),
    Refused(String),
    Redis(String),
    RedisDown(String),
    ConnectionLost,
    RedisTimeout {
        ms: u128,
    },
    TooFewReplicas {
        confirmed: usize,
        wanted: usize,
        ms: u128,
    },
    Internal,
}

impl Fault {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::EmptyBody
            | Self::BodyAborted
            | Self::NotAnArray
            | Self::BadCommand
            | Self::BadPipeline
            | Self::EmptyCommand
            | Self::EmptyPipeline
            | Self::EmptyPipelineCommand
            | Self::NullArgument
            | Self::NestedArgument(_)
            | Self::BadResponseFormat
            | Self::Base64OfResp2
            | Self::ReplyTooLarge { .. }
            | Self::NoPermission(_)
            | Self::Refused(_)
            | Self::Redis(_) => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::BodyTooLarge { .. }
            | Self::CommandTooLarge { .. }
            | Self::TooManyCommands { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::RedisDown(_)
            | Self::ConnectionLost
            | Self::TooFewReplicas { .. }
            | Self::TooManyStreams { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::RedisTimeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The `error` text. Clients match on these, so the words of the hosted service are kept.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Unauthorized => "WRONGPASS invalid or missing auth token. See https://docs.upstash.com/redis/troubleshooting/http_unauthorized for details.".into(),
            Self::EmptyBody => "EOF".into(),
            Self::BodyAborted => "ERR the request body ended early".into(),
            Self::BodyTimeout => "ERR the request body did not arrive in time".into(),
            Self::NotAnArray => "expected JSON array".into(),
            Self::BadCommand => "ERR failed to parse command".into(),
            Self::BadPipeline => "ERR failed to parse pipeline request".into(),
            Self::EmptyCommand => "ERR empty command".into(),
            Self::EmptyPipeline => "ERR empty pipeline request".into(),
            Self::EmptyPipelineCommand => "ERR empty pipeline command".into(),
            Self::NullArgument => "ERR null args are not supported".into(),
            Self::NestedArgument(open) => format!("ERR unsupported arg type: \"{open}\": json.Delim").into(),
            Self::BadResponseFormat => "ERR Upstash-Response-Format must be json or resp2".into(),
            Self::Base64OfResp2 => "ERR Upstash-Encoding: base64 cannot be combined with Upstash-Response-Format: resp2".into(),
            Self::BodyTooLarge { limit, actual } => too_large(*limit, *actual),
            Self::CommandTooLarge { limit, actual } => too_large(*limit, *actual as u64),
            Self::ReplyTooLarge { limit, actual } => too_large(*limit, *actual as u64),
            Self::TooManyCommands { limit, actual } => format!("ERR max number of commands exceeded. Limit: {limit}, Actual: {actual}").into(),
            Self::TooManyStreams { limit } => format!("ERR max number of streams exceeded. Limit: {limit}").into(),
            Self::NoPermission(name) => format!("NOPERM this user has no permissions to run the '{name}' command or its subcommand").into(),
            Self::Refused(text) | Self::Redis(text) => text.as_str().into(),
            Self::RedisDown(why) => format!("ERR redis is not reachable: {why}").into(),
            Self::ConnectionLost => "ERR the connection to redis was lost before it answered; the command may or may not have run".into(),
            Self::RedisTimeout { ms } => format!("ERR redis did not answer within {ms} ms; the command may still run").into(),
            Self::TooFewReplicas { confirmed, wanted, ms } => format!("ERR {confirmed} of {wanted} replicas confirmed the write within {ms} ms; it may have happened and may yet be lost").into(),
            Self::Internal => "ERR internal error".into(),
        }
    }
}

fn too_large(limit: usize, actual: u64) -> Cow<'static, str> {
    format!(
        "ERR max request size exceeded. Limit: {limit} bytes, Actual: {actual} bytes. {TOO_LARGE}"
    )
    .into()
}
