//! Content: the targets that a service has registered, which receive points together with their authors.

mod list;
mod stored;
mod target;

pub use list::{ListPage, ListRequest, ListedTarget};
pub use stored::{StoredTarget, id_of_member, member, member_of_stub};
pub use target::{NamedTarget, Target, TargetView, checked_id};
