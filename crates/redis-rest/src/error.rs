//! Every error with its HTTP status and its public message.

use std::borrow::Cow;

use axum::http::StatusCode;
use redis::ServerError;

const SIZE_LIMIT_DOCS: &str =
    "See https://upstash.com/docs/redis/troubleshooting/max_request_size_exceeded for details";

/// The reason why a request, or one command of a pipeline, has no result.
///
/// | status | variants |
/// |---|---|
/// | 400 | syntax errors, commands that are not allowed, and error replies of Redis |
/// | 401 | `Unauthorized` |
/// | 408 | `BodyTimeout` |
/// | 413 | `CommandTooLarge`, `BodyTooLarge`, `TooManyCommands` |
/// | 500 | `Internal` |
/// | 503 | `RedisDown`: nothing ran. `ConnectionLost`: the command may have run. `TooFewReplicas`: it ran and may be lost. `TooManyReplies`: it ran. `TooManyBodies`, `TooManyStreams`, `TooManyConnections`, `TooManyConnectionsOfAddress`: nothing ran |
/// | 504 | `RedisTimeout`: the command may still run |
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GatewayError {
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
    /// The replies to the commands of one request are too large.
    RepliesTooLarge {
        limit: usize,
    },
    ReplyTooDeep {
        limit: usize,
    },
    /// The replies to the commands of all requests are too large.
    TooManyReplies {
        limit: usize,
    },
    /// The bodies of all requests are too large.
    TooManyBodies {
        limit: usize,
    },
    TooManyCommands {
        limit: usize,
        actual: usize,
    },
    TooManyStreams {
        limit: usize,
    },
    TooManyConnections {
        limit: usize,
    },
    TooManyConnectionsOfAddress {
        limit: usize,
    },
    /// The read-only token may not run the command of this name.
    NoPermission(String),
    /// The gateway does not run the command. Holds the whole message.
    Refused(String),
    /// Redis replied with an error. Holds the whole error line.
    Redis(String),
    /// Redis cannot be reached. Holds the reason.
    RedisDown(String),
    ConnectionLost,
    RedisTimeout {
        ms: u128,
    },
    TooFewReplicas {
        confirmed: usize,
        required: usize,
        ms: u128,
    },
    Internal,
}

impl GatewayError {
    /// Returns the HTTP status.
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
            | Self::RepliesTooLarge { .. }
            | Self::ReplyTooDeep { .. }
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
            | Self::TooManyReplies { .. }
            | Self::TooManyBodies { .. }
            | Self::TooManyStreams { .. }
            | Self::TooManyConnections { .. }
            | Self::TooManyConnectionsOfAddress { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::RedisTimeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns the text of the `error` field. Clients match on it, so it repeats the messages of the
    /// hosted service where that has one.
    pub(crate) fn message(&self) -> Cow<'_, str> {
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
            Self::RepliesTooLarge { limit } => format!("ERR max size of the replies to a request exceeded. Limit: {limit} bytes. The command has run").into(),
            Self::ReplyTooDeep { limit } => format!("ERR max number of nested arrays in a reply exceeded. Limit: {limit}. The command has run").into(),
            Self::TooManyReplies { limit } => format!("ERR max size of the replies to all requests exceeded. Limit: {limit} bytes. The command has run").into(),
            Self::TooManyBodies { limit } => format!("ERR max size of the bodies of all requests exceeded. Limit: {limit} bytes. Nothing has run").into(),
            Self::TooManyCommands { limit, actual } => format!("ERR max number of commands exceeded. Limit: {limit}, Actual: {actual}").into(),
            Self::TooManyStreams { limit } => format!("ERR max number of streams exceeded. Limit: {limit}").into(),
            Self::TooManyConnections { limit } => format!("ERR max number of connections exceeded. Limit: {limit}").into(),
            Self::TooManyConnectionsOfAddress { limit } => format!("ERR max number of connections per address exceeded. Limit: {limit}").into(),
            Self::NoPermission(name) => format!("NOPERM this user has no permissions to run the '{name}' command or its subcommand").into(),
            Self::Refused(message) | Self::Redis(message) => message.as_str().into(),
            Self::RedisDown(reason) => format!("ERR redis is not reachable: {reason}").into(),
            Self::ConnectionLost => "ERR the connection to redis was lost before it answered; the command may or may not have run".into(),
            Self::RedisTimeout { ms } => format!("ERR redis did not answer within {ms} ms; the command may still run").into(),
            Self::TooFewReplicas { confirmed, required, ms } => format!("ERR {confirmed} of {required} replicas confirmed the write within {ms} ms; the write may have been applied and may still be lost").into(),
            Self::Internal => "ERR internal error".into(),
        }
    }
}

fn too_large(limit: usize, actual: u64) -> Cow<'static, str> {
    format!(
        "ERR max request size exceeded. Limit: {limit} bytes, Actual: {actual} bytes. {SIZE_LIMIT_DOCS}"
    )
    .into()
}

/// Returns the error line that Redis sent. Only the message of NOSCRIPT, which differs between servers
/// and which clients match on, is replaced.
pub(crate) fn error_line(error: &ServerError) -> String {
    match (error.code(), error.details()) {
        // Valkey omits the second sentence.
        ("NOSCRIPT", _) => "NOSCRIPT No matching script. Please use EVAL.".to_owned(),
        (code, Some(details)) => format!("{code} {details}"),
        (code, None) => code.to_owned(),
    }
}
