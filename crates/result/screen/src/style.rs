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

    /// Of what was received (0) and what was sent (1).
    pub(crate) fn way(self, way: usize) -> Style {
        self.colour([Color::Cyan, Color::Magenta][way])
    }

    /// Of what needs a look.
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

/// Of what is there to be found, and not to be read each second.
pub(crate) fn faint() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

pub(crate) fn strong() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}
