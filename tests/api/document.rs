//! The OpenAPI document, and whether an answer is as it says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use jsonschema::Validator;
use test_support::{Answer, Method, Value, json};

/// The document as a file.
pub const TEXT: &str = include_str!("../../web/openapi.json");

/// The document, read once.
pub fn document() -> &'static Document {
    static DOCUMENT: OnceLock<Document> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let json: Value = serde_json::from_str(TEXT).expect("web/openapi.json is JSON");
        let mut strict = json.clone();
        close(&mut strict);
        Document {
            json,
            strict,
            validators: Mutex::default(),
        }
    })
}

/// The document, and validators of its schemas by JSON pointer.
pub struct Document {
    /// As it is.
    pub json: Value,
    /// With every object closed: callers are to ignore what is new, these tests are not.
    strict: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Document {
    /// The paths, such as `/v1/users/{user}`.
    pub fn paths(&self) -> impl Iterator<Item = (&str, &Value)> {
        let paths = self.json["paths"].as_object().expect("paths");
        paths.iter().map(|(path, item)| (path.as_str(), item))
    }

    /// The names of all parameters.
    pub fn parameters(&self) -> Vec<String> {
        let of = |holder: &Value| holder["parameters"].as_array().cloned().unwrap_or_default();
        let mut names = Vec::new();
        for (_, item) in self.paths() {
            let operations = item.as_object().expect("a path").values().flat_map(of);
            for parameter in operations.chain(of(item)) {
                names.push(
                    self.target(&parameter)["name"]
                        .as_str()
                        .expect("a name")
                        .to_owned(),
                );
            }
        }
        names.sort();
        names.dedup();
        names
    }

    /// Fails the test unless an answer is one that the document names for its request.
    pub fn check(&self, method: &Method, path: &str, sent: &[u8], answer: &Answer) {
        let head = method == Method::HEAD;
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let Some((template, item)) = self.paths().find(|(template, _)| fits(template, path)) else {
            return self.check_response("/components/responses/NotFound", answer, 404, head);
        };
        let name = if head {
            "get".to_owned()
        } else {
            method.as_str().to_lowercase()
        };
        if item.get(&name).is_none() {
            assert_eq!(
                answer.header("allow"),
                Some(&*allow(item)),
                "{}",
                answer.request
            );
            return self.check_response(
                "/components/responses/MethodNotAllowed",
                answer,
                405,
                head,
            );
        }
        let operation = format!("/paths/{}/{name}", escaped(template));
        let response = format!("{operation}/responses/{}", answer.status);
        self.check_response(&self.resolved(&response), answer, answer.status, head);
        if let Ok(sent) = serde_json::from_slice::<Value>(sent)
            && answer.status == 200
        {
            let schema = format!("{operation}/requestBody/content/application~1json/schema");
            self.check_accepted(&schema, &sent, &answer.body, &answer.request);
        }
    }

    /// What was done must be what the document lets callers send.
    fn check_accepted(&self, schema: &str, sent: &Value, answer: &Value, request: &str) {
        let failed = answer["results"].as_array().into_iter().flatten();
        if !failed
            .into_iter()
            .any(|result| result.get("error").is_some())
        {
            self.validate(schema, sent, &format!("{request}, what was sent"));
        }
    }

    fn check_response(&self, pointer: &str, answer: &Answer, status: u16, head: bool) {
        let request = &answer.request;
        let response = self.json.pointer(pointer);
        let documented = response.is_some() && answer.status == status;
        assert!(
            documented,
            "{request}: {} is not documented: {}",
            answer.status, answer.text
        );
        let response = response.expect("documented");
        for (name, header) in response["headers"].as_object().into_iter().flatten() {
            let required = &self.target(header)["required"] == true;
            let there = answer.header(name.as_str()).is_some();
            assert!(
                there || !required,
                "{request}: {status} lacks the header {name}"
            );
        }
        let media_type = answer.header("content-type").unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default();
        let content = response["content"].as_object();
        if content.is_none() {
            assert_eq!(
                (media_type, &*answer.text),
                ("", ""),
                "{request}: {status} has no body"
            );
        } else if content.is_some_and(|content| !content.contains_key(media_type)) {
            panic!("{request}: {status} as {media_type:?} is not documented");
        } else if media_type.ends_with("json") && !head {
            let schema = format!("{pointer}/content/{}/schema", escaped(media_type));
            self.validate(&schema, &answer.body, request);
        }
    }

    /// Fails the test unless a value is as the schema at a pointer says.
    pub fn validate(&self, pointer: &str, value: &Value, what: &str) {
        let validator = self.validator(pointer);
        let faults: Vec<String> = validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(
            faults.is_empty(),
            "{what}\n  {value:#}\n  is not as {pointer}: {faults:#?}"
        );
    }

    fn validator(&self, pointer: &str) -> Arc<Validator> {
        let mut validators = self
            .validators
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        let made = validators.entry(pointer.to_owned()).or_insert_with(|| {
            // The document itself, so that its references lead somewhere.
            let mut root = self.strict.clone();
            let fragment = pointer.replace('{', "%7B").replace('}', "%7D");
            root["$ref"] = json!(format!("#{fragment}"));
            let options = jsonschema::draft202012::options().should_validate_formats(true);
            let validator = options.build(&root);
            Arc::new(validator.unwrap_or_else(|error| panic!("{pointer}: {error}")))
        });
        Arc::clone(made)
    }

    /// Where a reference at a pointer leads; the pointer itself where there is none.
    pub fn resolved(&self, pointer: &str) -> String {
        let reference = self
            .json
            .pointer(pointer)
            .and_then(|value| value["$ref"].as_str());
        reference
            .map_or(pointer, |reference| reference.trim_start_matches('#'))
            .to_owned()
    }

    fn target<'a>(&'a self, value: &'a Value) -> &'a Value {
        let reference = value["$ref"]
            .as_str()
            .map(|reference| reference.trim_start_matches('#'));
        reference.map_or(value, |pointer| {
            self.json.pointer(pointer).expect("a target")
        })
    }
}

/// `Allow` for a path: what it documents, and `HEAD` beside `GET`.
pub fn allow(item: &Value) -> String {
    let methods = ["get", "post", "put", "delete"]
        .into_iter()
        .filter(|name| item[name] != json!(null));
    methods
        .map(|name| name.to_uppercase().replace("GET", "GET, HEAD"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A key as a part of a JSON pointer.
pub fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn fits(template: &str, path: &str) -> bool {
    let parts = || template.split('/').zip(path.split('/'));
    let same_length = template.split('/').count() == path.split('/').count();
    same_length && parts().all(|(template, part)| template.starts_with('{') || template == part)
}

/// Forbids properties that a schema does not name.
fn close(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("properties").is_some_and(Value::is_object) {
                fields.entry("additionalProperties").or_insert(json!(false));
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
