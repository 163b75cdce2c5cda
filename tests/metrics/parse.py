"""Parses OpenMetrics from the standard input with Prometheus's own client, and prints the families as JSON."""

import json
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

families = {
    family.name: {
        "type": family.type,
        "unit": family.unit,
        "help": family.documentation,
        "samples": [[sample.name, sample.labels, sample.value] for sample in family.samples],
    }
    for family in text_string_to_metric_families(sys.stdin.read())
}
json.dump(families, sys.stdout)
