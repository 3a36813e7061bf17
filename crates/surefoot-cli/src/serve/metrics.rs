//! Measurements for operators, in the text format of Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// What requests are counted by: nothing that a client may choose freely.
pub const ROUTES: [&str; 16] = [
    "/",
    "/v1/problems",
    "/v1/problem",
    "/v1/recourse",
    "/v1/recourse/stream",
    "/v1/certify",
    "/v1/attack",
    "/v1/trade-off",
    "/v1/letter",
    "/v1/verify",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/docs",
    "other",
];

/// The upper ends of the classes of durations, in seconds.
const CLASSES: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 10.0, 60.0];

/// The statuses that are counted.
const STATUSES: [u16; 14] = [200, 304, 400, 401, 404, 405, 408, 413, 415, 422, 429, 500, 503, 0];

/// What was counted of one route.
#[derive(Default)]
struct Route {
    statuses: [AtomicU64; STATUSES.len()],
    classes: [AtomicU64; CLASSES.len()],
    microseconds: AtomicU64,
}

/// Counts of a running service.
#[derive(Default)]
pub struct Metrics {
    routes: [Route; ROUTES.len()],
    /// Open connections.
    pub connections: AtomicI64,
    /// Connections that were refused because there were too many.
    pub refused_connections: AtomicU64,
    /// Problems that were read anew.
    pub reloads: AtomicU64,
}

/// What is measured when it is asked for.
pub struct Gauges {
    /// Questions that wait.
    pub waiting: usize,
    /// Questions that are being answered.
    pub running: u64,
    /// Searches that ended early since nobody waited any more, or for too long.
    pub cancelled: u64,
    /// Problems that are served.
    pub problems: usize,
    /// Problems whose present files are invalid.
    pub mistaken: usize,
}

impl Metrics {
    /// Counts a response.
    pub fn count(&self, path: &str, status: u16, took: Duration) {
        let known = ROUTES.iter().position(|route| *route == path);
        let route = &self.routes[known.unwrap_or(ROUTES.len() - 1)];
        let status = STATUSES.iter().position(|known| *known == status);
        route.statuses[status.unwrap_or(STATUSES.len() - 1)].fetch_add(1, Ordering::Relaxed);
        if let Some(class) = CLASSES.iter().position(|end| took.as_secs_f64() <= *end) {
            route.classes[class].fetch_add(1, Ordering::Relaxed);
        }
        route.microseconds.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }

    /// Everything that was counted.
    pub fn text(&self, gauges: &Gauges) -> String {
        let mut text = String::from(
            "# HELP surefoot_requests_total Responses by route and status.\n# TYPE surefoot_requests_total counter\n",
        );
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        for (name, route) in ROUTES.iter().zip(&self.routes) {
            for (status, count) in STATUSES.iter().zip(&route.statuses) {
                let (count, status) = (value(count), *status);
                let status = if status == 0 { "other".to_owned() } else { status.to_string() };
                if count > 0 {
                    line(
                        &mut text,
                        "surefoot_requests_total",
                        &[("route", name), ("status", &status)],
                        count,
                    );
                }
            }
        }
        text += "# HELP surefoot_request_seconds Time until a response began.\n# TYPE surefoot_request_seconds \
                 histogram\n";
        for (name, route) in ROUTES.iter().zip(&self.routes) {
            let all: u64 = route.statuses.iter().map(value).sum();
            if all == 0 {
                continue;
            }
            let mut below = 0;
            for (end, count) in CLASSES.iter().zip(&route.classes) {
                below += value(count);
                let labels = [("route", *name), ("le", &end.to_string())];
                line(&mut text, "surefoot_request_seconds_bucket", &labels, below);
            }
            line(&mut text, "surefoot_request_seconds_bucket", &[("route", name), ("le", "+Inf")], all);
            let seconds = value(&route.microseconds) as f64 / 1e6;
            line(&mut text, "surefoot_request_seconds_sum", &[("route", name)], seconds);
            line(&mut text, "surefoot_request_seconds_count", &[("route", name)], all);
        }
        let single = [
            ("questions_waiting", "gauge", "Questions that wait for a thread.", gauges.waiting as i64),
            ("questions_running", "gauge", "Questions that are being answered.", gauges.running as i64),
            ("problems", "gauge", "Problems that are served.", gauges.problems as i64),
            (
                "problems_mistaken",
                "gauge",
                "Problems whose present files are invalid.",
                gauges.mistaken as i64,
            ),
            ("connections", "gauge", "Open connections.", self.connections.load(Ordering::Relaxed)),
            (
                "connections_refused_total",
                "counter",
                "Connections refused because there were too many.",
                value(&self.refused_connections) as i64,
            ),
            ("reloads_total", "counter", "Problems that were read anew.", value(&self.reloads) as i64),
            (
                "searches_cancelled_total",
                "counter",
                "Searches that ended early since nobody waited any more, or for too long.",
                gauges.cancelled as i64,
            ),
        ];
        for (name, kind, help, value) in single {
            let name = format!("surefoot_{name}");
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        }
        text
    }
}

/// A line of a measurement.
fn line(text: &mut String, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
    let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
    let _ = writeln!(text, "{name}{{{}}} {value}", labels.join(","));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_cumulative_and_paths_of_clients_do_not_appear() {
        let metrics = Metrics::default();
        metrics.count("/v1/recourse", 200, Duration::from_micros(700));
        metrics.count("/v1/recourse", 429, Duration::from_millis(7));
        metrics.count("/ana", 404, Duration::from_millis(1));
        let text = metrics.text(&Gauges { waiting: 3, running: 2, cancelled: 0, problems: 1, mistaken: 0 });
        for expected in [
            "surefoot_requests_total{route=\"/v1/recourse\",status=\"429\"} 1",
            "surefoot_request_seconds_bucket{route=\"/v1/recourse\",le=\"0.0005\"} 0",
            "surefoot_request_seconds_bucket{route=\"/v1/recourse\",le=\"0.001\"} 1",
            "surefoot_request_seconds_bucket{route=\"/v1/recourse\",le=\"+Inf\"} 2",
            "surefoot_request_seconds_sum{route=\"/v1/recourse\"} 0.0077",
            "surefoot_requests_total{route=\"other\",status=\"404\"} 1",
            "surefoot_questions_waiting 3",
        ] {
            assert!(text.lines().any(|line| line == expected), "{expected}\n{text}");
        }
        assert!(!text.contains("ana"));
    }
}
