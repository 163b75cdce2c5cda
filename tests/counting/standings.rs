//! Compares all standings of a user, and a user and their friends, with the model.

use crate::comparison::Comparison;
use crate::generator::GROUPS;
use test_support::reference::{Subject, event_board, now, period_id};
use test_support::{Value, json};

impl Comparison {
    /// Reads all standings of a user, and the standings of their friends on the board of all users, as far as
    /// there are boards.
    pub async fn compare_standings(&self, user: &str) -> Result<(), String> {
        let groups = &GROUPS[..2];
        let path = format!(
            "/v1/users/{user}/standings?friends=true&groups={}",
            groups.join(",")
        );
        let mut body =
            json!({ "user": { "id": user }, "standings": self.all_standings(user, groups) });
        let events = self.model.events.iter();
        for (id, _) in events.filter(|(_, event)| (event.from..event.final_at).contains(&now())) {
            let [ranking, _] = self.model.ranking(&event_board(id));
            body["events"][id] = self.standing(&ranking, user, |_| 1);
        }
        self.compare_body(&path, body).await?;
        let period = self.model.periods[0];
        let path = format!("/v1/ranking/{period}/users?followed_by={user}");
        self.compare_body(&path, self.friends(period, user)).await
    }

    async fn compare_body(&self, path: &str, expected: Value) -> Result<(), String> {
        let response = self.api.get(path).await;
        let (found, expected) = (sorted(response.body.clone()), sorted(expected));
        if (response.status, &found) == (200, &expected) {
            return Ok(());
        }
        let status = response.status;
        Err(format!(
            "{path}\nexpected {expected:#}\nreceived {status} {found:#}"
        ))
    }

    fn all_standings(&self, user: &str, groups: &[&str]) -> Value {
        let today = self.model.calendar.date(now());
        let mut standings = json!({});
        for period in &self.model.periods {
            let board = |group: Option<&str>| {
                let id = (*period, period_id(period, today), group.map(str::to_owned));
                self.model.ranking(&id)[0].clone()
            };
            let ranking = board(None);
            let mut standing = self.standing(&ranking, user, |_| 1);
            let group_standing = |group: &&str| {
                let standing = self.standing(&board(Some(group)), user, |_| 1);
                ((*group).to_owned(), standing)
            };
            standing["groups"] = groups.iter().map(group_standing).collect();
            let mut compared = self.model.follows(user);
            compared.push(user.to_owned());
            let ranked = ranking
                .iter()
                .filter(|(ranked, _)| compared.contains(ranked));
            let ranked: Vec<&String> = ranked.map(|(user, _)| user).collect();
            let position = ranked.iter().position(|ranked| *ranked == user);
            let position = position.map(|index| index + 1);
            standing["friends"] = json!({ "position": position, "total": ranked.len() });
            standings[*period] = standing;
        }
        if let Some(content) = &self.model.content {
            for period in &content.periods {
                let id = (Subject::Authors, *period, period_id(period, today));
                let [ranking, _] = content.ranking(&id, &self.model.hidden);
                // Of equal scores, the greater id ranks higher.
                let extra_step = |above: &str| i64::from(user < above);
                standings[*period]["author"] = self.standing(&ranking, user, extra_step);
            }
        }
        let periods = standings.as_object_mut().expect("an object");
        for (period, standing) in periods {
            standing["id"] = json!(period_id(period, today));
        }
        standings
    }

    /// Returns the standing of a user on a board.
    fn standing(
        &self,
        ranking: &[(String, u64)],
        user: &str,
        extra_step: impl Fn(&str) -> i64,
    ) -> Value {
        let total = ranking.len();
        let Some(index) = ranking.iter().position(|(ranked, _)| ranked == user) else {
            return json!({ "rank": null, "score": 0, "total": total, "percentile": null, "next": null });
        };
        let steps = ranking[index].1 as i64;
        let next = index.checked_sub(1).map(|above| {
            let (above, score) = &ranking[above];
            let points = *score as i64 - steps + extra_step(above);
            json!({ "rank": index, "score": self.points(*score as i64), "points": self.points(points) })
        });
        let percentile = (1000.0 * (total - index) as f64 / total as f64).round() / 10.0;
        json!({ "rank": index + 1, "score": self.points(steps), "total": total,
            "percentile": percentile, "next": next })
    }

    /// Returns the comparison of a user with their friends, see [`sorted`].
    fn friends(&self, period: &'static str, user: &str) -> Value {
        let today = self.model.calendar.date(now());
        let [ranking, _] = self
            .model
            .ranking(&(period, period_id(period, today), None));
        let mut users = vec![user.to_owned()];
        users.extend(self.model.follows(user));
        let period = self.model.calendar.period_json(period, today, now());
        let entries = self.comparison(&ranking, &users);
        json!({ "period": period, "total": ranking.len(), "entries": entries })
    }
}

/// Sorts the users without a rank by id: the model does not know the order of friends who were followed at about
/// the same time.
fn sorted(mut body: Value) -> Value {
    let entries = body["entries"].as_array_mut().into_iter();
    for entries in entries {
        let is_ranked = |entry: &Value| entry["rank"].is_number();
        let ranked = entries.partition_point(is_ranked);
        entries[ranked..].sort_by_key(|entry| entry["user"]["id"].to_string());
    }
    body
}
