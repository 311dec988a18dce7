"""Theme, stylesheet and layouts: what every widget looks like."""
