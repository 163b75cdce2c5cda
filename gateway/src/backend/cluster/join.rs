//! Replies of several nodes → the one reply of one Redis.

use redis::Value;

use crate::{backend::Reply, error::Fault};

/// How replies become one. An error among them is the reply, unless it says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// They are all the same.
    First,
    /// Integers, added.
    Sum,
    /// Lists, one after the other, nothing twice.
    Concat,
    /// Names and counts in turn, added by name.
    Counts,
    /// Whichever is not nothing.
    Some,
    /// Lists of 0 and 1: 1 where all say 1.
    Every,
    /// The first success; where there is none, an error.
    Success,
    /// Lists whose values belong at these places.
    Places(Vec<Vec<usize>>),
}

impl Join {
    pub(super) fn of(&self, replies: impl ExactSizeIterator<Item = Reply>) -> Reply {
        let mut values = Vec::with_capacity(replies.len());
        let mut failed: Option<Reply> = None;
        for reply in replies {
            match reply {
                Ok(Value::ServerError(_)) | Err(_) => failed = failed.or(Some(reply)),
                Ok(value) => values.push(value),
            }
        }
        match (failed, self) {
            (Some(failed), Self::Success) if values.is_empty() => return failed,
            (Some(_), Self::Success) | (None, _) => {}
            (Some(failed), _) => return failed,
        }
        let joined = match self {
            Self::First | Self::Success => values.into_iter().next(),
            Self::Sum => values
                .iter()
                .map(integer)
                .sum::<Option<i64>>()
                .map(Value::Int),
            Self::Concat => lists(values).map(|lists| {
                let mut all: Vec<Value> = Vec::new();
                let mut seen = std::collections::HashSet::new();
                for value in lists.into_iter().flatten() {
                    // While a slot moves, two nodes may know the same key.
                    if let Value::BulkString(bytes) = &value
                        && !seen.insert(bytes.clone())
                    {
                        continue;
                    }
                    all.push(value);
                }
                Value::Array(all)
            }),
            Self::Counts => lists(values).and_then(added),
            Self::Every => lists(values).and_then(every),
            Self::Some => {
                let some = values.into_iter().find(|value| *value != Value::Nil);
                Some(some.unwrap_or(Value::Nil))
            }
            Self::Places(places) => lists(values).and_then(|lists| placed(lists, places)),
        };
        joined.ok_or(Fault::Internal)
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

fn lists(values: Vec<Value>) -> Option<Vec<Vec<Value>>> {
    let list = |value| match value {
        Value::Array(values) => Some(values),
        _ => None,
    };
    values.into_iter().map(list).collect()
}

/// Lists of the same names in the same order, each followed by its count.
fn added(lists: Vec<Vec<Value>>) -> Option<Value> {
    let mut lists = lists.into_iter();
    let mut sums = lists.next()?;
    for list in lists {
        for (sum, value) in sums.iter_mut().zip(list).skip(1).step_by(2) {
            *sum = Value::Int(integer(sum)? + integer(&value)?);
        }
    }
    Some(Value::Array(sums))
}

fn every(lists: Vec<Vec<Value>>) -> Option<Value> {
    let mut lists = lists.into_iter();
    let mut all = lists.next()?;
    for list in lists {
        for (all, value) in all.iter_mut().zip(list) {
            *all = Value::Int(integer(all)?.min(integer(&value)?));
        }
    }
    Some(Value::Array(all))
}

fn placed(lists: Vec<Vec<Value>>, places: &[Vec<usize>]) -> Option<Value> {
    let mut all = vec![Value::Nil; places.iter().map(Vec::len).sum()];
    for (list, places) in lists.into_iter().zip(places) {
        for (value, place) in list.into_iter().zip(places) {
            *all.get_mut(*place)? = value;
        }
    }
    Some(Value::Array(all))
}

#[cfg(test)]
mod tests {
    use redis::{Value, parse_redis_value};

    use super::Join;
    use crate::{backend::Reply, error::Fault};

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn list(values: &[Value]) -> Value {
        Value::Array(values.to_vec())
    }

    fn joined<const N: usize>(join: &Join, replies: [Value; N]) -> Reply {
        join.of(replies.into_iter().map(Ok))
    }

    #[test]
    fn replies_become_what_one_redis_would_say() {
        let [one, two] = [Value::Int(1), Value::Int(2)];
        let places = Join::Places(vec![vec![0, 2], vec![1]]);
        for (join, replies, expected) in [
            (Join::First, [Value::Okay, Value::Okay], Value::Okay),
            (Join::Sum, [one.clone(), two.clone()], Value::Int(3)),
            (
                Join::Concat,
                [list(&[text("a"), text("b")]), list(&[text("b"), text("c")])],
                list(&[text("a"), text("b"), text("c")]),
            ),
            (
                Join::Counts,
                [
                    list(&[text("a"), one.clone()]),
                    list(&[text("a"), two.clone()]),
                ],
                list(&[text("a"), Value::Int(3)]),
            ),
            (Join::Some, [Value::Nil, text("a")], text("a")),
            (Join::Some, [Value::Nil, Value::Nil], Value::Nil),
            (
                Join::Every,
                [
                    list(&[one.clone(), one.clone(), Value::Int(0)]),
                    list(&[one.clone(), Value::Int(0), Value::Int(0)]),
                ],
                list(&[one.clone(), Value::Int(0), Value::Int(0)]),
            ),
            (
                places,
                [list(&[text("a"), text("c")]), list(&[Value::Nil])],
                list(&[text("a"), Value::Nil, text("c")]),
            ),
        ] {
            assert_eq!(joined(&join, replies), Ok(expected), "{join:?}");
        }
    }

    #[test]
    fn one_failure_is_the_reply_unless_one_success_is_enough() {
        let error = parse_redis_value(b"-NOTBUSY No scripts\r\n").unwrap_or(Value::Nil);
        let replies = [error.clone(), Value::Okay];
        assert_eq!(joined(&Join::First, replies.clone()), Ok(error.clone()));
        assert_eq!(joined(&Join::Success, replies), Ok(Value::Okay));
        assert_eq!(
            joined(&Join::Success, [error.clone(), error.clone()]),
            Ok(error)
        );
        let lost = [Ok(Value::Int(1)), Err(Fault::ConnectionLost)];
        assert_eq!(Join::Sum.of(lost.into_iter()), Err(Fault::ConnectionLost));
    }

    #[test]
    fn a_reply_of_another_kind_is_a_fault() {
        assert_eq!(joined(&Join::Sum, [Value::Nil]), Err(Fault::Internal));
        assert_eq!(joined(&Join::Concat, [Value::Okay]), Err(Fault::Internal));
    }
}
