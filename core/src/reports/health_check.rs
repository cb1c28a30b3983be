//! Whether a server is well, by a row of checks: so many good ones in a row bring it in, so many bad ones take it out.
//!
//! As HAProxy's `rise` and `fall`: one check that is lost to chance changes nothing.

/// The verdict on one server, check by check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HealthChecks {
    /// Good checks in a row that bring a server back; at least 1.
    rise: u32,
    /// Bad checks in a row that take one out; at least 1.
    fall: u32,
    healthy: bool,
    /// Checks in a row that speak against the verdict.
    against: u32,
}

impl HealthChecks {
    /// A server that is taken for well until its checks say otherwise: traffic need not wait for the first of them.
    #[must_use]
    pub const fn new(rise: u32, fall: u32) -> Self {
        Self { rise, fall, healthy: true, against: 0 }
    }

    /// Notes the outcome of a check; whether the verdict changed by it.
    pub const fn note(&mut self, good: bool) -> bool {
        if good == self.healthy {
            self.against = 0;
            return false;
        }
        self.against += 1;
        let turns = self.against >= if good { self.rise } else { self.fall };
        if turns {
            self.healthy = good;
            self.against = 0;
        }
        turns
    }

    /// Whether the server is well.
    #[must_use]
    pub const fn healthy(&self) -> bool {
        self.healthy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    /// The verdict after each check, `+` for good and well, `-` for bad and out; two bring in, three take out.
    #[track_caller]
    fn check(checks: &str, want: &str) {
        let mut health = HealthChecks::new(2, 3);
        let mut before = true;
        let got: String = checks
            .chars()
            .map(|check| {
                let turned = health.note(check == '+');
                assert_eq!(turned, health.healthy() != before, "a change is told, nothing else is");
                before = health.healthy();
                if before { '+' } else { '-' }
            })
            .collect();
        assert_eq!(got, want, "after {checks}");
    }

    #[test]
    fn a_row_of_checks_turns_the_verdict_and_one_alone_does_not() {
        check("++-+--+", "+++++++");
        check("---", "++-");
        check("---+-+-++", "++------+");
        check("---++--+---", "++--++++++-");
    }
}
