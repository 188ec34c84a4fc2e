//! How things look, on light terminals and dark ones, with colours and without.

use ratatui::style::{Color, Modifier, Style};

/// Only colours that every terminal sets to suit its background, and only where they say what words say too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    colours: bool,
}

impl Look {
    pub(crate) fn new(colours: bool) -> Self {
        Self { colours }
    }

    /// Style of received (0) and sent (1) traffic.
    pub(crate) fn way(self, way: usize) -> Style {
        self.colour([Color::Cyan, Color::Magenta][way])
    }

    /// Style of a value that needs a look.
    pub(crate) fn warning(self) -> Style {
        self.colour(Color::Red).add_modifier(Modifier::BOLD)
    }

    fn colour(self, colour: Color) -> Style {
        if self.colours { Style::new().fg(colour) } else { Style::new() }
    }
}

pub(crate) fn plain() -> Style {
    Style::new()
}

/// Style of a value that is there to be found, and not to be read each second.
pub(crate) fn faint() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

pub(crate) fn strong() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}
