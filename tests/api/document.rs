//! The OpenAPI document, and validation of responses against it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jsonschema::Validator;
use test_support::{Answer, Method, Value, json};

/// The text of the document.
pub const TEXT: &str = include_str!("../../web/openapi.json");

/// Returns the parsed document.
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

/// The OpenAPI document and validators of its schemas by JSON pointer.
pub struct Document {
    /// The document as published.
    pub json: Value,
    /// The document with every object closed. Clients must ignore unknown fields; these tests must not.
    strict: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Document {
    /// Returns the paths, such as `/v1/users/{user}`, with their path items.
    pub fn paths(&self) -> impl Iterator<Item = (&str, &Value)> {
        let paths = self.json["paths"].as_object().expect("paths");
        paths.iter().map(|(path, item)| (path.as_str(), item))
    }

    /// Returns the names of all parameters, sorted and without duplicates.
    pub fn parameters(&self) -> Vec<String> {
        let parameters =
            |holder: &Value| holder["parameters"].as_array().cloned().unwrap_or_default();
        let mut names = Vec::new();
        for (_, item) in self.paths() {
            let operations = item.as_object().expect("a path").values();
            let operations = operations.flat_map(parameters);
            for parameter in operations.chain(parameters(item)) {
                let name = self.target(&parameter)["name"].as_str();
                names.push(name.expect("a name").to_owned());
            }
        }
        names.sort();
        names.dedup();
        names
    }

    /// Asserts that the document describes a response to this request.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub fn check(&self, method: &Method, path: &str, sent: &[u8], response: &Answer) {
        let head = method == Method::HEAD;
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let Some((template, item)) = self.paths().find(|(template, _)| fits(template, path)) else {
            return self.check_response("/components/responses/NotFound", response, 404, head);
        };
        let name = if head {
            "get".to_owned()
        } else {
            method.as_str().to_lowercase()
        };
        if item.get(&name).is_none() {
            let (allow, request) = (allow(item), &response.request);
            assert_eq!(response.header("allow"), Some(&*allow), "{request}");
            let pointer = "/components/responses/MethodNotAllowed";
            return self.check_response(pointer, response, 405, head);
        }
        let operation = format!("/paths/{}/{name}", escaped(template));
        let pointer = format!("{operation}/responses/{}", response.status);
        self.check_response(&self.resolved(&pointer), response, response.status, head);
        if let Ok(sent) = serde_json::from_slice::<Value>(sent)
            && response.status == 200
        {
            let schema = format!("{operation}/requestBody/content/application~1json/schema");
            self.check_accepted(&schema, &sent, &response.body, &response.request);
        }
    }

    /// Asserts that an accepted request body matches the schema of the request.
    fn check_accepted(&self, schema: &str, sent: &Value, response: &Value, request: &str) {
        let mut results = response["results"].as_array().into_iter().flatten();
        if !results.any(|result| result.get("error").is_some()) {
            self.validate(schema, sent, &format!("{request}, request body"));
        }
    }

    fn check_response(&self, pointer: &str, response: &Answer, status: u16, head: bool) {
        let request = &response.request;
        let description = self.json.pointer(pointer);
        let description = description.filter(|_| response.status == status);
        let (found, text) = (response.status, &response.text);
        let description =
            description.unwrap_or_else(|| panic!("{request}: {found} is not documented: {text}"));
        for (name, header) in description["headers"].as_object().into_iter().flatten() {
            let required = &self.target(header)["required"] == true;
            let present = response.header(name.as_str()).is_some();
            let is_valid = present || !required;
            assert!(is_valid, "{request}: {status} lacks the header {name}");
        }
        let media_type = response.header("content-type").unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default();
        let content = description["content"].as_object();
        if content.is_none() {
            let body = (media_type, &*response.text);
            assert_eq!(body, ("", ""), "{request}: {status} has no body");
        } else if content.is_some_and(|content| !content.contains_key(media_type)) {
            panic!("{request}: {status} as {media_type:?} is not documented");
        } else if media_type.ends_with("json") && !head {
            let schema = format!("{pointer}/content/{}/schema", escaped(media_type));
            self.validate(&schema, &response.body, request);
        }
    }

    /// Asserts that a value matches the schema at a pointer.
    ///
    /// # Panics
    ///
    /// If it does not, with all validation errors.
    pub fn validate(&self, pointer: &str, value: &Value, context: &str) {
        let validator = self.validator(pointer);
        let errors = validator.iter_errors(value);
        let errors = errors.map(|error| format!("{}: {error}", error.instance_path()));
        let errors: Vec<String> = errors.collect();
        assert!(
            errors.is_empty(),
            "{context}\n  {value:#}\n  does not match {pointer}: {errors:#?}"
        );
    }

    fn validator(&self, pointer: &str) -> Arc<Validator> {
        let validators = self.validators.lock();
        let mut validators = validators.unwrap_or_else(PoisonError::into_inner);
        let validator = validators.entry(pointer.to_owned()).or_insert_with(|| {
            // The root is the complete document, so that references resolve.
            let mut root = self.strict.clone();
            let fragment = pointer.replace('{', "%7B").replace('}', "%7D");
            root["$ref"] = json!(format!("#{fragment}"));
            let options = jsonschema::draft202012::options().should_validate_formats(true);
            let validator = options.build(&root);
            Arc::new(validator.unwrap_or_else(|error| panic!("{pointer}: {error}")))
        });
        Arc::clone(validator)
    }

    /// Returns the target of the reference at a pointer, or the pointer itself if it has none.
    pub fn resolved(&self, pointer: &str) -> String {
        let value = self.json.pointer(pointer).unwrap_or(&Value::Null);
        reference(value).unwrap_or(pointer).to_owned()
    }

    fn target<'a>(&'a self, value: &'a Value) -> &'a Value {
        let pointer = reference(value);
        pointer.map_or(value, |pointer| {
            self.json.pointer(pointer).expect("a target")
        })
    }
}

/// Returns the JSON pointer that a value refers to.
fn reference(value: &Value) -> Option<&str> {
    Some(value["$ref"].as_str()?.trim_start_matches('#'))
}

/// Returns the `Allow` header of a path item: its methods, and `HEAD` if it has `GET`.
pub fn allow(item: &Value) -> String {
    let mut methods = vec!["get", "post", "put", "delete"];
    methods.retain(|name| item[name] != json!(null));
    methods
        .join(", ")
        .to_uppercase()
        .replace("GET", "GET, HEAD")
}

/// Escapes a key as a segment of a JSON pointer.
pub fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns whether a path without a query belongs to a path of the document, such as `/v1/users/{user}`.
pub fn fits(template: &str, path: &str) -> bool {
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
