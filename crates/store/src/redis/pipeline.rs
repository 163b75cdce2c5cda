//! Commands and script calls, and the JSON in which the protocol carries them.

use crate::scripts::Script;

/// How a pipeline carries its scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ScriptForm {
    /// As text, not by digest.
    by_text: bool,
    /// Without the line of flags.
    plain: bool,
}

/// How often a request has the text of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// Once for each shard: its node knows the script from then on.
    PerShard,
    /// In each call.
    PerCall,
}

/// One command of a pipeline.
#[derive(Clone, Debug)]
pub struct Command {
    script: Option<&'static Script>,
    /// The JSON after the name, or after the digest or text of a script: `,"a","b"`.
    arguments: String,
    /// Where the arguments of a script begin, after its keys.
    after_keys: usize,
    name: &'static str,
}

impl Command {
    /// Returns a command without arguments; see [`Command::arg`].
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self {
            script: None,
            arguments: String::new(),
            after_keys: 0,
            name,
        }
    }

    /// Returns the call of a script with these keys; see [`Command::arg`] for its arguments.
    #[must_use]
    pub fn script(script: &'static Script, keys: &[String]) -> Self {
        let command = Self {
            script: Some(script),
            ..Self::new("EVALSHA")
        };
        let mut command = command.arg(&keys.len().to_string()).args(keys);
        command.after_keys = command.arguments.len();
        command
    }

    /// Returns the JSON of the keys, and that of the arguments after them. Of a command, the first argument is the key.
    fn split_keys(&self) -> (&str, &str) {
        let end = match self.script {
            Some(_) => self.after_keys,
            None => {
                let end = self.arguments.find("\",");
                end.map_or(self.arguments.len(), |end| end + 1)
            }
        };
        self.arguments.split_at(end)
    }

    /// Returns the keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let (keys, _) = self.split_keys();
        let count = usize::from(self.script.is_some());
        // Keys contain no character that JSON escapes.
        let keys = keys.get(1..).unwrap_or_default().trim_matches('"');
        keys.split("\",\"").skip(count)
    }

    /// Returns the hash tag of the first key, without braces; empty without keys.
    #[must_use]
    pub fn shard(&self) -> &str {
        let tag = self.keys().next().unwrap_or_default();
        let tag = tag.strip_prefix('{').unwrap_or_default();
        tag.split_once('}').map_or("", |(tag, _)| tag)
    }

    /// Returns the first argument of a script call; `None` if JSON escapes it, or there is none.
    #[must_use]
    pub fn first_argument(&self) -> Option<&str> {
        let (_, arguments) = self.split_keys();
        let first = arguments
            .strip_prefix(",\"")
            .filter(|_| self.script.is_some());
        let (first, _) = first?.split_once('"')?;
        (!first.contains('\\')).then_some(first)
    }

    /// Returns the command with another beginning of its keys.
    #[must_use]
    pub fn with_key_beginning(&self, beginning: &str, other: &str) -> Self {
        let (keys, arguments) = self.split_keys();
        // A quote begins a key: none contains one.
        let keys = keys.replace(&format!("\"{beginning}"), &format!("\"{other}"));
        Self {
            after_keys: if self.script.is_some() { keys.len() } else { 0 },
            arguments: keys + arguments,
            ..self.clone()
        }
    }

    /// Returns the script call with another first argument, if it has one that JSON does not escape.
    #[must_use]
    pub fn with_first_argument(&self, other: &str) -> Self {
        let (keys, arguments) = self.split_keys();
        let Some(first) = self.first_argument() else {
            return self.clone();
        };
        let mut changed = format!("{keys},");
        push_json(&mut changed, other);
        // The comma and the quotes.
        changed.push_str(arguments.get(first.len() + 3..).unwrap_or_default());
        Self {
            arguments: changed,
            ..self.clone()
        }
    }

    /// Returns whether one of the arguments after the first is this text.
    #[must_use]
    pub fn has_argument(&self, argument: &str) -> bool {
        let mut text = String::from(",");
        push_json(&mut text, argument);
        text.push(',');
        format!("{},", self.arguments).contains(&text)
    }

    /// Appends an argument.
    #[must_use]
    pub fn arg(mut self, argument: &str) -> Self {
        self.arguments.push(',');
        push_json(&mut self.arguments, argument);
        self
    }

    /// Appends the decimal text of a number.
    #[must_use]
    pub fn number(self, number: impl Into<i64>) -> Self {
        self.arg(&number.into().to_string())
    }

    /// Appends arguments.
    #[must_use]
    pub fn args<T: AsRef<str>>(self, arguments: impl IntoIterator<Item = T>) -> Self {
        let mut command = self;
        for argument in arguments {
            command = command.arg(argument.as_ref());
        }
        command
    }

    fn write(&self, form: ScriptForm, body: &mut String) {
        body.push('[');
        match self.script {
            None => push_json(body, self.name),
            Some(script) if form.by_text => {
                push_json(body, "EVAL");
                body.push(',');
                if form.plain {
                    push_json(body, &script.text());
                } else {
                    push_json(body, &format!("{}{}", script.shebang, script.text()));
                }
            }
            Some(script) => {
                push_json(body, "EVALSHA");
                body.push(',');
                push_json(
                    body,
                    if form.plain {
                        script.plain_sha
                    } else {
                        script.sha
                    },
                );
            }
        }
        body.push_str(&self.arguments);
        body.push(']');
    }
}

/// Commands that the store runs in order, sent in one request.
#[derive(Clone, Debug, Default)]
pub struct Pipeline(Vec<Command>);

impl Pipeline {
    /// Returns a pipeline of these commands.
    #[must_use]
    pub fn new(commands: Vec<Command>) -> Self {
        Self(commands)
    }

    /// Returns the commands.
    #[must_use]
    pub fn commands(&self) -> &[Command] {
        &self.0
    }

    /// Returns the commands, to change them.
    pub fn commands_mut(&mut self) -> &mut [Command] {
        &mut self.0
    }

    /// Returns the number of commands.
    #[must_use]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the request body; scripts are named by digest.
    #[must_use]
    pub fn body(&self) -> String {
        self.body_by_digest(false)
    }

    /// Returns a request body that needs no other request: scripts are sent as text, without flags.
    #[must_use]
    pub fn standalone_body(&self) -> String {
        let (by_text, plain) = (true, true);
        write_all(self.with_form(ScriptForm { by_text, plain }))
    }

    /// Returns the request body; scripts are named by digest, `plain` ones by that without flags.
    pub(super) fn body_by_digest(&self, plain: bool) -> String {
        let by_text = false;
        write_all(self.with_form(ScriptForm { by_text, plain }))
    }

    fn with_form(&self, form: ScriptForm) -> impl Iterator<Item = (&Command, ScriptForm)> {
        self.0.iter().map(move |command| (command, form))
    }

    /// Returns the request body of the commands at these indexes, with the texts of scripts.
    pub(super) fn body_by_text(&self, indexes: &[usize], plain: bool, texts: Texts) -> String {
        let commands = indexes.iter().filter_map(|index| self.0.get(*index));
        let mut known: Vec<(&str, &str)> = Vec::new();
        let commands = commands.map(|command| {
            let script = (
                command.script.map_or("", |script| script.sha),
                command.shard(),
            );
            let is_known = known.contains(&script);
            if !is_known {
                known.push(script);
            }
            let by_text = texts == Texts::PerCall || !is_known;
            (command, ScriptForm { by_text, plain })
        });
        write_all(commands)
    }
}

fn write_all<'a>(commands: impl Iterator<Item = (&'a Command, ScriptForm)>) -> String {
    let mut body = String::from("[");
    for (command, form) in commands {
        if body.len() > 1 {
            body.push(',');
        }
        command.write(form, &mut body);
    }
    body.push(']');
    body
}

/// Appends a JSON string. Counting spends much of its time here, and `serde_json` would write a copy first.
fn push_json(body: &mut String, text: &str) {
    body.reserve(text.len() + 2);
    body.push('"');
    let mut start = 0;
    for (index, byte) in text.bytes().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        body.push_str(text.get(start..index).unwrap_or_default());
        match byte {
            b'"' => body.push_str("\\\""),
            b'\\' => body.push_str("\\\\"),
            control => body.push_str(&format!("\\u{control:04x}")),
        }
        start = index + 1;
    }
    body.push_str(text.get(start..).unwrap_or_default());
    body.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argument_is_a_json_string() {
        for text in [
            "",
            "{ar:0}1ba:all",
            "\"a\\b\"",
            "{\"field\":\"Lé\"}",
            "\u{1f}\u{0}\t\n\r",
            "李\u{2028}",
        ] {
            let mut body = String::new();
            push_json(&mut body, text);
            let parsed: String = serde_json::from_str(&body).unwrap();
            assert_eq!(parsed, text, "{body}");
        }
    }
}
