//! The OpenAPI document: complete, correct and consistent.

use std::collections::BTreeSet;

use test_support::{Api, Method, Value, json};

use crate::app::TestApp;
use crate::document::{allow, document, escaped};

/// Visits a value and all values below it with their JSON pointers.
fn walk<'a>(pointer: &str, value: &'a Value, visit: &mut impl FnMut(&str, &'a Value)) {
    visit(pointer, value);
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                walk(&format!("{pointer}/{}", escaped(key)), value, visit);
            }
        }
        Value::Array(items) => {
            for (number, value) in items.iter().enumerate() {
                walk(&format!("{pointer}/{number}"), value, visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn paths_accept_exactly_the_documented_methods() {
    let app = TestApp::start();
    let api = Api::new(app.url());
    for (path, item) in document().paths() {
        let url = path.replace("{period}", "day").replace("{user}", "42");
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            let method: Method = method.parse().expect("a method");
            let response = api.send(method.clone(), &url, "", &[]).await;
            let (allow, request) = (allow(item), &response.request);
            if allow.split(", ").any(|known| known == method.as_str()) {
                assert_ne!(response.status, 405, "{request}: {}", response.text);
            } else {
                response.assert_status(405);
                assert_eq!(response.header("allow"), Some(&*allow), "{request}");
            }
        }
    }
}

#[test]
fn references_resolve_and_components_are_used() {
    let json = &document().json;
    let mut references = BTreeSet::new();
    walk("", json, &mut |pointer, value| {
        if let Some(reference) = value["$ref"].as_str() {
            let target = reference.strip_prefix('#');
            let target = target.expect("a reference within the document");
            let exists = json.pointer(target).is_some();
            assert!(exists, "{pointer} refers to {target}");
            references.insert(target.to_owned());
        }
    });
    let components = json["components"].as_object().expect("components");
    for (kind, all) in components
        .iter()
        .filter(|(kind, _)| *kind != "securitySchemes")
    {
        for name in all.as_object().expect("components").keys() {
            let pointer = format!("/components/{kind}/{}", escaped(name));
            // The response of undocumented methods, so no operation refers to it.
            let unreferenced = pointer == "/components/responses/MethodNotAllowed";
            let is_used = references.contains(&pointer) || unreferenced;
            assert!(is_used, "{pointer} is not used");
        }
    }
}

#[test]
fn examples_match_their_schemas() {
    let mut examples = Vec::new();
    walk("", &document().json, &mut |pointer, value| {
        if value.get("schema").is_none() {
            return;
        }
        let schema = format!("{pointer}/schema");
        let several = value["examples"].as_object().into_iter().flatten();
        let several = several.map(|(_, example)| &example["value"]);
        let all = value.get("example").into_iter().chain(several);
        examples.extend(all.map(|example| (schema.clone(), example)));
    });
    assert!(examples.len() >= 25, "only {} examples", examples.len());
    for (schema, example) in examples {
        document().validate(&schema, example, "an example");
    }
}

#[test]
fn bodies_have_examples_and_requests_are_closed() {
    walk("", &document().json, &mut |pointer, value| {
        let is_media_type = pointer.contains("/content/") && value.get("schema").is_some();
        if is_media_type && !pointer.ends_with("text~1html") {
            let examples = value.get("example").or(value.get("examples"));
            assert!(examples.is_some(), "{pointer} has no example");
        }
    });
    for name in ["Activity", "Profile", "NamedProfile"] {
        let schema = &document().json["components"]["schemas"][name];
        assert_eq!(schema["additionalProperties"], false, "{name}");
    }
}

/// The reference sends the examples of parameters. Those of optional parameters would narrow the response.
#[test]
fn required_parameters_alone_have_examples() {
    let mut paths = 0;
    walk("", &document().json, &mut |pointer, value| {
        // Either `ids` or `followed_by` is required.
        let (place, name) = (value["in"].as_str(), value["name"].as_str());
        if place.is_some() && name.is_some_and(|name| name != "ids") {
            let has_example = value.get("example").or(value.get("examples")).is_some();
            let is_path = place == Some("path");
            let is_required = place == Some("query") && value["required"] == true;
            assert_eq!(has_example, is_path || is_required, "{pointer}");
            paths += usize::from(is_path);
        }
    });
    assert!(paths >= 5, "only {paths}");
}

#[test]
fn operations_have_unique_ids_and_summaries() {
    let mut ids = BTreeSet::new();
    for (path, item) in document().paths() {
        for (method, operation) in item.as_object().expect("a path") {
            if method == "parameters" {
                continue;
            }
            let id = operation["operationId"].as_str().expect("an id");
            assert!(ids.insert(id), "{id} twice");
            assert!(operation["summary"].is_string(), "{id}");
            assert!(operation["tags"][0].is_string(), "{id}");
            let status = |status: &str| operation["responses"].get(status).is_some();
            let writes = operation.get("requestBody").is_some();
            let security = operation.get("security").and_then(Value::as_array);
            let is_required = security.is_some_and(|kinds| !kinds.contains(&json!({})));
            // Public for some users, deployments or parameters.
            let is_conditional = [
                "compareStandings",
                "compareEventStandings",
                "getHistory",
                "getRules",
                "getStats",
            ]
            .contains(&id);
            assert_eq!(is_required || is_conditional, status("401"), "{id}");
            assert_eq!(writes, status("415") && status("413"), "{id}");
            assert_eq!(path != "/healthz", status("500"), "{id}");
            let limited = path.starts_with("/v1")
                || ["/healthz", "/metrics", "/u/{user}/share.svg"].contains(&path);
            assert_eq!(limited, status("503"), "{id}");
            // It reads the store, but is served without it too.
            let limited = limited || path.starts_with("/u/{user}");
            assert_eq!(limited, status("429"), "{id}");
        }
    }
}

#[test]
#[should_panic(expected = "does not match /components/schemas/User")]
fn undocumented_field_fails_validation() {
    let user = json!({"id": "42", "email": "ada@example.com"});
    document().validate("/components/schemas/User", &user, "a user");
}

#[test]
#[should_panic(expected = "does not match /components/schemas/Total")]
fn out_of_range_value_fails_validation() {
    document().validate("/components/schemas/Total", &json!(-1), "a total");
}
