//! The forms of an ORCA report that the core does not write: JSON and a protocol buffer.
//!
//! Source: `xds/data/orca/v3/orca_load_report.proto`; field numbers are those of that file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tidegate_core::balance::LoadReport;

/// The report as ORCA's JSON.
pub(super) fn to_json(report: &LoadReport) -> Value {
    let [cpu, mem, net, disk, rooms] = report.loads;
    let mut value = json!({});
    for (name, number) in [
        ("cpu_utilization", cpu),
        ("mem_utilization", mem),
        ("application_utilization", report.application),
        ("rps_fractional", report.requests_per_s),
        ("eps", report.errors_per_s),
    ] {
        if let Some(number) = number {
            value[name] = number.into();
        }
    }
    for (map, name, number) in
        [("utilization", "net", net), ("utilization", "disk", disk), ("named_metrics", "rooms", rooms)]
    {
        if let Some(number) = number {
            value[map][name] = number.into();
        }
    }
    value
}

/// The report as a protocol buffer, in base64.
pub(super) fn to_base64(report: &LoadReport) -> String {
    let [cpu, mem, net, disk, rooms] = report.loads;
    let mut message = Vec::new();
    for (field, number) in
        [(1, cpu), (2, mem), (6, report.requests_per_s), (7, report.errors_per_s), (9, report.application)]
    {
        if let Some(number) = number {
            double(&mut message, field, number);
        }
    }
    for (field, name, number) in [(5, "net", net), (5, "disk", disk), (8, "rooms", rooms)] {
        if let Some(number) = number {
            // A map is a list of messages: key 1, value 2.
            let mut entry = Vec::new();
            bytes(&mut entry, 1, name.as_bytes());
            double(&mut entry, 2, number);
            bytes(&mut message, field, &entry);
        }
    }
    STANDARD.encode(message)
}

/// Wire type 1: eight bytes, the lowest first.
fn double(message: &mut Vec<u8>, field: u8, number: f64) {
    message.push(field << 3 | 1);
    message.extend(number.to_le_bytes());
}

/// Wire type 2: the length, then the bytes; never more than 127 here, so the length is one byte.
fn bytes(message: &mut Vec<u8>, field: u8, content: &[u8]) {
    message.push(field << 3 | 2);
    message.push(content.len() as u8);
    message.extend(content);
}
