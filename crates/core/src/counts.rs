//! `GET /v1/content/counts`: the number of activities of targets by action.

use crate::activity::target_list;
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use crate::webhook::to_json;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// A request for the numbers of some actions and targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountsRequest {
    /// The actions.
    pub actions: Vec<String>,
    /// The targets; none for those with the most activities.
    pub targets: Vec<String>,
}

impl CountsRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if the deployment counts no action, [`Error::InvalidRequest`] for an invalid query.
    pub fn parse(query: &str, config: &Config) -> Result<Self, Error> {
        let known = config.visitors.as_ref().ok_or_else(Error::no_visitors)?;
        let mut query = Query::parse(query, &["actions", "targets"]);
        let mut actions: Vec<String> = match query.get("actions") {
            None => known.actions.clone(),
            Some(names) => names.split(',').map(str::to_owned).collect(),
        };
        actions.sort_unstable();
        actions.dedup();
        let unknown = actions.iter().any(|action| !known.actions.contains(action));
        let remedy = || format!("each must be one of {}", known.actions.join(", "));
        query.check("/actions", if unknown { Err(remedy()) } else { Ok(()) });
        let targets = query.get("targets");
        let targets = targets.map(|text| target_list(text, "", |text| text.to_owned()));
        let targets = query.check("/targets", targets.transpose());
        query.finish()?;
        Ok(Self {
            actions,
            targets: targets.flatten().unwrap_or_default(),
        })
    }

    /// Returns the path and query that every spelling of this request has in common.
    #[must_use]
    pub fn normal_form(&self) -> String {
        let targets = self.targets.join("\n");
        let targets = utf8_percent_encode(&targets, NON_ALPHANUMERIC);
        let actions = self.actions.join(",");
        format!("/v1/content/counts?actions={actions}&targets={targets}")
    }

    /// Renders the response body. `counts` has the targets and their numbers in the order of the actions.
    #[must_use]
    pub fn render(&self, counts: &[(String, Vec<u64>)]) -> String {
        let mut targets = Vec::new();
        for (target, numbers) in counts {
            let numbers = self.actions.iter().zip(numbers);
            let numbers: Vec<String> = numbers
                .map(|(action, n)| format!("\"{action}\":{n}"))
                .collect();
            let (target, numbers) = (to_json(target), numbers.join(","));
            targets.push(format!("{{\"target\":{target},\"counts\":{{{numbers}}}}}"));
        }
        format!("{{\"targets\":[{}]}}", targets.join(","))
    }
}
