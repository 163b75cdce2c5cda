//! Merges the replies of several nodes into the reply that a single Redis would send.

use std::collections::HashSet;

use redis::Value;

use crate::{backend::Reply, error::GatewayError};

/// How to merge replies. If one of them is an error, the first error is the result, except for
/// [`Merge::AnySuccess`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Merge {
    /// Returns the first of equal replies.
    First,
    /// Adds integers.
    Sum,
    /// Concatenates arrays and removes duplicates.
    Concat,
    /// Adds the counts in arrays of alternating names and counts.
    SumCounts,
    /// Returns the first reply that is not nil.
    FirstNonNil,
    /// Returns the minimum of each element of integer arrays.
    Min,
    /// Returns the first success, or the first error if there is none.
    AnySuccess,
    /// Places the elements of each array at the given indexes of the result.
    Scatter(Vec<Vec<usize>>),
}

impl Merge {
    /// Merges replies, in the order of the nodes.
    pub(super) fn replies(&self, replies: impl ExactSizeIterator<Item = Reply>) -> Reply {
        let mut values = Vec::with_capacity(replies.len());
        let mut failed: Option<Reply> = None;
        for reply in replies {
            match reply {
                Ok(Value::ServerError(_)) | Err(_) => failed = failed.or(Some(reply)),
                Ok(value) => values.push(value),
            }
        }
        match (failed, self) {
            (Some(failed), Self::AnySuccess) if values.is_empty() => return failed,
            (Some(_), Self::AnySuccess) | (None, _) => {}
            (Some(failed), _) => return failed,
        }
        let merged = match self {
            Self::First | Self::AnySuccess => values.into_iter().next(),
            Self::Sum => values
                .iter()
                .map(integer)
                .sum::<Option<i64>>()
                .map(Value::Int),
            Self::Concat => arrays(values).map(concat),
            Self::SumCounts => arrays(values).and_then(sum_counts),
            Self::Min => arrays(values).and_then(min),
            Self::FirstNonNil => {
                let first = values.into_iter().find(|value| *value != Value::Nil);
                Some(first.unwrap_or(Value::Nil))
            }
            Self::Scatter(indexes) => arrays(values).and_then(|arrays| scatter(arrays, indexes)),
        };
        // A reply of another type than this merge expects.
        merged.ok_or(GatewayError::Internal)
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

fn arrays(values: Vec<Value>) -> Option<Vec<Vec<Value>>> {
    let array = |value| match value {
        Value::Array(values) => Some(values),
        _ => None,
    };
    values.into_iter().map(array).collect()
}

fn concat(arrays: Vec<Vec<Value>>) -> Value {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for value in arrays.into_iter().flatten() {
        // During the migration of a slot, two nodes may list the same key.
        if let Value::BulkString(bytes) = &value
            && !seen.insert(bytes.clone())
        {
            continue;
        }
        all.push(value);
    }
    Value::Array(all)
}

/// Adds arrays of the same names in the same order, each name followed by its count.
fn sum_counts(arrays: Vec<Vec<Value>>) -> Option<Value> {
    let mut arrays = arrays.into_iter();
    let mut sums = arrays.next()?;
    for array in arrays {
        for (sum, value) in sums.iter_mut().zip(array).skip(1).step_by(2) {
            *sum = Value::Int(integer(sum)? + integer(&value)?);
        }
    }
    Some(Value::Array(sums))
}

fn min(arrays: Vec<Vec<Value>>) -> Option<Value> {
    let mut arrays = arrays.into_iter();
    let mut minima = arrays.next()?;
    for array in arrays {
        for (minimum, value) in minima.iter_mut().zip(array) {
            *minimum = Value::Int(integer(minimum)?.min(integer(&value)?));
        }
    }
    Some(Value::Array(minima))
}

fn scatter(arrays: Vec<Vec<Value>>, indexes: &[Vec<usize>]) -> Option<Value> {
    let mut all = vec![Value::Nil; indexes.iter().map(Vec::len).sum()];
    for (array, indexes) in arrays.into_iter().zip(indexes) {
        for (value, index) in array.into_iter().zip(indexes) {
            *all.get_mut(*index)? = value;
        }
    }
    Some(Value::Array(all))
}

#[cfg(test)]
mod tests {
    use redis::{Value, parse_redis_value};

    use super::Merge;
    use crate::{backend::Reply, error::GatewayError};

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn array(values: &[Value]) -> Value {
        Value::Array(values.to_vec())
    }

    fn merged<const N: usize>(merge: &Merge, replies: [Value; N]) -> Reply {
        merge.replies(replies.into_iter().map(Ok))
    }

    #[test]
    fn replies_merge_into_single_redis_reply() {
        let [one, two] = [Value::Int(1), Value::Int(2)];
        let scatter = Merge::Scatter(vec![vec![0, 2], vec![1]]);
        for (merge, replies, expected) in [
            (Merge::First, [Value::Okay, Value::Okay], Value::Okay),
            (Merge::Sum, [one.clone(), two.clone()], Value::Int(3)),
            (
                Merge::Concat,
                [
                    array(&[text("a"), text("b")]),
                    array(&[text("b"), text("c")]),
                ],
                array(&[text("a"), text("b"), text("c")]),
            ),
            (
                Merge::SumCounts,
                [
                    array(&[text("a"), one.clone()]),
                    array(&[text("a"), two.clone()]),
                ],
                array(&[text("a"), Value::Int(3)]),
            ),
            (Merge::FirstNonNil, [Value::Nil, text("a")], text("a")),
            (Merge::FirstNonNil, [Value::Nil, Value::Nil], Value::Nil),
            (
                Merge::Min,
                [
                    array(&[one.clone(), one.clone(), Value::Int(0)]),
                    array(&[one.clone(), Value::Int(0), Value::Int(0)]),
                ],
                array(&[one.clone(), Value::Int(0), Value::Int(0)]),
            ),
            (
                scatter,
                [array(&[text("a"), text("c")]), array(&[Value::Nil])],
                array(&[text("a"), Value::Nil, text("c")]),
            ),
        ] {
            assert_eq!(merged(&merge, replies), Ok(expected), "{merge:?}");
        }
    }

    #[test]
    fn first_error_wins_except_for_any_success() {
        let error = parse_redis_value(b"-NOTBUSY No scripts\r\n").unwrap_or(Value::Nil);
        let replies = [error.clone(), Value::Okay];
        assert_eq!(merged(&Merge::First, replies.clone()), Ok(error.clone()));
        assert_eq!(merged(&Merge::AnySuccess, replies), Ok(Value::Okay));
        assert_eq!(
            merged(&Merge::AnySuccess, [error.clone(), error.clone()]),
            Ok(error)
        );
        let lost = [Ok(Value::Int(1)), Err(GatewayError::ConnectionLost)];
        assert_eq!(
            Merge::Sum.replies(lost.into_iter()),
            Err(GatewayError::ConnectionLost)
        );
    }

    #[test]
    fn unexpected_reply_type_is_internal_error() {
        assert_eq!(
            merged(&Merge::Sum, [Value::Nil]),
            Err(GatewayError::Internal)
        );
        assert_eq!(
            merged(&Merge::Concat, [Value::Okay]),
            Err(GatewayError::Internal)
        );
    }
}
