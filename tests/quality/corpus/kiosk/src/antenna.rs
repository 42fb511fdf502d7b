//! The pad that senses the chips in a pile of books.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const SETTLE: Duration = Duration::from_millis(600);

/// One chip as the reader hardware reports it.
pub struct Sighting {
    pub tag: u64,
    pub strength: i8,
    pub seen: Instant,
}

/// Collects sightings until the pile has lain still for a moment.
#[derive(Default)]
pub struct Pad {
    strongest: BTreeMap<u64, i8>,
    changed: Option<Instant>,
}

impl Pad {
    /// Takes note of a chip; weak echoes from the neighbouring kiosk are dropped.
    pub fn observe(&mut self, sighting: &Sighting) {
        if sighting.strength < -60 {
            return;
        }
        let before = self.strongest.insert(sighting.tag, sighting.strength);
        if before.is_none() {
            self.changed = Some(sighting.seen);
        }
    }

    /// The chips of the pile once nothing new has appeared for the settling time.
    pub fn settled(&self, now: Instant) -> Option<Vec<u64>> {
        let changed = self.changed?;
        (now.duration_since(changed) >= SETTLE).then(|| self.strongest.keys().copied().collect())
    }
}
