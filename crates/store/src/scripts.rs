//! The Lua scripts. The header of each file in `src/scripts` is its contract.

/// A script that Redis runs as one atomic step.
///
/// Its flags declare that it touches its keys alone, so Upstash need not lock the whole database.
/// Redis does not know that flag and refuses the script.
#[derive(Debug)]
pub struct Script {
    /// The first line, with the flags.
    pub shebang: &'static str,
    /// The source without the first line, comments and indentation, in parts that scripts share.
    pub parts: &'static [&'static &'static str],
    /// SHA-1 of the script with its first line, in lower-case hexadecimal: the argument of `EVALSHA`.
    pub sha: &'static str,
    /// SHA-1 of the script without its first line.
    pub plain_sha: &'static str,
}

impl Script {
    /// Returns the source without the first line.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts.iter().map(|part| **part).collect()
    }
}

include!(concat!(env!("OUT_DIR"), "/scripts.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    /// Registers of a function: gopher-lua, which Upstash's errors point to, has 200 (`maxRegisters` in its compile.go).
    /// The rest is for what comes.
    const MAX_SLOTS: u8 = 120;
    /// Bytes of the counting script: every activity runs it. A kilobyte of them compares the accounts of the user, and adds what
    /// does not count to the journal; another one limits what one member gives another. A fifth of one bounds what anybody can
    /// store: undos that find nothing, and visitors' activity for targets that are not registered.
    const MAX_COUNT_BYTES: usize = 16_840;

    /// Operations of Lua 5.1, see `lopcodes.h`.
    const GET_GLOBAL: usize = 5;
    const SET_GLOBAL: usize = 7;
    /// The globals that scripts may use. Any other is a misspelled name.
    const GLOBALS: &str = "ARGV KEYS cjson error ipairs math next pairs pcall redis select setmetatable string table tonumber \
                           tostring type unpack";

    /// Reads functions as Lua 5.1 dumps them on 64-bit machines, see `ldump.c`.
    struct Dump<'a>(&'a [u8]);

    impl<'a> Dump<'a> {
        fn take(&mut self, length: usize) -> &'a [u8] {
            let (taken, rest) = self.0.split_at(length);
            self.0 = rest;
            taken
        }

        /// Reads an `int`, or a `size_t` of 8 bytes.
        fn number(&mut self, bytes: usize) -> usize {
            let digits = self.take(bytes).iter().rev();
            digits.fold(0, |number, byte| number << 8 | usize::from(*byte))
        }

        /// Reads a text, which ends with a zero.
        fn text(&mut self) -> String {
            let length = self.number(8);
            let text = String::from_utf8_lossy(self.take(length));
            text.trim_end_matches('\0').to_owned()
        }

        /// Reads a function. Appends its first line, its slots and the globals it uses, and those of the functions in it.
        fn function(&mut self, functions: &mut Vec<(usize, u8, Vec<String>)>) {
            self.text();
            let line = self.number(4);
            let [_, _, _, _, _, _, _, slots] = self.take(8) else {
                panic!("8 bytes");
            };
            let instructions = self.number(4);
            let instructions: Vec<usize> = (0..instructions).map(|_| self.number(4)).collect();
            let constants = (0..self.number(4)).map(|_| match self.number(1) {
                0 => String::new(),
                1 => format!("{:?}", self.take(1)),
                3 => format!("{:?}", self.take(8)),
                _ => self.text(),
            });
            let constants: Vec<String> = constants.collect();
            let is_global = |code: &&usize| [GET_GLOBAL, SET_GLOBAL].contains(&(**code & 0x3f));
            let globals = instructions.iter().filter(is_global);
            // `Bx`, the last 18 bits, is the number of the constant.
            let globals = globals.map(|code| constants[code >> 14].clone()).collect();
            functions.push((line, *slots, globals));
            for _ in 0..self.number(4) {
                self.function(functions);
            }
            let lines = self.number(4);
            self.take(4 * lines);
            for _ in 0..self.number(4) {
                self.text();
                self.take(8);
            }
            for _ in 0..self.number(4) {
                self.text();
            }
        }
    }

    #[test]
    fn counting_script_is_small() {
        let bytes = COUNT.text().len();
        assert!(bytes <= MAX_COUNT_BYTES, "{bytes} bytes");
    }

    #[test]
    fn functions_fit_into_gopher_lua_and_use_known_globals() {
        let lua = mlua::Lua::new();
        for (name, script) in ALL {
            let chunk = lua.load(script.text()).into_function();
            let dump = chunk
                .unwrap_or_else(|error| panic!("{name}: {error}"))
                .dump(false);
            let mut functions = Vec::new();
            let mut reader = Dump(dump.get(12..).unwrap());
            reader.function(&mut functions);
            assert!(reader.0.is_empty(), "{name}");
            for (line, slots, globals) in functions {
                assert!(slots <= MAX_SLOTS, "{name}, line {line}: {slots} registers");
                for global in globals {
                    let is_known = GLOBALS.split(' ').any(|known| known == global);
                    assert!(is_known, "{name}, line {line}: {global}");
                }
            }
        }
    }
}
