//! What a server says of its load.

use crate::scenario::v1::ResourceV1;

/// One report of a server's load. Parts are shares of its capacity, 0 or more; `None` where it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadReport {
    /// The five loads of paper B, 2.1, in the order of [`ResourceV1::FIVE`]: processors, memory, network, disk, rooms.
    pub loads: [Option<f64>; 5],
    /// The server's own view of how busy it is; may exceed 1.
    pub application: Option<f64>,
    /// Requests a second it answers.
    pub requests_per_s: Option<f64>,
    /// Of those, errors a second.
    pub errors_per_s: Option<f64>,
}

impl ResourceV1 {
    /// All five, in the order of [`LoadReport::loads`].
    pub const FIVE: [Self; 5] = [Self::Cpu, Self::Mem, Self::Net, Self::Disk, Self::Rooms];

    /// Stable name, as in scenarios and metrics labels.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Mem => "mem",
            Self::Net => "net",
            Self::Disk => "disk",
            Self::Rooms => "rooms",
        }
    }
}

impl LoadReport {
    /// One of the five loads.
    #[must_use]
    pub const fn load(&self, of: ResourceV1) -> Option<f64> {
        self.loads[of as usize]
    }
}
