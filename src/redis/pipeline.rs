//! Commands and scripts, written as the JSON that the protocol takes.

use crate::scripts::Script;

/// One command of a pipeline.
#[derive(Clone, Debug)]
pub struct Command {
    script: Option<&'static Script>,
    /// What follows the name and, of a script, its digest or text: `,"a","b"`.
    arguments: String,
    name: &'static str,
}

impl Command {
    /// A command by name; arguments are added with [`Command::arg`].
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self {
            script: None,
            arguments: String::new(),
            name,
        }
    }

    /// A script over keys; its own arguments are added with [`Command::arg`].
    #[must_use]
    pub fn script(script: &'static Script, keys: &[String]) -> Self {
        let command = Self {
            script: Some(script),
            ..Self::new("EVALSHA")
        };
        keys.iter()
            .fold(command.arg(&keys.len().to_string()), |command, key| {
                command.arg(key)
            })
    }

    /// This command with one more argument.
    #[must_use]
    pub fn arg(mut self, argument: &str) -> Self {
        self.arguments.push(',');
        push_json(&mut self.arguments, argument);
        self
    }

    fn write(&self, by_text: bool, body: &mut String) {
        body.push('[');
        match (self.script, by_text) {
            (None, _) => push_json(body, self.name),
            (Some(script), false) => {
                push_json(body, "EVALSHA");
                body.push(',');
                push_json(body, script.sha);
            }
            (Some(script), true) => {
                push_json(body, "EVAL");
                body.push(',');
                push_json(body, script.text);
            }
        }
        body.push_str(&self.arguments);
        body.push(']');
    }
}

/// Commands that go to the store in one request, and are answered in order.
#[derive(Clone, Debug, Default)]
pub struct Pipeline(Vec<Command>);

impl Pipeline {
    /// A pipeline of these commands.
    #[must_use]
    pub fn new(commands: Vec<Command>) -> Self {
        Self(commands)
    }

    /// How many commands there are.
    #[must_use]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The request body, scripts by digest.
    #[must_use]
    pub fn body(&self) -> String {
        write_all(self.0.iter(), false)
    }

    /// The request body of only the commands at these places, scripts by text.
    #[must_use]
    pub fn body_by_text(&self, places: &[usize]) -> String {
        write_all(places.iter().filter_map(|place| self.0.get(*place)), true)
    }
}

fn write_all<'a>(commands: impl Iterator<Item = &'a Command>, by_text: bool) -> String {
    let mut body = String::from("[");
    for command in commands {
        if body.len() > 1 {
            body.push(',');
        }
        command.write(by_text, &mut body);
    }
    body.push(']');
    body
}

fn push_json(body: &mut String, text: &str) {
    let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(plain) {
        body.push('"');
        body.push_str(text);
        body.push('"');
    } else {
        body.push_str(&serde_json::to_string(text).unwrap_or_default());
    }
}
