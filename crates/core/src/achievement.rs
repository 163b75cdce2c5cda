//! `GET /v1/achievements`, `GET /v1/users/{user}/achievements`, and the steps that moderators award and withdraw.

use crate::board::UserView;
use crate::calendar::Instant;
use crate::config::{Achievement, Achievements, check_language};
use crate::error::{Error, FieldErrors};
use crate::id;
use crate::json;
use crate::moderation::read_reason;
use crate::query::Query;
use crate::webhook::to_json;
use serde_json::Value;

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
    /// have it; `h`, an achievement and a step that a moderator awarded; `v`, an achievement and the value of the user.
    #[must_use]
    pub fn render(
        &self,
        all: &Achievements,
        user: Option<&UserView<'_>>,
        rows: &[String],
    ) -> String {
        let number = |words: &[&str]| find_number(rows, words);
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
                    Some(_) => {
                        let by_hand = number(&["h", &achievement.id, &step.to_string()]);
                        let by = by_hand.map_or("", |_| ",\"by\":\"moderator\"");
                        format!("{{\"value\":{value},\"at\":{}{by}}}", to_json(&at))
                    }
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

/// Returns the number after words that a row begins with.
fn find_number(rows: &[String], words: &[&str]) -> Option<i64> {
    let found = rows.iter().find_map(|row| {
        let mut rest = row.split(' ');
        let matches = words.iter().all(|word| rest.next() == Some(word));
        rest.next().filter(|_| matches)
    });
    found.and_then(|number| number.parse().ok())
}

/// Steps of an achievement that a moderator awards to a user, or withdraws.
#[derive(Clone, Debug, PartialEq)]
pub struct AwardRequest {
    /// The user.
    pub user: String,
    /// The reason, for the audit log; empty for none.
    pub reason: String,
    /// Whether the steps are withdrawn.
    pub withdraws: bool,
    /// The step as a response has it.
    step: Option<f64>,
}

impl AwardRequest {
    /// Parses the body of an award; the user comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field.
    pub fn parse(user: &str, body: &Value) -> Result<Self, Error> {
        let Value::Object(fields) = body else {
            return Err(Error::invalid("An award is a JSON object."));
        };
        let mut errors = FieldErrors::default();
        errors.reject_unknown(fields.keys(), &["step", "reason"]);
        let user = errors.check("/user", id::checked(user));
        let step = fields.get("step").map(Value::as_f64);
        let step = errors.check("/step", step.map(parse_step).transpose());
        let reason = errors.check("/reason", read_reason(fields.get("reason")));
        let request = || {
            Some(Self {
                user: user?,
                reason: reason?,
                withdraws: false,
                step: step?,
            })
        };
        errors.finish(request())
    }

    /// Parses the query of a withdrawal; the user comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid parameter.
    pub fn parse_withdrawal(user: &str, query: &str) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["step", "reason"]);
        let user = query.user(user);
        let step = query.get("step").map(|step| {
            parse_step(
                json::read(step.as_bytes())
                    .ok()
                    .and_then(|step| step.as_f64()),
            )
        });
        let step = query.check("/step", step.transpose()).flatten();
        let reason = query
            .get("reason")
            .map(|reason| read_reason(Some(&reason.into())));
        let reason = query.check("/reason", reason.transpose()).flatten();
        query.finish()?;
        Ok(Self {
            user,
            reason: reason.unwrap_or_default(),
            withdraws: true,
            step,
        })
    }

    /// Returns the steps that change. Of an award these are the requested one, or else the first one, and those before it;
    /// of a withdrawal the requested one and those after it, or else all. A step that the user has, or does not have, already
    /// does not change. The rows are those of [`AchievementsRequest::render`].
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if the achievement has no such step.
    pub fn changes(&self, achievement: &Achievement, rows: &[String]) -> Result<Vec<u64>, Error> {
        let index = match self.step {
            None => 0,
            Some(step) => achievement.find_step(step).ok_or_else(|| {
                let steps = achievement.steps.iter();
                let steps: Vec<String> = steps
                    .map(|step| to_json(&achievement.value(*step)))
                    .collect();
                Error::field("/step", format!("must be one of {}", steps.join(", ")))
            })?,
        };
        let mut steps = achievement.steps.clone();
        let rest = steps.split_off(if self.withdraws { index } else { index + 1 });
        if self.withdraws {
            steps = rest;
        }
        let has =
            |step: &u64| find_number(rows, &["e", &achievement.id, &step.to_string()]).is_some();
        steps.retain(|step| has(step) == self.withdraws);
        Ok(steps)
    }
}

fn parse_step(step: Option<f64>) -> Result<f64, String> {
    step.ok_or_else(|| "must be the value of a step".to_owned())
}
