//! The subrequests and queries of one invocation, which the platform limits.
//!
//! The free plan allows 50 subrequests and 50 D1 queries, the paid plan 10,000 and 1,000. The platform
//! refuses the next one, also in the middle of a job. Cloudflare does not document whether the
//! statements of a batch count singly: here they do.

use activity_rank_core::error::Error;
use activity_rank_store::redis::transport::{PostFuture, Transport};
use std::cell::Cell;
use std::rc::Rc;

/// Subrequests and D1 queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Requests to the store, batches of D1, and operations of KV.
    pub requests: u32,
    /// Statements of D1.
    pub queries: u32,
}

/// The remaining subrequests and queries of an invocation.
#[derive(Debug)]
pub struct Budget {
    /// The requests at first.
    limit: u32,
    left: Cell<Cost>,
    reserved: Cell<Cost>,
}

impl Cost {
    /// Returns a cost.
    #[must_use]
    pub const fn new(requests: u32, queries: u32) -> Self {
        Self { requests, queries }
    }

    /// Returns the sum of two costs.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            queries: self.queries + other.queries,
        }
    }
}

impl Budget {
    /// Returns a budget.
    #[must_use]
    pub fn new(limit: Cost) -> Rc<Self> {
        Rc::new(Self {
            limit: limit.requests,
            left: Cell::new(limit),
            reserved: Cell::default(),
        })
    }

    /// Reserves a part for later jobs, instead of the part reserved before.
    pub fn reserve(&self, cost: Cost) {
        self.reserved.set(cost);
    }

    /// Returns the number of requests that are left without the reserved part.
    #[must_use]
    pub fn unreserved_requests(&self) -> u32 {
        let (left, reserved) = (self.left.get(), self.reserved.get());
        left.requests.saturating_sub(reserved.requests)
    }

    /// Returns whether a step of at most this cost leaves the reserved part.
    #[must_use]
    pub fn allows(&self, cost: Cost) -> bool {
        let (left, needed) = (self.left.get(), self.reserved.get().plus(cost));
        left.requests >= needed.requests && left.queries >= needed.queries
    }

    /// Returns the requests that have been spent.
    #[must_use]
    pub fn spent_requests(&self) -> u32 {
        self.limit - self.left.get().requests
    }

    /// Subtracts a cost.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] if less is left. The caller must not send the request.
    pub fn spend(&self, cost: Cost) -> Result<(), Error> {
        let left = self.left.get();
        let requests = left.requests.checked_sub(cost.requests);
        let queries = left.queries.checked_sub(cost.queries);
        match requests.zip(queries) {
            Some((requests, queries)) => {
                self.left.set(Cost::new(requests, queries));
                Ok(())
            }
            None => Err(Error::StoreUnavailable(SPENT.to_owned())),
        }
    }
}

const SPENT: &str = "CRON_BUDGET is spent";

/// A transport whose requests count against a budget.
pub struct MeteredTransport {
    transport: Box<dyn Transport>,
    budget: Rc<Budget>,
}

impl MeteredTransport {
    /// Returns a transport.
    #[must_use]
    pub fn new(transport: Box<dyn Transport>, budget: Rc<Budget>) -> Self {
        Self { transport, budget }
    }
}

impl Transport for MeteredTransport {
    fn post(&self, body: String) -> PostFuture<'_> {
        match self.budget.spend(Cost::new(1, 0)) {
            Ok(()) => self.transport.post(body),
            Err(_) => Box::pin(async { Err(SPENT.to_owned()) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_keeps_reserved_part() {
        let budget = Budget::new(Cost::new(10, 5));
        budget.reserve(Cost::new(4, 0));
        assert!(budget.allows(Cost::new(6, 5)));
        assert!(!budget.allows(Cost::new(7, 0)));
        assert!(!budget.allows(Cost::new(0, 6)));
        assert_eq!(budget.unreserved_requests(), 6);
        budget.reserve(Cost::default());
        assert!(budget.allows(Cost::new(7, 0)));
    }

    #[test]
    fn budget_refuses_more_than_is_left() {
        let budget = Budget::new(Cost::new(2, 1));
        assert!(budget.spend(Cost::new(1, 2)).is_err());
        assert_eq!(budget.spent_requests(), 0);
        assert!(budget.spend(Cost::new(1, 1)).is_ok());
        assert_eq!(budget.spent_requests(), 1);
        assert!(budget.spend(Cost::new(1, 1)).is_err());
        assert!(budget.spend(Cost::new(1, 0)).is_ok());
        assert!(budget.spend(Cost::new(1, 0)).is_err());
    }
}
