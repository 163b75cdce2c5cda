//! What can go wrong between the Worker and its store.

/// A fault the [`Forwarder`](crate::Forwarder) makes of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection is cut; the store never saw the request.
    CutBefore,
    /// The store did it all, then the connection is cut.
    CutAfter,
    /// No answer ever comes; the store never saw the request.
    HangBefore,
    /// The store did it all, and no answer ever comes.
    HangAfter,
    /// The store did it all; the connection is cut in the middle of its answer.
    HalfAnswer,
    /// The store did it all; its answer stops in the middle and hangs.
    HangInAnswer,
    /// The store never saw the request; this comes back instead, with this status.
    Answer(u16, String),
    /// The store never saw the request; the answer sends it to this URL.
    Redirect(String),
}
