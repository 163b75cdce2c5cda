//! Who is compared.

use crate::load::Load;

/// One way to answer. The sources of all but ours are in `bench/peers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// The Worker.
    Ours,
    /// JavaScript that asks the store the same and passes the answer on.
    Limit,
    /// The SDK, a call at a time.
    Posts,
    /// Hono, the SDK, and our script by one call.
    Hono,
    /// An answer without asking anybody.
    Fixed,
}

impl Contender {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Ours,
        Self::Limit,
        Self::Posts,
        Self::Hono,
        Self::Fixed,
    ];

    /// The name in options and figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Limit => "limit",
            Self::Posts => "posts",
            Self::Hono => "hono",
            Self::Fixed => "fixed",
        }
    }

    /// The name in the table.
    pub fn title(self) -> &'static str {
        match self {
            Self::Ours => "a  ours",
            Self::Limit => "b  the limit",
            Self::Posts => "c  call by call",
            Self::Hono => "d  Hono, one EVALSHA",
            Self::Fixed => "e  a fixed answer",
        }
    }

    /// Whether a load means anything to it.
    pub fn takes(self, load: Load) -> bool {
        match (self, load) {
            (Self::Posts, Load::Cached)
            | (Self::Fixed, Load::Repeats | Load::Top | Load::Standing) => false,
            (Self::Ours | Self::Limit | Self::Posts | Self::Hono | Self::Fixed, _) => true,
        }
    }

    /// Whether it keeps boards as the Worker does.
    pub fn has_our_boards(self) -> bool {
        match self {
            Self::Ours | Self::Limit | Self::Hono => true,
            Self::Posts | Self::Fixed => false,
        }
    }
}
