//! The OpenAPI document: complete, and true.

use std::collections::BTreeSet;

use test_support::{Api, Method, Value, json};

use crate::document::{allow, document, escaped};
use crate::site::Site;

/// The comments of the routes name their paths.
const ROUTES: &str = include_str!("../../src/http/route.rs");

/// Every value in the document, with its JSON pointer.
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

#[test]
fn it_has_every_route_of_the_service_and_no_other() {
    let documented: BTreeSet<&str> = document().paths().map(|(path, _)| path).collect();
    let comments = ROUTES
        .lines()
        .filter_map(|line| line.trim().strip_prefix("/// `/"));
    let paths = comments.map(|rest| format!("/{}", rest.trim_end_matches('`')));
    let routes: BTreeSet<String> = paths.collect();
    assert_eq!(
        routes
            .iter()
            .map(String::as_str)
            .collect::<BTreeSet<&str>>(),
        documented
    );
}

#[tokio::test]
async fn every_path_has_the_methods_it_documents_and_no_other() {
    let site = Site::start();
    let api = Api::new(site.url());
    for (path, item) in document().paths() {
        let url = path.replace("{period}", "day").replace("{user}", "42");
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            let method: Method = method.parse().expect("a method");
            let answer = api.send(method.clone(), &url, "", &[]).await;
            let documented = allow(item)
                .split(", ")
                .any(|known| known == method.as_str());
            assert_eq!(
                answer.status != 405,
                documented,
                "{method} {path}: {}",
                answer.text
            );
            if !documented {
                assert_eq!(
                    answer.header("allow"),
                    Some(&*allow(item)),
                    "{method} {path}"
                );
            }
        }
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_component_is_used() {
    let json = &document().json;
    let mut references = BTreeSet::new();
    walk("", json, &mut |pointer, value| {
        if let Some(reference) = value["$ref"].as_str() {
            let target = reference
                .strip_prefix('#')
                .expect("a reference within the document");
            assert!(
                json.pointer(target).is_some(),
                "{pointer} leads to {target}"
            );
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
            // Answers what is not described, so nothing described refers to it.
            let unreferenced = pointer == "/components/responses/MethodNotAllowed";
            assert!(
                references.contains(&pointer) || unreferenced,
                "{pointer} is not used"
            );
        }
    }
}

#[test]
fn every_example_is_as_its_schema_says() {
    let mut examples = Vec::new();
    walk("", &document().json, &mut |pointer, value| {
        if value.get("schema").is_none() {
            return;
        }
        let schema = format!("{pointer}/schema");
        examples.extend(
            value
                .get("example")
                .map(|example| (schema.clone(), example)),
        );
        let several = value["examples"]
            .as_object()
            .into_iter()
            .flat_map(|all| all.values());
        examples.extend(several.map(|example| (schema.clone(), &example["value"])));
    });
    assert!(examples.len() >= 25, "only {} examples", examples.len());
    for (schema, example) in examples {
        document().validate(&schema, example, "an example");
    }
}

#[test]
fn every_body_has_an_example_and_every_request_is_closed() {
    walk("", &document().json, &mut |pointer, value| {
        let is_media_type = pointer.contains("/content/application~1") && pointer.ends_with("json");
        if is_media_type && !pointer.contains("openapi.json") {
            let examples = value.get("example").or(value.get("examples"));
            assert!(examples.is_some(), "{pointer} has no example");
        }
    });
    for name in ["Activity", "Profile", "NamedProfile"] {
        let schema = &document().json["components"]["schemas"][name];
        assert_eq!(schema["additionalProperties"], false, "{name}");
    }
}

#[test]
fn every_operation_says_what_it_is_for_and_can_be_told_apart() {
    let mut ids = BTreeSet::new();
    for (path, item) in document().paths() {
        for (method, operation) in item.as_object().expect("a path") {
            if method == "parameters" {
                continue;
            }
            let id = operation["operationId"].as_str().expect("an id");
            assert!(ids.insert(id), "{id} twice");
            assert!(
                operation["summary"].is_string() && operation["tags"][0].is_string(),
                "{id}"
            );
            let status = |status: &str| operation["responses"].get(status).is_some();
            let writes = operation.get("requestBody").is_some();
            assert_eq!(operation.get("security").is_some(), status("401"), "{id}");
            assert_eq!(writes, status("415") && status("413"), "{id}");
            assert_eq!(path != "/healthz", status("500"), "{id}");
            let asks = path.starts_with("/v1") || path == "/healthz";
            assert_eq!((asks, asks), (status("429"), status("503")), "{id}");
        }
    }
}

#[test]
#[should_panic(expected = "is not as /components/schemas/User")]
fn a_field_that_is_not_documented_would_be_noticed() {
    let user = json!({"id": "42", "email": "ada@example.com"});
    document().validate("/components/schemas/User", &user, "a user");
}

#[test]
#[should_panic(expected = "is not as /components/schemas/Total")]
fn a_value_out_of_its_documented_range_would_be_noticed() {
    document().validate("/components/schemas/Total", &json!(-1), "a total");
}
