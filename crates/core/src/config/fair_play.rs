//! `FAIR_PLAY`: the thresholds of cases.

use super::Vars;
use crate::error::Error;
use std::ops::RangeInclusive;

pub(super) const NAME: &str = "FAIR_PLAY";

const PERCENT: RangeInclusive<u32> = 1..=100;

/// The thresholds above which giving between members makes a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairPlay {
    /// The least gifts from a member to another one: 2 to 1,000.
    pub min_gifts: u32,
    /// The least lift of a pair, the quotient of its gifts and the expected number: 1 to 1,000.
    pub min_lift: u32,
    /// The least share of their gifts that the members of a ring exchange with each other, in percent.
    pub ring_share: u32,
    /// The number of givers in a finding of few givers: 1 to 10.
    pub few_givers: u32,
    /// The least share of a member's received gifts that these givers gave, in percent.
    pub few_share: u32,
    /// The least accounts of a farm: 2 to 100.
    pub farm_accounts: u32,
    /// The least share of its gifts that an account of a farm gives to one member, in percent.
    pub farm_share: u32,
    /// The least gifts of a burst: 3 to 1,000.
    pub burst_gifts: u32,
    /// The longest time of a burst, in seconds: 1 to 3,600.
    pub burst_seconds: u32,
    /// The growth of the gifts of a dismissed case that opens it again, in percent: 1 to 1,000.
    pub growth: u32,
}

impl Default for FairPlay {
    fn default() -> Self {
        Self {
            min_gifts: 5,
            min_lift: 2,
            ring_share: 40,
            few_givers: 3,
            few_share: 80,
            farm_accounts: 3,
            farm_share: 80,
            burst_gifts: 10,
            burst_seconds: 60,
            growth: 50,
        }
    }
}

impl FairPlay {
    /// Parses the variable: a table of integers. `None` if it is not set.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] names the first field that is unknown or out of its range, and says if there are no boards
    /// of authors.
    pub fn parse(vars: &Vars, has_content: bool) -> Result<Option<Self>, Error> {
        let Some(table) = vars.table(NAME)? else {
            return Ok(None);
        };
        let error = |remedy: String| Error::Misconfigured(NAME, remedy);
        let mut thresholds = Self::default();
        for (name, value) in &table {
            let fields = thresholds.fields();
            let names = fields.each_ref().map(|(name, ..)| *name).join(", ");
            let field = fields.into_iter().find(|(known, ..)| known == name);
            let Some((name, range, field)) = field else {
                return Err(error(format!("'{name}' is none of {names}")));
            };
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
            let number = number.filter(|number| range.contains(number));
            let (min, max) = range.into_inner();
            let remedy = || error(format!("'{name}' must be an integer from {min} to {max}"));
            *field = number.ok_or_else(remedy)?;
        }
        if !has_content {
            let remedy =
                "needs points that others receive: set CONTENT_PERIODS, or remove this variable";
            return Err(error(remedy.to_owned()));
        }
        Ok(Some(thresholds))
    }

    fn fields(&mut self) -> [(&'static str, RangeInclusive<u32>, &mut u32); 10] {
        [
            ("min_gifts", 2..=1000, &mut self.min_gifts),
            ("min_lift", 1..=1000, &mut self.min_lift),
            ("ring_share", PERCENT, &mut self.ring_share),
            ("few_givers", 1..=10, &mut self.few_givers),
            ("few_share", PERCENT, &mut self.few_share),
            ("farm_accounts", 2..=100, &mut self.farm_accounts),
            ("farm_share", PERCENT, &mut self.farm_share),
            ("burst_gifts", 3..=1000, &mut self.burst_gifts),
            ("burst_seconds", 1..=3600, &mut self.burst_seconds),
            ("growth", 1..=1000, &mut self.growth),
        ]
    }
}
