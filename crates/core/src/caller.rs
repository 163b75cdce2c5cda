//! Callers and their permissions.

use crate::actor::Actor;
use crate::config::{Scope, ServiceKey};
use crate::error::Error;
use crate::token::Member;

/// An authenticated caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A trusted service.
    Service(ServiceKey),
    /// The user of a token; why it has none if it has no valid user id.
    User(Result<Member, String>),
    /// A reader without an account.
    Visitor(Visitor),
}

/// A reader without an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visitor {
    /// The id.
    pub id: String,
    /// The actions that visitors may send.
    pub actions: Vec<String>,
}

impl Caller {
    /// Returns the actor of the caller's changes in the audit log; `None` for a service whose key has no name. Users
    /// change only what is their own.
    #[must_use]
    pub fn actor(&self) -> Option<Actor> {
        match self {
            Self::Service(key) => key.name.clone().map(Actor::Key),
            Self::User(_) | Self::Visitor(_) => Some(Actor::User),
        }
    }

    /// Returns whether the caller has the token of a user.
    #[must_use]
    pub fn is_user(&self, user: &str) -> bool {
        matches!(self, Self::User(Ok(own)) if own.id == user)
    }

    /// Returns the caller as the member of whom their user is an account.
    #[must_use]
    pub fn acting_for(self, account: &str, member: &str) -> Self {
        match self {
            Self::User(Ok(own)) if own.id == account => Self::User(Ok(Member {
                id: member.to_owned(),
                ..own
            })),
            other => other,
        }
    }

    /// Returns the key of the write limit; `None` for services, which have none. Tokens without a
    /// valid user share one: all they send is refused.
    #[must_use]
    pub fn write_limit_key(&self) -> Option<&str> {
        match self {
            Self::Service(_) => None,
            Self::User(member) => Some(member.as_ref().map_or("", |member| &member.id)),
            Self::Visitor(visitor) => Some(&visitor.id),
        }
    }

    /// Requires a service key with a scope.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] for users, and for services without the scope.
    pub fn must_be_service(&self, scope: Scope) -> Result<(), Error> {
        self.require_service("do this")?;
        self.must_have(scope)
    }

    /// Returns whether the caller is the visitor with an id.
    fn is_visitor(&self, id: &str) -> bool {
        matches!(self, Self::Visitor(own) if own.id == id)
    }

    /// Requires the permission to send an action of a user.
    ///
    /// # Errors
    ///
    /// As [`must_be`](Self::must_be), and [`Error::Forbidden`] for an action that visitors may not send.
    pub fn may_send(&self, action: &str, user: &str) -> Result<(), Error> {
        match self {
            Self::Visitor(own) if own.id == user => match own.actions.iter().any(|a| a == action) {
                true => Ok(()),
                false => Err(Error::Forbidden(format!(
                    "Visitors may not send the action {action}."
                ))),
            },
            _ => self.must_be(user, Scope::Activity),
        }
    }

    /// Requires a scope of services. Users need no scope.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] for services without the scope.
    pub fn must_have(&self, scope: Scope) -> Result<(), Error> {
        match self {
            Self::Service(key) if !key.scopes.has(scope) => Err(Error::Forbidden(format!(
                "This service key lacks the scope {}.",
                scope.name()
            ))),
            Self::Service(_) | Self::User(_) | Self::Visitor(_) => Ok(()),
        }
    }

    /// Requires the given user, or a service key with a scope.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] for other users, and for services without the scope.
    pub fn must_be(&self, user: &str, scope: Scope) -> Result<(), Error> {
        Err(Error::Forbidden(match self {
            Self::Service(_) => return self.must_have(scope),
            Self::User(Ok(own)) if own.id == user => return Ok(()),
            Self::User(Ok(own)) => {
                format!(
                    "This user token only grants access to the data of user {}.",
                    own.id
                )
            }
            Self::User(Err(detail)) => detail.clone(),
            Self::Visitor(_) => {
                "A visitor may send activity, and read what of it counts.".to_owned()
            }
        }))
    }

    /// Requires the given user, or a service key that may read every user's data: to send activity or to
    /// moderate.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] for other users, and for services without either scope.
    pub fn may_read(&self, user: &str) -> Result<(), Error> {
        match self {
            Self::Service(key) if key.scopes.has(Scope::Admin) => Ok(()),
            Self::Visitor(_) if self.is_visitor(user) => Ok(()),
            Self::Service(_) | Self::User(_) | Self::Visitor(_) => {
                self.must_be(user, Scope::Activity)
            }
        }
    }

    /// Requires a service, whatever its scopes, for an operation such as `send at`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] for users.
    pub fn require_service(&self, operation: &str) -> Result<(), Error> {
        match self {
            Self::Service(_) => Ok(()),
            Self::User(_) | Self::Visitor(_) => Err(Error::Forbidden(format!(
                "Only trusted services may {operation}."
            ))),
        }
    }
}
