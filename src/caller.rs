//! Who is calling, and what they may do.

use crate::activity::Activity;
use crate::config::{Rule, Scope, Scopes};
use crate::error::Error;
use crate::id;
use crate::token::Member;

/// A caller who may do more than read public answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A trusted service, known by its key, which is good for these scopes.
    Service(Scopes),
    /// A user, known by a token; `None` where it names nobody who can be a user here.
    User(Option<Member>),
}

impl Caller {
    /// Lets trusted services through alone, those whose key has a scope.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub fn must_be_service(&self, scope: Scope) -> Result<(), Error> {
        self.only_service("do this")?;
        self.must_have(scope)
    }

    /// Lets trusted services through whose key has a scope, and every user: what is theirs needs
    /// none.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub fn must_have(&self, scope: Scope) -> Result<(), Error> {
        match self {
            Self::Service(scopes) if !scopes.has(scope) => Err(Error::Forbidden(format!(
                "This service key lacks the scope {}.",
                scope.name()
            ))),
            Self::Service(_) | Self::User(_) => Ok(()),
        }
    }

    /// Lets trusted services through whose key has a scope, and a user to what is their own.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub fn must_be(&self, user: &str, scope: Scope) -> Result<(), Error> {
        Err(Error::Forbidden(match self {
            Self::Service(_) => return self.must_have(scope),
            Self::User(Some(own)) if own.id == user => return Ok(()),
            Self::User(Some(own)) => {
                format!("This user token is for what is {}'s alone.", own.id)
            }
            Self::User(None) => format!("This user token names no user: its sub {}.", id::ID),
        }))
    }

    /// Lets through who may send an activity, whatever its action.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] for another user's, and for fields that only services may send.
    pub fn may_send(&self, activity: &Activity) -> Result<(), Error> {
        self.must_be(&activity.user, Scope::Activity)?;
        if activity.dated {
            self.only_service("send at")?;
        }
        if !activity.groups.is_empty() {
            self.only_service("send groups")?;
        }
        Ok(())
    }

    /// Lets through who may send an action with this rule.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub fn may_do(&self, action: &str, rule: &Rule) -> Result<(), Error> {
        if rule.service_only {
            self.only_service(&format!("send the action {action}"))?;
        }
        Ok(())
    }

    fn only_service(&self, what: &str) -> Result<(), Error> {
        match self {
            Self::Service(_) => Ok(()),
            Self::User(_) => Err(Error::Forbidden(format!(
                "Only trusted services may {what}."
            ))),
        }
    }
}
