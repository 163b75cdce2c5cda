//! `GET /v1/achievements` and `GET /v1/users/{user}/achievements`.

use crate::board::UserView;
use crate::calendar::Instant;
use crate::config::{Achievements, check_language};
use crate::error::Error;
use crate::query::Query;
use crate::webhook::to_json;

/// A request for the achievements, or for the steps of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AchievementsRequest {
    /// The user; empty for all.
    pub user: String,
    lang: String,
}

impl AchievementsRequest {
    /// Parses the request; `user` is `None` for all.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid user or query.
    pub fn parse(user: Option<&str>, query: &str) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["lang"]);
        let user = user.map(|user| query.user(user)).unwrap_or_default();
        let lang = query.get("lang").unwrap_or("en").to_owned();
        let checked = check_language(&lang);
        query.check("/lang", checked);
        query.finish()?;
        Ok(Self { user, lang })
    }

    /// Returns the path and query that every spelling of a request for all has in common.
    #[must_use]
    pub fn normal_form(&self) -> String {
        format!("/v1/achievements?lang={}", self.lang)
    }

    /// Renders the response body from rows of words: `e`, an achievement, a step and when it was earned, or the number of members who
    /// have it; `v`, an achievement and the value of the user.
    #[must_use]
    pub fn render(
        &self,
        all: &Achievements,
        user: Option<&UserView<'_>>,
        rows: &[String],
    ) -> String {
        let number = |words: &[&str]| {
            let found = rows.iter().find_map(|row| {
                let mut rest = row.split(' ');
                let matches = words.iter().all(|word| rest.next() == Some(word));
                rest.next().filter(|_| matches)
            });
            found.and_then(|number| number.parse::<i64>().ok())
        };
        let mut views = Vec::new();
        for achievement in all.all() {
            let (mut steps, mut next) = (Vec::new(), "null".to_owned());
            for step in &achievement.steps {
                let found = number(&["e", &achievement.id, &step.to_string()]);
                let value = to_json(&achievement.value(*step));
                let at = found.map(|at| Instant(at).to_string());
                if found.is_none() && next == "null" {
                    next.clone_from(&value);
                }
                steps.push(match user {
                    Some(_) => format!("{{\"value\":{value},\"at\":{}}}", to_json(&at)),
                    None => format!("{{\"value\":{value},\"members\":{}}}", found.unwrap_or(0)),
                });
            }
            let value = number(&["v", &achievement.id]).unwrap_or(0);
            let value = to_json(&achievement.value(value.unsigned_abs()));
            let progress = match user {
                Some(_) => format!(",\"value\":{value},\"next\":{next}"),
                None => String::new(),
            };
            let name = to_json(&achievement.name(&self.lang));
            let description = to_json(&achievement.description(&self.lang));
            let (icon, steps) = (to_json(&achievement.icon), steps.join(","));
            views.push(format!(
                "{{\"id\":\"{}\",\"name\":{name},\"description\":{description},\"icon\":{icon},\"steps\":[{steps}]{progress}}}",
                achievement.id
            ));
        }
        let user = user.map_or(String::new(), |user| format!("\"user\":{},", to_json(user)));
        format!("{{{user}\"achievements\":[{}]}}", views.join(","))
    }
}
